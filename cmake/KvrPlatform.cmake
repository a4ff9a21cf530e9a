# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Selects the platform. A build of one platform asks for no toolkit of another.

set(KVR_PLATFORM "cpu" CACHE STRING "What kernels run on: cpu (a SIMT machine in software), cuda, hip")
set_property(CACHE KVR_PLATFORM PROPERTY STRINGS cpu cuda hip)
if(NOT KVR_PLATFORM MATCHES "^(cpu|cuda|hip)$")
  message(FATAL_ERROR "KVR_PLATFORM is '${KVR_PLATFORM}'; it must be cpu, cuda or hip")
endif()

option(KVR_BUILD_TESTS "Build kvr's own kernels, cases, unit tests and command" ${PROJECT_IS_TOP_LEVEL})
option(KVR_WERROR "Treat warnings as errors" OFF)
option(KVR_BUILD_BENCH "Build the host benchmarks" OFF)
# Source faults are judged on the cpu machine; elsewhere they only cost compile time.
if(KVR_PLATFORM STREQUAL "cpu")
  set(kvr_build_faults_default ON)
else()
  set(kvr_build_faults_default OFF)
endif()
option(KVR_BUILD_FAULTS "Build the source faults of every kernel" ${kvr_build_faults_default})

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# A kernel source is compiled once for each of KVR_KERNEL_BUILDS, as language KVR_KERNEL_LANGUAGE.
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
  set(KVR_KERNEL_BUILDS cuda)
  set(KVR_KERNEL_LANGUAGE CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
elseif(KVR_PLATFORM STREQUAL "hip")
  include(KvrHip)
  enable_language(HIP)
  set(KVR_KERNEL_BUILDS hip)
  set(KVR_KERNEL_LANGUAGE HIP)
  set(CMAKE_HIP_STANDARD 20)
  set(CMAKE_HIP_STANDARD_REQUIRED ON)
  set(CMAKE_HIP_EXTENSIONS OFF)
else()
  set(KVR_KERNEL_BUILDS warp32 warp64)
  set(KVR_KERNEL_LANGUAGE CXX)
endif()
