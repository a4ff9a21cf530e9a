# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Configures, builds and runs project/ from nothing, as somebody else's project: a copy of it far from kvr, and with an installed kvr
# where kvr's own sources and build cannot be seen. MODE: installed or subdirectory.
cmake_minimum_required(VERSION 3.25)
include("${CMAKE_CURRENT_LIST_DIR}/../build/expect.cmake")

set(temporary "$ENV{TMPDIR}")
if(temporary STREQUAL "")
  set(temporary /tmp)
endif()
string(SHA1 identity "${KVR_BINARY_DIR}")
string(SUBSTRING "${identity}" 0 12 identity)
set(work "${temporary}/kvr-downstream-${identity}-${MODE}")
file(REMOVE_RECURSE "${work}")
file(COPY "${CMAKE_CURRENT_LIST_DIR}/project" DESTINATION "${work}")

if(EXISTS "${KVR_SOURCE_DIR}/.deps")
  file(COPY "${KVR_SOURCE_DIR}/.deps/" DESTINATION "${work}/deps")
  set(ENV{CMAKE_PREFIX_PATH} "${work}/deps:$ENV{CMAKE_PREFIX_PATH}")
endif()
# Lists, which arguments of functions would not survive.
file(WRITE "${work}/options.cmake" "")
set(options -C options.cmake -G "${GENERATOR}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}")
foreach(language CUDA HIP)
  if(${language}_ARCHITECTURES)
    file(APPEND "${work}/options.cmake" "set(CMAKE_${language}_ARCHITECTURES \"${${language}_ARCHITECTURES}\" CACHE STRING \"\")\n")
  endif()
endforeach()

# run(<status> <output> <command>...): both streams in one text.
set(before "")
function(run status_variable output_variable)
  execute_process(COMMAND ${before} ${ARGN} WORKING_DIRECTORY "${work}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${status_variable} "${status}" PARENT_SCOPE)
  set(${output_variable} "${output}" PARENT_SCOPE)
endfunction()
# must(<command>...): what everything after it rests on.
function(must)
  run(status output ${ARGN})
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "'${ARGN}' ended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
# expect_run(<status> <regex> <command>...)
function(expect_run expected regex)
  run(status output ${ARGN})
  string(JOIN " " what ${ARGN})
  expect("${what}: exit status" "${status}" "${expected}")
  expect_matches("${what}" "${output}" "${regex}")
  set(output "${output}" PARENT_SCOPE)
endfunction()
set(build ${CMAKE_COMMAND} --build "${work}/build")

include("${CMAKE_CURRENT_LIST_DIR}/${MODE}.cmake")
file(REMOVE_RECURSE "${work}")
