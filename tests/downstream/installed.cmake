# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# The project with an installed kvr (run.cmake includes this).
must(${CMAKE_COMMAND} --install "${KVR_BINARY_DIR}" --prefix "${work}/prefix")
set(ENV{CMAKE_PREFIX_PATH} "${work}/prefix:$ENV{CMAKE_PREFIX_PATH}")

file(GLOB_RECURSE texts "${work}/prefix/*.cmake" "${work}/prefix/*.h" "${work}/prefix/*.inc" "${work}/prefix/*.cpp")
foreach(text IN LISTS texts)
  file(READ "${text}" content)
  string(FIND "${content}" "${KVR_SOURCE_DIR}/" at)
  if(NOT at EQUAL -1)
    message(SEND_ERROR "${text} names a place in the tree that kvr was built in")
  endif()
endforeach()

# From here on kvr's sources and build are not there, for what runs below `before`.
set(hide [[for folder in "$1" "$2"; do [ ! -d "$folder" ] || mount -t tmpfs none "$folder" || exit; done; shift 2; exec "$@"]])
foreach(user "" "--user;--map-root-user")
  set(candidate unshare ${user} --mount sh -c "${hide}" hide "${KVR_SOURCE_DIR}" "${KVR_BINARY_DIR}")
  execute_process(COMMAND ${candidate} test ! -e "${KVR_SOURCE_DIR}/CMakeLists.txt" RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(before ${candidate})
    break()
  endif()
endforeach()
if(before STREQUAL "")
  message("kvr's sources are still visible below: nobody here may unshare the mount table")
endif()

# A kvr of one platform does not pretend to be one of another.
foreach(other cpu cuda hip)
  if(NOT other STREQUAL KVR_PLATFORM)
    run(status output ${CMAKE_COMMAND} -S project -B "other-${other}" ${options} -DKVR_PLATFORM=${other})
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    expect("asking for ${other}: exit status" "${status}" 1)
    expect_matches("asking for ${other}" "${output}" "KVR_PLATFORM is '${other}', but the kvr in '[^']*' was installed from a build for '${KVR_PLATFORM}'")
  endif()
endforeach()

must(${CMAKE_COMMAND} -S project -B build ${options})
if(output MATCHES "Warning")
  message(SEND_ERROR "configuring warns:\n${output}")
endif()
must(${build})
set(mine "${work}/build/check_mine")

# The project's own files, whoever calls the command from wherever.
expect_run(0 "scale_add/sizes/n=129\nwarp_sum/rows/n=1\nwarp_sum/rows/n=3" ${mine} list)
expect_run(0 "scale_add 'out' f32 on [^\n]*\n  rule      exact\n  [^\n]*\n  at        tolerances.toml:4" ${mine} policy)
file(WRITE "${work}/other.toml" "[[row]]\nkernel = \"scale_add\"\nexact = true\nreason = \"for another kernel\"\n")
expect_run(1 "warp_sum 'out' f32 on [^\n]*\n  NO ROW" ${mine} policy --policy-file other.toml)
# A command that was given none.
expect_run(2 "no policy table: check_bare was built without one .kvr_add_command's POLICIES gives it one.; --policy-file FILE and KVR_POLICY_FILE" "${work}/build/check_bare" check)
expect_run(2 "--update-ledger needs a ledger, and check_bare was built without one" "${work}/build/check_bare" check --policy-file project/tolerances.toml --update-ledger)

# ctest: every case, with JUnit files, and the gates.
must(${CMAKE_CTEST_COMMAND} --test-dir build --output-on-failure)
set(tests "${output}")
function(expect_test name result)
  string(REGEX MATCH "[^\n]*${name} \\.+ *[^\n]*" line "${tests}")
  expect_matches("ctest of ${name}" "${line}" "${result}")
endfunction()
expect_test(check_mine.policies Passed)
if(NOT KVR_PLATFORM STREQUAL "cpu")
  foreach(kernel scale_add.${KVR_PLATFORM}:0.sizes warp_sum.${KVR_PLATFORM}:0.rows)
    expect_test(${kernel} "Passed|Skipped")  # whether there is a device
  endforeach()
  expect_test(check_mine.faults "Passed|Skipped")
  return()
endif()
expect_test(check_mine.faults Passed)
foreach(machine cpu:warp32 cpu:warp64)
  expect_test(scale_add.${machine}.sizes Passed)
endforeach()
expect_test(warp_sum.cpu:warp32.rows Passed)
expect_test(warp_sum.cpu:warp64.rows Skipped)
file(READ "${work}/build/junit/scale_add.cpu_warp32.sizes.xml" junit)
foreach(n 1 127 128 129)
  expect_matches("JUnit" "${junit}" "testcase [^>]*cpu:warp32 scale_add/sizes/n=${n}\"")
endforeach()

# The check itself.
expect_run(0 "4 planned, 4 reported: 4 passed.*ledger ledger.json: nothing unusual in [^\n]*not in it" ${mine} check scale_add --machine cpu:warp32)
expect_run(0 "ledger: none is used" "${work}/build/check_bare" check scale_add --policy-file project/tolerances.toml)
expect_run(1 "harness error: no policy row for warp_sum, output 'out', f32, platform cpu, arch emulated-warp32 in[ \n]+other.toml\n.*replay    check_mine replay 'warp_sum/rows/n=1/seed=0' --machine cpu:warp32 --policy-file 'other.toml'"
  ${mine} check warp_sum --policy-file other.toml)
expect_run(3 "unsupported[^\n]*warp_sum/rows/n=3[^\n]*\n *(reason)? *built for warps of 32 only" ${mine} check warp_sum --machine cpu:warp64 -v)
foreach(fault scale_add/last_element warp_sum/half_a_warp)
  string(REPLACE "/" ";" parts ${fault})
  list(GET parts 0 kernel)
  list(GET parts 1 fault)
  expect_run(1 "fail +[^\n]*${kernel}/[^\n]*fault ${fault}" ${mine} check ${kernel} --fault ${fault})
endforeach()
expect_run(0 "ledger ledger.json: updated, 3 families of outputs, 3 of them new" ${mine} check --update-ledger)
file(READ "${work}/project/ledger.json" ledger)
expect_matches("the project's ledger" "${ledger}" "\"kernel\": \"warp_sum\", \"group\": \"rows\"")

# Gates that must be red: a source fault that no case shows, a policy row that no case needs.
file(APPEND "${work}/project/vendor/sum_faults.txt" "
[nothing] the same once more
<<<
if (threadIdx.x == 0)
===
if (threadIdx.x == 0 && row >= 0)
>>>
")
file(APPEND "${work}/project/tolerances.toml" "\n[[row]]\nkernel = \"scale_add\"\noutput = \"scales\"\nexact = true\nreason = \"there is no such output\"\n")
must(${build} --target check_mine)
expect_run(8 "check_mine.policies .*Failed.*check_mine.faults .*Failed" ${CMAKE_CTEST_COMMAND} --test-dir build -R ^check_mine)
expect_run(1 "shipped: [0-9]+ of [0-9]+ faults killed\n  source nothing is not shown by these cases: it changed nothing in the 3 that tried it" ${mine} faults warp_sum)
expect_run(1 "tolerances.toml:16: NO CASE resolves to this row" ${mine} policy)

# The project moves away: the message names the file that was looked for.
file(RENAME "${work}/project" "${work}/moved")
expect_run(2 "policy file '${work}/project/tolerances.toml': No such file or directory" ${mine} check)
expect_run(0 "passed, 0 failed" ${mine} check scale_add -q --policy-file moved/tolerances.toml --ledger moved/ledger.json)
