// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Geometry: a lane owns 8 consecutive elements of a row, so a row takes a group of D/8 lanes (8, 16 or 32)
// and a block of 128 threads holds 1024/D rows. The group never spans warps, whatever their size. Sums: the
// lane's 8 elements left to right, then the group's butterfly. No shared memory, no barrier; rows beyond N
// ride along (every lane of a warp takes part in the collectives) and neither load nor store.
#include "kernels/k_norm_rope/k_norm_rope.h"

#include <cmath>

#include "kernels/common/convert.h"
#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"
#include "kernels/common/warp.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kLaneElements = 8;
constexpr int kBlockThreads = 128;

// 8 consecutive elements as float, in accesses of VecBytes bytes (an element at a time when VecBytes is
// sizeof(T)).
template <int VecBytes, class T>
KVR_DEVICE Vec<float, kLaneElements> load_lane(const T* from) {
  const Vec<T, kLaneElements> codes = load_vec<VecBytes, kLaneElements>(from);
  Vec<float, kLaneElements> values;
#pragma unroll
  for (int e = 0; e < kLaneElements; ++e) values[e] = to_float(codes[e]);
  return values;
}

template <class T, int D, int VecBytes>
KVR_GLOBAL void k_norm_rope_kernel(const KNormRopeArgs args) {
  constexpr int kGroup = D / kLaneElements;
  constexpr int kRowsPerBlock = kBlockThreads / kGroup;
  constexpr int kFloatBytes = VecBytes == sizeof(T) ? static_cast<int>(sizeof(float)) : 16;
  const int lane = static_cast<int>(threadIdx.x) % kGroup;
  const int first = lane * kLaneElements;
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + static_cast<int>(threadIdx.x) / kGroup;
  const bool live = row < args.tokens;

  Vec<float, kLaneElements> x{};
  if (live) x = load_lane<VecBytes>(static_cast<const T*>(args.k) + row * args.k_row_stride + first);

  float sum = 0.0F;
#pragma unroll
  for (int e = 0; e < kLaneElements; ++e) sum += x[e];
  const float mean = group_sum<kGroup>(sum) / static_cast<float>(D);
  float squares = 0.0F;
#pragma unroll
  for (int e = 0; e < kLaneElements; ++e) {
    x[e] -= mean;
    squares += x[e] * x[e];
  }
  const float variance = group_sum<kGroup>(squares) / static_cast<float>(D);
  const float inv = rsqrtf(variance + args.eps);

  if (live) {
    const auto weight = load_lane<kFloatBytes>(args.weight + first);
    const auto bias = load_lane<kFloatBytes>(args.bias + first);
#pragma unroll
    for (int e = 0; e < kLaneElements; ++e) x[e] = x[e] * inv * weight[e] + bias[e];
  }

  const int rotary = static_cast<int>(args.rotary_dim);
  const bool rotates = live && first < rotary;
  const float* cosines = args.cos_sin;
  if (rotates) {
    const std::int64_t position = args.position_dtype == DType::int64
                                      ? static_cast<const std::int64_t*>(args.positions)[row]
                                      : static_cast<const std::int32_t*>(args.positions)[row];
    cosines += position * args.cos_sin_row_stride;
  }
  const float* sines = cosines + rotary / 2;

  if (args.pairing == Pairing::interleaved) {
    if (rotates) {
      constexpr int kPairs = kLaneElements / 2;
      const auto c = load_vec<kFloatBytes, kPairs>(cosines + first / 2);
      const auto s = load_vec<kFloatBytes, kPairs>(sines + first / 2);
#pragma unroll
      for (int i = 0; i < kPairs; ++i) {
        const float a = x[2 * i];
        const float b = x[2 * i + 1];
        x[2 * i] = a * c[i] - b * s[i];
        x[2 * i + 1] = a * s[i] + b * c[i];
      }
    }
  } else {
    // R/2 is a multiple of 8: the partners of a lane's elements all lie in one other lane, R/16 away. The
    // exchange is outside of any divergent branch: every lane of the warp takes part, those without a partner
    // with themselves.
    const int half_lanes = rotary / (2 * kLaneElements);
    const bool upper = lane >= half_lanes;
    const int partner = first >= rotary ? lane : (upper ? lane - half_lanes : lane + half_lanes);
    const auto other = group_shfl<kGroup>(x, partner);
    if (rotates) {
      const int pair = upper ? first - rotary / 2 : first;
      const auto c = load_lane<kFloatBytes>(cosines + pair);
      const auto s = load_lane<kFloatBytes>(sines + pair);
#pragma unroll
      for (int e = 0; e < kLaneElements; ++e)
        x[e] = upper ? other[e] * s[e] + x[e] * c[e] : x[e] * c[e] - other[e] * s[e];
    }
  }

  if (live) {
    Vec<T, kLaneElements> out;
#pragma unroll
    for (int e = 0; e < kLaneElements; ++e) out[e] = from_float<T>(x[e]);
    store_vec<VecBytes>(static_cast<T*>(args.out) + row * args.out_row_stride + first, out);
  }
}

template <class T, int D>
LaunchStatus launch_width(const KNormRopeArgs& args, Stream stream) {
  constexpr std::int64_t kRowsPerBlock = kBlockThreads * kLaneElements / D;
  const std::int64_t grid = (args.tokens + kRowsPerBlock - 1) / kRowsPerBlock;
  const auto aligned_to = [&args](std::int64_t bytes) {
    const auto size = static_cast<std::int64_t>(sizeof(T));
    return is_aligned(args.k, bytes, args.k_row_stride * size) &&
           is_aligned(args.out, bytes, args.out_row_stride * size);
  };
  const bool floats_aligned =
      is_aligned(args.weight, 16) && is_aligned(args.bias, 16) &&
      is_aligned(args.cos_sin, 16, args.cos_sin_row_stride * static_cast<std::int64_t>(sizeof(float)));
  if (floats_aligned && aligned_to(16))
    return KVR_LAUNCH((k_norm_rope_kernel<T, D, 16>), grid, kBlockThreads, 0, stream, args);
  if (floats_aligned && aligned_to(8))
    return KVR_LAUNCH((k_norm_rope_kernel<T, D, 8>), grid, kBlockThreads, 0, stream, args);
  return KVR_LAUNCH((k_norm_rope_kernel<T, D, sizeof(T)>), grid, kBlockThreads, 0, stream, args);
}

template <class T>
LaunchStatus launch_type(const KNormRopeArgs& args, Stream stream) {
  if (args.head_dim == 64) return launch_width<T, 64>(args, stream);
  if (args.head_dim == 128) return launch_width<T, 128>(args, stream);
  return launch_width<T, 256>(args, stream);
}

std::string text(const char* name, std::int64_t value, const char* why) {
  return std::string(name) + " = " + std::to_string(value) + ": " + why;
}

LaunchStatus check(const KNormRopeArgs& args) {
  using S = LaunchStatus;
  if (args.tokens < 0) return S::refused(text("tokens", args.tokens, "must not be negative"));
  if (args.dtype != DType::bf16 && args.dtype != DType::fp16)
    return S::unsupported("dtype: only bf16 and fp16");
  if (args.position_dtype != DType::int32 && args.position_dtype != DType::int64)
    return S::refused("position_dtype: must be int32 or int64");
  if (args.head_dim != 64 && args.head_dim != 128 && args.head_dim != 256)
    return S::unsupported(text("head_dim", args.head_dim, "only 64, 128 and 256"));
  if (args.rotary_dim <= 0 || args.rotary_dim > args.head_dim)
    return S::refused(text("rotary_dim", args.rotary_dim, "must be in (0, head_dim]"));
  if (args.rotary_dim % 2 != 0) return S::refused(text("rotary_dim", args.rotary_dim, "must be even"));
  if (args.rotary_dim % 16 != 0)
    return S::unsupported(text("rotary_dim", args.rotary_dim, "only multiples of 16"));
  if (args.k_inner_stride != 1) return S::refused(text("k_inner_stride", args.k_inner_stride, "must be 1"));
  if (args.out_inner_stride != 1)
    return S::refused(text("out_inner_stride", args.out_inner_stride, "must be 1"));
  if (args.k_row_stride < args.head_dim)
    return S::refused(text("k_row_stride", args.k_row_stride, "is narrower than head_dim"));
  if (args.out_row_stride < args.head_dim)
    return S::refused(text("out_row_stride", args.out_row_stride, "is narrower than head_dim"));
  if (args.cos_sin_row_stride < args.rotary_dim)
    return S::refused(text("cos_sin_row_stride", args.cos_sin_row_stride, "is narrower than rotary_dim"));
  if (args.max_position <= 0) return S::refused(text("max_position", args.max_position, "must be positive"));
  if (!(args.eps >= 0.0F))
    return S::refused("eps = " + std::to_string(args.eps) + ": must be zero or positive");
  if (args.tokens == 0) return {};
  if (args.k == nullptr) return S::refused("k: null pointer");
  if (args.out == nullptr) return S::refused("out: null pointer");
  if (args.weight == nullptr) return S::refused("weight: null pointer");
  if (args.bias == nullptr) return S::refused("bias: null pointer");
  if (args.cos_sin == nullptr) return S::refused("cos_sin: null pointer");
  if (args.positions == nullptr) return S::refused("positions: null pointer");
  return {};
}

LaunchStatus launch_k_norm_rope(const KNormRopeArgs& args, Stream stream) {
  if (LaunchStatus status = check(args); !status.ok() || args.tokens == 0) return status;
  return args.dtype == DType::bf16 ? launch_type<bf16>(args, stream) : launch_type<fp16>(args, stream);
}

}  // namespace

KVR_REGISTER_KERNEL(k_norm_rope, KNormRopeArgs)

}  // namespace kvr::KVR_BUILD
