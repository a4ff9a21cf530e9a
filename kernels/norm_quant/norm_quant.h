// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// norm_quant: RMSNorm or LayerNorm over a row, then quantisation to fp8 or int8, with an optional residual
// added before. N tokens, H width, T = dtype of in and residual, G = H / group.
//
//   x_j = float(in_j)                        without residual
//   x_j = float(in_j) + float(residual_j)    with it: one fp32 addition;  residual_j <- RN_T(x_j)
//                                            (`rounded_sum`: afterwards x_j = RN_T(x_j); `f32_sum`: x_j stays
//                                            as it is)
//   RMSNorm:   d_j = x_j            var = sum(x^2) / H
//   LayerNorm: d_j = x_j - mean     mean = sum(x) / H,  var = sum((x - mean)^2) / H   (two passes)
//   r = rsqrt(var + eps)
//   per_op:  t = RN_T(d_j * r),  v_j = RN_T(t * w_j),  LayerNorm: v_j <- RN_T(v_j + b_j)
//   once:    v_j = (d_j * r) * w_j  (+ b_j), all fp32
//
// Quantisers. M = out.max (448 or 224 or 240 or 127); amax propagates NaN; `/` is IEEE division.
//   per_tensor:  s given;                                          code = Q(v * (1/s))
//   per_token:   s = max(min(amax over the row, scale_ub) / M, floor)
//   per_group:   s = max(amax over the group / M, floor)           code = Q(v / s) for fp8, Q(v * (1/s)) for
//   int8 floor = 1 / (512 M) for fp8, 2^-23 for int8. Q rounds to nearest even and saturates to +-M; NaN
//   gives the fp8 NaN code, 0 in int8.
//
// Contract beyond the formulas:
//  - A NaN in a row makes its statistics, its scales and (fp8) all its codes NaN; int8 codes are then 0. An
//  infinity
//    makes r = 0 (RMSNorm) or NaN (LayerNorm): with RMSNorm the infinite element is NaN and the others are 0,
//    so the scale of its row or group is NaN. A NaN bound gives a NaN scale; a bound <= 0 on the device gives
//    the floor.
//  - The sums run in an order that depends on H alone: not on N, not on the warp size, not on which load path
//  runs.
//    A thread adds the 8 elements of a chunk as a tree, then its chunks in turn; the threads are added as
//    trees. So no path through a sum has more than 3 + (K - 1) + ceil(log2(B)) roundings, B threads of K
//    chunks each (below).
//  - Block size: B = 64 * ceil(ceil(H / 8) / 256) threads, at most 512; K = ceil(ceil(H / 8) / B) chunks per
//  thread.
//  - in and residual are read once while H <= 16384 (registers); above, once per pass.
//  - Offsets are computed in 64 bits. Padding between rows and behind column-major scales is never written.
// Refused before launch, naming the argument: everything `check` in norm_quant.cu lists.
// Minimum traffic per token, T of b bytes: H*b + H, with residual 3*H*b + H; dynamic: + 4 per scale. w, b:
// once per launch.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/common/types.h"

namespace kvr {

enum class Norm : std::uint8_t { rms, layer };
enum class Quantiser : std::uint8_t { per_tensor, per_token, per_group };
enum class RoundingContract : std::uint8_t { per_op, once };
enum class ResidualContract : std::uint8_t { f32_sum, rounded_sum };
enum class ScaleLayout : std::uint8_t {
  row_major,     // scale of token n, group g at n * scales_stride + g; scales_stride >= G
  column_major,  // at g * scales_stride + n; scales_stride >= N (N rounded up to 4 for TMA)
};

inline constexpr Fp8Format kInt8{DType::int8, 127.0F};

struct NormQuantArgs {
  const void* in =
      nullptr;  // T; row n at (n / rows_per_batch) * in_batch_stride + (n % rows_per_batch) * in_row_stride
  void* residual = nullptr;            // [N, H] T, in and out; null: none
  const void* weight = nullptr;        // [H] weight_dtype
  const void* bias = nullptr;          // [H] weight_dtype; LayerNorm only
  void* out = nullptr;                 // [N, H] out.encoding
  float* scales = nullptr;             // written by per_token (G = 1) and per_group
  const float* scale_at = nullptr;     // per_tensor: the scale in device memory; null: `scale` counts
  const float* scale_ub_at = nullptr;  // per_token: the bound in device memory; null: `scale_ub` counts
  std::int64_t tokens = 0;             // N
  std::int64_t width = 0;              // H
  std::int64_t group = 0;              // per_group: 64 or 128, divides H
  std::int64_t in_row_stride = 0;      // elements, >= H; 0: every token reads the same row
  std::int64_t in_inner_stride = 1;
  std::int64_t rows_per_batch = 0;  // 0: one batch
  std::int64_t in_batch_stride = 0;
  std::int64_t residual_row_stride = 0;
  std::int64_t residual_inner_stride = 1;
  std::int64_t out_row_stride = 0;
  std::int64_t out_inner_stride = 1;
  std::int64_t scales_stride = 0;                           // floats
  std::int64_t scales_numel = 0;                            // floats that `scales` has room for
  float scale = 1.0F;                                       // per_tensor
  float scale_ub = std::numeric_limits<float>::infinity();  // per_token fp8: bound on amax; infinity: none
  float eps = 1e-6F;
  DType dtype = DType::bf16;         // T: f32, fp16, bf16
  DType weight_dtype = DType::bf16;  // T or f32
  Fp8Format out_format = kE4m3fn;    // e4m3fn, e4m3fnuz, or kInt8
  Norm norm = Norm::rms;
  Quantiser quantiser = Quantiser::per_token;
  RoundingContract rounding = RoundingContract::per_op;
  ResidualContract residual_contract = ResidualContract::f32_sum;
  ScaleLayout scale_layout = ScaleLayout::row_major;
};

}  // namespace kvr
