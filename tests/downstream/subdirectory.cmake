# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# The project with kvr's sources as a subdirectory (run.cmake includes this).
list(APPEND options "-DKVR_SOURCE_DIR=${KVR_SOURCE_DIR}" "-DKVR_PLATFORM=${KVR_PLATFORM}")
# What differs from an installed kvr is how the parts are declared and found, so how fast they run does not matter here.
list(APPEND options -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0)
must(${CMAKE_COMMAND} -S project -B build ${options})
if(output MATCHES "Warning")
  message(SEND_ERROR "configuring warns:\n${output}")
endif()
if(NOT KVR_PLATFORM STREQUAL "cpu")
  must(${build} --target kernels/all reference/all cases/all kvr_cases_warp_sum kvr_kernel_warp_sum_warp_size)
  if(KVR_PLATFORM STREQUAL "cuda")  # whether HIP has it depends on the architectures
    must(${build} --target kvr_kernel_warp_sum_cuda)
  endif()
  return()
endif()
must(${build})
set(mine "${work}/build/check_mine")
expect_run(0 "passed, 0 failed.*ledger ledger.json: nothing unusual" ${mine} check)
expect_run(0 "scale_add 'out' f32 .*at        tolerances.toml:4" ${mine} policy)

# The project's tests, and none of kvr's own.
must(${CMAKE_CTEST_COMMAND} --test-dir build --output-on-failure)
foreach(test check_mine.policies check_mine.faults scale_add.cpu:warp32.sizes scale_add.cpu:warp64.sizes warp_sum.cpu:warp32.rows)
  expect_matches("ctest" "${output}" "${test} \\.+ *Passed")
endforeach()
expect_matches("ctest" "${output}" "0 tests failed out of 6\n")
