// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// warp_sum: out[r] = x[r][0] + ... + x[r][31] for N rows of 32 floats; fp32, in any order.
#pragma once

#include <cstdint>

namespace vendor {

struct SumArgs {
  const float* x = nullptr;  // [N, 32]
  float* out = nullptr;      // [N]
  std::int64_t n = 0;
};

}  // namespace vendor
