// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "reference/concat_and_cache_mla_rope.h"

#include <algorithm>
#include <cmath>

#include "harness/numeric/codec.h"

namespace kvr::reference {
namespace {

constexpr double kHalfUlp = 0x1p-24;         // of fp32, relative
constexpr double kHalfSubnormal = 0x1p-150;  // half a step of fp32 below 2^-126

// Row-major elements of T.
std::uint64_t code(DType dtype, const void* data, std::int64_t index) {
  if (dtype == DType::f32) return static_cast<const std::uint32_t*>(data)[index];
  return static_cast<const std::uint16_t*>(data)[index];
}

double element(DType dtype, const void* data, std::int64_t index) {
  return decode(dtype, code(dtype, data, index));
}

double rounded(DType dtype, double value) {
  return decode(dtype, encode(dtype, value));
}

// One element from its two products, first -+ second.
template <class Real>
MlaRotated combine(const ConcatAndCacheMlaRopeArgs& args, Real first, Real second, Real sign) {
  MlaRotated out;
  const double p1 = std::fabs(static_cast<double>(first));
  const double p2 = std::fabs(static_cast<double>(second));
  out.products = std::max(p1, p2);
  if (args.rounding == RopeRounding::per_op) {
    first = static_cast<Real>(rounded(args.dtype, static_cast<double>(first)));
    second = static_cast<Real>(rounded(args.dtype, static_cast<double>(second)));
  }
  const Real value = first + sign * second;
  out.value = static_cast<double>(value);
  if (!std::isfinite(out.value)) return out;  // NaN and infinity have no neighbourhood
  const bool single = args.dtype == DType::f32;
  if (args.rounding == RopeRounding::per_op) {
    out.budget = single ? kHalfUlp * out.products + kHalfSubnormal : 0.0;
  } else {
    out.budget = kHalfUlp * (single ? p1 + p2 : std::fabs(out.value)) + 2 * kHalfSubnormal;
  }
  return out;
}

// fl32(value / scale), value being representable in T.
double quotient(const ConcatAndCacheMlaRopeArgs& args, double value) {
  return static_cast<double>(static_cast<float>(value) / *args.scale);
}

}  // namespace

double mla_element(const ConcatAndCacheMlaRopeArgs& args, const void* tensor, std::int64_t offset) {
  return element(args.dtype, tensor, offset);
}

const void* mla_at(const ConcatAndCacheMlaRopeArgs& args, const void* tensor, std::int64_t offset) {
  return static_cast<const std::byte*>(tensor) + offset * static_cast<std::int64_t>(dtype_size(args.dtype));
}

template <class Real>
void mla_rotate(const ConcatAndCacheMlaRopeArgs& args, std::int64_t position, const void* head,
                MlaRotated* out) {
  const std::int64_t R = args.rotary_dim;
  const void* row = mla_at(args, args.cos_sin, position * args.cos_sin_row_stride);
  for (std::int64_t i = 0; i < R / 2; ++i) {
    const std::int64_t a = args.pairing == Pairing::interleaved ? 2 * i : i;
    const std::int64_t b = args.pairing == Pairing::interleaved ? 2 * i + 1 : i + R / 2;
    const Real x = static_cast<Real>(element(args.dtype, head, a));
    const Real y = static_cast<Real>(element(args.dtype, head, b));
    const Real c = static_cast<Real>(element(args.dtype, row, i));
    const Real s = static_cast<Real>(element(args.dtype, row, R / 2 + i));
    out[a] = combine<Real>(args, x * c, y * s, Real(-1));
    out[b] = combine<Real>(args, y * c, x * s, Real(1));
  }
}

MlaRotated mla_cached(const ConcatAndCacheMlaRopeArgs& args, const MlaRotated& value) {
  if (args.cache_format.encoding == args.dtype) return value;
  MlaRotated out;
  out.value = quotient(args, rounded(args.dtype, value.value));
  out.products = value.products / std::fabs(static_cast<double>(*args.scale));
  if (value.budget == 0.0 || std::isnan(out.value)) return out;
  // Saturated values are equal, however far apart the quotients are.
  const auto max = static_cast<double>(args.cache_format.max);
  const auto stored = [&](double v) { return std::clamp(quotient(args, rounded(args.dtype, v)), -max, max); };
  const double middle = std::clamp(out.value, -max, max);
  out.budget = std::max(std::fabs(stored(value.value - value.budget) - middle),
                        std::fabs(stored(value.value + value.budget) - middle));
  return out;
}

template void mla_rotate<float>(const ConcatAndCacheMlaRopeArgs&, std::int64_t, const void*, MlaRotated*);
template void mla_rotate<double>(const ConcatAndCacheMlaRopeArgs&, std::int64_t, const void*, MlaRotated*);

}  // namespace kvr::reference
