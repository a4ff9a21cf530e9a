# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# The language kernels are compiled in. Used by kvr itself and by projects that found an installed kvr; an include at file scope, because
# enabling a language is only possible there.

# A kernel source is compiled once for each of KVR_KERNEL_BUILDS, as language KVR_KERNEL_LANGUAGE. In the cache: a project that adds kvr
# as a subdirectory declares its kernels outside this scope.
if(KVR_PLATFORM STREQUAL "cuda")
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "75;80;90" CACHE STRING "CUDA architectures to compile for")
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
    # The toolkit's own folder is often not on PATH.
    find_program(CMAKE_CUDA_COMPILER NAMES nvcc PATHS /usr/local/cuda/bin DOC "CUDA compiler")
    if(NOT CMAKE_CUDA_COMPILER)
      unset(CMAKE_CUDA_COMPILER CACHE)
    endif()
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
  enable_language(HIP)
  set(KVR_KERNEL_BUILDS hip CACHE INTERNAL "")
  set(KVR_KERNEL_LANGUAGE HIP CACHE INTERNAL "")
else()
  set(KVR_KERNEL_BUILDS warp32 warp64 CACHE INTERNAL "")
  set(KVR_KERNEL_LANGUAGE CXX CACHE INTERNAL "")
endif()
