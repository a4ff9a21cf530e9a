// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Many values at once, against the codec, one by one: every code of the 16-bit formats, every midpoint and
// its neighbours in double, subnormals too.
#include "harness/random/narrow.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "harness/numeric/codec.h"

namespace kvr {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

std::uint64_t code_at(const std::vector<std::byte>& codes, std::size_t index, std::size_t size) {
  std::uint64_t code = 0;
  std::memcpy(&code, codes.data() + index * size, size);
  return code;
}

TEST_CASE("narrowing is the codec's rounding", "[narrow]") {
  for (const DType dtype : {DType::bf16, DType::fp16, DType::f32}) {
    CAPTURE(dtype_name(dtype));
    std::vector<double> values;
    const auto add = [&](double point) {
      for (const double value : {point, std::nextafter(point, 0.0), std::nextafter(point, kInf)}) {
        values.push_back(value);
        values.push_back(-value);
      }
    };
    const FloatFormat& format = float_format(dtype);
    if (dtype != DType::f32) {
      for (std::uint32_t code = 0; code <= format.max_code; ++code) {
        const double value = decode(dtype, code);
        add(value);
        add(value + ulp_at(dtype, value) / 2);
      }
    }
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> exponent(-160.0, 130.0);
    for (int i = 0; i < 100000; ++i) add(std::exp2(exponent(random)));
    for (const double value :
         {0.0, format.max_finite, 2 * format.max_finite, 1e300, kInf, 0x1p-1074, 0x1p-1022})
      add(value);
    values.push_back(std::numeric_limits<double>::quiet_NaN());

    const std::size_t size = dtype_size(dtype);
    std::vector<std::byte> codes(values.size() * size);
    narrow(dtype, values.data(), values.size(), codes.data());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t code = code_at(codes, i, size);
      const std::uint64_t expected = encode(dtype, values[i]);
      wrong += code == expected || (is_nan_code(dtype, code) && is_nan_code(dtype, expected)) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

}  // namespace
}  // namespace kvr
