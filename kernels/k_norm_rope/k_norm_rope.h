// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// k_norm_rope: LayerNorm over the head dimension, then rotary embedding of its leading part, one rounding.
// The key path of the DSA indexer (DeepSeek-V3.2 style).
//
//   For each token n of N, x = float(k[n, :]) of width D:
//     mean = sum(x) / D,  var = sum((x - mean)^2) / D        two passes, biased variance
//     z_j  = (x_j - mean) * rsqrt(var + eps) * weight_j + bias_j
//     rotate z on [0, R) with c_i = cos_sin[positions[n], i], s_i = cos_sin[positions[n], R/2 + i], i in [0,
//     R/2):
//       (a, b) = (2i, 2i + 1) when interleaved, (i, i + R/2) when half-split
//       y_a = z_a c_i - z_b s_i,   y_b = z_a s_i + z_b c_i;   y_j = z_j for j in [R, D)
//     out[n, j] = RN_T(y_j)
//
// Contract: fp32 between load and store, one rounding to T. The sums run in an order that depends on D alone,
// so results do not depend on N, on the machine's warp size, or on which load path (16-byte, 8-byte, scalar)
// runs. A NaN or infinity in a row makes that row NaN. |c| <= 1 is not assumed. Offsets are computed in 64
// bits. Positions live on the device, so the launcher cannot check them: one outside [0, P) reads outside the
// table. Refused before launch, naming the argument: null pointers, negative N, odd R, R > D, an inner stride
// other than 1, a row stride narrower than its row, eps negative or NaN. Unsupported: other D, R not a
// multiple of 16, other T. N = 0 launches nothing. Minimum traffic per token, bf16, D = 128, R = 64, int32
// positions: 256 (k) + 256 (table row) + 4 + 256 (out) = 772 bytes; weight and bias once per launch.
#pragma once

#include <cstdint>

#include "kernels/common/types.h"

namespace kvr {

struct KNormRopeArgs {
  const void* k = nullptr;               // [N, D] T, inner stride 1
  void* out = nullptr;                   // [N, D] T, inner stride 1
  const float* weight = nullptr;         // [D]
  const float* bias = nullptr;           // [D]
  const float* cos_sin = nullptr;        // [P, R]: R/2 cosines, then R/2 sines
  const void* positions = nullptr;       // [N] int32 or int64, each in [0, P)
  std::int64_t tokens = 0;               // N
  std::int64_t head_dim = 128;           // D: 64, 128 or 256
  std::int64_t rotary_dim = 64;          // R: a multiple of 16, 0 < R <= D
  std::int64_t k_row_stride = 128;       // elements of T, >= D
  std::int64_t k_inner_stride = 1;       // must be 1
  std::int64_t out_row_stride = 128;     // elements of T, >= D
  std::int64_t out_inner_stride = 1;     // must be 1
  std::int64_t cos_sin_row_stride = 64;  // floats, >= R
  std::int64_t max_position = 0;         // P > 0
  DType dtype = DType::bf16;             // T: bf16 or fp16
  DType position_dtype = DType::int32;   // int32 or int64
  Pairing pairing = Pairing::interleaved;
  float eps = 1e-6F;
};

}  // namespace kvr
