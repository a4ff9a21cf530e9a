// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A device of the warp size that this file is compiled for.
#pragma once

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/simt/device.h"
#include "kernels/common/simt.h"

// The name of a test case that exists for both warp sizes.
#define KVR_NAME(text) KVR_BUILD_NAME ": " text

namespace kvr::KVR_BUILD {

inline simt::Limits test_limits() {
  return kWarpSize == 32 ? simt::Limits::warp32() : simt::Limits::warp64();
}

struct TestDevice : simt::Device {
  explicit TestDevice(int threads = 1, const simt::Schedule& schedule = {})
      : simt::Device(test_limits(), threads, schedule) {}
};

// "0xffffffff", "0x00000000ffffffff": a mask as messages show it.
inline std::string mask_text(LaneMask mask) {
  constexpr int kDigits = kWarpSize / 4;
  std::string text(kDigits, '0');
  for (int i = 0; i < kDigits; ++i)
    text[static_cast<std::size_t>(kDigits - 1 - i)] = "0123456789abcdef"[mask >> 4 * i & 15];
  return "0x" + text;
}

}  // namespace kvr::KVR_BUILD

// Launches on `device` and expects no complaint.
#define KVR_RUN(device, kernel, grid, block, shared, ...)                             \
  do {                                                                                \
    const ::kvr::LaunchStatus launched =                                              \
        KVR_LAUNCH(kernel, grid, block, shared, &(device)__VA_OPT__(, ) __VA_ARGS__); \
    INFO(launched.what);                                                              \
    REQUIRE(launched.ok());                                                           \
    const ::kvr::LaunchStatus finished = (device).synchronize();                      \
    INFO(finished.what);                                                              \
    REQUIRE(finished.ok());                                                           \
  } while (false)
