// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Geometry: one block per token. A chunk is 8 consecutive elements; thread t owns chunks t, t + B, t + 2B,
// ... With B a multiple of 64, the chunks of a quantisation group (8 or 16 of them) lie in as many
// neighbouring lanes, so a group's amax is a butterfly without shared memory, however many groups the row
// has. Up to 4 chunks a thread keeps in registers, 16384 elements per row; a longer row is read again for
// each pass. An element beyond the row's end counts as 0 in sums and is neither loaded nor stored;
// collectives are entered by every thread.
#include "kernels/norm_quant/norm_quant.h"

#include "kernels/common/convert.h"
#include "kernels/common/floats.h"
#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"
#include "kernels/common/warp.h"
#include "kernels/norm_quant/norm_quant_check.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kChunk = 8;
constexpr int kKeptChunks = 4;
constexpr std::int64_t kMaxThreads = 512;

// Which tensors may be accessed 16 bytes (out: 8 codes) at a time; the others go element by element.
struct Access {
  bool in, residual, weight, bias, out;
};

using Chunk = Floats<kChunk>;

template <class T>
KVR_DEVICE Chunk load_chunk(const T* from, int count, bool wide) {
  if (count == kChunk)
    return to_floats(wide ? load_vec<16, kChunk>(from) : load_vec<sizeof(T), kChunk>(from));
  float x[kChunk] = {};
#pragma unroll
  for (int e = 0; e < kChunk; ++e)
    if (e < count) x[e] = to_float(from[e]);
  return Chunk::from(x);
}

// Bytes: of a wide access.
template <int Bytes, class T>
KVR_DEVICE void store_codes(T* to, const Vec<T, kChunk>& codes, int count, bool wide) {
  if (wide && count == kChunk) {
    store_vec<Bytes>(to, codes);
  } else if (count == kChunk) {
    store_vec<sizeof(T)>(to, codes);
  } else {
#pragma unroll
    for (int e = 0; e < kChunk; ++e)
      if (e < count) to[e] = codes[e];
  }
}

// The row of one token, as the statistics see it.
template <class T>
struct Row {
  const T* in;
  T* residual;  // null: none
  bool wide_in, wide_residual, rounded_sum;

  KVR_DEVICE Chunk load(std::int64_t column, int count) const {
    Chunk x = load_chunk(in + column, count, wide_in);
    if (residual == nullptr) return x;
    const Chunk more = load_chunk(residual + column, count, wide_residual);
    x = x + more;
    if (rounded_sum) x = round_to<T>(x);
    return x;
  }
  // For the pass after which nobody reads the residual again.
  KVR_DEVICE void keep_sum(std::int64_t column, int count, const Chunk& x) const {
    if (residual != nullptr) store_codes<16>(residual + column, from_floats<T>(x), count, wide_residual);
  }
};

template <class T>
KVR_DEVICE Chunk load_parameter(const void* from, DType dtype, std::int64_t column, int count, bool wide) {
  return dtype == DType::f32 ? load_chunk(static_cast<const float*>(from) + column, count, wide)
                             : load_chunk(static_cast<const T*>(from) + column, count, wide);
}

// v of the header: normalised, weighted, shifted.
template <class T>
KVR_DEVICE Chunk normalise(const NormQuantArgs& args, const Access& access, const Chunk& x, float mean,
                           float r, std::int64_t column, int count) {
  const bool rounds = args.rounding == RoundingContract::per_op;
  const Chunk w = load_parameter<T>(args.weight, args.weight_dtype, column, count, access.weight);
  Chunk v = (x - mean) * r;
  if (rounds) v = round_to<T>(v);
  v = v * w;
  if (rounds) v = round_to<T>(v);
  if (args.norm == Norm::layer) {
    const Chunk b = load_parameter<T>(args.bias, args.weight_dtype, column, count, access.bias);
    v = v + b;
    if (rounds) v = round_to<T>(v);
  }
  return v;
}

KVR_DEVICE float dynamic_scale(const NormQuantArgs& args, float amax) {
  const bool fp8 = args.out_format.encoding != DType::int8;
  const float floor = fp8 ? 1.0F / (args.out_format.max * 512.0F) : 0x1p-23F;
  const float scale = amax / args.out_format.max;
  return scale < floor ? floor : scale;  // a NaN scale stays NaN
}

KVR_DEVICE void quantise(const NormQuantArgs& args, bool wide, std::int64_t at, Chunk v, int count,
                         float scale) {
  const DType encoding = args.out_format.encoding;
  if (args.quantiser == Quantiser::per_tensor || encoding == DType::int8) {
    const float inverse = 1.0F / scale;
    v = v * inverse;
  } else {
    v = v / scale;
  }
  const float max = args.out_format.max;
  const Vec<std::uint8_t, kChunk> codes = encoding == DType::e4m3fn ? saturating_codes<e4m3fn>(v, max)
                                          : encoding == DType::e4m3fnuz
                                              ? saturating_codes<e4m3fnuz>(v, max)
                                              : saturating_codes<std::int8_t>(v, max);
  store_codes<kChunk>(static_cast<std::uint8_t*>(args.out) + at, codes, count, wide);
}

// Kept: chunks per thread that live in registers; 0: the row is read again for each pass.
template <class T, int Kept>
KVR_GLOBAL void __launch_bounds__(kMaxThreads)
    norm_quant_kernel(const NormQuantArgs args, const Access access) {
  __shared__ float scratch[32];
  const std::int64_t width = args.width;
  const std::int64_t token = blockIdx.x;
  const std::int64_t batch = args.rows_per_batch > 0 ? token / args.rows_per_batch : 0;
  const std::int64_t in_row = args.rows_per_batch > 0 ? token % args.rows_per_batch : token;
  T* const residual = static_cast<T*>(args.residual);
  const Row<T> row{
      static_cast<const T*>(args.in) + batch * args.in_batch_stride + in_row * args.in_row_stride,
      residual == nullptr ? nullptr : residual + token * args.residual_row_stride, access.in, access.residual,
      args.residual_contract == ResidualContract::rounded_sum};
  const std::int64_t out_row = token * args.out_row_stride;

  const std::int64_t chunks = (width + kChunk - 1) / kChunk;
  const int rounds = static_cast<int>((chunks + blockDim.x - 1) / blockDim.x);  // Kept at most when Kept > 0
  const auto column_of = [](int k) {
    return (static_cast<std::int64_t>(k) * blockDim.x + threadIdx.x) * kChunk;
  };
  const auto count_at = [width](std::int64_t column) {
    const std::int64_t left = width - column;
    return static_cast<int>(left < 0 ? 0 : left > kChunk ? kChunk : left);
  };
  Chunk kept[Kept > 0 ? Kept : 1];
  // Calls visit(k, column, count, x) for each of this thread's chunks; every thread makes the same number of
  // calls.
  const auto for_each_chunk = [&](auto visit) {
    if constexpr (Kept > 0) {
#pragma unroll
      for (int k = 0; k < Kept; ++k) {
        if (k < rounds) visit(k, column_of(k), count_at(column_of(k)), kept[k]);
      }
    } else {
      for (int k = 0; k < rounds; ++k) {
        Chunk x = row.load(column_of(k), count_at(column_of(k)));
        visit(k, column_of(k), count_at(column_of(k)), x);
      }
    }
  };

  if constexpr (Kept > 0) {
#pragma unroll
    for (int k = 0; k < Kept; ++k) {
      const int count = count_at(column_of(k));  // 0 from k = rounds on
      kept[k] = row.load(column_of(k), count);
      row.keep_sum(column_of(k), count, kept[k]);
    }
  }

  float mean = 0.0F;
  if (args.norm == Norm::layer) {
    float sum = 0.0F;
    for_each_chunk([&](int, std::int64_t, int, const Chunk& x) { sum += tree_sum(x); });
    mean = block_sum(sum, scratch) / static_cast<float>(width);
  }
  float squares = 0.0F;
  for_each_chunk([&](int, std::int64_t, int count, const Chunk& x) {
    const Chunk d = first(count, x - mean);
    squares += tree_sum(d * d);
  });
  const float variance = block_sum(squares, scratch) / static_cast<float>(width);
  const float r = rsqrtf(variance + args.eps);

  const float given_scale = args.scale_at != nullptr ? *args.scale_at : args.scale;
  Chunk row_most{};
  for_each_chunk([&](int k, std::int64_t column, int count, Chunk& x) {
    const Chunk v = normalise<T>(args, access, x, mean, r, column, count);
    if (args.quantiser == Quantiser::per_token) {
      row_most = larger_magnitude(row_most, first(count, v));
      if constexpr (Kept > 0) kept[k] = v;
      return;
    }
    float scale = given_scale;
    if (args.quantiser == Quantiser::per_group) {
      const float amax = largest_magnitude(first(count, v));
      scale = dynamic_scale(args, args.group == 64 ? group_max_propagating_nan<64 / kChunk>(amax)
                                                   : group_max_propagating_nan<128 / kChunk>(amax));
      if (count > 0 && column % args.group == 0) {
        const std::int64_t g = column / args.group;
        const bool row_major = args.scale_layout == ScaleLayout::row_major;
        args.scales[row_major ? token * args.scales_stride + g : g * args.scales_stride + token] = scale;
      }
    }
    quantise(args, access.out, out_row + column, v, count, scale);
    if constexpr (Kept == 0) row.keep_sum(column, count, x);
  });
  if (args.quantiser != Quantiser::per_token) return;

  float amax = block_amax_propagating_nan(largest_magnitude(row_most), scratch);
  const float bound = args.scale_ub_at != nullptr ? *args.scale_ub_at : args.scale_ub;
  if (bound != bound || amax > bound) amax = bound;  // a NaN amax stays NaN
  const float scale = dynamic_scale(args, amax);
  for_each_chunk([&](int, std::int64_t column, int count, const Chunk& x) {
    if constexpr (Kept > 0) {
      quantise(args, access.out, out_row + column, x, count, scale);
    } else {
      quantise(args, access.out, out_row + column, normalise<T>(args, access, x, mean, r, column, count),
               count, scale);
      row.keep_sum(column, count, x);
    }
  });
  if (threadIdx.x == 0) {
    const std::int64_t at = args.scale_layout == ScaleLayout::row_major ? token * args.scales_stride : token;
    args.scales[at] = scale;
  }
}

// A function of the width alone: how many rows share a launch must not change the order of a sum.
std::int64_t threads_for(std::int64_t width) {
  constexpr std::int64_t kQuantum = 64;  // a full warp everywhere
  const std::int64_t chunks = (width + kChunk - 1) / kChunk;
  const std::int64_t quanta = (chunks + kQuantum * kKeptChunks - 1) / (kQuantum * kKeptChunks);
  return quanta * kQuantum < kMaxThreads ? quanta * kQuantum : kMaxThreads;
}

template <class T>
LaunchStatus launch_type(const NormQuantArgs& args, Stream stream) {
  const auto size = static_cast<std::int64_t>(sizeof(T));
  const Access access{
      is_aligned(args.in, 16, args.in_row_stride * size) && args.in_batch_stride * size % 16 == 0,
      is_aligned(args.residual, 16, args.residual_row_stride * size), is_aligned(args.weight, 16),
      is_aligned(args.bias, 16), is_aligned(args.out, kChunk, args.out_row_stride)};
  const std::int64_t threads = threads_for(args.width);
  const bool fits = args.width <= threads * kKeptChunks * kChunk;
  if (fits)
    return KVR_LAUNCH((norm_quant_kernel<T, kKeptChunks>), args.tokens, threads, 0, stream, args, access);
  return KVR_LAUNCH((norm_quant_kernel<T, 0>), args.tokens, threads, 0, stream, args, access);
}

LaunchStatus launch_norm_quant(const NormQuantArgs& args, Stream stream) {
  if (LaunchStatus status = norm_quant::check_norm_quant(args); !status.ok() || args.tokens == 0)
    return status;
  if (args.dtype == DType::f32) return launch_type<float>(args, stream);
  return args.dtype == DType::bf16 ? launch_type<bf16>(args, stream) : launch_type<fp16>(args, stream);
}

}  // namespace

KVR_REGISTER_KERNEL(norm_quant, NormQuantArgs)

}  // namespace kvr::KVR_BUILD
