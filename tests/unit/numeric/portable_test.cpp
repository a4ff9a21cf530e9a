// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The conversions kernels use where the device has no instruction, against the trusted codec: every code,
// every midpoint with its fp32 neighbours, both signs, every format and maximum.
#include "kernels/common/convert_portable.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/numeric/codec.h"
#include "tests/unit/numeric/mismatches.h"

namespace kvr {
namespace {

using test::Mismatches;

constexpr float kInf = std::numeric_limits<float>::infinity();

bool same(DType dtype, std::uint64_t a, std::uint64_t b) {
  return a == b || (is_nan_code(dtype, a) && is_nan_code(dtype, b));
}

// Every finite code, every midpoint to the next code, their fp32 neighbours, and values beyond; both signs.
template <class Check>
void visit_interesting(DType dtype, Check check) {
  const FloatFormat& format = float_format(dtype);
  const auto both = [&](float magnitude) {
    check(magnitude);
    check(-magnitude);
  };
  for (std::uint32_t code = 0; code <= format.max_code; ++code) {
    const double value = decode(dtype, code);
    const double step = ulp_at(dtype, value);
    for (const double point : {value, value + step / 2}) {
      const auto narrow = static_cast<float>(point);
      both(narrow);
      both(std::nextafter(narrow, 0.0F));
      both(std::nextafter(narrow, kInf));
    }
  }
  for (const float value : {1e30F, std::numeric_limits<float>::max(), kInf, 0x1p-149F, 0x1p-127F})
    both(value);
  for (const std::uint32_t nan : {0x7F800001U, 0x7FFFFFFFU, 0x7FC00000U, 0xFFFFFFFFU, 0xFF800001U}) {
    check(std::bit_cast<float>(nan));
  }
}

template <class T>
void check_decoding(DType dtype) {
  INFO(dtype_name(dtype));
  Mismatches mismatches;
  for (std::uint32_t code = 0; code < 1U << (8 * sizeof(T)); ++code) {
    T stored{};
    stored.bits = static_cast<decltype(stored.bits)>(code);
    const double actual = static_cast<double>(portable::to_float(stored));
    const double expected = decode(dtype, code);
    const bool equal = std::isnan(expected)
                           ? std::isnan(actual)
                           : std::bit_cast<std::uint64_t>(actual) == std::bit_cast<std::uint64_t>(expected);
    mismatches.check(equal, "to_float", code, std::bit_cast<std::uint64_t>(actual),
                     std::bit_cast<std::uint64_t>(expected));
  }
  INFO(mismatches.shown());
  CHECK(mismatches.count() == 0);
}

TEST_CASE("portable to_float decodes every code like the codec", "[portable]") {
  check_decoding<bf16>(DType::bf16);
  check_decoding<fp16>(DType::fp16);
  check_decoding<e4m3fn>(DType::e4m3fn);
  check_decoding<e4m3fnuz>(DType::e4m3fnuz);
  check_decoding<e5m2>(DType::e5m2);
}

template <class T>
void check_ieee(DType dtype) {
  INFO(dtype_name(dtype));
  Mismatches mismatches;
  visit_interesting(dtype, [&](float value) {
    const std::uint64_t actual = portable::from_float<T>(value).bits;
    const std::uint64_t expected = encode(dtype, static_cast<double>(value));
    mismatches.check(same(dtype, actual, expected), "from_float", static_cast<double>(value), actual,
                     expected);
  });
  INFO(mismatches.shown());
  CHECK(mismatches.count() == 0);
}

TEST_CASE("portable from_float encodes like the codec", "[portable]") {
  check_ieee<bf16>(DType::bf16);
  check_ieee<fp16>(DType::fp16);
}

TEST_CASE("portable bf16: every upper half with six lower halves (A22)", "[portable]") {
  Mismatches mismatches;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      const auto value = std::bit_cast<float>(upper << 16 | lower);
      for (const bool half : {false, true}) {
        const DType dtype = half ? DType::fp16 : DType::bf16;
        const std::uint64_t actual =
            half ? portable::from_float<fp16>(value).bits : portable::from_float<bf16>(value).bits;
        const std::uint64_t expected = encode(dtype, static_cast<double>(value));
        mismatches.check(same(dtype, actual, expected), "from_float", static_cast<double>(value), actual,
                         expected);
      }
    }
  }
  INFO(mismatches.shown());
  CHECK(mismatches.count() == 0);
}

template <class T>
void check_saturating(Fp8Format format) {
  INFO(dtype_name(format.encoding) << " max " << format.max);
  Mismatches mismatches;
  visit_interesting(format.encoding, [&](float value) {
    const std::uint64_t actual = portable::from_float_saturating<T>(value, format.max).bits;
    const std::uint64_t expected = encode(format, static_cast<double>(value));
    mismatches.check(same(format.encoding, actual, expected), "from_float_saturating",
                     static_cast<double>(value), actual, expected);
  });
  for (std::uint32_t code = 0; code < 0x10000; ++code) {  // every bf16 and every fp16 input
    for (const float value : {portable::to_float(bf16{static_cast<std::uint16_t>(code)}),
                              portable::to_float(fp16{static_cast<std::uint16_t>(code)})}) {
      const std::uint64_t actual = portable::from_float_saturating<T>(value, format.max).bits;
      const std::uint64_t expected = encode(format, static_cast<double>(value));
      mismatches.check(same(format.encoding, actual, expected), "from_float_saturating",
                       static_cast<double>(value), actual, expected);
    }
  }
  INFO(mismatches.shown());
  CHECK(mismatches.count() == 0);
}

TEST_CASE("portable from_float_saturating encodes like the codec, for every descriptor", "[portable]") {
  check_saturating<e4m3fn>(kE4m3fn);
  check_saturating<e4m3fnuz>(kE4m3fnuz224);
  check_saturating<e4m3fnuz>(kE4m3fnuz240);
  check_saturating<e5m2>(kE5m2);
  check_saturating<e4m3fn>({DType::e4m3fn, 100.0F});  // a maximum between two codes
  check_saturating<e4m3fn>({DType::e4m3fn, 1e6F});    // and one beyond the format
}

TEST_CASE("portable int8: every half step, saturation, NaN", "[portable]") {
  for (int halves = -600; halves <= 600; ++halves) {
    const float value = static_cast<float>(halves) / 2;
    for (const float input : {value, std::nextafter(value, -kInf), std::nextafter(value, kInf)}) {
      INFO(input);
      // Clamped to +-127: -128 is not used by symmetric quantisers.
      const double clamped = std::fmax(-127.0, std::fmin(127.0, static_cast<double>(input)));
      CHECK(static_cast<double>(portable::from_float_saturating<std::int8_t>(input, 127.0F)) ==
            std::nearbyint(clamped));
    }
  }
  CHECK(portable::from_float_saturating<std::int8_t>(std::numeric_limits<float>::quiet_NaN(), 127.0F) == 0);
  CHECK(portable::from_float_saturating<std::int8_t>(-kInf, 127.0F) == -127);
}

}  // namespace
}  // namespace kvr
