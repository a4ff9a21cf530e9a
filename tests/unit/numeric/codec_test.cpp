// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The trusted codec against the definitions of the formats, and against the numbers of the bug reports it
// must not repeat (A19 to A22 of the acceptance list; each names its public report).
#include "harness/numeric/codec.h"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "tests/unit/numeric/definition.h"
#include "tests/unit/numeric/mismatches.h"

namespace kvr {
namespace {

using test::Mismatches;
using test::NearestTable;

struct Format {
  DType dtype;
  test::Definition definition;
};

std::vector<Format> formats() {
  return {{DType::fp16, test::fp16_definition()},
          {DType::bf16, test::bf16_definition()},
          {DType::e4m3fn, test::e4m3fn_definition()},
          {DType::e4m3fnuz, test::e4m3fnuz_definition()},
          {DType::e5m2, test::e5m2_definition()}};
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double float_of(std::uint32_t bits) {
  return static_cast<double>(std::bit_cast<float>(bits));
}

TEST_CASE("every code decodes to the value of its definition", "[codec]") {
  for (const Format& f : formats()) {
    INFO(f.definition.name);
    Mismatches mismatches;
    for (std::uint32_t code = 0; code < 1U << f.definition.bits(); ++code) {
      const double expected = test::value_of(f.definition, code);
      const double actual = decode(f.dtype, code);
      const bool same = std::isnan(expected)
                            ? std::isnan(actual)
                            : std::bit_cast<std::uint64_t>(actual) == std::bit_cast<std::uint64_t>(expected);
      mismatches.check(same, "decode", code, std::bit_cast<std::uint64_t>(actual),
                       std::bit_cast<std::uint64_t>(expected));
      mismatches.check(is_nan_code(f.dtype, code) == std::isnan(expected), "is_nan_code", code, 0, 0);
      mismatches.check(is_inf_code(f.dtype, code) == std::isinf(expected), "is_inf_code", code, 0, 0);
    }
    INFO(mismatches.shown());
    CHECK(mismatches.count() == 0);
  }
}

TEST_CASE("every code survives decoding and encoding", "[codec]") {
  for (const Format& f : formats()) {
    INFO(f.definition.name);
    Mismatches mismatches;
    for (std::uint32_t code = 0; code < 1U << f.definition.bits(); ++code) {
      const std::uint64_t again = encode(f.dtype, decode(f.dtype, code));
      mismatches.check(is_nan_code(f.dtype, code) ? is_nan_code(f.dtype, again) : again == code, "round trip",
                       code, again, code);
    }
    INFO(mismatches.shown());
    CHECK(mismatches.count() == 0);
  }
}

TEST_CASE("values at, next to and between codes go to the nearest code, ties to even", "[codec]") {
  for (const Format& f : formats()) {
    INFO(f.definition.name);
    const NearestTable table(f.definition);
    Mismatches mismatches;
    const auto check = [&](double magnitude) {
      for (const double value : {magnitude, -magnitude}) {
        for (const bool saturate : {false, true}) {
          const std::uint32_t expected = table.nearest(value, saturate);
          const std::uint64_t actual = encode(f.dtype, value, saturate ? Overflow::saturate : Overflow::ieee);
          mismatches.check(table.same(static_cast<std::uint32_t>(actual), expected),
                           saturate ? "saturate" : "ieee", value, actual, expected);
        }
      }
    };
    for (std::uint32_t code = 0; code <= table.max_code(); ++code) {
      for (const double point : {table.value(code), table.midpoint_above(code)}) {
        check(point);
        const auto narrow = static_cast<float>(point);
        REQUIRE(static_cast<double>(narrow) == point);
        check(static_cast<double>(std::nextafter(narrow, -std::numeric_limits<float>::infinity())));
        check(static_cast<double>(std::nextafter(narrow, std::numeric_limits<float>::infinity())));
        // One double away: a detour through fp32 would round onto the tie and then to the wrong side.
        check(std::nextafter(point, -kInf));
        check(std::nextafter(point, kInf));
      }
    }
    for (const double value : {table.value(table.max_code() + 1), 1e30, 1e300, kInf, 0x1p-1022, 0x1p-1074})
      check(value);
    INFO(mismatches.shown());
    CHECK(mismatches.count() == 0);
    CHECK(mismatches.checked() > 40U * table.max_code());
  }
}

TEST_CASE("f32 is rounded like a cast from double", "[codec]") {
  // The hardware's own double to float conversion is the second implementation.
  Mismatches mismatches;
  for (std::uint64_t i = 0; i < 2'000'000; ++i) {
    std::uint64_t bits = (i + 1) * 0x9E3779B97F4A7C15ULL;
    bits ^= bits >> 29;
    if (i % 2 == 0) {  // exponents around the range of f32, subnormals included, instead of all 2048
      const std::uint64_t exponent = 1023 - 160 + (bits >> 52) % 300;
      bits = (bits & 0x800FFFFFFFFFFFFFULL) | exponent << 52;
    }
    if (i % 8 < 4) bits &= ~0x1FFFFFFFULL;  // many exact ties and exact values
    if (i % 8 == 1) bits |= 0x10000000ULL;
    const double value = std::bit_cast<double>(bits);
    const auto expected = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const std::uint64_t actual = encode(DType::f32, value);
    mismatches.check(std::isnan(value) ? is_nan_code(DType::f32, actual) : actual == expected, "encode",
                     value, actual, expected);
    if (!std::isnan(value)) {
      const double back = decode(DType::f32, expected);
      mismatches.check(back == float_of(expected), "decode", value, std::bit_cast<std::uint64_t>(back),
                       expected);
    }
  }
  INFO(mismatches.shown());
  CHECK(mismatches.count() == 0);
  CHECK(encode(DType::f32, 1e39, Overflow::saturate) == 0x7F7FFFFF);
  CHECK(encode(DType::f32, -1e39) == 0xFF800000);
  CHECK(encode(DType::f32, -0.0) == 0x80000000);
}

struct Row {
  double input;
  std::uint64_t code;
};

TEST_CASE("A19: no premature saturation, ties to even (sglang#40581)", "[codec]") {
  for (const Row& row : {Row{130, 0x78}, {200, 0x7C}, {224, 0x7E}}) {
    INFO(row.input);
    CHECK(encode(kE4m3fnuz224, row.input) == row.code);
    CHECK(encode(kE4m3fnuz240, row.input) == row.code);
  }
  for (const Row& row : {Row{256, 0x78}, {300, 0x79}, {272, 0x78}, {304, 0x7A}}) {
    INFO(row.input);
    CHECK(encode(kE4m3fn, row.input) == row.code);
  }
}

TEST_CASE("A20: small negatives never become the NaN of FNUZ (onnxruntime#18473)", "[codec]") {
  CHECK(encode(kE4m3fnuz240, -1e-5) == 0x00);
  CHECK(encode(kE4m3fnuz240, -0.0) == 0x00);
  CHECK(encode(kE4m3fn, -1e-5) == 0x80);
  CHECK(encode(kE4m3fn, -0.0) == 0x80);
  CHECK(encode(kE4m3fn, 0x1p-10) == 0x00);  // half the smallest subnormal: a tie with zero
  CHECK(encode(kE4m3fn, std::nextafter(0x1p-10, 1.0)) == 0x01);
  CHECK(encode(DType::e4m3fnuz, decode(DType::e4m3fn, 0x80)) ==
        0x00);  // -0 crosses from one encoding to the other
}

TEST_CASE("A21: the maximum is the descriptor's (vllm#50467)", "[codec]") {
  struct Max {
    Fp8Format format;
    double max;
    std::uint64_t code;
  };
  for (const Max& m : {Max{kE4m3fn, 448, 0x7E},
                       {kE4m3fnuz224, 224, 0x7E},
                       {kE4m3fnuz240, 240, 0x7F},
                       {kE5m2, 57344, 0x7B}}) {
    CHECK(static_cast<double>(m.format.max) == m.max);
    CHECK(encode(m.format, m.max) == m.code);
    CHECK(encode(m.format, 1e9) == m.code);
    CHECK(encode(m.format, kInf) == m.code);
    CHECK(encode(m.format, -kInf) == (m.code | 0x80));
    CHECK(decode(m.format.encoding, m.code) == m.max);
    CHECK(is_nan_code(m.format.encoding, encode(m.format, kNaN)));
    // amax = 1: scale = 1 / max, and 1 / scale leads back to the maximum.
    CHECK(encode(m.format, 1.0 / (1.0 / m.max)) == m.code);
  }
  // 0x7F must not appear under FNUZ-224.
  for (double value = 0; value < 300; value += 0.25) CHECK(encode(kE4m3fnuz224, value) <= 0x7E);
}

TEST_CASE("A22: fp32 to bf16 (universal#1134, composable_kernel#1812)", "[codec]") {
  struct Bits {
    std::uint32_t f32;
    std::uint64_t bf16;
  };
  for (const Bits& row : {Bits{0x3E89CCD5, 0x3E8A},
                          {0x3F808000, 0x3F80},
                          {0x3F818000, 0x3F82},
                          {0x7F7FFFFF, 0x7F80},
                          {0x80000000, 0x8000}}) {
    CHECK(encode(DType::bf16, float_of(row.f32)) == row.bf16);
  }
  for (const std::uint32_t nan : {0x7F800001U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
    CHECK(is_nan_code(DType::bf16, encode(DType::bf16, float_of(nan))));
  }
}

TEST_CASE("A22: every upper half with six lower halves", "[codec]") {
  const NearestTable table(test::bf16_definition());
  Mismatches mismatches;
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      const double value = float_of(upper << 16 | lower);
      const std::uint32_t expected = table.nearest(value, false);
      const std::uint64_t actual = encode(DType::bf16, value);
      mismatches.check(table.same(static_cast<std::uint32_t>(actual), expected), "bf16", value, actual,
                       expected);
    }
  }
  INFO(mismatches.shown());
  CHECK(mismatches.count() == 0);
  CHECK(mismatches.checked() == 6U * 65536U);
}

TEST_CASE("overflow follows the format: infinity where it has one, NaN otherwise", "[codec]") {
  // 65520 = 65504 + half a step rounds up, to infinity; just below it rounds to the maximum. Likewise 464,
  // 248, 61440.
  CHECK(encode(DType::fp16, 65520) == 0x7C00);
  CHECK(encode(DType::fp16, std::nextafter(65520.0, 0.0)) == 0x7BFF);
  CHECK(encode(DType::fp16, 65520, Overflow::saturate) == 0x7BFF);
  CHECK(encode(DType::e5m2, 61440) == 0x7C);
  CHECK(encode(DType::e5m2, -kInf) == 0xFC);
  CHECK(encode(DType::e4m3fn, 464) == 0x7E);  // 0x7E is even: the tie stays
  CHECK(is_nan_code(DType::e4m3fn, encode(DType::e4m3fn, std::nextafter(464.0, 1e3))));
  CHECK(encode(DType::e4m3fnuz, std::nextafter(248.0, 0.0)) == 0x7F);
  CHECK(encode(DType::e4m3fnuz, 248) == 0x80);
  CHECK(encode(DType::e4m3fn, -kInf, Overflow::saturate) == 0xFE);
}

TEST_CASE("a descriptor's maximum beyond the encoding counts as the encoding's", "[codec]") {
  CHECK(encode(Fp8Format{DType::e4m3fn, 1000.0F}, 900) == 0x7E);
  CHECK(encode(Fp8Format{DType::e4m3fnuz, std::numeric_limits<float>::infinity()}, -kInf) == 0xFF);
}

TEST_CASE("integers round to even and saturate; NaN is 0", "[codec]") {
  struct Integer {
    DType dtype;
    double input;
    std::int64_t expected;
  };
  constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
  for (const Integer& row : {Integer{DType::int8, 2.5, 2},
                             {DType::int8, 3.5, 4},
                             {DType::int8, -2.5, -2},
                             {DType::int8, -3.5, -4},
                             {DType::int8, -0.5, 0},
                             {DType::int8, 0.50000000000000011, 1},
                             {DType::int8, 127.5, 127},
                             {DType::int8, -1e9, -128},
                             {DType::int8, kNaN, 0},
                             {DType::uint8, -3, 0},
                             {DType::uint8, 254.5, 254},
                             {DType::uint8, kInf, 255},
                             {DType::int32, 2147483646.5, 2147483646},
                             {DType::int32, 2147483647.5, 2147483647},
                             {DType::int32, -2147483648.5, -2147483648LL},
                             {DType::int64, 0x1p63, kMax64},
                             {DType::int64, -0x1p63, kMin64},
                             {DType::int64, -kInf, kMin64},
                             {DType::int64, 0x1p62, std::int64_t{1} << 62},
                             {DType::int64, kNaN, 0}}) {
    INFO(dtype_name(row.dtype) << " " << row.input);
    const std::uint64_t code = encode(row.dtype, row.input);
    CHECK(decode(row.dtype, code) == static_cast<double>(row.expected));
    CHECK(line_position(row.dtype, code) == row.expected);
  }
  CHECK(encode(DType::int8, -1) == 0xFF);
  CHECK(encode(DType::int32, -1) == 0xFFFFFFFF);
}

TEST_CASE("descriptions agree with the definitions; integers have none", "[codec]") {
  for (const Format& f : formats()) {
    INFO(f.definition.name);
    const FloatFormat& format = float_format(f.dtype);
    const NearestTable table(f.definition);
    CHECK(format.exponent_bits == f.definition.exponent_bits);
    CHECK(format.mantissa_bits == f.definition.mantissa_bits);
    CHECK(format.bias == f.definition.bias);
    CHECK(format.max_code == table.max_code());
    CHECK(format.max_finite == table.max());
    CHECK(format.min_subnormal == table.value(1));
    CHECK(format.min_normal == table.value(1U << f.definition.mantissa_bits));
    CHECK(std::isnan(test::value_of(f.definition, format.nan_code)));
  }
  CHECK_THROWS_AS(float_format(DType::int8), std::invalid_argument);
}

}  // namespace
}  // namespace kvr
