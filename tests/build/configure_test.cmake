# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Configuring from nothing says nothing that a developer would have to look into: no warning, deprecation included, whatever CMake this
# is. And what was asked for and cannot be had is an error.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/expect.cmake")

file(REMOVE_RECURSE "${WORK_DIR}")
function(configure folder status_variable output_variable)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S "${KVR_ROOT}" -B "${WORK_DIR}/${folder}" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" ${ARGN}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${status_variable} "${status}" PARENT_SCOPE)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()

configure(plain status output -DKVR_PLATFORM=${KVR_PLATFORM})
expect("configuring for ${KVR_PLATFORM}" "${status}" 0)
if(output MATCHES "Warning|warning|deprecated")
  message(SEND_ERROR "configuring warns:\n${output}")
endif()

configure(platform status output -DKVR_PLATFORM=vulkan)
expect("an unknown platform" "${status}" 1)
expect_matches("an unknown platform" "${output}" "KVR_PLATFORM is 'vulkan'; it must be cpu, cuda or hip")

# Strict machines that cannot be built, when they were asked for.
stand_in("${WORK_DIR}" old-clang++ "echo 13.0.1")
configure(strict status output -DKVR_PLATFORM=cpu -DKVR_BUILD_STRICT=ON "-DKVR_STRICT_CXX=${WORK_DIR}/old-clang++")
expect("strict machines without clang" "${status}" 1)
string(REGEX REPLACE "[ \n]+" " " output "${output}")
expect_matches("strict machines without clang" "${output}" "KVR_BUILD_STRICT is ON: .*clang\\+\\+ is 13.0.1, 14 is needed")
