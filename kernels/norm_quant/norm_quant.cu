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

#include <cmath>
#include <initializer_list>

#include "kernels/common/convert.h"
#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"
#include "kernels/common/warp.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kChunk = 8;
constexpr int kKeptChunks = 4;
constexpr std::int64_t kMaxThreads = 512;
constexpr std::int64_t kMaxBlocks = 2147483647;  // grid x, on every device

// Which tensors may be accessed 16 bytes (out: 8 codes) at a time; the others go element by element.
struct Access {
  bool in, residual, weight, bias, out;
};

struct Chunk {
  float v[kChunk];
  KVR_DEVICE float& operator[](int e) { return v[e]; }
  KVR_DEVICE const float& operator[](int e) const { return v[e]; }
};

template <class T>
KVR_DEVICE float round_to(float value) {
  return to_float(from_float<T>(value));
}

template <class T>
KVR_DEVICE Chunk load_chunk(const T* from, int count, bool wide) {
  Chunk x{};
  if (wide && count == kChunk) {
    const Vec<T, kChunk> codes = load_vec<16, kChunk>(from);
#pragma unroll
    for (int e = 0; e < kChunk; ++e) x[e] = to_float(codes[e]);
  } else {
#pragma unroll
    for (int e = 0; e < kChunk; ++e)
      if (e < count) x[e] = to_float(from[e]);
  }
  return x;
}

template <class T>
KVR_DEVICE void store_chunk(T* to, const Chunk& x, int count, bool wide) {
  if (wide && count == kChunk) {
    Vec<T, kChunk> codes;
#pragma unroll
    for (int e = 0; e < kChunk; ++e) codes[e] = from_float<T>(x[e]);
    store_vec<16>(to, codes);
  } else {
#pragma unroll
    for (int e = 0; e < kChunk; ++e)
      if (e < count) to[e] = from_float<T>(x[e]);
  }
}

KVR_DEVICE float tree_sum(const Chunk& x) {
  return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

// Bits of non-negative floats are ordered as the numbers are, and every NaN lies above infinity.
KVR_DEVICE float chunk_amax(const Chunk& v, int count) {
  unsigned most = 0;
#pragma unroll
  for (int e = 0; e < kChunk; ++e) {
    const unsigned magnitude = __float_as_uint(v[e]) & 0x7fffffffU;
    if (e < count && magnitude > most) most = magnitude;
  }
  return __uint_as_float(most);
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
#pragma unroll
    for (int e = 0; e < kChunk; ++e) {
      x[e] += more[e];
      if (rounded_sum) x[e] = round_to<T>(x[e]);
    }
    return x;
  }
  // For the pass after which nobody reads the residual again.
  KVR_DEVICE void keep_sum(std::int64_t column, int count, const Chunk& x) const {
    if (residual != nullptr) store_chunk(residual + column, x, count, wide_residual);
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
  Chunk v;
#pragma unroll
  for (int e = 0; e < kChunk; ++e) {
    float t = (x[e] - mean) * r;
    if (rounds) t = round_to<T>(t);
    v[e] = t * w[e];
    if (rounds) v[e] = round_to<T>(v[e]);
  }
  if (args.norm == Norm::layer) {
    const Chunk b = load_parameter<T>(args.bias, args.weight_dtype, column, count, access.bias);
#pragma unroll
    for (int e = 0; e < kChunk; ++e) {
      v[e] += b[e];
      if (rounds) v[e] = round_to<T>(v[e]);
    }
  }
  return v;
}

KVR_DEVICE float dynamic_scale(const NormQuantArgs& args, float amax) {
  const bool fp8 = args.out_format.encoding != DType::int8;
  const float floor = fp8 ? 1.0F / (args.out_format.max * 512.0F) : 0x1p-23F;
  const float scale = amax / args.out_format.max;
  return scale < floor ? floor : scale;  // a NaN scale stays NaN
}

template <class Code>
KVR_DEVICE void store_codes(Code* to, const Chunk& v, int count, bool wide, float max) {
  if (wide && count == kChunk) {
    Vec<Code, kChunk> codes;
#pragma unroll
    for (int e = 0; e < kChunk; ++e) codes[e] = from_float_saturating<Code>(v[e], max);
    store_vec<kChunk>(to, codes);
  } else {
#pragma unroll
    for (int e = 0; e < kChunk; ++e)
      if (e < count) to[e] = from_float_saturating<Code>(v[e], max);
  }
}

KVR_DEVICE void quantise(const NormQuantArgs& args, bool wide, std::int64_t at, Chunk v, int count,
                         float scale) {
  const DType encoding = args.out_format.encoding;
  if (args.quantiser == Quantiser::per_tensor || encoding == DType::int8) {
    const float inverse = 1.0F / scale;
#pragma unroll
    for (int e = 0; e < kChunk; ++e) v[e] *= inverse;
  } else {
#pragma unroll
    for (int e = 0; e < kChunk; ++e) v[e] /= scale;
  }
  const float max = args.out_format.max;
  if (encoding == DType::e4m3fn)
    store_codes(static_cast<e4m3fn*>(args.out) + at, v, count, wide, max);
  else if (encoding == DType::e4m3fnuz)
    store_codes(static_cast<e4m3fnuz*>(args.out) + at, v, count, wide, max);
  else
    store_codes(static_cast<std::int8_t*>(args.out) + at, v, count, wide, max);
}

struct BlockMaxPropagatingNan {
  KVR_DEVICE float operator()(float x) const { return group_max_propagating_nan<32>(x); }
};

// Kept: chunks per thread that live in registers; 0: the row is read again for each pass.
template <class T, int Kept>
KVR_GLOBAL void __launch_bounds__(kMaxThreads) norm_quant_kernel(const NormQuantArgs args, const Access access) {
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
    Chunk square;
#pragma unroll
    for (int e = 0; e < kChunk; ++e) {
      const float d = e < count ? x[e] - mean : 0.0F;
      square[e] = d * d;
    }
    squares += tree_sum(square);
  });
  const float variance = block_sum(squares, scratch) / static_cast<float>(width);
  const float r = rsqrtf(variance + args.eps);

  const float given_scale = args.scale_at != nullptr ? *args.scale_at : args.scale;
  float row_amax = 0.0F;
  for_each_chunk([&](int k, std::int64_t column, int count, Chunk& x) {
    const Chunk v = normalise<T>(args, access, x, mean, r, column, count);
    if (args.quantiser == Quantiser::per_tensor) {
      quantise(args, access.out, out_row + column, v, count, given_scale);
    } else if (args.quantiser == Quantiser::per_token) {
      const float amax = chunk_amax(v, count);
      row_amax = MaxPropagatingNan::combine(row_amax, amax);
      if constexpr (Kept > 0) kept[k] = v;
    } else {
      float amax = chunk_amax(v, count);
      amax = args.group == 64 ? group_max_propagating_nan<64 / kChunk>(amax)
                              : group_max_propagating_nan<128 / kChunk>(amax);
      const float scale = dynamic_scale(args, amax);
      if (count > 0) {
        quantise(args, access.out, out_row + column, v, count, scale);
        if (column % args.group == 0) {
          const std::int64_t g = column / args.group;
          const std::int64_t at = args.scale_layout == ScaleLayout::row_major
                                      ? token * args.scales_stride + g
                                      : g * args.scales_stride + token;
          args.scales[at] = scale;
        }
      }
    }
    if constexpr (Kept == 0) {
      if (args.quantiser != Quantiser::per_token) row.keep_sum(column, count, x);
    }
  });
  if (args.quantiser != Quantiser::per_token) return;

  float amax = block_reduce(row_amax, scratch, 0.0F, BlockMaxPropagatingNan{});
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

std::string text(const char* name, std::int64_t value, const char* why) {
  return std::string(name) + " = " + std::to_string(value) + ": " + why;
}
std::string text(const char* name, float value, const char* why) {
  return std::string(name) + " = " + std::to_string(value) + ": " + why;
}

// A tensor of N rows: where it lies.
struct Extents {
  const char* name;
  const void* base;
  std::int64_t rows, row_bytes, stride_bytes;  // row_bytes = 0: absent
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(base); }
  std::uintptr_t end() const {
    return begin() + static_cast<std::uintptr_t>((rows - 1) * stride_bytes + row_bytes);
  }
};

// Rows of equal stride that interleave (the two halves of a wider tensor) share a span but no byte.
bool share_bytes(const Extents& a, const Extents& b) {
  if (a.base == nullptr || b.base == nullptr || a.begin() >= b.end() || b.begin() >= a.end()) return false;
  if (a.stride_bytes != b.stride_bytes || a.stride_bytes == 0) return true;
  const auto stride = static_cast<std::uintptr_t>(a.stride_bytes);
  const std::uintptr_t offset = (b.begin() % stride + stride - a.begin() % stride) % stride;
  return offset < static_cast<std::uintptr_t>(a.row_bytes) ||
         offset + static_cast<std::uintptr_t>(b.row_bytes) > stride;
}

std::int64_t size_of(DType dtype) {
  return dtype == DType::f32 ? 4 : 2;
}

LaunchStatus check_shapes(const NormQuantArgs& args) {
  using S = LaunchStatus;
  if (args.tokens < 0) return S::refused(text("tokens", args.tokens, "must not be negative"));
  if (args.tokens > kMaxBlocks) return S::refused(text("tokens", args.tokens, "more than a grid has blocks"));
  if (args.width <= 0) return S::refused(text("width", args.width, "must be positive"));
  if (args.dtype != DType::f32 && args.dtype != DType::fp16 && args.dtype != DType::bf16)
    return S::unsupported("dtype: only f32, fp16 and bf16");
  if (args.weight_dtype != args.dtype && args.weight_dtype != DType::f32)
    return S::refused("weight_dtype: must be dtype or f32");
  if (args.in_inner_stride != 1)
    return S::refused(text("in_inner_stride", args.in_inner_stride, "must be 1"));
  if (args.out_inner_stride != 1)
    return S::refused(text("out_inner_stride", args.out_inner_stride, "must be 1"));
  if (args.in_row_stride < args.width && args.in_row_stride != 0)
    return S::refused(text("in_row_stride", args.in_row_stride, "is narrower than width"));
  if (args.rows_per_batch < 0)
    return S::refused(text("rows_per_batch", args.rows_per_batch, "must not be negative"));
  if (args.in_batch_stride < 0)
    return S::refused(text("in_batch_stride", args.in_batch_stride, "must not be negative"));
  if (args.out_row_stride < args.width)
    return S::refused(text("out_row_stride", args.out_row_stride, "is narrower than width"));
  if (args.residual != nullptr) {
    if (args.residual_inner_stride != 1)
      return S::refused(text("residual_inner_stride", args.residual_inner_stride, "must be 1"));
    if (args.residual_row_stride < args.width)
      return S::refused(text("residual_row_stride", args.residual_row_stride, "is narrower than width"));
  }
  if (!(args.eps >= 0.0F)) return S::refused(text("eps", args.eps, "must be zero or positive"));
  if (args.norm == Norm::rms && args.bias != nullptr) return S::refused("bias: RMSNorm has none");
  return {};
}

LaunchStatus check_quantiser(const NormQuantArgs& args) {
  using S = LaunchStatus;
  const DType encoding = args.out_format.encoding;
  const float max = args.out_format.max;
  const float format_max = encoding == DType::e4m3fn ? 448.0F : encoding == DType::e4m3fnuz ? 240.0F : 127.0F;
  if (encoding != DType::e4m3fn && encoding != DType::e4m3fnuz && encoding != DType::int8)
    return S::unsupported("out_format: only e4m3fn, e4m3fnuz and int8");
  if (!(max > 0.0F && max <= format_max))
    return S::refused(text("out_format.max", max, "must be positive and within the encoding"));

  const bool bounded =
      args.scale_ub_at != nullptr || !(args.scale_ub == std::numeric_limits<float>::infinity());
  if (bounded) {
    if (args.quantiser != Quantiser::per_token) return S::refused("scale_ub: only with per_token");
    if (encoding == DType::int8) return S::refused("scale_ub: not with int8");
    if (args.scale_ub_at == nullptr && !(args.scale_ub > 0.0F))
      return S::refused(text("scale_ub", args.scale_ub, "must be positive"));
  }
  if (args.quantiser == Quantiser::per_tensor) {
    if (args.scale_at == nullptr &&
        !(args.scale > 0.0F && args.scale < std::numeric_limits<float>::infinity()))
      return S::refused(text("scale", args.scale, "must be positive and finite"));
    return {};
  }

  std::int64_t groups = 1;
  if (args.quantiser == Quantiser::per_group) {
    if (args.group != 64 && args.group != 128)
      return S::unsupported(text("group", args.group, "only 64 and 128"));
    if (args.width % args.group != 0) return S::refused(text("group", args.group, "does not divide width"));
    groups = args.width / args.group;
  }
  const bool row_major = args.scale_layout == ScaleLayout::row_major;
  const std::int64_t lines = row_major ? args.tokens : groups;
  const std::int64_t line = row_major ? groups : args.tokens;
  if (args.scales_stride < line)
    return S::refused(text("scales_stride", args.scales_stride,
                           row_major ? "row-major scales need one place per group"
                                     : "column-major scales need one place per token"));
  if (args.tokens > 0 && (args.scales_numel - line) / args.scales_stride < lines - 1)
    return S::refused(text("scales_numel", args.scales_numel, "too small for the scales and their stride"));
  if (args.tokens > 0 && args.scales_numel < line)
    return S::refused(text("scales_numel", args.scales_numel, "too small for the scales and their stride"));
  return {};
}

LaunchStatus check_pointers(const NormQuantArgs& args) {
  using S = LaunchStatus;
  const bool dynamic = args.quantiser != Quantiser::per_tensor;
  if (args.in == nullptr) return S::refused("in: null pointer");
  if (args.weight == nullptr) return S::refused("weight: null pointer");
  if (args.norm == Norm::layer && args.bias == nullptr) return S::refused("bias: null pointer");
  if (args.out == nullptr) return S::refused("out: null pointer");
  if (dynamic && args.scales == nullptr) return S::refused("scales: null pointer");

  const std::int64_t n = args.tokens;
  const std::int64_t size = size_of(args.dtype);
  const std::int64_t batches = args.rows_per_batch > 0 ? (n - 1) / args.rows_per_batch : 0;
  // With batches the span is what counts: its rows are not evenly spaced.
  Extents in_span{"in", args.in, n, args.width * size, args.in_row_stride * size};
  if (args.rows_per_batch > 0) {
    const std::int64_t rows = n < args.rows_per_batch ? n : args.rows_per_batch;
    in_span = {"in", args.in, 1,
               (batches * args.in_batch_stride + (rows - 1) * args.in_row_stride + args.width) * size, 0};
  }
  const Extents& in = in_span;
  const std::int64_t parameter_bytes = args.width * size_of(args.weight_dtype);
  const Extents residual{"residual", args.residual, n, args.width * size, args.residual_row_stride * size};
  const Extents out{"out", args.out, n, args.width, args.out_row_stride};
  const Extents scales{"scales", dynamic ? args.scales : nullptr, 1, args.scales_numel * 4, 0};
  const Extents weight{"weight", args.weight, 1, parameter_bytes, 0};
  const Extents bias{"bias", args.bias, 1, parameter_bytes, 0};
  for (const Extents* written : {&residual, &out, &scales})
    for (const Extents* other : {&in, &residual, &out, &scales, &weight, &bias})
      if (written != other && share_bytes(*written, *other))
        return S::refused(std::string(written->name) + ": overlaps " + other->name);
  return {};
}

LaunchStatus launch_norm_quant(const NormQuantArgs& args, Stream stream) {
  if (LaunchStatus status = check_shapes(args); !status.ok()) return status;
  if (LaunchStatus status = check_quantiser(args); !status.ok()) return status;
  if (args.tokens == 0) return {};
  if (LaunchStatus status = check_pointers(args); !status.ok()) return status;
  if (args.dtype == DType::f32) return launch_type<float>(args, stream);
  return args.dtype == DType::bf16 ? launch_type<bf16>(args, stream) : launch_type<fp16>(args, stream);
}

}  // namespace

KVR_REGISTER_KERNEL(norm_quant, NormQuantArgs)

}  // namespace kvr::KVR_BUILD
