// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#pragma once

namespace kvr {

// y_i = (x_i - mean(x)) * sum over i < 32 of (x_i - mean(x))^2, of one row of 64.
struct ConductScheduleArgs {
  const float* x = nullptr;
  float* y = nullptr;
  bool barrier = true;  // without it: bug report A9
};

}  // namespace kvr
