// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The scan, compiled for any processor and, on x86-64, for AVX2 as well; chosen when the program runs.
#include "harness/judge/segment_scan.h"

#include <limits>
#include <type_traits>

// Vectors are passed between functions of this file only, all inlined: no binary interface depends on how.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace kvr {
namespace {

using Float8 = float __attribute__((vector_size(32)));
using Float4 = float __attribute__((vector_size(16)));
using Double4 = double __attribute__((vector_size(32)));
using Int8 = std::int32_t __attribute__((vector_size(32)));
using Int4 = std::int32_t __attribute__((vector_size(16)));
using Long4 = std::int64_t __attribute__((vector_size(32)));

template <class Code, int width>
struct Narrow;
template <>
struct Narrow<std::uint16_t, 8> {
  using type = std::uint16_t __attribute__((vector_size(16)));
};
template <>
struct Narrow<std::uint16_t, 4> {
  using type = std::uint16_t __attribute__((vector_size(8)));
};
template <>
struct Narrow<std::uint8_t, 8> {
  using type = std::uint8_t __attribute__((vector_size(8)));
};
template <>
struct Narrow<std::uint8_t, 4> {
  using type = std::uint8_t __attribute__((vector_size(4)));
};

constexpr double power_of_two(int exponent) {
  double value = 1.0;
  for (; exponent > 0; --exponent) value *= 2.0;
  for (; exponent < 0; ++exponent) value /= 2.0;
  return value;
}

template <class CodeType, int exponent_bits, int mantissa_bits, int exponent_bias, std::int32_t special,
          bool is_fnuz>
struct ScanFormat {
  using Code = CodeType;
  static constexpr int bits = 1 + exponent_bits + mantissa_bits;
  static constexpr int mantissa = mantissa_bits;
  static constexpr int bias = exponent_bias;
  static constexpr bool fnuz = is_fnuz;
  static constexpr std::int32_t magnitude_mask =
      static_cast<std::int32_t>((std::uint32_t{1} << (exponent_bits + mantissa_bits)) - 1);
  static constexpr std::int32_t first_special = special;  // magnitudes from here on are infinite or NaN
  static constexpr float rebias = static_cast<float>(power_of_two(127 - exponent_bias));
  static constexpr int min_exponent = 1 - exponent_bias;
  // The code below the first special one (FNUZ: all magnitudes are finite).
  static constexpr std::int32_t max_code = special - 1;
  static constexpr double max_finite =
      (1.0 + (max_code & ((1 << mantissa_bits) - 1)) * power_of_two(-mantissa_bits)) *
      power_of_two((max_code >> mantissa_bits) - exponent_bias);
};
using ScanF32 = ScanFormat<std::uint32_t, 8, 23, 127, 0x7F800000, false>;
using ScanFp16 = ScanFormat<std::uint16_t, 5, 10, 15, 0x7C00, false>;
using ScanBf16 = ScanFormat<std::uint16_t, 8, 7, 127, 0x7F80, false>;
using ScanE4m3fn = ScanFormat<std::uint8_t, 4, 3, 7, 0x7F, false>;
using ScanE4m3fnuz = ScanFormat<std::uint8_t, 4, 3, 8, 0x80, true>;
using ScanE5m2 = ScanFormat<std::uint8_t, 5, 2, 15, 0x7C, false>;
static_assert(ScanFp16::max_finite == 65504.0 && ScanE4m3fn::max_finite == 448.0 &&
              ScanE5m2::max_finite == 57344.0);
static_assert(ScanE4m3fnuz::max_finite == 240.0 && ScanBf16::max_finite == 0x1.fep127);

template <class Real>
struct RealBits;
template <>
struct RealBits<float> {
  static constexpr int mantissa = 23, bias = 127;
  static constexpr std::int32_t magnitude_mask = INT32_MAX, exponent_mask = 0x7F800000;
  static constexpr float largest = std::numeric_limits<float>::max();
};
template <>
struct RealBits<double> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr std::int64_t magnitude_mask = INT64_MAX, exponent_mask = std::int64_t{0x7FF} << 52;
  static constexpr double largest = std::numeric_limits<double>::max();
};

template <class Real, class Format>
struct Bounds {
  using R = RealBits<Real>;
  using Integer = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr int m = Format::mantissa;
  // 1/ulp = 2^(m - E) must be a normal Real: E >= m - bias. Only fp32 expectations of formats with fp32's
  // range of exponents get below that; such tiny values are unusual.
  static constexpr int smallest_exponent = m - R::bias;
  static constexpr bool has_too_small = smallest_exponent > Format::min_exponent;
  static constexpr int lowest_exponent = has_too_small ? smallest_exponent : Format::min_exponent;
  static constexpr Real too_small = static_cast<Real>(power_of_two(has_too_small ? smallest_exponent : 0));
  static constexpr Integer lowest_power = static_cast<Integer>(lowest_exponent + R::bias) << R::mantissa;
  // Exponent fields: that of 2^(m - E) is 2 * bias minus that of 2^E plus m, in this order without overflow.
  static constexpr Integer one_over = static_cast<Integer>(2 * R::bias) << R::mantissa;
  static constexpr Integer per_ulp = static_cast<Integer>(m) << R::mantissa;
  static constexpr Real min_normal = static_cast<Real>(power_of_two(Format::min_exponent));
  static constexpr Real max_finite = static_cast<Real>(Format::max_finite);
};

namespace portable {
#define KVR_SCAN_TARGET inline __attribute__((always_inline))
#define KVR_SCAN_ENTRY
#include "harness/judge/segment_scan.inc"
#undef KVR_SCAN_TARGET
#undef KVR_SCAN_ENTRY
}  // namespace portable

#if defined(__x86_64__)
namespace avx2 {
#define KVR_SCAN_TARGET inline __attribute__((always_inline, target("avx2")))
#define KVR_SCAN_ENTRY __attribute__((target("avx2")))
#include "harness/judge/segment_scan.inc"
#undef KVR_SCAN_TARGET
#undef KVR_SCAN_ENTRY
}  // namespace avx2
#endif

}  // namespace

template <class Real>
ScanFunction<Real> portable_scan_for(DType dtype) {
  return portable::pick<Real>(dtype);
}

template <class Real>
ScanFunction<Real> scan_for(DType dtype) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return avx2::pick<Real>(dtype);
#endif
  return portable::pick<Real>(dtype);
}

template ScanFunction<float> scan_for<float>(DType dtype);
template ScanFunction<double> scan_for<double>(DType dtype);
template ScanFunction<float> portable_scan_for<float>(DType dtype);
template ScanFunction<double> portable_scan_for<double>(DType dtype);

}  // namespace kvr
