// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Special values come first, whatever the rule: bug report A23 (residual -nan, verdict PASS) as a table.
#include <catch2/catch_test_macros.hpp>

#include <limits>
#include <stdexcept>

#include "outcome_of.h"

using namespace kvr;
using namespace kvr::test;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
// Codes by the formats' layouts.
constexpr std::uint64_t kBf16Nan = 0x7FC0, kBf16Inf = 0x7F80, kBf16MinusInf = 0xFF80, kBf16Max = 0x7F7F;
constexpr std::uint64_t kBf16Two = 0x4000;  // 2 = 2^(128 - 127)

Rule anything() {  // as loose as a finite rule gets
  Rule rule;
  rule.atol = std::numeric_limits<double>::max();
  return rule;
}

struct Row {
  const char* what;
  DType dtype;
  std::uint64_t actual;
  double expected;
  Overflow overflow;
  Mismatch mismatch;
};

}  // namespace

TEST_CASE("special values: the table of A23") {
  const Row table[] = {
      {"NaN for a number", DType::bf16, kBf16Nan, 2.0, Overflow::ieee, Mismatch::unexpected_nan},
      {"a number for NaN", DType::bf16, kBf16Two, kNan, Overflow::ieee, Mismatch::missing_nan},
      {"NaN for infinity", DType::bf16, kBf16Nan, kInf, Overflow::ieee, Mismatch::unexpected_nan},
      {"infinity for NaN", DType::bf16, kBf16Inf, kNan, Overflow::ieee, Mismatch::missing_nan},
      {"NaN for NaN", DType::bf16, kBf16Nan, kNan, Overflow::ieee, Mismatch::none},
      {"another payload", DType::bf16, 0xFF81, kNan, Overflow::ieee, Mismatch::none},
      {"infinity for infinity", DType::bf16, kBf16Inf, kInf, Overflow::ieee, Mismatch::none},
      {"the other infinity", DType::bf16, kBf16MinusInf, kInf, Overflow::ieee, Mismatch::wrong_infinity},
      {"the largest number for infinity", DType::bf16, kBf16Max, kInf, Overflow::ieee,
       Mismatch::wrong_infinity},
      {"infinity for the largest number", DType::bf16, kBf16Inf, 0x1.fep127, Overflow::ieee,
       Mismatch::wrong_infinity},
      {"infinity for a number", DType::bf16, kBf16Inf, 2.0, Overflow::ieee, Mismatch::wrong_infinity},
      {"the largest number for infinity, saturating", DType::bf16, kBf16Max, kInf, Overflow::saturate,
       Mismatch::none},
      {"infinity for infinity, saturating", DType::bf16, kBf16Inf, kInf, Overflow::saturate,
       Mismatch::wrong_infinity},
      // 0x1.ffp127 is halfway between the largest bf16 and 2^128: the tie goes to infinity.
      {"infinity for what rounds to it", DType::bf16, kBf16Inf, 0x1.ffp127, Overflow::ieee, Mismatch::none},
      {"e4m3fn has no infinity: overflow is NaN", DType::e4m3fn, 0x7F, 1e6, Overflow::ieee, Mismatch::none},
      {"e4m3fn saturates", DType::e4m3fn, 0x7E, 1e6, Overflow::saturate, Mismatch::none},
      {"e4m3fn NaN where it saturates", DType::e4m3fn, 0x7F, 1e6, Overflow::saturate,
       Mismatch::unexpected_nan},
      {"e4m3fnuz NaN (0x80) is not -0", DType::e4m3fnuz, 0x80, -0.0, Overflow::saturate,
       Mismatch::unexpected_nan},
      {"e4m3fnuz NaN", DType::e4m3fnuz, 0x80, kNan, Overflow::saturate, Mismatch::none},
      {"e5m2 infinity", DType::e5m2, 0x7C, kInf, Overflow::ieee, Mismatch::none},
      {"fp16 infinity for 65504", DType::fp16, 0x7C00, 65504.0, Overflow::ieee, Mismatch::wrong_infinity},
      {"f32 NaN", DType::f32, 0x7FC00001, 1.0, Overflow::ieee, Mismatch::unexpected_nan},
      {"int8 has no NaN: code 0", DType::int8, 0, kNan, Overflow::ieee, Mismatch::none},
      {"int8 saturates always", DType::int8, 127, kInf, Overflow::ieee, Mismatch::none},
  };
  for (const Row& row : table) {
    INFO(row.what);
    for (const bool single : {false, true}) {
      Sample sample = sample_of(row.dtype, 1, 1, {row.expected}, {row.actual});
      sample.outcome.overflow = row.overflow;
      const Comparison comparison = judge(sample.view(single), anything());
      CHECK(comparison.accepted == (row.mismatch == Mismatch::none));
      CHECK(comparison.worst.mismatch == row.mismatch);
      CHECK(comparison.failing == (row.mismatch == Mismatch::none ? 0 : 1));
    }
  }
}

TEST_CASE("special values: a saturating maximum below the format's own") {
  // FNUZ holds 240 (0x7F), but the descriptor says 224 (0x7E).
  for (const double expected : {230.0, 1e6, kInf}) {
    Sample sample = sample_of(DType::e4m3fnuz, 1, 1, {expected}, {0x7E});
    sample.outcome.overflow = Overflow::saturate;
    sample.outcome.format_max = 224.0;
    Rule exact;
    exact.exact = true;
    CHECK(judge(sample.view(), exact).accepted);
    CHECK(judge(sample.view(), exact).max_abs_error == 0.0);
    sample.set_code(0, 0x7F);
    CHECK_FALSE(judge(sample.view(), exact).accepted);
  }
}

TEST_CASE("special values: -0 equals +0 under every rule") {
  for (const char* rule : {"exact", "max_ulp=0", "atol=0", "tie_window=0", "exact atol=0 max_ulp=0"}) {
    INFO(rule);
    Sample minus = sample_of(DType::bf16, 1, 2, {0.0, -0.0}, {0x8000, 0x0000});
    CHECK(judge(minus.view(), parse_rule(rule, DType::bf16)).accepted);
    CHECK(judge(minus.view(), parse_rule(rule, DType::bf16)).differing == 0);
  }
}

TEST_CASE("special values: a NaN among numbers is found and named") {
  Sample sample = sample_of(DType::bf16, 1, 3, {1.0, 2.0, 3.0}, {0x3F80, kBf16Nan, 0x4040});
  const Comparison comparison = judge(sample.view(), anything());
  CHECK_FALSE(comparison.accepted);
  CHECK(comparison.reason == "element 1 (row 0, column 1): unexpected NaN, expected 2");
  CHECK(comparison.worst.index == 1);
  CHECK(comparison.worst.ulp == kNanDistance);
  CHECK(comparison.nan_actual == 1);
  CHECK(comparison.nan_expected == 0);
  CHECK(comparison.histogram == std::array<std::int64_t, 9>{2, 0, 0, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("special values: no outlier allowance excuses them") {
  Sample sample = sample_of(DType::bf16, 1, 3, {1.0, 2.0, 3.0}, {0x3F80, kBf16Nan, 0x4040});
  Rule rule = anything();
  rule.outliers = Outliers{"numel", std::numeric_limits<std::int64_t>::max(), {}};
  CHECK_FALSE(judge(sample.view(), rule).accepted);
}

TEST_CASE("special values: what cannot be compared is refused, not passed") {
  Rule rule = anything();
  Sample empty = sample_of(DType::bf16, 0, 128, {}, {});
  CHECK_THROWS_AS(judge(empty.view(), rule), std::invalid_argument);
  Sample narrow = sample_of(DType::bf16, 4, 0, {}, {});
  CHECK_THROWS_AS(judge(narrow.view(), rule), std::invalid_argument);
  Sample shorter = sample_of(DType::bf16, 1, 2, {1.0}, {0x3F80, 0x3F80});
  CHECK_THROWS_AS(judge(shorter.view(), rule), std::invalid_argument);
  Sample longer = sample_of(DType::bf16, 1, 1, {1.0}, {0x3F80, 0x3F80});
  CHECK_THROWS_AS(judge(longer.view(), rule), std::invalid_argument);

  Sample fine = sample_of(DType::bf16, 1, 1, {1.0}, {0x3F80});
  CHECK(judge(fine.view(), rule).accepted);
  CHECK_THROWS_AS(judge(fine.view(), Rule{}), std::invalid_argument);
  CHECK_THROWS_AS(judge(fine.view(), parse_rule("budget=1", DType::bf16)), std::invalid_argument);
  fine.budget = {-1.0};
  CHECK_THROWS_AS(judge(fine.view(), parse_rule("budget=1", DType::bf16)), std::invalid_argument);
  fine.budget = {kNan};
  CHECK_THROWS_AS(judge(fine.view(), parse_rule("budget=1", DType::bf16)), std::invalid_argument);
  fine.budget = {0.0, 0.0};
  CHECK_THROWS_AS(judge(fine.view(), parse_rule("budget=1", DType::bf16)), std::invalid_argument);
  fine.budget = {};
  fine.row_ids = {1, 2};
  CHECK_THROWS_AS(judge(fine.view(), rule), std::invalid_argument);
  fine.row_ids = {};
  fine.magnitude = {1.0, 1.0};
  CHECK_THROWS_AS(judge(fine.view(), rule), std::invalid_argument);
  fine.magnitude = {};
  CHECK_THROWS_AS(
      judge(fine.view(), parse_rule("exact outliers.count=1 outliers.max_magnitude=1", DType::bf16)),
      std::invalid_argument);
  fine.outcome.heads = 0;
  CHECK_THROWS_AS(judge(fine.view(), rule), std::invalid_argument);
}
