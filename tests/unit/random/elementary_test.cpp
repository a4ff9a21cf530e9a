// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The portable elementary functions against the C library's long double ones (64 bits of significand on x86).
#include "harness/random/elementary.h"

#include <catch2/catch_test_macros.hpp>
#include <cfloat>
#include <cmath>

namespace kvr {
namespace {

// Where long double is double, the oracle is itself off by half an ULP or so.
constexpr long double kTolerance = (LDBL_MANT_DIG > 53 ? 2.5L : 4.0L) * 0x1p-53L;

long double relative_error(double actual, long double expected) {
  return std::fabs(static_cast<long double>(actual) - expected) / std::fabs(expected);
}

TEST_CASE("portable_log is within a few ULP", "[elementary]") {
  long double worst = 0;
  for (int i = 1; i < 200000; ++i) {
    const double wide = std::exp((i - 100000) * 0.007);  // the whole range of double
    const double near_one = 1.0 + (i - 100000) * 7.3e-6;
    for (const double x : {wide, near_one}) {
      if (x == 1.0) continue;
      worst = std::max(worst, relative_error(portable_log(x), std::log(static_cast<long double>(x))));
    }
  }
  CHECK(worst < kTolerance);
  CHECK(portable_log(1.0) == 0.0);
  CHECK(relative_error(portable_log(0x1p-1074), std::log(0x1p-1074L)) < kTolerance);
}

TEST_CASE("portable_exp2 is within a few ULP, exact at integers", "[elementary]") {
  long double worst = 0;
  for (int i = -200000; i <= 200000; ++i) {
    const double x = i * 0.0049999;
    worst = std::max(worst, relative_error(portable_exp2(x), std::exp2(static_cast<long double>(x))));
  }
  CHECK(worst < kTolerance);
  for (int n = -1000; n <= 1000; ++n) CHECK(portable_exp2(n) == std::ldexp(1.0, n));
}

TEST_CASE("portable_sincos is within a few ULP up to 2^31", "[elementary]") {
  long double worst = 0;
  for (int i = -200000; i <= 200000; ++i) {
    for (const double x : {i * 1.7e-5, i * 0.37, i * 10737.41824, static_cast<double>(i)}) {
      if (x == 0.0) continue;
      const SinCos actual = portable_sincos(x);
      worst = std::max(worst, relative_error(actual.sin, std::sin(static_cast<long double>(x))));
      worst = std::max(worst, relative_error(actual.cos, std::cos(static_cast<long double>(x))));
    }
  }
  CHECK(worst < kTolerance);
  CHECK(portable_sincos(0.0).sin == 0.0);
  CHECK(portable_sincos(0.0).cos == 1.0);
  // Close to a multiple of pi, where the sine is what is left of pi after 53 bits.
  for (const double x :
       {0x1.921fb54442d18p+1, 0x1.921fb54442d18p+20, 245850922.0 / 78256779.0, 2147483647.0}) {
    CHECK(relative_error(portable_sincos(x).sin, std::sin(static_cast<long double>(x))) < kTolerance);
  }
}

}  // namespace
}  // namespace kvr
