// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// scale_add: out[i] = scale * x[i] + shift for N floats. fp32; the product may be rounded or fused.
#pragma once

#include <cstdint>

#include "kernels/common/types.h"

namespace scale_add {

struct ScaleAddArgs {
  const float* x = nullptr;  // [N]
  float* out = nullptr;      // [N]
  std::int64_t n = 0;
  float scale = 1.0F;
  float shift = 0.0F;
};

}  // namespace scale_add
