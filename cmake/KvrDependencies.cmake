# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Everything kvr needs, found where the system, CMAKE_PREFIX_PATH, or the set-up script's .deps folder has it. An installed kvr
# includes this file too.

if(EXISTS "${PROJECT_SOURCE_DIR}/.deps")
  list(APPEND CMAKE_PREFIX_PATH "${PROJECT_SOURCE_DIR}/.deps")
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(TBB REQUIRED)
if(NOT KVR_INSTALLED)  # inside libraries that are built already
  find_path(KVR_RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
endif()
if(KVR_PLATFORM STREQUAL "cpu")
  find_package(Boost REQUIRED COMPONENTS context)
elseif(KVR_PLATFORM STREQUAL "cuda")
  find_package(CUDAToolkit REQUIRED)
elseif(KVR_PLATFORM STREQUAL "hip")
  find_package(hip REQUIRED CONFIG)
endif()

# The runtime's host interface, for sources that a plain C++ compiler builds.
if(NOT TARGET kvr::gpu_runtime AND NOT KVR_PLATFORM STREQUAL "cpu")
  add_library(kvr::gpu_runtime INTERFACE IMPORTED)
  if(KVR_PLATFORM STREQUAL "cuda")
    target_link_libraries(kvr::gpu_runtime INTERFACE CUDA::cudart_static)
  else()
    target_link_libraries(kvr::gpu_runtime INTERFACE hip::host)
    target_compile_definitions(kvr::gpu_runtime INTERFACE __HIP_PLATFORM_AMD__=1)
  endif()
endif()

if(KVR_BUILD_TESTS AND NOT KVR_INSTALLED)
  find_package(Catch2 3 QUIET)
  if(NOT Catch2_FOUND)
    message(STATUS "Catch2 3 was not found here: fetching it (cmake/setup.sh or -DCMAKE_PREFIX_PATH avoid that)")
    include(FetchContent)
    FetchContent_Declare(Catch2
      URL https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
      URL_HASH SHA256=c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c
      SYSTEM)
    FetchContent_MakeAvailable(Catch2)
  endif()
endif()
