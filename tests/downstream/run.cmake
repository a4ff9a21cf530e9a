# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Configures, builds and runs project/ from nothing. MODE: installed or subdirectory.
file(REMOVE_RECURSE "${WORK_DIR}")
set(prefixes "${KVR_SOURCE_DIR}/.deps" $ENV{CMAKE_PREFIX_PATH})
set(options "")
foreach(language CUDA HIP)
  if(${language}_ARCHITECTURES)
    string(REPLACE ";" "\\;" architectures "${${language}_ARCHITECTURES}")
    list(APPEND options "-DCMAKE_${language}_ARCHITECTURES=${architectures}")
  endif()
endforeach()
if(MODE STREQUAL "installed")
  execute_process(COMMAND ${CMAKE_COMMAND} --install "${KVR_BINARY_DIR}" --prefix "${WORK_DIR}/prefix"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  list(PREPEND prefixes "${WORK_DIR}/prefix")
  list(APPEND options "-DKVR_BUILD_FAULTS=ON")  # whatever the build of kvr itself leaves out
else()
  list(APPEND options "-DKVR_SOURCE_DIR=${KVR_SOURCE_DIR}" "-DKVR_PLATFORM=${KVR_PLATFORM}")
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${WORK_DIR}/build" -G "${GENERATOR}"
    "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefixes}" ${options}
  COMMAND_ERROR_IS_FATAL ANY)
if(MODE STREQUAL "subdirectory")
  # What this mode adds is how the parts are declared and found; linking them needs the whole harness compiled once more.
  execute_process(COMMAND ${CMAKE_COMMAND} --build "${WORK_DIR}/build" --target kernels/all reference/all cases/all
    COMMAND_ERROR_IS_FATAL ANY)
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build "${WORK_DIR}/build" --target check_scale_add COMMAND_ERROR_IS_FATAL ANY)

# Without a GPU a cuda or hip build can only list what it would run.
set(command check --policy-file "${CMAKE_CURRENT_LIST_DIR}/project/tolerances.toml")
if(NOT KVR_PLATFORM STREQUAL "cpu")
  set(command list)
endif()
execute_process(COMMAND "${WORK_DIR}/build/check_scale_add" ${command} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
message("${output}")
if(NOT output MATCHES "scale_add/sizes/n=129")
  message(FATAL_ERROR "the project's own case was not run")
endif()

# Its source faults came along: one of them turns the check red.
if(KVR_PLATFORM STREQUAL "cpu")
  execute_process(COMMAND "${WORK_DIR}/build/check_scale_add" ${command} --fault last_element
    OUTPUT_VARIABLE output RESULT_VARIABLE status)
  if(NOT status EQUAL 1)
    message(FATAL_ERROR "with the fault last_element the check ended with ${status} instead of 1:\n${output}")
  endif()
endif()
