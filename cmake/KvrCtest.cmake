# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# ctest tests of a command's cases, and gates over them; for kvr itself and for projects that use it. A project calls enable_testing() in
# its top-level CMakeLists.txt first.
#
#   ctest              the quick tier
#   ctest -C Full      and the full tier
#   ctest -C Soak      and the soak tier
#   ctest -L k_norm_rope -L cpu:warp64        labels: platform, kernel, tier, machine

# kvr_add_case_tests(<command>): the program <command>_tests has every case on every machine as a Catch2 test, and the command's policy
# table. After each build it writes its own ctest tests, one per kernel, machine and group: k_norm_rope.cpu:warp32.public. ctest reads that
# file when it starts; if the program was never built, a test that fails stands in for all of them. JUnit files, one per test, go to
# <build folder of the project>/junit. Needs Catch2 3.
function(kvr_add_case_tests command)
  _kvr_need_testing("kvr_add_case_tests(${command})")
  kvr_find_catch2()
  set(target ${command}_tests)
  set(sources catch_main.cpp catch_cases.cpp ctest_file.cpp)
  list(TRANSFORM sources PREPEND "${KVR_INCLUDE_DIR}/tests/")
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE kvr::options kvr::cli kvr::report kvr_all_kernels kvr_all_cases Catch2::Catch2)
  kvr_use_files_of(${target} ${command})

  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}.ctest.cmake")
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${target} --kvr-ctest "${file}" --kvr-junit "${PROJECT_BINARY_DIR}/junit"
    COMMENT "Listing the tests of ${target}" VERBATIM)
  set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${target}.include.cmake")
  file(WRITE "${include_file}" "if(EXISTS \"${file}\")
  include(\"${file}\")
else()
  add_test(${target}_NOT_BUILT \"${CMAKE_COMMAND}\" -E false)
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
endfunction()

# kvr_add_gates(<command> [TIMEOUT <seconds>]): ctest tests that fail when the cases and policies are too weak to trust.
#
#   <command>.policies   every output of every case has a policy row, and every row is one that some case resolves to
#   <command>.faults     every known fault is killed by a quick case under the project's policies, on every machine: wrong outputs, wrong
#                        arguments, wrong versions of the source. A fault that no case shows fails it, and so does a kernel without
#                        source faults: nobody knows then what its cases notice.
#
# In a build without source faults (KVR_BUILD_FAULTS=OFF) the second leaves these out, and <command>.source_faults is reported as not run.
function(kvr_add_gates command)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TIMEOUT" "")
  _kvr_refuse_unread("kvr_add_gates(${command})")
  _kvr_need_testing("kvr_add_gates(${command})")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 900)
  endif()
  set(gates ${command}.policies ${command}.faults)
  add_test(NAME ${command}.policies COMMAND ${command} policy)
  if(KVR_BUILD_FAULTS)
    add_test(NAME ${command}.faults COMMAND ${command} faults)
  else()
    add_test(NAME ${command}.faults COMMAND ${command} faults --kind output --kind argument)
    add_test(NAME ${command}.source_faults COMMAND ${command} faults --kind source)
    set_tests_properties(${command}.source_faults PROPERTIES DISABLED TRUE)
    list(APPEND gates ${command}.source_faults)
  endif()
  set_tests_properties(${gates} PROPERTIES LABELS "gate;quick" TIMEOUT ${ARG_TIMEOUT})
  if(NOT KVR_PLATFORM STREQUAL "cpu")
    # 3: nothing ran, there is no device.
    set_tests_properties(${command}.faults PROPERTIES SKIP_RETURN_CODE 3)
  endif()
endfunction()

function(_kvr_need_testing call)
  if(NOT CMAKE_TESTING_ENABLED)
    message(FATAL_ERROR "${call}: call enable_testing() in the top-level CMakeLists.txt first, or ctest finds no test")
  endif()
endfunction()
