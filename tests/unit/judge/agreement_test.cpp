// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The judge against the plain one of oracle.h: every field, bit for bit, over thousands of random outputs of
// every data type; and against itself with other numbers of threads and another instruction set.
#include <tbb/global_control.h>
#include <catch2/catch_test_macros.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "harness/judge/segment_scan.h"
#include "oracle.h"
#include "outcome_of.h"

using namespace kvr;
using namespace kvr::test;

namespace {

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

void check_element(const Element& a, const Element& b) {
  CHECK(a.index == b.index);
  CHECK(a.row == b.row);
  CHECK(a.column == b.column);
  CHECK(a.code == b.code);
  CHECK(a.expected_code == b.expected_code);
  CHECK(same_bits(a.actual, b.actual));
  CHECK(same_bits(a.expected, b.expected));
  CHECK(same_bits(a.error, b.error));
  CHECK(same_bits(a.allowed, b.allowed));
  CHECK(a.ulp == b.ulp);
  CHECK(a.mismatch == b.mismatch);
}

void check_equal(const Comparison& a, const Comparison& b) {
  CHECK(a.accepted == b.accepted);
  CHECK(a.reason.empty() == b.reason.empty());
  CHECK(a.numel == b.numel);
  CHECK(a.failing == b.failing);
  CHECK(a.excused == b.excused);
  CHECK(a.outlier_limit == b.outlier_limit);
  CHECK(a.differing == b.differing);
  CHECK(same_bits(a.worst_ratio, b.worst_ratio));
  check_element(a.worst, b.worst);
  check_element(a.worst_ulp, b.worst_ulp);
  CHECK(same_bits(a.max_abs_error, b.max_abs_error));
  CHECK(same_bits(a.max_rel_error, b.max_rel_error));
  CHECK(same_bits(a.max_abs_expected, b.max_abs_expected));
  CHECK(same_bits(a.mean_signed_ulp, b.mean_signed_ulp));
  CHECK(same_bits(a.worst_row_l2, b.worst_row_l2));
  CHECK(a.worst_row_l2_row == b.worst_row_l2_row);
  CHECK(a.worst_row_failing == b.worst_row_failing);
  CHECK(a.worst_row == b.worst_row);
  CHECK(a.failing_rows == b.failing_rows);
  CHECK(a.nan_actual == b.nan_actual);
  CHECK(a.nan_expected == b.nan_expected);
  CHECK(a.inf_actual == b.inf_actual);
  CHECK(a.inf_expected == b.inf_expected);
  CHECK(a.histogram == b.histogram);
  REQUIRE(a.examples.size() == b.examples.size());
  for (std::size_t i = 0; i < a.examples.size(); ++i) check_element(a.examples[i], b.examples[i]);
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : bits_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return bits_() % limit; }
  bool chance(double p) { return static_cast<double>(bits_() >> 11) * 0x1p-53 < p; }
  double normal() { return normal_(bits_); }

  Sample sample(DType dtype, std::int64_t rows, std::int64_t row_len, bool single) {
    Sample sample;
    Outcome& outcome = sample.outcome;
    outcome.dtype = dtype;
    outcome.rows = rows;
    outcome.row_len = row_len;
    if (chance(0.3)) outcome.heads = static_cast<std::int64_t>(1 + below(4));
    if (chance(0.3)) {
      for (std::int64_t row = 0; row < rows; ++row) sample.row_ids.push_back(3 * row + 1);
    }
    if (chance(0.5)) {
      outcome.overflow = Overflow::saturate;
      const double choices[] = {0.0, 224.0, 100.3, 1e6, 0.1};
      outcome.format_max = choices[below(5)];
    }
    const auto numel = static_cast<std::size_t>(rows * row_len);
    sample.bytes.resize(numel * dtype_size(dtype));
    sample.expected.resize(numel);
    sample.budget.resize(numel);
    sample.magnitude.resize(numel);
    // Regimes: usual sizes, near the top, near the bottom and anywhere; how often a code moves, and specials
    // occur.
    const int regime = static_cast<int>(below(6));
    const double moved = std::array{0.0, 0.0, 1e-3, 0.02, 0.5}[below(5)];
    const double special = chance(0.7) ? 0.0 : 0.01;
    const double tie = chance(0.7) ? 0.0 : 0.3;
    const int steps = 1 + static_cast<int>(below(3)) * static_cast<int>(below(40));
    for (std::size_t i = 0; i < numel; ++i) {
      double value = normal() * (is_floating(dtype) ? 1.0 : 40.0);
      if (is_floating(dtype)) {
        const FloatFormat& format = float_format(dtype);
        if (regime == 1) value *= format.max_finite / 4;
        if (regime == 2) value *= format.min_normal;
        if (regime == 3) value *= format.min_subnormal;
        if (regime == 4) value = std::ldexp(value, static_cast<int>(below(260)) - 140);
        if (regime == 5) value = chance(0.5) ? 0.0 : value;
      }
      if (chance(tie)) {  // halfway between two codes
        const std::uint64_t code = encode(dtype, value, Overflow::saturate);
        value = (decode(dtype, code) + decode(dtype, code ^ 1)) / 2;
      }
      if (chance(special)) {
        const double specials[] = {std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN(),
                                   -0.0,
                                   0.0,
                                   65519.9,
                                   1e30};
        value = specials[below(7)];
      }
      if (single) value = static_cast<float>(value);
      sample.expected[i] = value;
      double clamped = value;
      if (outcome.overflow == Overflow::saturate && outcome.format_max > 0) {
        clamped = value > outcome.format_max    ? outcome.format_max
                  : value < -outcome.format_max ? -outcome.format_max
                                                : value;
      }
      std::uint64_t code = encode(dtype, clamped, outcome.overflow);
      if (chance(moved))
        code += below(2) == 0 ? below(static_cast<std::uint64_t>(steps)) + 1
                              : ~below(static_cast<std::uint64_t>(steps));
      if (chance(special)) code = bits_();
      sample.set_code(static_cast<std::int64_t>(i), code);
      sample.magnitude[i] = std::fabs(normal());
      sample.budget[i] =
          std::isfinite(value) ? std::fabs(value) * std::ldexp(1.0, -static_cast<int>(below(12))) : 0.0;
    }
    return sample;
  }

  Rule rule() {
    Rule rule;
    const auto small = [this] {
      return std::ldexp(1.0 + static_cast<double>(below(8)) / 8, -static_cast<int>(below(14)));
    };
    while (rule.empty()) {
      if (chance(0.15)) rule.exact = true;
      if (chance(0.4)) rule.rtol = small();
      if (chance(0.4)) rule.atol = chance(0.2) ? 0.0 : small();
      if (chance(0.2)) rule.max_ulp = static_cast<std::int64_t>(below(4));
      if (chance(0.2)) rule.tie_window = chance(0.3) ? 0.0 : small();
      if (chance(0.3)) rule.budget = static_cast<double>(below(4));
      if (chance(0.1)) rule.bias = small();
      if (chance(0.1)) rule.row_l2 = small();
    }
    if (rule.has_elementwise() && chance(0.3)) {
      rule.outliers = Outliers{"numel/100 + 2", static_cast<std::int64_t>(below(4)), {}};
      if (chance(0.5)) rule.outliers->max_magnitude = small();
      if (rule.outliers->max_magnitude && chance(0.5)) rule.outliers->max_ulp.reset();
    }
    return rule;
  }

 private:
  std::mt19937_64 bits_;
  std::normal_distribution<double> normal_;
};

constexpr DType kAll[] = {DType::f32,  DType::fp16, DType::bf16,  DType::e4m3fn, DType::e4m3fnuz,
                          DType::e5m2, DType::int8, DType::uint8, DType::int32,  DType::int64};

// Elements that are not RN(expected) lie in differing stretches, which are disjoint, in order and each in one
// row; the numbers of everything else are those of its elements, added up one by one.
void check_stretches(const Outcome& outcome, const Comparison& comparison) {
  const std::int64_t numel = outcome.rows * outcome.row_len;
  std::vector<bool> in_stretch(static_cast<std::size_t>(numel));
  std::int64_t end = 0;
  for (const Comparison::Stretch& stretch : comparison.differing_stretches) {
    CHECK(stretch.begin >= end);
    CHECK(stretch.count >= 1);
    end = stretch.begin + stretch.count;
    CHECK(stretch.begin / outcome.row_len == (end - 1) / outcome.row_len);
    for (std::int64_t i = stretch.begin; i < end; ++i) in_stretch[static_cast<std::size_t>(i)] = true;
  }
  CHECK(end <= numel);
  std::int64_t elements = 0, misplaced = 0;
  double ulps = 0.0, size = 0.0, max_error = 0.0;
  for (std::int64_t i = 0; i < numel; ++i) {
    if (in_stretch[static_cast<std::size_t>(i)]) continue;
    const PlainElement plain = plain_element(outcome, i);
    misplaced += plain.distance != 0 || !plain.finite ? 1 : 0;
    ++elements;
    ulps += plain.ulps;
    size += std::fabs(plain.ulps);
    max_error = std::max(max_error, plain.error);
  }
  CHECK(misplaced == 0);
  CHECK(comparison.equal.elements == elements);
  CHECK(std::fabs(comparison.equal.ulps - ulps) <= 1e-12 * size);
  CHECK(comparison.equal.max_error == max_error);
}

}  // namespace

TEST_CASE("agreement: small outputs of every data type") {
  Generator random(1);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const DType dtype = kAll[static_cast<std::size_t>(i) % std::size(kAll)];
    const bool single = random.chance(0.5);
    const auto rows = static_cast<std::int64_t>(1 + random.below(9));
    const auto row_len = static_cast<std::int64_t>(1 + random.below(70));
    Sample sample = random.sample(dtype, rows, row_len, single);
    const Rule rule = random.rule();
    CAPTURE(i, dtype_name(dtype), single, rows, row_len, rule.text());
    const Comparison comparison = judge(sample.view(single), rule);
    check_equal(comparison, plain_judge(sample.outcome, rule));
    check_stretches(sample.view(single), comparison);
    (comparison.accepted ? accepted : refused)++;
  }
  // The cases are of both kinds, or they would prove little.
  CHECK(accepted > 600);
  CHECK(refused > 600);
}

TEST_CASE("agreement: rows longer than a segment and than a block, for any number of threads") {
  Generator random(2);
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{3, 1500},   {700, 128}, {2, 70001},
                                                          {1, 140000}, {5000, 17}, {65, 1024}};
  for (int i = 0; i < 48; ++i) {
    const DType dtype = kAll[static_cast<std::size_t>(i) % 6];
    const bool single = random.chance(0.5);
    const auto [rows, row_len] = shapes[static_cast<std::size_t>(i) % std::size(shapes)];
    Sample sample = random.sample(dtype, rows, row_len, single);
    const Rule rule = random.rule();
    CAPTURE(i, dtype_name(dtype), single, rows, row_len, rule.text());
    const Comparison expected = plain_judge(sample.view(single), rule);
    std::string reason;
    for (const std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
      const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
      const Comparison comparison = judge(sample.outcome, rule);
      check_equal(comparison, expected);
      if (threads == 1) reason = comparison.reason;
      CHECK(comparison.reason == reason);
    }
  }
}

namespace {

template <class Real>
void check_scans(DType dtype, Generator& random) {
  const auto count = static_cast<std::int64_t>(1 + random.below(kSegment));
  Sample sample = random.sample(dtype, 1, count, sizeof(Real) == 4);
  const std::vector<Real> expected(sample.expected.begin(), sample.expected.end());
  ScanRule<Real> rule;
  rule.relative = random.chance(0.5);
  rule.rtol = Real(0x1p-7);
  rule.atol = random.chance(0.5) ? Real(0) : Real(1e-3);
  rule.clamp = random.chance(0.5) ? Real(0) : Real(100);
  Scan<Real> best, portable;
  best.off.fill(0);
  portable.off.fill(0);
  scan_for<Real>(dtype, rule)(sample.bytes.data(), expected.data(), count, rule, best);
  portable_scan_for<Real>(dtype, rule)(sample.bytes.data(), expected.data(), count, rule, portable);
  CHECK(best.unusual == portable.unusual);
  if (best.unusual) return;  // the numbers are void
  CHECK(best.differing == portable.differing);
  CHECK(best.max_error == portable.max_error);
  CHECK(best.max_relative == portable.max_relative);
  CHECK(best.max_expected == portable.max_expected);
  CHECK(best.max_ratio == portable.max_ratio);
  CHECK(best.ulps == portable.ulps);
  CHECK(best.error2 == portable.error2);
  CHECK(best.expected2 == portable.expected2);
  CHECK(best.off == portable.off);
}

}  // namespace

TEST_CASE("agreement: every instruction set gives the same bits") {
  Generator random(3);
  for (int i = 0; i < 3000; ++i) {
    const DType dtype = kAll[static_cast<std::size_t>(i) % 6];
    CAPTURE(i, dtype_name(dtype));
    check_scans<float>(dtype, random);
    check_scans<double>(dtype, random);
  }
}
