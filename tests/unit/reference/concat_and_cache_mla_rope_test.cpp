// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The reference of concat_and_cache_mla_rope against numbers worked out by hand, and its budgets against the
// arithmetic they are about.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>

#include "harness/random/random.h"
#include "tests/unit/reference/mla_tensors.h"

namespace kvr {
namespace {

using Catch::Matchers::WithinAbs;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST_CASE("A4: one non-zero element goes where the pairing says, and nowhere else") {
  // cos(1) = 0.540302, sin(1) = 0.841471 (bug_reports.md A4).
  const Pairing pairing = GENERATE(Pairing::half_split, Pairing::interleaved);
  constexpr std::int64_t kR = 64;
  for (std::int64_t hot = 0; hot < kR; ++hot) {
    MlaTensors t(DType::f32, 1, kR, 1);
    t.args.pairing = pairing;
    for (std::int64_t i = 0; i < kR / 2; ++i) {
      t.table.put(i, 0.54030230586814);
      t.table.put(kR / 2 + i, 0.84147098480790);
    }
    t.q.put(hot, 1.0);
    t.k.put(hot, 1.0);
    const bool first = pairing == Pairing::interleaved ? hot % 2 == 0 : hot < kR / 2;
    const std::int64_t step = pairing == Pairing::interleaved ? 1 : kR / 2;
    const std::int64_t partner = first ? hot + step : hot - step;
    const auto out = t.reference<double>();
    for (std::int64_t i = 0; i < kR; ++i) {
      const double want = i == hot ? 0.540302 : i == partner ? (first ? 0.841471 : -0.841471) : 0.0;
      CAPTURE(hot, i);
      CHECK_THAT(out.q.value[static_cast<std::size_t>(i)], WithinAbs(want, 1e-6));
      CHECK_THAT(out.k.value[static_cast<std::size_t>(i)], WithinAbs(want, 1e-6));
      CHECK_THAT(out.cache.value[static_cast<std::size_t>(1 + i)], WithinAbs(want, 1e-6));
    }
  }
}

TEST_CASE("per_op rounds both products and the difference, once rounds at the end") {
  // bf16 has 8 significant bits. x = c = 1.0234375 = 1 + 3/128: x c = 1 + 6/128 + 9/16384 = 1.04742431640625,
  // which rounds to 1 + 6/128 = 1.046875. With y s = 1: 0.046875 per operation; in fp32 0.04742431640625,
  // 194.25 steps of 2^-12.
  MlaTensors t(DType::bf16, 1, 2, 1);
  t.k.put(0, 1.0234375);
  t.k.put(1, 1.0);
  t.table.put(0, 1.0234375);
  t.table.put(1, 1.0);
  const auto per_op = t.reference<double>();
  CHECK(per_op.k.value[0] == 0.046875);
  CHECK(per_op.k.budget[0] == 0.0);
  CHECK(per_op.k.products[0] == 1.04742431640625);
  CHECK(per_op.cache.value[1] == 0.046875);
  // y c + x s = 1.0234375 + 1.0234375: exact.
  CHECK(per_op.k.value[1] == 2.046875);
  t.args.rounding = RopeRounding::once;
  const auto once = t.reference<double>();
  CHECK(once.k.value[0] == 0.04742431640625);
  CHECK(decode(DType::bf16, encode(DType::bf16, once.k.value[0])) == 194 * 0x1p-12);
  CHECK(once.k.budget[0] == 0x1p-24 * 0.04742431640625 + 0x1p-149);
}

TEST_CASE(
    "fp8 caches hold the quotient of what T holds, in the encoding and to the maximum of the descriptor") {
  // bug_reports.md A19, A20, A21 and the formats' definitions.
  struct Row {
    double latent;
    std::uint64_t ocp, fnuz240, e5m2;
  };
  const std::vector<Row> rows{
      {130.0, 0x70, 0x78, 0x58},      // OCP: 16 apart from 128; e5m2 32 apart
      {200.0, 0x74, 0x7C, 0x5A},      // ties: OCP and FNUZ 192 or 208, e5m2 192 or 224; 192 is even in all
      {240.0, 0x77, 0x7F, 0x5C},      // FNUZ's largest; e5m2: tie of 224 and 256
      {272.0, 0x78, 0x7F, 0x5C},      // OCP: tie of 256 and 288
      {304.0, 0x7A, 0x7F, 0x5D},      // OCP: tie of 288 and 320
      {1000.0, 0x7E, 0x7F, 0x64},     // beyond both maxima; e5m2 1024
      {-1000.0, 0xFE, 0xFF, 0xE4},    //
      {100000.0, 0x7E, 0x7F, 0x7B},   // beyond e5m2's as well
      {-1e-7, 0x80, 0x00, 0x80},      // rounds to zero: -0, and 0 in FNUZ, whose 0x80 is NaN
      {0x1p-10, 0x00, 0x01, 0x14},    // OCP: half its smallest; FNUZ: its smallest
      {kInfinity, 0x7E, 0x7F, 0x7B},  // saturates
      {kNaN, 0x7F, 0x80, 0x7E},       // stays
  };
  MlaTensors t(DType::f32, 1, 2, static_cast<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) t.kv_c.put(static_cast<std::int64_t>(i), rows[i].latent);
  t.table.put(0, 1.0);
  const auto check = [&](const Fp8Format& format, std::uint64_t Row::*code) {
    t.args.cache_format = format;
    const auto out = t.reference<double>();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CAPTURE(dtype_name(format.encoding), rows[i].latent);
      CHECK(out.cache.budget[i] == 0.0);
      const std::uint64_t got = encode(format, out.cache.value[i]);
      CHECK((std::isnan(rows[i].latent) ? is_nan_code(format.encoding, got) : got == rows[i].*code));
    }
  };
  check(kE4m3fn, &Row::ocp);
  check(kE4m3fnuz240, &Row::fnuz240);
  check(kE5m2, &Row::e5m2);
}

TEST_CASE("the scale divides, in one fp32 operation") {
  // 0.80859375 / fl(1.078125 / 448) is 336 exactly; times the reciprocal it is 336.00003 (bug_reports.md A2).
  MlaTensors t(DType::bf16, 1, 2, 1);
  t.kv_c.put(0, 0.80859375);
  t.scale = 1.078125F / 448.0F;
  t.args.cache_format = kE4m3fn;
  CHECK(t.reference<double>().cache.value[0] == 336.0);
  // A scale that only the device sees: contracts.md.
  t.scale = 0.0F;
  CHECK(t.reference<double>().cache.value[0] == kInfinity);
  t.kv_c.put(0, 0.0);
  CHECK(std::isnan(t.reference<double>().cache.value[0]));
}

TEST_CASE("the rope part of an fp8 cache quantises what k holds, not the fp32 rotation") {
  // bf16: 1.03125 * 1.0234375 = 1.055419921875 lies between 1.0546875 and 1.0625 and rounds down. 1.0546875 /
  // 0.94140625 = 1.12033...; unrounded it would be 1.12111....
  MlaTensors t(DType::bf16, 1, 2, 1);
  t.k.put(0, 1.03125);
  t.table.put(0, 1.0234375);
  t.scale = 0.94140625F;
  t.args.cache_format = kE4m3fn;
  t.args.rounding = RopeRounding::once;
  CHECK_THAT(t.reference<double>().cache.value[1], WithinAbs(1.0546875 / 0.94140625, 1e-7));
}

TEST_CASE("a negative slot leaves k and the cache alone, q is rotated all the same") {
  MlaTensors t(DType::bf16, 3, 2, 1);
  t.slots = {2, std::numeric_limits<std::int64_t>::min(), 0};
  const auto out = t.reference<double>();
  CHECK(out.q.is_set == std::vector<bool>{true, true, true, true, true, true});
  CHECK(out.k.is_set == std::vector<bool>{true, true, false, false, true, true});
  // Entries are latent, then rope: L + R = 3 elements each.
  CHECK(out.cache.is_set == std::vector<bool>{true, true, true, false, false, false, true, true, true});
}

// Random tensors with angles and values as in a model; every eighth pair nearly cancels.
MlaTensors random_tensors(DType dtype, std::int64_t n, std::int64_t r, std::uint64_t seed) {
  MlaTensors t(dtype, n, r, 1);
  const RandomStream random(Seed{seed}, "mla reference", "values");
  std::uint64_t at = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < r / 2; ++j) {
      const double angle = 6.283185307179586 * random.uniform(at++);
      const double x = random.normal(at++);
      const double y = j % 8 == 0 ? x * std::cos(angle) / std::sin(angle) : random.normal(at++);
      t.table.put(i * r + j, std::cos(angle));
      t.table.put(i * r + r / 2 + j, std::sin(angle));
      t.k.put(i * r + j, x);
      t.k.put(i * r + r / 2 + j, y);
    }
  }
  return t;
}

double round_to(DType dtype, double value) {
  return decode(dtype, encode(dtype, value));
}

TEST_CASE("budgets hold every order of roundings that the contract leaves open") {
  constexpr std::int64_t kN = 64;
  constexpr std::int64_t kR = 64;
  const DType dtype = GENERATE(DType::f32, DType::bf16, DType::fp16);
  const RopeRounding rounding = GENERATE(RopeRounding::per_op, RopeRounding::once);
  MlaTensors t = random_tensors(dtype, kN, kR, 1);
  t.args.rounding = rounding;
  const auto exact = t.reference<double>();
  const auto single = t.reference<float>();
  std::int64_t differing = 0;
  for (std::int64_t n = 0; n < kN; ++n) {
    for (std::int64_t j = 0; j < kR / 2; ++j) {
      const auto x = static_cast<float>(t.k.get(n * kR + j));
      const auto y = static_cast<float>(t.k.get(n * kR + kR / 2 + j));
      const auto c = static_cast<float>(t.table.get(n * kR + j));
      const auto s = static_cast<float>(t.table.get(n * kR + kR / 2 + j));
      const auto at = static_cast<std::size_t>(n * kR + j);
      const double low = round_to(dtype, exact.k.value[at] - exact.k.budget[at]);
      const double high = round_to(dtype, exact.k.value[at] + exact.k.budget[at]);
      const auto within = [&](double out) {
        const double rounded = round_to(dtype, out);
        return rounded >= low && rounded <= high;
      };
      CAPTURE(dtype_name(dtype), n, j, exact.k.value[at], exact.k.budget[at]);
      if (dtype == DType::f32 || rounding == RopeRounding::once) {
        CHECK(within(std::fma(x, c, -(y * s))));
        CHECK(within(std::fma(-y, s, x * c)));
        CHECK(within(x * c - y * s));
      } else {
        CHECK(low == high);
      }
      CHECK(within(single.k.value[at]));
      differing += low != high ? 1 : 0;
      // And no more than that: four ULP of the products away is out.
      const double products = exact.k.products[at];
      CHECK_FALSE(within(exact.k.value[at] + 4 * exact.k.budget[at] + 4 * ulp_at(dtype, 2 * products)));
    }
  }
  // Where the bits are determined nothing is allowed; where they are not, the question arises somewhere.
  CHECK((differing > 0) == (dtype == DType::f32 || rounding == RopeRounding::once));
}

TEST_CASE("three roundings stay within u_T (|x c| + |y s| + |out|) of the exact rotation") {
  // mla_cache_norm_quant_v4.md 1.3, reference B. u_T: half an ULP.
  const DType dtype = GENERATE(DType::bf16, DType::fp16);
  const double u = dtype == DType::bf16 ? 0x1p-8 : 0x1p-11;
  MlaTensors t = random_tensors(dtype, 64, 64, 2);
  const auto per_op = t.reference<float>();
  t.args.rounding = RopeRounding::once;
  const auto exact = t.reference<double>();
  double worst = 0.0;
  double worst_relative = 0.0;
  for (std::size_t i = 0; i < exact.k.value.size(); ++i) {
    const double out = round_to(dtype, per_op.k.value[i]);
    const double error = std::fabs(out - exact.k.value[i]);
    // Both products are at most the larger one.
    worst = std::max(worst, error / (u * (2 * exact.k.products[i] + std::fabs(out))));
    if (exact.k.value[i] != 0.0)
      worst_relative = std::max(worst_relative, error / std::fabs(exact.k.value[i]));
  }
  CHECK(worst <= 1.0);
  CHECK(worst > 0.2);
  // Relative to the output it is unbounded: that is why a budget relative to the output fails kernels that
  // are right.
  CHECK(worst_relative > 100 * u);
}

}  // namespace
}  // namespace kvr
