# SPDX-FileCopyrightText: 2026 The kvr authors
# SPDX-License-Identifier: MIT

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(TBB REQUIRED)
find_path(KVR_RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
if(KVR_PLATFORM STREQUAL "cpu")
  find_package(Boost REQUIRED COMPONENTS context)
endif()
if(KVR_BUILD_TESTS)
  find_package(Catch2 3 REQUIRED)
endif()
