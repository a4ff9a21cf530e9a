// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kernels/common/floats.h: vectors of conversions give what the single conversions give, which
// tests/unit/numeric compares with the formats' definitions.
#include "kernels/common/floats.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "run_kernel.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::uint32_t bits(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}
bool same(float a, float b) {
  return bits(a) == bits(b);
}

// Eight at a time: all kinds of exponents, everything around the limits of fp16, fp8 and int8, and NaN and
// infinity in every place.
std::vector<Floats<8>> samples() {
  std::vector<float> values;
  std::mt19937 random(1);
  for (int i = 0; i < 1 << 20; ++i)
    values.push_back(__builtin_bit_cast(float, static_cast<std::uint32_t>(random())));
  for (const float edge :
       {65504.0F, 65520.0F, 65536.0F, 0x1p-14F, 0x1p-24F,  0x1p-25F,  0x1.8p-24F, 448.0F,     464.0F,
        240.0F,   224.0F,   0x1p-6F,  0x1p-9F,  0x1p-10F,  0x1p-7F,   57344.0F,   61440.0F,   0x1p-16F,
        127.0F,   126.5F,   0.5F,     1.5F,     0x1.01p0F, 0x1.03p0F, 0x1p-133F,  0x1.FFp127F}) {
    float value = std::nextafter(std::nextafter(edge, 0.0F), 0.0F);
    for (int step = 0; step < 5; ++step, value = std::nextafter(value, kInf)) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  for (const float special : {0.0F, -0.0F, kNan, -kNan, kInf, -kInf, 0x1p-149F, -0x1p-149F}) {
    for (int place = 0; place < 8; ++place)
      for (int e = 0; e < 8; ++e) values.push_back(e == place ? special : static_cast<float>(e));
  }
  values.resize(values.size() / 8 * 8);
  std::vector<Floats<8>> eights;
  for (std::size_t i = 0; i < values.size(); i += 8) {
    float part[8];
    for (std::size_t e = 0; e < 8; ++e) part[e] = values[i + e];
    eights.push_back(Floats<8>::from(part));
  }
  return eights;
}

template <class T>
void check_storage() {
  int wrong = 0;
  for (std::uint32_t code = 0; code < 65536; code += 8) {
    Vec<T, 8> codes;
    for (std::uint32_t e = 0; e < 8; ++e)
      codes[static_cast<int>(e)].bits = static_cast<std::uint16_t>(code + e);
    float values[8];
    to_floats(codes).to(values);
    for (int e = 0; e < 8; ++e) wrong += same(values[e], to_float(codes[e])) ? 0 : 1;
  }
  CHECK(wrong == 0);
  for (const Floats<8>& x : samples()) {
    float values[8];
    float rounded[8];
    x.to(values);
    round_to<T>(x).to(rounded);
    const Vec<T, 8> codes = from_floats<T>(x);
    for (int e = 0; e < 8; ++e) {
      const T alone = from_float<T>(values[e]);
      wrong += codes[e].bits == alone.bits ? 0 : 1;
      const float back = to_float(alone);
      wrong += same(rounded[e], back) || (std::isnan(rounded[e]) && std::isnan(back)) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

template <class Code>
void check_saturating(float max) {
  int wrong = 0;
  for (const Floats<8>& x : samples()) {
    float values[8];
    x.to(values);
    const Vec<std::uint8_t, 8> codes = saturating_codes<Code>(x, max);
    for (int e = 0; e < 8; ++e) {
      const auto alone = __builtin_bit_cast(std::uint8_t, from_float_saturating<Code>(values[e], max));
      wrong += codes[e] == alone ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE(KVR_NAME("floats: storage types, eight at a time as one by one")) {
  check_storage<bf16>();
  check_storage<fp16>();
  Vec<float, 8> codes;
  for (int e = 0; e < 8; ++e) codes[e] = static_cast<float>(e) - 3.0F;
  const Vec<float, 8> back = from_floats<float>(round_to<float>(to_floats(codes)));
  for (int e = 0; e < 8; ++e) CHECK(back[e] == codes[e]);
}

TEST_CASE(KVR_NAME("floats: saturating codes, eight at a time as one by one")) {
  for (const float max : {448.0F, 240.0F, 224.0F, 127.0F, 1.0F, 1e30F}) {
    CAPTURE(max);
    check_saturating<e4m3fn>(max);
    check_saturating<e4m3fnuz>(max);
    check_saturating<e5m2>(max);
    check_saturating<std::int8_t>(max);
  }
}

TEST_CASE(KVR_NAME("floats: arithmetic, element by element")) {
  const float a[8] = {1.0F, -2.0F, 3.0F, 0x1p24F, 0.1F, kInf, -0.0F, 5.0F};
  const float b[8] = {4.0F, 0.5F, -3.0F, 1.0F, 0.2F, 1.0F, 0.0F, 2.0F};
  const auto x = Floats<8>::from(a);
  const auto y = Floats<8>::from(b);
  float sum[8], difference[8], product[8], quotient[8], scaled[8];
  (x + y).to(sum);
  (x - y).to(difference);
  (x * y).to(product);
  (x / y).to(quotient);
  (x * 3.0F).to(scaled);
  for (int e = 0; e < 8; ++e) {
    CHECK(same(sum[e], a[e] + b[e]));
    CHECK(same(difference[e], a[e] - b[e]));
    CHECK(same(product[e], a[e] * b[e]));
    CHECK((same(quotient[e], a[e] / b[e]) || std::isnan(a[e] / b[e])));
    CHECK(same(scaled[e], a[e] * 3.0F));
  }
}

TEST_CASE(KVR_NAME("floats: the first elements, and zeros behind them")) {
  const float values[8] = {1.0F, 2.0F, kNan, 4.0F, kInf, 6.0F, 7.0F, 8.0F};
  for (int count = 0; count <= 8; ++count) {
    float kept[8];
    first(count, Floats<8>::from(values)).to(kept);
    for (int e = 0; e < 8; ++e) CHECK(bits(kept[e]) == (e < count ? bits(values[e]) : 0U));
  }
}

// 2^24 + 1 is lost in fp32, so which neighbours are added first shows: element i joins i + 4, then i + 2, i
// + 1.
TEST_CASE(KVR_NAME("floats: the order of a sum")) {
  const float big = 0x1p24F;
  const auto sum_of = [](const float(&values)[8]) { return tree_sum(Floats<8>::from(values)); };
  CHECK(sum_of({big, 0, 0, 0, -big, 0, 0, 1}) == 1.0F);  // 0 and 4 cancel first
  CHECK(sum_of({big, 0, 0, 0, 1, 0, -big, 0}) == 0.0F);  // the 1 is lost before 6 comes
  CHECK(sum_of({big, 1, -big, 0, 0, 0, 0, 0}) == 1.0F);  // 0 and 2 cancel before 1 comes
  CHECK(sum_of({big, -big, 1, 0, 0, 0, 0, 0}) == 0.0F);  // 2 joins 0 before 1 comes
  CHECK(sum_of({1, 2, 3, 4, 5, 6, 7, 8}) == 36.0F);
}

TEST_CASE(KVR_NAME("floats: magnitudes")) {
  const float a[8] = {1.0F, -5.0F, kNan, 0.0F, -0.0F, -kInf, 2.0F, 0x1p-149F};
  const float b[8] = {-2.0F, 3.0F, 1.0F, kNan, 0.0F, kNan, -2.0F, 0.0F};
  float most[8];
  larger_magnitude(Floats<8>::from(a), Floats<8>::from(b)).to(most);
  const float expected[8] = {2.0F, 5.0F, kNan, kNan, 0.0F, kNan, 2.0F, 0x1p-149F};
  for (int e = 0; e < 8; ++e)
    CHECK((same(most[e], expected[e]) || (std::isnan(most[e]) && std::isnan(expected[e]))));
  for (int place = 0; place < 8; ++place) {
    float values[8] = {1.0F, -1.0F, 0.5F, 1.0F, -0.25F, 0.0F, 1.0F, -1.0F};
    values[place] = -3.0F;
    CHECK(largest_magnitude(Floats<8>::from(values)) == 3.0F);
    values[place] = -kNan;
    CHECK(std::isnan(largest_magnitude(Floats<8>::from(values))));
    values[place] = -kInf;
    CHECK(largest_magnitude(Floats<8>::from(values)) == kInf);
  }
}

TEST_CASE(KVR_NAME("vec: element by element from any address")) {
  std::uint16_t memory[32];
  for (std::uint16_t i = 0; i < 32; ++i) memory[i] = i;
  for (int offset = 0; offset < 8; ++offset) {
    const auto x = load_vec<2, 8>(memory + offset);
    for (int e = 0; e < 8; ++e) CHECK(x[e] == offset + e);
    std::uint16_t to[32] = {};
    store_vec<2>(to + offset, x);
    for (int e = 0; e < 32; ++e) CHECK(to[e] == (e >= offset && e < offset + 8 ? e : 0));
  }
}

}  // namespace
}  // namespace kvr::KVR_BUILD
