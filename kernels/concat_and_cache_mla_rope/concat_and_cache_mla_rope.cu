// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Geometry: a lane owns V consecutive pairs of a head, so that what it loads at once has 16 bytes and
// neighbouring lanes leave no gap (half-split: from each of two places; one pair on the scalar path). A head
// takes R/(2V) lanes, threadIdx.x. A lane loads their cosines and sines once and walks with them over the
// heads threadIdx.y, threadIdx.y + blockDim.y, ... and k as the last of them. Tokens lie along threadIdx.z: a
// block of 256 threads takes one token of 128 heads and several of few. All threads of a token share the copy
// of the latent, 16 bytes of it at a time. No shared memory, no collectives.
#include "kernels/concat_and_cache_mla_rope/concat_and_cache_mla_rope.h"

#include <algorithm>

#include "kernels/common/convert.h"
#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"
#include "kernels/concat_and_cache_mla_rope/check_arguments.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr std::int64_t kBlockThreads = 256;
// At least, so that a token with one head still copies its latent in strides of 512 bytes.
constexpr std::int64_t kTokenThreads = 32;

// Pairs (x[e], y[e]), e in [0, V), of a head.
template <class T, int V>
struct Pairs {
  Vec<T, V> x, y;
};

// Bytes of one access when N neighbours of type C are written: as many as go at once, one element on the
// scalar path.
template <class C, int V, int N>
constexpr int kAccess = V == 1 ? static_cast<int>(sizeof(C)) : std::min(16, N* static_cast<int>(sizeof(C)));

template <int V, class T>
KVR_DEVICE Pairs<T, V> load_pairs(const T* head, int first, int half, Pairing pairing) {
  Pairs<T, V> pairs;
  if (pairing == Pairing::half_split) {
    pairs.x = load_vec<kAccess<T, V, V>, V>(head + first);
    pairs.y = load_vec<kAccess<T, V, V>, V>(head + half + first);
  } else {
    const auto both = load_vec<kAccess<T, V, 2 * V>, 2 * V>(head + 2 * first);
#pragma unroll
    for (int e = 0; e < V; ++e) {
      pairs.x[e] = both[2 * e];
      pairs.y[e] = both[2 * e + 1];
    }
  }
  return pairs;
}

// x[0], y[0], x[1], y[1], ...
template <class T, int V>
KVR_DEVICE Vec<T, 2 * V> weave(const Pairs<T, V>& pairs) {
  Vec<T, 2 * V> woven;
#pragma unroll
  for (int e = 0; e < V; ++e) {
    woven[2 * e] = pairs.x[e];
    woven[2 * e + 1] = pairs.y[e];
  }
  return woven;
}

template <class T>
KVR_DEVICE float rounded(float value) {
  return to_float(from_float<T>(value));
}

template <class T, int V>
KVR_DEVICE Pairs<T, V> rotate(const Pairs<T, V>& v, const Vec<T, V>& cosines, const Vec<T, V>& sines,
                              RopeRounding rounding) {
  Pairs<T, V> out;
#pragma unroll
  for (int e = 0; e < V; ++e) {
    const float x = to_float(v.x[e]);
    const float y = to_float(v.y[e]);
    const float c = to_float(cosines[e]);
    const float s = to_float(sines[e]);
    if (rounding == RopeRounding::per_op) {
      out.x[e] = from_float<T>(rounded<T>(x * c) - rounded<T>(y * s));
      out.y[e] = from_float<T>(rounded<T>(y * c) + rounded<T>(x * s));
    } else {
      out.x[e] = from_float<T>(x * c - y * s);
      out.y[e] = from_float<T>(y * c + x * s);
    }
  }
  return out;
}

template <class C, class T, int N>
KVR_DEVICE Vec<std::uint8_t, N> quantised_as(const Vec<T, N>& values, float scale, float max) {
  Vec<std::uint8_t, N> codes;
#pragma unroll
  for (int e = 0; e < N; ++e) codes[e] = from_float_saturating<C>(to_float(values[e]) / scale, max).bits;
  return codes;
}

// N neighbouring elements of a cache entry: T itself, or fp8.
template <int V, class T, int N>
KVR_DEVICE void store_cached(unsigned char* entry, int first, const Vec<T, N>& values,
                             const Fp8Format& format, bool fp8, float scale) {
  constexpr int kBytes = kAccess<std::uint8_t, V, N>;
  if (!fp8) {
    store_vec<kAccess<T, V, N>>(reinterpret_cast<T*>(entry) + first, values);
  } else if (format.encoding == DType::e4m3fn) {
    store_vec<kBytes>(entry + first, quantised_as<e4m3fn>(values, scale, format.max));
  } else if (format.encoding == DType::e4m3fnuz) {
    store_vec<kBytes>(entry + first, quantised_as<e4m3fnuz>(values, scale, format.max));
  } else {
    store_vec<kBytes>(entry + first, quantised_as<e5m2>(values, scale, format.max));
  }
}

template <class T, int V>
KVR_GLOBAL void __launch_bounds__(kBlockThreads)
    concat_and_cache_mla_rope_kernel(const ConcatAndCacheMlaRopeArgs args) {
  const std::int64_t n = static_cast<std::int64_t>(blockIdx.x) * blockDim.z + threadIdx.z;
  if (n >= args.tokens) return;
  const int half = static_cast<int>(args.rotary_dim / 2);
  const int latent = static_cast<int>(args.latent_dim);
  const T* cosines = static_cast<const T*>(args.cos_sin) + args.positions[n] * args.cos_sin_row_stride;
  const T* sines = cosines + half;
  T* q = static_cast<T*>(args.q) + n * args.q_token_stride;
  T* k = static_cast<T*>(args.k) + n * args.k_token_stride;

  const std::int64_t slot = args.slots[n];
  const bool cached = slot >= 0;
  const bool fp8 = args.cache_format.encoding != args.dtype;
  unsigned char* entry = nullptr;
  float scale = 1.0F;
  if (cached) {
    const std::int64_t block = slot / args.block_size;
    const std::int64_t offset =
        block * args.cache_block_stride + (slot - block * args.block_size) * args.cache_entry_stride;
    entry = static_cast<unsigned char*>(args.cache) + offset * (fp8 ? 1 : static_cast<int>(sizeof(T)));
    if (fp8) scale = *args.scale;
  }

  const std::int64_t heads = args.heads + (cached ? 1 : 0);  // k goes as one more head
  for (int first = static_cast<int>(threadIdx.x) * V; first < half;
       first += static_cast<int>(blockDim.x) * V) {
    const auto c = load_vec<kAccess<T, V, V>, V>(cosines + first);
    const auto s = load_vec<kAccess<T, V, V>, V>(sines + first);
    for (std::int64_t h = threadIdx.y; h < heads; h += blockDim.y) {
      const bool is_k = h == args.heads;
      T* head = is_k ? k : q + h * args.q_head_stride;
      const Pairs<T, V> turned = rotate(load_pairs<V>(head, first, half, args.pairing), c, s, args.rounding);
      if (args.pairing == Pairing::half_split) {
        store_vec<kAccess<T, V, V>>(head + first, turned.x);
        store_vec<kAccess<T, V, V>>(head + half + first, turned.y);
        if (is_k) {
          store_cached<V>(entry, latent + first, turned.x, args.cache_format, fp8, scale);
          store_cached<V>(entry, latent + half + first, turned.y, args.cache_format, fp8, scale);
        }
      } else {
        const auto woven = weave(turned);
        store_vec<kAccess<T, V, 2 * V>>(head + 2 * first, woven);
        if (is_k) store_cached<V>(entry, latent + 2 * first, woven, args.cache_format, fp8, scale);
      }
    }
  }

  if (!cached) return;
  constexpr int kLatent = V == 1 ? 1 : 16 / static_cast<int>(sizeof(T));  // elements: one 16-byte load
  const T* kv_c = static_cast<const T*>(args.kv_c) + n * args.kv_c_token_stride;
  const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  const int threads = static_cast<int>(blockDim.x * blockDim.y);
  for (int first = thread * kLatent; first < latent; first += threads * kLatent)
    store_cached<V>(entry, first, load_vec<kAccess<T, V, kLatent>, kLatent>(kv_c + first), args.cache_format,
                    fp8, scale);
}

template <class T, int V>
LaunchStatus launch_width(const ConcatAndCacheMlaRopeArgs& args, Stream stream) {
  const std::int64_t lanes = std::min(args.rotary_dim / 2 / V, kBlockThreads);
  const std::int64_t rows = kBlockThreads / lanes;
  const std::int64_t rows_per_token =
      std::min(rows, std::max(args.heads, (kTokenThreads + lanes - 1) / lanes));
  const std::int64_t tokens_per_block = std::min(rows / rows_per_token, args.tokens);
  const std::int64_t grid = (args.tokens + tokens_per_block - 1) / tokens_per_block;
  return KVR_LAUNCH((concat_and_cache_mla_rope_kernel<T, V>), grid,
                    (Extent{lanes, rows_per_token, tokens_per_block}), 0, stream, args);
}

template <class T>
LaunchStatus launch_type(const ConcatAndCacheMlaRopeArgs& args, Stream stream) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(T));
  constexpr int kPairs = 16 / static_cast<int>(sizeof(T));
  const std::int64_t cache_size = mla::quantises(args) ? 1 : kSize;
  const bool vectors = args.rotary_dim / 2 % kPairs == 0 && args.latent_dim % 16 == 0 &&
                       is_aligned(args.q, 16, args.q_token_stride * kSize) &&
                       is_aligned(args.q, 16, args.q_head_stride * kSize) &&
                       is_aligned(args.k, 16, args.k_token_stride * kSize) &&
                       is_aligned(args.kv_c, 16, args.kv_c_token_stride * kSize) &&
                       is_aligned(args.cos_sin, 16, args.cos_sin_row_stride * kSize) &&
                       is_aligned(args.cache, 16, args.cache_block_stride * cache_size) &&
                       is_aligned(args.cache, 16, args.cache_entry_stride * cache_size);
  if (!vectors) return launch_width<T, 1>(args, stream);
  return args.pairing == Pairing::half_split ? launch_width<T, kPairs>(args, stream)
                                             : launch_width<T, kPairs / 2>(args, stream);
}

LaunchStatus launch_concat_and_cache_mla_rope(const ConcatAndCacheMlaRopeArgs& args, Stream stream) {
  if (LaunchStatus status = check_arguments(args); !status.ok() || args.tokens == 0) return status;
  if (args.dtype == DType::f32) return launch_type<float>(args, stream);
  return args.dtype == DType::fp16 ? launch_type<fp16>(args, stream) : launch_type<bf16>(args, stream);
}

}  // namespace

KVR_REGISTER_KERNEL(concat_and_cache_mla_rope, ConcatAndCacheMlaRopeArgs)

}  // namespace kvr::KVR_BUILD
