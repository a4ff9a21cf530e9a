// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// concat_and_cache_mla_rope: the key path of multi-head latent attention before the attention itself. Rotates
// q in place, rotates k in place, and writes latent and rotated k into the paged cache, quantised to fp8 on
// request.
//
//   For each token n of N, p = positions[n], c_i = cos_sin[p, i], s_i = cos_sin[p, R/2 + i], i in [0, R/2):
//     rotate(v): (a, b) = (i, i + R/2) when half-split (NeoX), (2i, 2i + 1) when interleaved (GPT-J)
//                v'_a = v_a c_i - v_b s_i,   v'_b = v_b c_i + v_a s_i
//     q[n, h, :] = rotate(q[n, h, :]) for each of H heads, also when the slot is negative
//     slots[n] < 0 (any negative): nothing else happens; k[n] stays unrotated
//     k[n, :] = rotate(k[n, :])
//     entry = cache[slots[n] div S, slots[n] mod S, :] of L + R elements: latent first, then rope
//       entry[j]     = store(kv_c[n, j]),  j < L
//       entry[L + i] = store(k'[n, i]),    i < R: the rotated value as rounded to T, what k[n, i] now holds
//     store: the bits themselves where the cache holds T, RNE_fp8(fl32(value / scale)) saturating at +-max
//     where it holds fp8
//
// Contract, by `rounding`:
//   per_op  each product and the difference (sum) round to T. For T = f32 a compiler may fuse one product
//   into the
//           difference; the reference's budget allows for that. For bf16 and fp16 the bits are determined.
//   once    the rotation runs in fp32 and rounds to T once.
// The table is of type T in both. NaN stays NaN (fp8: the format's NaN code), infinities saturate in fp8, a
// negative value that rounds to zero is -0 (0x80) in OCP fp8 and 0x00 in FNUZ. A scale lives on the device
// and follows plain arithmetic: x/0 saturates with x's sign, 0/0 and a NaN scale give NaN. The path taken
// (16-byte or scalar) does not change a bit. Entries of the cache that no slot names, and gaps between rows,
// are never touched. A slot named by two tokens is the caller's error: either token's values may remain.
// Offsets are computed in 64 bits.
//
// Refused before launch, naming the argument: null pointers, negative N, H, R, L, B, S or P below one, odd R,
// slot_count other than N, position_count below N, an inner stride other than 1, a stride narrower than what
// it steps over (table narrower than R, entry narrower than L + R), an fp8 maximum that is not positive; and
// where the caller hands over host copies: a slot >= B*S, a position outside [0, P), a scale that is zero,
// negative or NaN. Unsupported: other T, caches that are neither T nor fp8, R or L beyond 65536. N = 0
// launches nothing.
//
// Traffic per token, b = sizeof T, e = bytes of a cache element: 2HRb (q) + 2Rb (k) + Lb (kv_c) + (L+R)e
// (entry) + Rb (table row) + 16 (position, slot), each byte once from memory; H = 128, R = 64, L = 512, bf16:
// 35344 B, 34768 B with fp8. A negative slot: 2HRb + Rb + 16. The block's other threads re-read the table row
// (a warp covers it up to 32 times), position and slot: these hit L1. scale: L2.
#pragma once

#include <cstdint>

#include "kernels/common/types.h"

namespace kvr {

enum class RopeRounding : std::uint8_t {
  per_op,  // each product and the difference round to T
  once,    // fp32 throughout, one rounding to T
};

struct ConcatAndCacheMlaRopeArgs {
  const std::int64_t* positions = nullptr;  // [position_count >= N], the first N in [0, P)
  const std::int64_t* slots = nullptr;      // [N], below B*S; negative: see above
  void* q = nullptr;                        // [N, H, R] T, in and out
  void* k = nullptr;                        // [N, R] T, in and out
  const void* kv_c = nullptr;               // [N, L] T
  const void* cos_sin = nullptr;            // [P, R] T: R/2 cosines, then R/2 sines
  void* cache = nullptr;                    // [B, S, L + R] of cache_format.encoding
  const float* scale = nullptr;             // one value on the device; read for fp8 caches only
  // Host copies, where the caller has them (null otherwise): checked before launch, never passed on.
  const std::int64_t* host_positions = nullptr;
  const std::int64_t* host_slots = nullptr;
  const float* host_scale = nullptr;

  std::int64_t tokens = 0;          // N
  std::int64_t heads = 0;           // H
  std::int64_t rotary_dim = 0;      // R, even
  std::int64_t latent_dim = 0;      // L
  std::int64_t blocks = 0;          // B
  std::int64_t block_size = 0;      // S
  std::int64_t max_position = 0;    // P
  std::int64_t position_count = 0;  // >= N: graph padding may leave more
  std::int64_t slot_count = 0;      // N

  // Strides in elements of the tensor.
  std::int64_t q_token_stride = 0;      // >= R
  std::int64_t q_head_stride = 0;       // >= R
  std::int64_t k_token_stride = 0;      // >= R
  std::int64_t kv_c_token_stride = 0;   // >= L
  std::int64_t cos_sin_row_stride = 0;  // >= R
  std::int64_t cache_block_stride = 0;  // >= L + R
  std::int64_t cache_entry_stride = 0;  // >= L + R
  std::int64_t q_inner_stride = 1;      // inner strides must be 1
  std::int64_t k_inner_stride = 1;
  std::int64_t kv_c_inner_stride = 1;
  std::int64_t cos_sin_inner_stride = 1;
  std::int64_t cache_inner_stride = 1;

  DType dtype = DType::bf16;               // T: f32, fp16 or bf16
  Fp8Format cache_format{DType::bf16, 0};  // encoding T: stored as is; otherwise e4m3fn, e4m3fnuz or e5m2
  Pairing pairing = Pairing::half_split;
  RopeRounding rounding = RopeRounding::per_op;
};

}  // namespace kvr
