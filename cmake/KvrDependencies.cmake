# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Everything kvr needs, found where the system, CMAKE_PREFIX_PATH, or the set-up script's .deps folder has it. An installed kvr
# includes this file too.

set(KVR_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE INTERNAL "")
if(EXISTS "${KVR_DEPS_DIR}")
  list(APPEND CMAKE_PREFIX_PATH "${KVR_DEPS_DIR}")
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
  find_package(Boost REQUIRED CONFIG COMPONENTS context)  # CMake's own FindBoost is gone from 3.30 on
elseif(KVR_PLATFORM STREQUAL "cuda")
  find_package(CUDAToolkit REQUIRED)
elseif(KVR_PLATFORM STREQUAL "hip")
  # Not through HIP's own package: before HIP 6 it asks for the behaviour of CMake 3.3, which CMake 4 no longer has.
  find_path(KVR_HIP_INCLUDE_DIR hip/hip_runtime_api.h HINTS "${CMAKE_HIP_COMPILER_ROCM_ROOT}/include" REQUIRED)
  find_library(KVR_HIP_LIBRARY amdhip64 HINTS "${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib" REQUIRED)
endif()

# The runtime's host interface, for sources that a plain C++ compiler builds.
if(NOT TARGET kvr::gpu_runtime AND NOT KVR_PLATFORM STREQUAL "cpu")
  add_library(kvr::gpu_runtime INTERFACE IMPORTED)
  if(KVR_PLATFORM STREQUAL "cuda")
    target_link_libraries(kvr::gpu_runtime INTERFACE CUDA::cudart_static)
  else()
    target_include_directories(kvr::gpu_runtime SYSTEM INTERFACE "${KVR_HIP_INCLUDE_DIR}")
    target_link_libraries(kvr::gpu_runtime INTERFACE "${KVR_HIP_LIBRARY}")
    target_compile_definitions(kvr::gpu_runtime INTERFACE __HIP_PLATFORM_AMD__=1)
  endif()
endif()

# kvr_find_catch2(): Catch2 3, which only tests need. Called where they are declared: an imported target is known in its folder and below.
macro(kvr_find_catch2)
  if(NOT TARGET Catch2::Catch2)
    list(APPEND CMAKE_PREFIX_PATH "${KVR_DEPS_DIR}")
    find_package(Catch2 3 QUIET)
    if(NOT Catch2_FOUND)
      message(STATUS "Catch2 3 was not found here: fetching it (cmake/setup.sh or -DCMAKE_PREFIX_PATH avoid that)")
      include(FetchContent)
      FetchContent_Declare(Catch2 SYSTEM
        URL https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
        URL_HASH SHA256=c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c)
      FetchContent_MakeAvailable(Catch2)
    endif()
  endif()
endmacro()
if(KVR_BUILD_TESTS AND NOT KVR_INSTALLED)
  kvr_find_catch2()
endif()
