// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reference for k_norm_rope (formula: kernels/k_norm_rope/k_norm_rope.h), in fp32 and in double, by plain
// loops. Pointers in the arguments are host pointers.
#pragma once

#include <cstdint>

#include "kernels/k_norm_rope/k_norm_rope.h"

namespace kvr::reference {

// Row n of the output before the rounding to T: y[D]. With Real = float every operation is a correctly
// rounded fp32 operation; with Real = double the result is exact for all practical purposes and judges both
// the kernel and the fp32 version.
//
// budget[D] (may be null) bounds |y computed in fp32 by a kernel that follows the contract - exact y|. With u
// = 2^-24 (half an ULP of fp32, relative) and a sum of D values that rounds at most L = 7 + log2(D/8) times
// along any path (8 values in turn, then a tree over D/8 lanes; a shallower or equally deep order is as
// good):
//   mean:    |dm| <= L u A,  A = sum|x| / D            (dividing by a power of two is exact)
//   x - m:   |dd_j| <= |dm| + u |d_j|
//   var:     |dv| <= (L + 3) u v + dm^2                (square: u, each d twice: 2u, sum: L u; the part
//   linear in dm vanishes: sum d = 0) rsqrt:   relative rho = dv / (2 (v + eps)) + u/2 (the addition) + 4u
//   (device rsqrt: 2 ULP of at most 2u each) z_j:     |dz_j| <= |inv w_j| |dd_j| + |d_j inv w_j| (rho + 2u) +
//   u |z_j| y:       |dy_a| <= |c| |dz_a| + |s| |dz_b| + u (|z_a c| + |z_b s|) + u |y_a|
// Fused multiply-adds only remove roundings. Second-order terms: a factor 1.01.
template <class Real>
void k_norm_rope_row(const KNormRopeArgs& args, std::int64_t n, Real* y, double* budget);

// Every row: values and budgets, [N, D] of each.
inline void k_norm_rope(const KNormRopeArgs& args, double* values, double* budgets) {
  for (std::int64_t n = 0; n < args.tokens; ++n)
    k_norm_rope_row<double>(args, n, values + n * args.head_dim, budgets + n * args.head_dim);
}

}  // namespace kvr::reference
