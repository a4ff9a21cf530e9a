# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT
#
# Installs the harness (libraries, headers, kernels/common) and the functions that declare kernels, so that another project can
# find_package(kvr) and check kernels of its own. kvr's own kernels and cases stay here.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY KVR_LIBRARIES)
install(TARGETS kvr_options ${libraries} EXPORT kvrTargets ARCHIVE DESTINATION lib)
install(EXPORT kvrTargets NAMESPACE kvr:: DESTINATION lib/cmake/kvr)

install(DIRECTORY harness DESTINATION include/kvr FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "main.cpp")
install(DIRECTORY kernels/common DESTINATION include/kvr/kernels FILES_MATCHING PATTERN "*.h")
# The program of kvr_add_case_tests() is compiled where Catch2 is.
install(FILES tests/catch_main.cpp tests/catch_cases.h tests/catch_cases.cpp tests/ctest_file.h tests/ctest_file.cpp
  DESTINATION include/kvr/tests)
install(FILES
  cmake/KvrArchitectures.cmake cmake/KvrBinutils.cmake cmake/KvrContracted.cmake cmake/KvrCtest.cmake cmake/KvrDependencies.cmake
  cmake/KvrFaults.cmake cmake/KvrHip.cmake cmake/KvrKernels.cmake cmake/KvrLanguage.cmake cmake/KvrStrict.cmake
  DESTINATION lib/cmake/kvr)

# Strict kernels of other projects need the library that was built here, and the other way round.
set(KVR_STRICT_INSTALLED OFF)
if(KVR_STRICT_BUILDS)
  set(KVR_STRICT_INSTALLED ON)
endif()
configure_package_config_file(cmake/kvrConfig.cmake.in "${PROJECT_BINARY_DIR}/kvrConfig.cmake"
  INSTALL_DESTINATION lib/cmake/kvr NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvrConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvrConfig.cmake" "${PROJECT_BINARY_DIR}/kvrConfigVersion.cmake" DESTINATION lib/cmake/kvr)
