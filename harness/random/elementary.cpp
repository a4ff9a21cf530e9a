// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Range reduction with exactly representable pieces, then Taylor series whose coefficients are quotients of
// integers: nothing here but +, -, *, / and exact operations on bits. Horner order; contraction is off for
// the whole project.
#include "harness/random/elementary.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace kvr {
namespace {

// ln 2 in two pieces; the first has 21 trailing zero bits, so that k * kLn2Hi is exact for |k| < 2^21.
constexpr double kLn2Hi = 0x1.62e42fee00000p-1;
constexpr double kLn2Lo = 0x1.a39ef35793c76p-33;
constexpr double kLn2 = 0x1.62e42fefa39efp-1;

// pi/2 in pieces of 22 bits and a rest: n * piece is exact for |n| < 2^31.
constexpr double kHalfPi1 = 0x1.921fb0p+0;
constexpr double kHalfPi2 = 0x1.5110bp-22;
constexpr double kHalfPi3 = 0x1.1846980p-44;
constexpr double kHalfPi4 = 0x1.3198a2e037073p-69;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

constexpr double factorial(int n) {
  double product = 1.0;  // exact up to 18!
  for (int i = 2; i <= n; ++i) product *= i;
  return product;
}

// 1/First!, 1/(First + Step)!, ...; Step 2 alternates in sign, beginning with a negative term.
template <std::size_t Terms, int First, int Step>
constexpr std::array<double, Terms> reciprocal_factorials() {
  std::array<double, Terms> terms{};
  for (std::size_t i = 0; i < Terms; ++i) {
    const double sign = Step == 2 && i % 2 == 0 ? -1.0 : 1.0;
    terms[i] = sign / factorial(First + Step * static_cast<int>(i));
  }
  return terms;
}

constexpr auto kSine = reciprocal_factorials<8, 3, 2>();  // -1/3!, +1/5!, ..., +1/17!
constexpr auto kCosine = [] {                             // +1/4!, -1/6!, ..., -1/18!
  auto terms = reciprocal_factorials<8, 4, 2>();
  for (double& term : terms) term = -term;
  return terms;
}();
constexpr auto kExp = reciprocal_factorials<12, 2, 1>();  // 1/2!, ..., 1/13!
constexpr auto kAtanh = [] {                              // 2/3, 2/5, ..., 2/23
  std::array<double, 11> terms{};
  for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = 2.0 / static_cast<double>(2 * i + 3);
  return terms;
}();

// t0 x + t1 x^2 + ...
template <std::size_t N>
double series(const std::array<double, N>& terms, double x) {
  double sum = terms[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + terms[i];
  return sum * x;
}

double power_of_two(int exponent) {  // -1022 <= exponent <= 1023
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// |r| <= pi/4: the first term left out is (pi/4)^19 / 19! = 8e-20, 1e-4 ULP of the sum.
double sine_series(double r) {
  return r + r * series(kSine, r * r);
}

double cosine_series(double r) {  // left out: (pi/4)^20 / 20! = 3e-21
  const double r2 = r * r;
  return 1.0 + (r2 * series(kCosine, r2) - 0.5 * r2);
}

}  // namespace

double portable_log(double x) {
  int exponent = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    exponent = -54;
  }
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  exponent += static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > 1.4142135623730951) {  // m in (sqrt(1/2), sqrt(2)]
    m *= 0.5;
    ++exponent;
  }
  // log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172. Left out: s^25 / 25 relative to s: 2e-20.
  const double f = m - 1.0;  // exact
  const double s = f / (2.0 + f);
  const double sum = series(kAtanh, s * s);
  // log m = f - s * (f - sum): f carries the leading digits exactly, so the error of s does not.
  const double k = exponent;
  return k * kLn2Hi - ((s * (f - sum) - k * kLn2Lo) - f);
}

double portable_exp2(double x) {
  const double whole = std::floor(x + 0.5);
  const double y = (x - whole) * kLn2;  // the difference is exact; |y| <= 0.347
  // Left out: y^14 / 14! = 4e-18.
  return (1.0 + (y + y * series(kExp, y))) * power_of_two(static_cast<int>(whole));
}

SinCos portable_sincos(double radians) {
  const double n = std::floor(radians * kTwoOverPi + 0.5);
  // The first two subtractions are exact: each product is, and the difference needs at most 53 bits because
  // it is a multiple of the ULP of `radians` or of the product and stays below 1 + n * (what is left of
  // pi/2).
  const double head = (radians - n * kHalfPi1) - n * kHalfPi2;
  const double third = n * kHalfPi3;
  const double sum = head - third;
  const double lost = (head - sum) - third;
  const double r = sum + (lost - n * kHalfPi4);

  const double sine = sine_series(r);
  const double cosine = cosine_series(r);
  switch (static_cast<std::int64_t>(n) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace kvr
