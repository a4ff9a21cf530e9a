// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The scan, compiled for any processor and, on x86-64, for AVX2 as well; chosen when the program runs.
#include "harness/judge/segment_scan.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Vectors are passed between functions of this file only, all inlined: no binary interface depends on how.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace kvr {
namespace {

template <class Element, int count>
struct Vector {
  using type __attribute__((vector_size(count * sizeof(Element)))) = Element;
};

constexpr double power_of_two(int exponent) {
  double value = 1.0;
  for (; exponent > 0; --exponent) value *= 2.0;
  for (; exponent < 0; ++exponent) value /= 2.0;
  return value;
}

template <DType type, class CodeType, int exponent_bits, int mantissa_bits, int exponent_bias,
          std::int32_t special, bool is_fnuz>
struct ScanFormat {
  using Code = CodeType;
  static constexpr DType dtype = type;
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
using ScanF32 = ScanFormat<DType::f32, std::uint32_t, 8, 23, 127, 0x7F800000, false>;
using ScanFp16 = ScanFormat<DType::fp16, std::uint16_t, 5, 10, 15, 0x7C00, false>;
using ScanBf16 = ScanFormat<DType::bf16, std::uint16_t, 8, 7, 127, 0x7F80, false>;
using ScanE4m3fn = ScanFormat<DType::e4m3fn, std::uint8_t, 4, 3, 7, 0x7F, false>;
using ScanE4m3fnuz = ScanFormat<DType::e4m3fnuz, std::uint8_t, 4, 3, 8, 0x80, true>;
using ScanE5m2 = ScanFormat<DType::e5m2, std::uint8_t, 5, 2, 15, 0x7C, false>;
static_assert(ScanFp16::max_finite == 65504.0 && ScanE4m3fn::max_finite == 448.0 &&
              ScanE5m2::max_finite == 57344.0);
static_assert(ScanE4m3fnuz::max_finite == 240.0 && ScanBf16::max_finite == 0x1.fep127);

template <class Real>
struct RealBits;
template <>
struct RealBits<float> {
  static constexpr int mantissa = 23, bias = 127;
  static constexpr std::int32_t magnitude_mask = INT32_MAX, exponent_mask = 0x7F800000;
};
template <>
struct RealBits<double> {
  static constexpr int mantissa = 52, bias = 1023;
  static constexpr std::int64_t magnitude_mask = INT64_MAX, exponent_mask = std::int64_t{0x7FF} << 52;
};

template <class Real, class Format>
struct Bounds {
  using R = RealBits<Real>;
  using Integer = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr int m = Format::mantissa;
  using UnsignedInteger = std::make_unsigned_t<Integer>;
  // 1/ulp = 2^(m - E) must be a normal Real: E >= m - bias. Only fp32 expectations of formats with fp32's
  // range of exponents get below that.
  static constexpr bool has_too_small = m - R::bias > Format::min_exponent;
  static constexpr Integer lowest_power = static_cast<Integer>(std::max(m, Format::min_exponent + R::bias))
                                          << R::mantissa;
  // Exponent fields: that of 2^(m - E) is 2 * bias + m minus that of 2^E. The first may not fit, the result
  // does.
  static constexpr UnsignedInteger per_ulp_base = static_cast<UnsignedInteger>(2 * R::bias + m)
                                                  << R::mantissa;
  // Exponent fields below the next power of two above m are too small: all of them, or-ed together, still
  // are.
  static constexpr UnsignedInteger too_small_bits = std::bit_ceil(static_cast<UnsignedInteger>(m + 1))
                                                    << R::mantissa;
  static constexpr Real min_normal = static_cast<Real>(power_of_two(Format::min_exponent));
  static constexpr Real max_finite = static_cast<Real>(Format::max_finite);
};

// Elements that may not be RN(expected), one by one: ties that are, and codes that are one off in the sense
// of the header.
template <class Real, class Format>
void settle_candidates(const std::byte* codes, const Real* expected, std::int64_t count,
                       const ScanRule<Real>& rule, Scan<Real>& scan) {
  for (std::int64_t i = 0; i < count; ++i) {
    Real& scanned = scan.off[static_cast<std::size_t>(i)];
    if (scanned < Real(0.5)) continue;
    typename Format::Code code;
    std::memcpy(&code, codes + i * static_cast<std::int64_t>(sizeof code), sizeof code);
    Real e = expected[i];
    if (rule.clamp > 0) e = e > rule.clamp ? rule.clamp : e < -rule.clamp ? -rule.clamp : e;
    const double actual = decode(Format::dtype, code);
    const double ulp = ulp_at(Format::dtype, static_cast<double>(e));
    const double off = std::fabs(actual - static_cast<double>(e)) / ulp;
    if (off == 0.5 && (code & 1) == 0) {
      scanned = 0;
      continue;
    }
    // One code off: within 1.5 ULP, or within 1 where actual lies in the binade below, whose steps are half
    // as long.
    const double binade = std::ldexp(ulp, Format::mantissa);
    const bool adjacent =
        off < (std::fabs(actual) >= binade ? 1.5 : 1.0) && std::fabs(e) >= Bounds<Real, Format>::min_normal;
    if (!adjacent) {
      scan.unusual = true;
      return;
    }
    ++scan.differing;
  }
}

// A segment, of which a count that is no multiple of 8 was made one with zeros, which add nothing to
// anything.
template <class Real, class Code>
struct WholeGroups {
  WholeGroups(const std::byte* given_codes, const Real* given_expected, std::int64_t given)
      : codes(given_codes), expected(given_expected), count(given) {
    constexpr auto group = static_cast<std::int64_t>(kLanes);
    if (given % group == 0) return;
    count = (given + group - 1) / group * group;
    const auto size = static_cast<std::size_t>(given);
    const auto missing = static_cast<std::size_t>(count - given);
    std::memcpy(padded_codes, given_codes, size * sizeof(Code));
    std::memset(padded_codes + size * sizeof(Code), 0, missing * sizeof(Code));
    std::memcpy(padded_expected, given_expected, size * sizeof(Real));
    std::memset(padded_expected + size, 0, missing * sizeof(Real));
    codes = padded_codes;
    expected = padded_expected;
  }
  WholeGroups(const WholeGroups&) = delete;
  WholeGroups& operator=(const WholeGroups&) = delete;

  const std::byte* codes;
  const Real* expected;
  std::int64_t count;

 private:
  alignas(32) std::byte padded_codes[kSegment * sizeof(Code)];
  alignas(32) Real padded_expected[kSegment];
};

namespace portable {
#define KVR_SCAN_TARGET inline __attribute__((always_inline))
#define KVR_SCAN_ENTRY
constexpr int kVectorBytes = 16;  // what every 64-bit processor has
constexpr int kDoubleVectors = static_cast<int>(kLanes) * 8 / kVectorBytes;
template <class Values>
KVR_SCAN_TARGET Values larger(const Values& a, const Values& b) {
  return a > b ? a : b;  // b where a is NaN
}
template <class Codes, class Narrow>
KVR_SCAN_TARGET Codes widen_codes(const Narrow& codes) {
  return __builtin_convertvector(codes, Codes);
}
template <class Floats>
KVR_SCAN_TARGET Vector<double, kVectorBytes / 8>::type widen_floats(const Floats& values) {
  using Doubles = Vector<double, kVectorBytes / 8>::type;
  return __builtin_convertvector(values, Doubles);
}
#include "harness/judge/segment_scan.inc"
#undef KVR_SCAN_TARGET
#undef KVR_SCAN_ENTRY
}  // namespace portable

#if defined(__x86_64__)
namespace avx2 {
#define KVR_SCAN_TARGET inline __attribute__((always_inline, target("avx2")))
#define KVR_SCAN_ENTRY __attribute__((target("avx2")))
constexpr int kVectorBytes = 32;
constexpr int kDoubleVectors = static_cast<int>(kLanes) * 8 / kVectorBytes;
// As in `portable`, by the instructions that do just this, which compilers do not always find.
KVR_SCAN_TARGET __m256 larger(const __m256& a, const __m256& b) {
  return _mm256_max_ps(a, b);
}
KVR_SCAN_TARGET __m256d larger(const __m256d& a, const __m256d& b) {
  return _mm256_max_pd(a, b);
}
template <class Codes, class Narrow>
KVR_SCAN_TARGET Codes widen_codes(const Narrow& codes) {
  __m128i narrow{};
  if constexpr (sizeof(codes[0]) == 4) {
    return Codes(codes);
  } else if constexpr (sizeof(Codes) == 32) {
    __builtin_memcpy(&narrow, &codes, sizeof codes);
    return Codes(sizeof(codes[0]) == 2 ? _mm256_cvtepu16_epi32(narrow) : _mm256_cvtepu8_epi32(narrow));
  } else {
    __builtin_memcpy(&narrow, &codes, sizeof codes);
    return Codes(sizeof(codes[0]) == 2 ? _mm_cvtepu16_epi32(narrow) : _mm_cvtepu8_epi32(narrow));
  }
}
KVR_SCAN_TARGET __m256d widen_floats(const __m128& values) {
  return _mm256_cvtps_pd(values);
}
#include "harness/judge/segment_scan.inc"
#undef KVR_SCAN_TARGET
#undef KVR_SCAN_ENTRY
}  // namespace avx2
#endif

}  // namespace

template <class Real>
ScanFunction<Real> portable_scan_for(DType dtype, const ScanRule<Real>& rule) {
  return portable::pick<Real>(dtype, rule);
}

template <class Real>
ScanFunction<Real> scan_for(DType dtype, const ScanRule<Real>& rule) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return avx2::pick<Real>(dtype, rule);
#endif
  return portable::pick<Real>(dtype, rule);
}

template ScanFunction<float> scan_for<float>(DType dtype, const ScanRule<float>& rule);
template ScanFunction<double> scan_for<double>(DType dtype, const ScanRule<double>& rule);
template ScanFunction<float> portable_scan_for<float>(DType dtype, const ScanRule<float>& rule);
template ScanFunction<double> portable_scan_for<double>(DType dtype, const ScanRule<double>& rule);

}  // namespace kvr
