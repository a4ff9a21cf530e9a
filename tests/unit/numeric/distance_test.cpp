// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Steps between codes, spacing of formats, and the names of the data types. Expectations are worked by hand.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/numeric/codec.h"
#include "harness/numeric/dtype.h"

namespace kvr {
namespace {

TEST_CASE("ulp_distance counts representable steps", "[distance]") {
  struct Row {
    DType dtype;
    std::uint64_t a, b;
    std::int64_t expected;
    const char* why;
  };
  const Row rows[] = {
      {DType::bf16, 0x3F80, 0x3F81, 1, "1 and the next value"},
      {DType::bf16, 0x3F7F, 0x3F80, 1, "across a power of two"},
      {DType::bf16, 0x007F, 0x0080, 1, "largest subnormal, smallest normal"},
      {DType::bf16, 0x0000, 0x8000, 0, "+0 and -0"},
      {DType::bf16, 0x0001, 0x8001, 2, "smallest positive, smallest negative"},
      {DType::bf16, 0x7F7F, 0x7F80, 1, "largest finite, infinity"},
      {DType::bf16, 0x7F80, 0xFF80, 2 * 0x7F80, "infinities"},
      {DType::bf16, 0x7FC0, 0xFFC1, 0, "two NaNs"},
      {DType::bf16, 0x7FC0, 0x7F80, kNanDistance, "NaN and infinity are neighbours only as bits"},
      {DType::fp16, 0x7BFF, 0x7C00, 1, "largest finite, infinity"},
      {DType::fp16, 0x7C00, 0x7C01, kNanDistance, "infinity and NaN"},
      {DType::f32, 0x3F800000, 0xBF800000, 2 * 0x3F800000LL, "1 and -1"},
      {DType::e4m3fn, 0x7E, 0x7F, kNanDistance, "448 and NaN"},
      {DType::e4m3fn, 0x80, 0x00, 0, "-0 and +0"},
      {DType::e4m3fn, 0x7E, 0xFE, 2 * 0x7E, "448 and -448"},
      {DType::e4m3fn, 0x7F, 0xFF, 0, "both NaNs of OCP"},
      {DType::e4m3fnuz, 0x80, 0x00, kNanDistance, "the NaN of FNUZ is no -0"},
      {DType::e4m3fnuz, 0x80, 0x81, kNanDistance, "nor a neighbour of the smallest negative"},
      {DType::e4m3fnuz, 0x01, 0x81, 2, "smallest positive, smallest negative"},
      {DType::e4m3fnuz, 0x7F, 0x7E, 1, "240 and 224"},
      {DType::e4m3fnuz, 0x80, 0x80, 0, "NaN and itself"},
      {DType::e5m2, 0x7B, 0x7C, 1, "57344 and infinity"},
      {DType::e5m2, 0x7D, 0x7F, 0, "two NaNs"},
      {DType::int8, 0xFF, 0x01, 2, "-1 and 1"},
      {DType::int8, 0x80, 0x7F, 255, "-128 and 127"},
      {DType::uint8, 0xFF, 0x01, 254, "255 and 1"},
      {DType::int32, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFFLL, "whole range"},
      {DType::int64, 0x8000000000000000, 0x7FFFFFFFFFFFFFFF, kNanDistance - 1, "too far to count"},
      {DType::int64, 5, 0xFFFFFFFFFFFFFFFF, 6, "5 and -1"},
  };
  for (const Row& row : rows) {
    INFO(dtype_name(row.dtype) << ": " << row.why);
    CHECK(ulp_distance(row.dtype, row.a, row.b) == row.expected);
    CHECK(ulp_distance(row.dtype, row.b, row.a) == row.expected);
  }
}

TEST_CASE("line_position is the order of values", "[distance]") {
  for (const DType dtype : {DType::e4m3fn, DType::e4m3fnuz, DType::e5m2, DType::fp16}) {
    INFO(dtype_name(dtype));
    const std::uint64_t codes = dtype == DType::fp16 ? 0x10000 : 0x100;
    std::int64_t wrong = 0;
    for (std::uint64_t a = 0; a < codes; ++a) {
      for (std::uint64_t b = a % 97; b < codes; b += dtype == DType::fp16 ? 97 : 1) {
        if (is_nan_code(dtype, a) || is_nan_code(dtype, b)) continue;
        const double x = decode(dtype, a);
        const double y = decode(dtype, b);
        const std::int64_t p = line_position(dtype, a);
        const std::int64_t q = line_position(dtype, b);
        wrong += (x < y) != (p < q) || (x == y) != (p == q);
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("ulp_at is the spacing around a value", "[distance]") {
  struct Row {
    DType dtype;
    double value, expected;
  };
  const Row rows[] = {
      {DType::bf16, 24.0, 0.125},  // sglang#35795: one step in [16, 32) is 2^(4 - 7)
      {DType::bf16, -24.0, 0.125},     {DType::bf16, 1.0, 0x1p-7},        {DType::bf16, 0.99, 0x1p-8},
      {DType::bf16, 0.0, 0x1p-133},    {DType::bf16, 0x1p-130, 0x1p-133}, {DType::fp16, 1.0, 0x1p-10},
      {DType::fp16, 65504.0, 32.0},    {DType::fp16, 1e-7, 0x1p-24},      {DType::f32, 1000.0, 0x1p-14},
      {DType::e4m3fn, 448.0, 32.0},    {DType::e4m3fn, 0x1p-6, 0x1p-9},   {DType::e4m3fn, 0x1p-5, 0x1p-8},
      {DType::e4m3fnuz, 0.0, 0x1p-10}, {DType::e5m2, 57344.0, 8192.0},    {DType::fp16, 131072.0, 128.0},
      {DType::int8, 77.0, 1.0},
  };
  for (const Row& row : rows) {
    INFO(dtype_name(row.dtype) << " at " << row.value);
    CHECK(ulp_at(row.dtype, row.value) == row.expected);
  }
  CHECK(std::isinf(ulp_at(DType::fp16, -std::numeric_limits<double>::infinity())));
  CHECK(std::isnan(ulp_at(DType::fp16, std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("names and sizes of the data types", "[dtype]") {
  struct Row {
    DType dtype;
    const char* name;
    std::size_t size;
    bool floating;
  };
  for (const Row& row : {Row{DType::f32, "f32", 4, true},
                         {DType::fp16, "fp16", 2, true},
                         {DType::bf16, "bf16", 2, true},
                         {DType::e4m3fn, "e4m3fn", 1, true},
                         {DType::e4m3fnuz, "e4m3fnuz", 1, true},
                         {DType::e5m2, "e5m2", 1, true},
                         {DType::int8, "int8", 1, false},
                         {DType::uint8, "uint8", 1, false},
                         {DType::int32, "int32", 4, false},
                         {DType::int64, "int64", 8, false}}) {
    CHECK(dtype_name(row.dtype) == row.name);
    CHECK(parse_dtype(row.name) == row.dtype);
    CHECK(dtype_size(row.dtype) == row.size);
    CHECK(is_floating(row.dtype) == row.floating);
  }
  CHECK_FALSE(parse_dtype("float16").has_value());
  CHECK_FALSE(parse_dtype("").has_value());
  CHECK(dtype_names() == "f32, fp16, bf16, e4m3fn, e4m3fnuz, e5m2, int8, uint8, int32, int64");
}

}  // namespace
}  // namespace kvr
