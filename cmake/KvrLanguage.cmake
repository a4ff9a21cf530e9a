# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# The language kernels are compiled in. Used by kvr itself and by projects that found an installed kvr; an include at file scope, because
# enabling a language is only possible there.

# A kernel source is compiled once for each of KVR_KERNEL_BUILDS, as language KVR_KERNEL_LANGUAGE. In the cache: a project that adds kvr
# as a subdirectory declares its kernels outside this scope.
include("${CMAKE_CURRENT_LIST_DIR}/KvrArchitectures.cmake")
if(KVR_PLATFORM STREQUAL "cuda")
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
    # The toolkit's own folder is often not on PATH.
    find_program(CMAKE_CUDA_COMPILER NAMES nvcc PATHS /usr/local/cuda/bin DOC "CUDA compiler")
    if(NOT CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)
    endif()
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "" AND (CMAKE_CUDA_COMPILER OR DEFINED ENV{CUDACXX}))
    set(kvr_nvcc "${CMAKE_CUDA_COMPILER}")
    if(NOT kvr_nvcc)
      set(kvr_nvcc "$ENV{CUDACXX}")
    endif()
    kvr_default_cuda_architectures(kvr_architectures kvr_why "${kvr_nvcc}")
    set(CMAKE_CUDA_ARCHITECTURES "${kvr_architectures}" CACHE STRING "CUDA architectures to compile for")
    message(STATUS "CUDA architectures: ${CMAKE_CUDA_ARCHITECTURES} (${kvr_why})")
  endif()
  enable_language(CUDA)
  # CMake 3.25 does not know that nvcc 12 and newer take C++20.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(KVR_KERNEL_BUILDS cuda CACHE INTERNAL "")
  set(KVR_KERNEL_LANGUAGE CUDA CACHE INTERNAL "")
elseif(KVR_PLATFORM STREQUAL "hip")
  include("${CMAKE_CURRENT_LIST_DIR}/KvrHip.cmake")
  # CMake wants to be told; the choice needs the compiler that it finds.
  if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
    set(CMAKE_HIP_ARCHITECTURES gfx90a)
    set(kvr_choose_architectures TRUE)
  endif()
  enable_language(HIP)
  if(kvr_choose_architectures)
    unset(CMAKE_HIP_ARCHITECTURES)
    kvr_default_hip_architectures(kvr_architectures kvr_why "${CMAKE_BINARY_DIR}/kvr-architectures" "${CMAKE_HIP_COMPILER}"
      "${CMAKE_HIP_FLAGS}")
    set(CMAKE_HIP_ARCHITECTURES "${kvr_architectures}" CACHE STRING "AMD GPU architectures to compile for")
    message(STATUS "HIP architectures: ${CMAKE_HIP_ARCHITECTURES} (${kvr_why})")
    unset(kvr_choose_architectures)
  endif()
  set(KVR_KERNEL_BUILDS hip CACHE INTERNAL "")
  set(KVR_KERNEL_LANGUAGE HIP CACHE INTERNAL "")
else()
  set(KVR_KERNEL_BUILDS warp32 warp64 CACHE INTERNAL "")
  set(KVR_KERNEL_LANGUAGE CXX CACHE INTERNAL "")
endif()
