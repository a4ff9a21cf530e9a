// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What norm_quant refuses before a launch, with the name of the argument first: shapes and strides, the
// quantiser and its scales, pointers and overlaps. Host code; nothing here looks at device memory.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "kernels/norm_quant/norm_quant.h"

namespace kvr::norm_quant {

inline constexpr std::int64_t kMaxBlocks = 2147483647;  // grid x, on every device

inline std::string text(const char* name, std::int64_t value, const char* why) {
  return std::string(name) + " = " + std::to_string(value) + ": " + why;
}
inline std::string text(const char* name, float value, const char* why) {
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
inline bool share_bytes(const Extents& a, const Extents& b) {
  if (a.base == nullptr || b.base == nullptr || a.begin() >= b.end() || b.begin() >= a.end()) return false;
  if (a.stride_bytes != b.stride_bytes || a.stride_bytes == 0) return true;
  const auto stride = static_cast<std::uintptr_t>(a.stride_bytes);
  const std::uintptr_t offset = (b.begin() % stride + stride - a.begin() % stride) % stride;
  return offset < static_cast<std::uintptr_t>(a.row_bytes) ||
         offset + static_cast<std::uintptr_t>(b.row_bytes) > stride;
}

inline std::int64_t size_of(DType dtype) {
  return dtype == DType::f32 ? 4 : 2;
}

inline LaunchStatus check_shapes(const NormQuantArgs& args) {
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

inline LaunchStatus check_quantiser(const NormQuantArgs& args) {
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

inline LaunchStatus check_pointers(const NormQuantArgs& args) {
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

inline LaunchStatus check_norm_quant(const NormQuantArgs& args) {
  if (LaunchStatus status = check_shapes(args); !status.ok()) return status;
  if (LaunchStatus status = check_quantiser(args); !status.ok()) return status;
  return args.tokens == 0 ? LaunchStatus{} : check_pointers(args);
}

}  // namespace kvr::norm_quant
