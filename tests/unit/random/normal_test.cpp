// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The normal distribution: the map from words to values against erfc, and the statistics of draws. Draws are
// deterministic, so a statistical bound that holds once holds always.
#include "harness/random/normal.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/random/random.h"

namespace kvr {
namespace {

// P(Z > z), accurate in the tail.
double upper_tail(double z) {
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}
double density(double z) {
  return std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::acos(-1.0));
}

// Words with sign 0 and magnitudes spread evenly, plus the first thousand, where each octave has few points.
std::vector<std::uint32_t> sample_words() {
  std::vector<std::uint32_t> words;
  for (std::uint32_t m = 0; m < 1000; ++m) words.push_back(m);
  for (std::uint32_t m = 1000; m < 0x7FFFFFFF - 4099; m += 4099) words.push_back(m);
  for (std::uint32_t m = 0x7FFFFFFF - 1000; m < 0x7FFFFFFF; ++m) words.push_back(m);
  words.push_back(0x7FFFFFFF);
  return words;
}

TEST_CASE("normal_quantile inverts erfc", "[normal]") {
  double worst = 0;
  for (double p = 0x1p-40; p < 0.5; p *= 1.001) {
    const double z = normal_quantile(p);
    // A relative error e of z changes the tail by a factor of 1 + z^2 e: at z = 7, 4 ULP of z and as much
    // again for erfc are 49 * 8 * 2^-53 = 4.4e-14.
    worst = std::max(worst, std::fabs(upper_tail(-z) / p - 1.0));
    CHECK(normal_quantile(p) < 0);
  }
  CHECK(worst < 4.4e-14);
  CHECK(normal_quantile(0.5) == 0.0);
  CHECK(normal_quantile(0.75) == -normal_quantile(0.25));
  CHECK(std::fabs(normal_quantile(0.975) - 1.959963984540054) < 1e-15);  // the textbook 95 % quantile
}

TEST_CASE("a word's value has the word's tail probability", "[normal]") {
  double worst_z = 0;
  double worst_cdf = 0;
  double previous = 7.0;
  std::uint64_t out_of_order = 0;
  for (const std::uint32_t word : sample_words()) {
    const double p = (2.0 * word + 1.0) / 8589934592.0;
    const auto z = static_cast<double>(normal_from_word(word));
    const double error = upper_tail(z) - p;
    const double half_ulp = std::ldexp(1.0, std::ilogb(z) - 24);
    worst_cdf = std::max(worst_cdf, std::fabs(error));
    worst_z = std::max(worst_z, std::fabs(error) / density(z) - half_ulp);
    out_of_order += z > previous;
    previous = z;
    if (static_cast<double>(normal_from_word(word | 0x80000000U)) != -z) ++out_of_order;
  }
  CHECK(worst_z < 5e-9);  // the header's promise, from the interpolation error
  CHECK(worst_cdf <
        1.8e-8);  // density * (5e-9 + half an ULP), largest just above z = 1: 0.242 * (6e-8 + 5e-9) = 1.6e-8
  CHECK(out_of_order == 0);
}

TEST_CASE("the extremes are where the header says", "[normal]") {
  CHECK(std::fabs(static_cast<double>(normal_from_word(0)) - 6.338) < 2e-3);
  CHECK(static_cast<double>(normal_from_word(0)) <= 6.34);
  CHECK(std::fabs(upper_tail(static_cast<double>(normal_from_word(0))) / 0x1p-33 - 1.0) < 2e-6);
  // p = 1/2 - 2^-33: z = 2^-33 sqrt(2 pi) = 2.918e-10.
  CHECK(std::fabs(static_cast<double>(normal_from_word(0x7FFFFFFF)) / 2.9181e-10 - 1.0) < 1e-4);
  CHECK(normal_from_word(0xFFFFFFFF) == -normal_from_word(0x7FFFFFFF));
}

TEST_CASE("moments, tails, distribution and independence of draws", "[normal]") {
  constexpr std::size_t kCount = 1 << 22;
  const RandomStream stream(Seed{1}, "moments", "x");
  std::vector<float> draws(kCount);
  stream.normal(0, draws.data(), kCount);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0;
  std::size_t beyond_4 = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto z = static_cast<double>(draws[i]);
    m1 += z;
    m2 += z * z;
    m3 += z * z * z;
    m4 += z * z * z * z;
    if (i > 0) lag += z * static_cast<double>(draws[i - 1]);
    beyond_4 += std::fabs(z) > 4.0;
  }
  const double n = kCount;
  // Five standard errors: variances of z, z^2, z^3, z^4 and z z' are 1, 2, 15, 96 and 1.
  CHECK(std::fabs(m1 / n) < 5 * std::sqrt(1 / n));
  CHECK(std::fabs(m2 / n - 1) < 5 * std::sqrt(2 / n));
  CHECK(std::fabs(m3 / n) < 5 * std::sqrt(15 / n));
  CHECK(std::fabs(m4 / n - 3) < 5 * std::sqrt(96 / n));
  CHECK(std::fabs(lag / n) < 5 * std::sqrt(1 / n));
  const double expected_4 = 2 * upper_tail(4.0) * n;  // 265.7
  CHECK(std::fabs(static_cast<double>(beyond_4) - expected_4) < 5 * std::sqrt(expected_4));

  // Kolmogorov-Smirnov: sqrt(n) D exceeds 1.95 with probability 0.001.
  std::sort(draws.begin(), draws.end());
  double distance = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double cdf = upper_tail(-static_cast<double>(draws[i]));
    const auto rank = static_cast<double>(i);
    distance = std::max({distance, std::fabs(cdf - rank / n), std::fabs(cdf - (rank + 1) / n)});
  }
  CHECK(distance * std::sqrt(n) < 1.95);
}

}  // namespace
}  // namespace kvr
