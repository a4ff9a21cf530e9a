// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reference for concat_and_cache_mla_rope (formula:
// kernels/concat_and_cache_mla_rope/concat_and_cache_mla_rope.h), in fp32 and in double, by plain loops.
// Pointers in the arguments are host pointers.
//
// How far a correct kernel may lie from the reference. u = 2^-24, half an ULP of fp32, relative; 2^-150, half
// a step among its subnormals. With P1 and P2 the two products of an element (x c and y s, or y c and x s)
// and e their exact difference or sum:
//
//   T = bf16, fp16   A product of two T has 16 or 22 significant bits, so fp32 holds it exactly, and fusing a
//   multiplication into
//                    an addition changes nothing.
//     per_op         Three roundings to T of values that fp32 arithmetic determines: budget 0, the bits are
//     determined. (The sum
//                    of two T is rounded to fp32 and then to T; since 24 >= 2 * 11 + 2, that equals one
//                    rounding.)
//     once           fp32 rounds e once: u |e|, and each product of bf16 may have lost 2^-150 to fp32's
//     subnormals.
//                    budget = u |e| + 2^-149
//   T = f32          A compiler may leave either product unrounded by fusing it.
//     per_op         reference: fl(P1) -+ fl(P2). One of the two may be exact instead: budget = u max(|P1|,
//     |P2|) + 2^-150 once           reference: P1 -+ P2. Both may be rounded: budget = u (|P1| + |P2|) +
//     2^-149
//
// These scale with the products, not with the output: where P1 and P2 cancel, the output may be arbitrarily
// small beside them, and a bound relative to it fails kernels that are right
// (mla_cache_norm_quant_v4.md 1.3).
//
// A cache of type T holds what k holds, so k's value and budget apply. A cache in fp8 holds RNE_fp8(fl32(v /
// scale)) with an IEEE division of what T holds: budget 0 for the latent. For the rope part v is one of the
// values of T within k's budget, RN_T(e - b) ... RN_T(e + b); the budget is how far the quotients of the two
// ends lie from that of RN_T(e): 0 but beside a tie.
//
// `products` = max(|P1|, |P2|), the scale of the rounding errors that published tolerances allow (0 where
// nothing is rotated).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/concat_and_cache_mla_rope/concat_and_cache_mla_rope.h"

namespace kvr::reference {

// One rotated element before the rounding to T.
struct MlaRotated {
  double value = 0.0;
  double budget = 0.0;
  double products = 0.0;
};

// The R elements of one head, read at `head` (R consecutive T), with the table row of `position`. With Real =
// float every operation is a correctly rounded fp32 operation; with Real = double only the contract's own
// roundings happen.
template <class Real>
void mla_rotate(const ConcatAndCacheMlaRopeArgs& args, std::int64_t position, const void* head,
                MlaRotated* out);

// One element of a cache entry before its last rounding: k' of the rope part, or the latent, which nothing
// has rounded yet.
MlaRotated mla_cached(const ConcatAndCacheMlaRopeArgs& args, const MlaRotated& value);

// Element j of token n of a tensor of T.
double mla_element(const ConcatAndCacheMlaRopeArgs& args, const void* tensor, std::int64_t offset);
const void* mla_at(const ConcatAndCacheMlaRopeArgs& args, const void* tensor, std::int64_t offset);

// Everything a launch writes, into anything with set(index, value, budget, products): q by (n H + h) R + i, k
// by n R + i, the cache by slot (L + R) + j.
template <class Real, class Out>
void concat_and_cache_mla_rope(const ConcatAndCacheMlaRopeArgs& args, Out& q, Out& k, Out& cache) {
  const std::int64_t R = args.rotary_dim;
  const std::int64_t L = args.latent_dim;
  std::vector<MlaRotated> rotated(static_cast<std::size_t>(R));
  for (std::int64_t n = 0; n < args.tokens; ++n) {
    for (std::int64_t h = 0; h < args.heads; ++h) {
      mla_rotate<Real>(args, args.positions[n],
                       mla_at(args, args.q, n * args.q_token_stride + h * args.q_head_stride),
                       rotated.data());
      for (std::int64_t i = 0; i < R; ++i) {
        const MlaRotated& v = rotated[static_cast<std::size_t>(i)];
        q.set((n * args.heads + h) * R + i, v.value, v.budget, v.products);
      }
    }
    const std::int64_t slot = args.slots[n];
    if (slot < 0) continue;
    mla_rotate<Real>(args, args.positions[n], mla_at(args, args.k, n * args.k_token_stride), rotated.data());
    for (std::int64_t j = 0; j < L; ++j) {
      const MlaRotated v = mla_cached(args, {mla_element(args, args.kv_c, n * args.kv_c_token_stride + j)});
      cache.set(slot * (L + R) + j, v.value, v.budget, v.products);
    }
    for (std::int64_t i = 0; i < R; ++i) {
      const MlaRotated& v = rotated[static_cast<std::size_t>(i)];
      k.set(n * R + i, v.value, v.budget, v.products);
      const MlaRotated c = mla_cached(args, v);
      cache.set(slot * (L + R) + L + i, c.value, c.budget, c.products);
    }
  }
}

}  // namespace kvr::reference
