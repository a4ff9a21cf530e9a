// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The defining property of every fill, and what each refuses.
#include "harness/random/fill.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/numeric/codec.h"

namespace kvr {
namespace {

using Kind = Fill::Kind;

const RandomStream kStream(Seed{3}, "fills", "x");

std::vector<std::uint64_t> codes(const Fill& fill, DType dtype, std::int64_t row, std::int64_t len) {
  const std::size_t size = dtype_size(dtype);
  std::vector<std::byte> bytes(static_cast<std::size_t>(len) * size);
  fill_row(fill, kStream, dtype, row, len, bytes.data());
  std::vector<std::uint64_t> result(static_cast<std::size_t>(len));
  for (std::size_t i = 0; i < result.size(); ++i) std::memcpy(&result[i], bytes.data() + i * size, size);
  return result;
}

std::vector<double> values(const Fill& fill, DType dtype, std::int64_t row, std::int64_t len) {
  std::vector<double> result;
  for (const std::uint64_t code : codes(fill, dtype, row, len)) result.push_back(decode(dtype, code));
  return result;
}

std::string refusal(const Fill& fill, DType dtype, std::int64_t row = 0, std::int64_t len = 8) {
  try {
    codes(fill, dtype, row, len);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

constexpr DType kAll[] = {DType::f32,  DType::fp16, DType::bf16,  DType::e4m3fn, DType::e4m3fnuz,
                          DType::e5m2, DType::int8, DType::uint8, DType::int32,  DType::int64};

TEST_CASE("normal is scale * z + shift, rounded once, for every dtype", "[fill]") {
  // Scales chosen so that subnormals (fp16) and overflow (fp16, fp8, integers) occur: the fast path must
  // leave them to encode().
  for (const DType dtype : kAll) {
    const bool fp8 = is_floating(dtype) && dtype_size(dtype) == 1;
    for (const auto& [scale, shift] : {std::pair{1.0, 0.0},
                                       {0.02, 1.0},
                                       {1e-4, 0.0},
                                       {1e-7, 0.0},
                                       {30000.0, 5.0},
                                       {0x1p-128, 0.0},
                                       {1e38, 0.0},
                                       {0.0, 0.0}}) {
      INFO(dtype_name(dtype) << " scale " << scale);
      const auto actual = codes(Fill::normal(scale, shift), dtype, 5, 5000);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        const double value = kStream.normal(5 * 5000 + i) * scale + shift;
        wrong += actual[i] != encode(dtype, value, fp8 ? Overflow::saturate : Overflow::ieee);
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("uniform_int covers its range evenly and stays inside", "[fill]") {
  const auto drawn = values(Fill::integers(-3, 5), DType::int32, 0, 80000);
  std::vector<int> count(8);
  for (const double v : drawn) {
    REQUIRE(v >= -3);
    REQUIRE(v <= 4);
    ++count[static_cast<std::size_t>(v + 3)];
  }
  for (const int c : count)
    CHECK(std::abs(c - 10000) < 500);  // five standard deviations: 5 sqrt(80000 * 7/64)
  const auto wide = values(Fill::integers(0, std::int64_t{1} << 32), DType::int64, 0, 1000);
  CHECK(*std::max_element(wide.begin(), wide.end()) > 0x1p31);
  CHECK(refusal(Fill::integers(5, 5), DType::int32).find("[5, 5)") != std::string::npos);
  CHECK(refusal(Fill::integers(0, 200), DType::int8) == "fill uniform_int: value 199 does not fit in int8");
  CHECK(refusal(Fill::integers(-1, 2), DType::uint8).find("-1") != std::string::npos);
  CHECK(refusal(Fill::integers(std::numeric_limits<std::int64_t>::min(),
                               std::numeric_limits<std::int64_t>::max()),
                DType::int64) != "");
}

TEST_CASE("rope_table is cosines, then sines, of position times inverse frequency", "[fill]") {
  for (const std::int64_t position : {0, 1, 17, 4095, 1048575}) {
    const auto row = values(Fill::rope(10000.0), DType::f32, position, 64);
    for (std::int64_t i = 0; i < 32; ++i) {
      const long double angle = static_cast<long double>(position) *
                                std::pow(10000.0L, -2.0L * static_cast<long double>(i) / 64.0L);
      // Half an ULP of fp32 plus the angle's rounding, 2^20 * 2^-52.
      CHECK(std::fabs(row[static_cast<std::size_t>(i)] - static_cast<double>(std::cos(angle))) <
            0x1p-25 + 1e-9);
      CHECK(std::fabs(row[static_cast<std::size_t>(32 + i)] - static_cast<double>(std::sin(angle))) <
            0x1p-25 + 1e-9);
    }
  }
  CHECK(values(Fill::rope(), DType::bf16, 0, 4) == std::vector<double>{1, 1, 0, 0});
  CHECK(refusal(Fill::rope(), DType::f32, 0, 7).find("7 is odd") != std::string::npos);
  CHECK(refusal(Fill::rope(-1.0), DType::f32).find("base") != std::string::npos);
  CHECK(refusal(Fill::rope(), DType::int32) == "fill rope_table: does not apply to int32");
}

TEST_CASE("tiny and huge are scaled normals", "[fill]") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::fp16}) {
    const double exponent = dtype == DType::fp16 ? 12 : 40;
    CHECK(codes(Fill::of(Kind::tiny), dtype, 2, 3000) ==
          codes(Fill::normal(std::exp2(-exponent)), dtype, 2, 3000));
    CHECK(codes(Fill::of(Kind::huge), dtype, 2, 3000) ==
          codes(Fill::normal(std::exp2(exponent)), dtype, 2, 3000));
    double squares = 0;
    for (const double v : values(Fill::of(Kind::huge), dtype, 0, 8192)) squares += v * v;
    CHECK(squares < 0x1p127);
  }
  CHECK(refusal(Fill::of(Kind::tiny), DType::int8) == "fill tiny: does not apply to int8");
  CHECK(refusal(Fill::of(Kind::huge), DType::e4m3fn) == "fill huge: does not apply to e4m3fn");
}

TEST_CASE("constant_row: one value per row, another in the next", "[fill]") {
  const auto a = values(Fill::of(Kind::constant_row), DType::f32, 0, 300);
  const auto b = values(Fill::of(Kind::constant_row), DType::f32, 1, 300);
  CHECK(std::set<double>(a.begin(), a.end()).size() == 1);
  CHECK(std::set<double>(b.begin(), b.end()).size() == 1);
  CHECK(a[0] != b[0]);
}

TEST_CASE("constant, one_hot, arange, list", "[fill]") {
  CHECK(values(Fill::constant(1.5), DType::bf16, 9, 3) == std::vector<double>{1.5, 1.5, 1.5});
  CHECK(codes(Fill::constant(-0.0), DType::bf16, 0, 2) == std::vector<std::uint64_t>{0x8000, 0x8000});
  CHECK(values(Fill::one_hot(2), DType::fp16, 4, 4) == std::vector<double>{0, 0, 1, 0});
  CHECK(refusal(Fill::one_hot(8), DType::f32) == "fill one_hot: position 8 is outside a row of 8");
  CHECK(values(Fill::arange(), DType::int32, 2, 3) == std::vector<double>{6, 7, 8});
  CHECK(refusal(Fill::arange(), DType::int8, 15, 8) == "");  // last element 127
  CHECK(refusal(Fill::arange(), DType::int8, 16, 8) == "fill arange: element 135 exceeds the largest int8");
  CHECK(values(Fill::list({1, -2, 0.5, 4}), DType::f32, 1, 2) == std::vector<double>{0.5, 4});
  CHECK(refusal(Fill::list({1, 2, 3}), DType::f32, 1, 2) == "fill list: 3 values given, element 3 wanted");
  Fill scaled = Fill::arange();
  scaled.scale = 2.0;
  scaled.shift = -1.0;
  CHECK(values(scaled, DType::f32, 0, 3) == std::vector<double>{-1, 1, 3});
}

TEST_CASE("one_outlier: one element per row is a thousand times the normal fill's", "[fill]") {
  std::set<std::size_t> positions;
  for (std::int64_t row = 0; row < 20; ++row) {
    const auto plain = values(Fill{}, DType::f32, row, 128);
    const auto spiked = values(Fill::of(Kind::one_outlier), DType::f32, row, 128);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < 128; ++i) {
      if (plain[i] == spiked[i]) continue;
      ++changed;
      positions.insert(i);
      CHECK(std::fabs(spiked[i] / plain[i] - 1000.0) < 1e-3);
    }
    CHECK(changed == 1);
  }
  CHECK(positions.size() > 10);
}

TEST_CASE("zero_row: rows 1, 4, 7, ... are +0 and -0 in turn, whatever the shift", "[fill]") {
  Fill fill = Fill::of(Kind::zero_row);
  fill.shift = 2.0;
  for (std::int64_t row = 0; row < 12; ++row) {
    const auto row_codes = codes(fill, DType::bf16, row, 64);
    if (row % 3 == 1) {
      const std::uint64_t zero = row == 1 || row == 7 ? 0x0000 : 0x8000;
      CHECK(row_codes == std::vector<std::uint64_t>(64, zero));
    } else {
      CHECK(row_codes == codes(Fill::normal(1.0, 2.0), DType::bf16, row, 64));
    }
  }
  CHECK(codes(Fill::of(Kind::zero_row), DType::e4m3fnuz, 4, 2) == std::vector<std::uint64_t>{0, 0});
}

TEST_CASE("denormal: subnormal, never zero, both signs, spread", "[fill]") {
  for (const DType dtype :
       {DType::f32, DType::fp16, DType::bf16, DType::e4m3fn, DType::e4m3fnuz, DType::e5m2}) {
    INFO(dtype_name(dtype));
    const FloatFormat& format = float_format(dtype);
    const auto drawn = values(Fill::of(Kind::denormal), dtype, 1, 4000);
    double largest = 0;
    int negative = 0;
    for (const double v : drawn) {
      REQUIRE(v != 0.0);
      REQUIRE(std::fabs(v) < format.min_normal);
      largest = std::max(largest, std::fabs(v));
      negative += v < 0;
    }
    CHECK(largest > 0.7 * format.min_normal);
    CHECK(std::abs(negative - 2000) < 160);  // five standard deviations
  }
  CHECK(refusal(Fill::of(Kind::denormal), DType::int32) != "");
}

TEST_CASE("ties lie exactly half-way between neighbours of the narrower format", "[fill]") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::fp16}) {
    for (const double scale : {1.0, 0.001, 100.0, 1000.0}) {
      const DType narrower = dtype == DType::f32 ? DType::bf16 : DType::e4m3fn;
      INFO(dtype_name(dtype) << " scale " << scale);
      Fill fill = Fill::of(Kind::ties);
      fill.scale = scale;
      int even = 0;
      int wrong = 0;
      for (const double v : values(fill, dtype, 2, 2000)) {
        const double step = ulp_at(narrower, v);
        const std::uint64_t below = encode(narrower, std::fabs(v) - step / 2);
        wrong += decode(narrower, below) != std::fabs(v) - step / 2;
        wrong += decode(narrower, below + 1) != std::fabs(v) + step / 2;
        even += below % 2 == 0;
      }
      CHECK(wrong == 0);
      // Both parities, so that half-up and half-down are each caught; not where e4m3fn has one tie to offer:
      // every value below its smallest subnormal (scale 0.001), or above its maximum (1000).
      if (narrower == DType::bf16 || scale == 1.0 || scale == 100.0) {
        CHECK(even > 400);
        CHECK(even < 1600);
      }
    }
  }
  CHECK(refusal(Fill::of(Kind::ties), DType::e4m3fn) != "");
  CHECK(refusal(Fill::of(Kind::ties), DType::int8) != "");
}

TEST_CASE("special: one special element in every fourth row, NaN, +inf, -inf in turn", "[fill]") {
  for (const DType dtype : {DType::f32, DType::bf16, DType::fp16, DType::e5m2}) {
    for (std::int64_t row = 0; row < 24; ++row) {
      const auto drawn = values(Fill::of(Kind::special), dtype, row, 96);
      const auto nans = std::count_if(drawn.begin(), drawn.end(), [](double v) { return std::isnan(v); });
      const auto positive = std::count(drawn.begin(), drawn.end(), std::numeric_limits<double>::infinity());
      const auto negative = std::count(drawn.begin(), drawn.end(), -std::numeric_limits<double>::infinity());
      INFO(dtype_name(dtype) << " row " << row);
      CHECK(nans == (row % 12 == 0 ? 1 : 0));
      CHECK(positive == (row % 12 == 4 ? 1 : 0));
      CHECK(negative == (row % 12 == 8 ? 1 : 0));
    }
  }
  CHECK(refusal(Fill::of(Kind::special), DType::e4m3fn) != "");
  CHECK(refusal(Fill::of(Kind::special), DType::int32) != "");
}

TEST_CASE("exact_int: all of [-8, 8] and nothing else, exact in every signed dtype", "[fill]") {
  for (const DType dtype : kAll) {
    if (dtype == DType::uint8) continue;
    const auto drawn = values(Fill::of(Kind::exact_int), dtype, 0, 2000);
    const std::set<double> seen(drawn.begin(), drawn.end());
    INFO(dtype_name(dtype));
    CHECK(seen.size() == 17);
    CHECK(*seen.begin() == -8);
    CHECK(*seen.rbegin() == 8);
    CHECK(std::all_of(seen.begin(), seen.end(), [](double v) { return v == std::floor(v); }));
  }
  CHECK(refusal(Fill::of(Kind::exact_int), DType::uint8) == "fill exact_int: does not apply to uint8");
}

TEST_CASE("near_constant breaks a one-pass variance and not a two-pass one (A15)", "[fill]") {
  const auto row = values(Fill::of(Kind::near_constant), DType::f32, 0, 1024);
  double mean = 0, variance = 0;
  float sum = 0, squares = 0;
  for (const double v : row) {
    CHECK(std::fabs(v - 1000.0) <= 0x1p-7);
    mean += v / 1024;
    sum += static_cast<float>(v);
    squares += static_cast<float>(v) * static_cast<float>(v);
  }
  for (const double v : row) variance += (v - mean) * (v - mean) / 1024;
  // Uniform of width 2^-6: variance 2^-12 / 12 = 2.0e-5.
  CHECK(std::fabs(variance / (0x1p-12 / 12) - 1) < 0.1);
  const float one_pass = squares / 1024 - (sum / 1024) * (sum / 1024);
  CHECK(std::fabs(static_cast<double>(one_pass) - variance) > 100 * variance);
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    const auto drawn = values(Fill::of(Kind::near_constant), dtype, 0, 1024);
    CHECK(std::set<double>(drawn.begin(), drawn.end()).size() >= 16);
  }
}

TEST_CASE("names of fills go both ways; rows that cannot be are refused", "[fill]") {
  for (int kind = 0; kind <= static_cast<int>(Kind::list); ++kind) {
    CHECK(parse_fill(fill_name(static_cast<Kind>(kind))) == static_cast<Kind>(kind));
  }
  CHECK(fill_name(Kind::rope_table) == "rope_table");
  CHECK(fill_name(Kind::list) == "list");
  CHECK_FALSE(parse_fill("gaussian").has_value());
  CHECK(refusal(Fill{}, DType::f32, -1) != "");
  for (const Kind kind : {Kind::normal, Kind::one_outlier, Kind::special, Kind::arange, Kind::rope_table}) {
    CHECK(codes(Fill::of(kind), DType::f32, 0, 0).empty());
  }
}

}  // namespace
}  // namespace kvr
