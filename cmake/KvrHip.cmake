# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Prepares CMake's HIP language. On AMD's ROCm it changes nothing. The packages of Debian and Ubuntu (HIP 5) differ in four ways that
# CMake cannot know: the compiler is one of several clangs, the package files lie in the multiarch folder, ROCm's root is /usr, and the
# device libraries lie in the multiarch folder (Debian 12) or in the compiler's own. All of it is answered here, in the build folder;
# nothing is installed.

if(CMAKE_HIP_COMPILER_ROCM_ROOT)
  return()
endif()

# A ROCm installation that is not on PATH.
if(NOT DEFINED CMAKE_HIP_COMPILER AND "$ENV{HIPCXX}" STREQUAL "")
  foreach(kvr_rocm "$ENV{ROCM_PATH}" /opt/rocm)
    if(kvr_rocm AND EXISTS "${kvr_rocm}/lib/cmake/hip-lang/hip-lang-config.cmake" AND EXISTS "${kvr_rocm}/llvm/bin/clang++")
      set(CMAKE_HIP_COMPILER "${kvr_rocm}/llvm/bin/clang++" CACHE FILEPATH "HIP compiler")
      set(CMAKE_HIP_COMPILER_ROCM_ROOT "${kvr_rocm}")
      list(APPEND CMAKE_PREFIX_PATH "${kvr_rocm}")
      return()
    endif()
  endforeach()
endif()

file(GLOB kvr_debian_hip_lang LIST_DIRECTORIES true "/usr/lib/*-linux-gnu/cmake/hip-lang")
if(NOT kvr_debian_hip_lang)
  return()  # CMake's own search gives its own message
endif()
list(GET kvr_debian_hip_lang 0 kvr_debian_hip_lang)
cmake_path(GET kvr_debian_hip_lang PARENT_PATH kvr_debian_packages)
cmake_path(GET kvr_debian_packages PARENT_PATH kvr_debian_lib)

# The newest clang that has device libraries.
file(GLOB kvr_device_libraries "/usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode/ocml.bc")
list(SORT kvr_device_libraries COMPARE NATURAL ORDER DESCENDING)
if(kvr_device_libraries)
  list(GET kvr_device_libraries 0 kvr_device_libraries)
  string(REGEX REPLACE "/lib/clang/.*" "/bin" kvr_llvm "${kvr_device_libraries}")
  cmake_path(GET kvr_device_libraries PARENT_PATH kvr_device_libraries)
else()
  set(kvr_llvm /usr/lib/llvm-15/bin)
  set(kvr_device_libraries "${kvr_debian_lib}/amdgcn/bitcode")
endif()
if(NOT DEFINED CMAKE_HIP_COMPILER)
  find_program(CMAKE_HIP_COMPILER NAMES clang++ PATHS "${kvr_llvm}" NO_DEFAULT_PATH REQUIRED DOC "HIP compiler")
endif()
# CMake wants <root>/lib/cmake/hip-lang; the package finds its true root by resolving the link.
set(CMAKE_HIP_COMPILER_ROCM_ROOT "${CMAKE_BINARY_DIR}/kvr-rocm")
file(MAKE_DIRECTORY "${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib/cmake")
foreach(kvr_package hip-lang amd_comgr hsa-runtime64)
  file(CREATE_LINK "${kvr_debian_packages}/${kvr_package}" "${CMAKE_HIP_COMPILER_ROCM_ROOT}/lib/cmake/${kvr_package}" SYMBOLIC)
endforeach()
# The compiler tests of enable_language() look for these packages in a project that knows no multiarch folder.
set(ENV{CMAKE_PREFIX_PATH} "${CMAKE_HIP_COMPILER_ROCM_ROOT}:$ENV{CMAKE_PREFIX_PATH}")
set(CMAKE_HIP_FLAGS_INIT "--rocm-path=/usr --rocm-device-lib-path=${kvr_device_libraries}")
