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

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

include(KvrLanguage)
