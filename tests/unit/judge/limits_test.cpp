// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Every key of a rule, right at its limit. All numbers are worked by hand from the formats: bf16 has 7
// mantissa bits, so in [1, 2) neighbours are 2^-7 apart, in [16, 32) 0.125.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "outcome_of.h"

using namespace kvr;
using namespace kvr::test;

namespace {

struct Row {
  const char* rule;
  double expected;
  double actual;  // exactly representable
  bool accepted;
};

void check_table(DType dtype, const std::vector<Row>& table, double budget = 0.0) {
  for (const Row& row : table) {
    INFO(row.rule << ": " << row.actual << " for " << row.expected);
    REQUIRE(decode(dtype, encode(dtype, row.actual)) == row.actual);
    Sample sample = row_of(dtype, {row.expected}, {row.actual});
    sample.budget = {budget};
    const Comparison comparison = judge(sample.view(), parse_rule(row.rule, dtype));
    CHECK(comparison.accepted == row.accepted);
    CHECK(comparison.reason.empty() == row.accepted);
    CHECK((comparison.worst_ratio > 1.0) == !row.accepted);
    CHECK(comparison.failing == (row.accepted ? 0 : 1));
  }
}

}  // namespace

TEST_CASE("limits: exact") {
  check_table(DType::bf16, {
                               {"exact", 1.0, 1.0, true},
                               {"exact", 1.0 + 0x1p-9, 1.0, true},             // nearer to 1 than to 1 + 2^-7
                               {"exact", 1.0 + 0x1p-8, 1.0, true},             // tie, even is 1
                               {"exact", 1.0 + 0x1p-8 + 0x1p-40, 1.0, false},  // past the tie
                               {"exact", 1.0 + 0x3p-8, 1.0 + 0x1p-6, true},    // tie, even is 1 + 2^-6
                               {"exact", 1.0 + 0x3p-8, 1.0 + 0x1p-7, false},
                               {"exact", 1.0, 1.0 + 0x1p-7, false},
                               {"exact", 1.0, -1.0, false},
                           });
}

TEST_CASE("limits: atol and rtol") {
  check_table(DType::bf16, {
                               {"atol=0.125", 16.0, 16.125, true},
                               {"atol=0.124", 16.0, 16.125, false},
                               {"atol=0", 16.0, 16.0, true},
                               {"rtol=2^-7", 16.0, 16.125, true},  // 16 * 2^-7 = 0.125
                               {"rtol=0.0078124", 16.0, 16.125, false},
                               {"rtol=2^-7", -16.0, -16.125, true},
                               {"rtol=2^-7", -16.0, 16.0, false},
                               {"atol=0.0625 rtol=2^-8", 16.0, 16.125, true},  // 0.0625 + 0.0625
                               {"atol=0.0624 rtol=2^-8", 16.0, 16.125, false},
                               {"rtol=1", 0.0, 0x1p-20, false},  // relative to nothing, nothing is allowed
                               {"atol=2^-20 rtol=1", 0.0, 0x1p-20, true},
                               {"rtol=1ulp", 1.0, 1.0 + 0x1p-7, true},
                               {"rtol=1ulp", 1.0, 1.0 + 0x1p-6, false},
                           });
  // The allowance scales with expected, not with actual: |1 - 2| = 1 > 0.5 * 1, although 0.5 * 2 would do.
  check_table(DType::f32, {{"rtol=0.5", 1.0, 2.0, false}, {"rtol=0.5", 2.0, 1.0, true}});
}

TEST_CASE("limits: max_ulp") {
  check_table(DType::bf16, {
                               {"max_ulp=0", 1.0, 1.0, true},
                               {"max_ulp=0", 1.0, 1.0 + 0x1p-7, false},
                               {"max_ulp=1", 1.0, 1.0 + 0x1p-7, true},
                               {"max_ulp=1", 1.0, 1.0 + 0x1p-6, false},
                               {"max_ulp=1", 1.0, 1.0 - 0x1p-8, true},  // below 1 the spacing halves
                               {"max_ulp=1", 1.0, 1.0 - 0x1p-7, false},
                               {"max_ulp=1", 1.0 + 0x1p-8, 1.0 + 0x1p-7, true},  // rounds to 1
                               {"max_ulp=2", 0.0, 0x1p-132, true},               // smallest subnormal 2^-133
                               {"max_ulp=2", 0x1p-133, -0x1p-133, true},         // through zero
                               {"max_ulp=1", 0x1p-133, -0x1p-133, false},
                           });
  check_table(DType::int8, {{"max_ulp=1", 3.4, 4.0, true},  // 3.4 rounds to 3
                            {"max_ulp=1", 3.4, 5.0, false},
                            {"max_ulp=1", 300.0, 126.0, true},  // saturates at 127
                            {"max_ulp=1", -1.0, 1.0, false},
                            {"exact", -2.5, -2.0, true}});
  check_table(DType::e4m3fn, {{"max_ulp=1", 448.0, 416.0, true}, {"max_ulp=1", 448.0, 384.0, false}});
}

TEST_CASE("limits: tie_window") {
  // The midpoint of 1 and 1 + 2^-7 is 1 + 2^-8; a window of 2^-3 ULP is 2^-10 in value.
  check_table(DType::bf16,
              {
                  {"tie_window=2^-3", 1.0 + 0x1p-8 - 0x1p-10, 1.0 + 0x1p-7, true},
                  {"tie_window=2^-3", 1.0 + 0x1p-8 - 0x1p-10 - 0x1p-30, 1.0 + 0x1p-7, false},
                  {"tie_window=2^-3", 1.0 + 0x1p-8 + 0x1p-10, 1.0, true},
                  {"tie_window=2^-3", 1.0 + 0x1p-8 + 0x1p-10 + 0x1p-30, 1.0, false},
                  {"tie_window=0", 1.0 + 0x1p-8, 1.0 + 0x1p-7, true},  // the tie itself, either way
                  {"tie_window=0", 1.0 + 0x1p-8, 1.0, true},
                  {"tie_window=0", 1.0 + 0x1p-8 - 0x1p-40, 1.0 + 0x1p-7, false},
                  {"tie_window=0.5", 1.0, 1.0 + 0x1p-7, true},   // half an ULP off: any adjacent code
                  {"tie_window=100", 1.0, 1.0 + 0x1p-6, false},  // but never two codes
              });
}

TEST_CASE("limits: budget") {
  // b = 2^-10. Adjacent code 1 + 2^-7 is the rounding of values from just above 1 + 2^-8 on (the tie goes to
  // even, 1).
  const std::vector<Row> table = {
      {"budget=1", 1.0, 1.0, true},
      {"budget=1", 1.0 + 0x1p-8 - 0x1p-10, 1.0 + 0x1p-7, false},  // e + b is the tie, which rounds to 1
      {"budget=1", 1.0 + 0x1p-8 - 0x1p-10 + 0x1p-40, 1.0 + 0x1p-7, true},  // and just past it
      {"budget=2", 1.0 + 0x1p-8 - 0x1p-9 + 0x1p-40, 1.0 + 0x1p-7, true},   // k = 2
      {"budget=1", 1.0 + 0x1p-8 - 0x1p-9 + 0x1p-40, 1.0 + 0x1p-7, false},
      {"budget=1", 1.0 + 0x1p-8 + 0x1p-10, 1.0, true},  // e - b is the tie, which rounds to 1
      {"budget=1", 1.0 + 0x1p-8 + 0x1p-10 + 0x1p-40, 1.0, false},
      {"budget=0", 1.0 + 0x1p-8, 1.0, true},
      {"budget=0", 1.0 + 0x1p-8, 1.0 + 0x1p-7, false},
      {"budget=8", 1.0, 1.0 + 0x1p-7, true},   // e + 8b = 1 + 2^-7
      {"budget=20", 1.0, 1.0 + 0x1p-6, true},  // 1 + 20 * 2^-10 is past 1.5 * 2^-6... to 2^-6
  };
  check_table(DType::bf16, table, 0x1p-10);
  // Around zero the interval crosses signs: e = 0, b = 2^-10.
  check_table(DType::bf16, {{"budget=1", 0.0, -0x1p-10, true}, {"budget=1", 0.0, 0x1.02p-10, false}},
              0x1p-10);
  check_table(DType::int8, {{"budget=1", 3.4, 4.0, true}, {"budget=1", 3.2, 4.0, false}}, 0.2);
}

TEST_CASE("limits: bias") {
  // Four elements at 1, one of them one code (1 ULP) high: mean +0.25.
  Sample sample = row_of(DType::bf16, {1, 1, 1, 1}, {1, 1, 1 + 0x1p-7, 1});
  CHECK(judge(sample.view(), parse_rule("bias=0.25", DType::bf16)).accepted);
  const Comparison refused = judge(sample.view(), parse_rule("bias=0.2499", DType::bf16));
  CHECK_FALSE(refused.accepted);
  CHECK(refused.mean_signed_ulp == 0.25);
  CHECK(refused.reason == "the mean signed error is +0.25 ULP, the rule is bias=0.2499");
  // Opposite errors cancel.
  Sample cancels = row_of(DType::bf16, {1, 1}, {1 + 0x1p-7, 1 - 0x1p-7});
  CHECK(judge(cancels.view(), parse_rule("bias=0", DType::bf16)).accepted);
}

TEST_CASE("limits: row_l2") {
  // Row 1: expected (3, 4), norm 5; actual (3, 4.5): error 0.5; relative 0.1.
  Sample sample = sample_of(DType::bf16, 2, 2, {3, 4, 3, 4}, {0x4040, 0x4080, 0x4040, 0x4090});
  REQUIRE(decode(DType::bf16, 0x4090) == 4.5);
  CHECK(judge(sample.view(), parse_rule("row_l2=0.1", DType::bf16)).accepted);
  const Comparison refused = judge(sample.view(), parse_rule("row_l2=0.0999", DType::bf16));
  CHECK_FALSE(refused.accepted);
  CHECK(refused.worst_row_l2 == 0.1);
  CHECK(refused.worst_row_l2_row == 1);
  CHECK(refused.reason == "row 1 has a relative L2 error of 0.1, the rule is row_l2=0.0999");
  // An all-zero row allows no error at all.
  Sample zero = row_of(DType::bf16, {0, 0}, {0, 0x1p-100});
  CHECK_FALSE(judge(zero.view(), parse_rule("row_l2=1000", DType::bf16)).accepted);
}

TEST_CASE("limits: a rule is a conjunction") {
  Sample sample = row_of(DType::bf16, {1.0}, {1 + 0x1p-7});
  CHECK(judge(sample.view(), parse_rule("max_ulp=1 atol=2^-7", DType::bf16)).accepted);
  CHECK_FALSE(judge(sample.view(), parse_rule("max_ulp=1 atol=2^-8", DType::bf16)).accepted);
  CHECK_FALSE(judge(sample.view(), parse_rule("max_ulp=0 atol=2^-7", DType::bf16)).accepted);
  CHECK_FALSE(judge(sample.view(), parse_rule("max_ulp=1 bias=0.5", DType::bf16)).accepted);
}

TEST_CASE("A1: an absolute limit below half an ULP refuses a correctly rounded output") {
  for (const bool single : {false, true}) {
    // In [16, 32) one bf16 step is 0.125: 24.062 rounds to 24, 0.062 away.
    Sample sample = row_of(DType::bf16, {24.062}, {24.0});
    const Comparison flaky = judge(sample.view(single), parse_rule("atol=0.06 rtol=0", DType::bf16));
    CHECK_FALSE(flaky.accepted);
    CHECK(flaky.differing == 0);
    CHECK(flaky.worst.error == Catch::Approx(0.062).epsilon(1e-4));  // fp32 24.062 is 24.0620003
    CHECK(flaky.reason ==
          "element 0 (row 0, column 0): 24 instead of 24.062 is off by 0.062 (0 codes), atol=0.06 rtol=0 "
          "allows 0.06; "
          "1 of 1 elements fail");
    CHECK(judge(sample.view(single), parse_rule("rtol=2^-7 atol=1e-3", DType::bf16)).accepted);
    CHECK(judge(sample.view(single), parse_rule("exact", DType::bf16)).accepted);
    // The same element moved by 3 ULP: 24.375 is 0.313 off, and 24.062 * 2^-7 + 1e-3 = 0.189 is allowed.
    Sample moved = row_of(DType::bf16, {24.062}, {24.375});
    CHECK_FALSE(judge(moved.view(single), parse_rule("rtol=2^-7 atol=1e-3", DType::bf16)).accepted);
    CHECK_FALSE(judge(moved.view(single), parse_rule("max_ulp=1", DType::bf16)).accepted);
    CHECK(judge(moved.view(single), parse_rule("max_ulp=3", DType::bf16)).worst.index == 0);
  }
}

TEST_CASE("A16: one zeroed row of 37 fails, though the whole tensor looks alike") {
  std::vector<double> expected;
  std::vector<std::uint64_t> codes;
  for (int row = 0; row < 37; ++row) {
    for (int column = 0; column < 128; ++column) {
      const double value = 1.0 + column / 128.0;  // representable in bf16, same norm in each row
      expected.push_back(value);
      codes.push_back(row == 11 ? 0 : encode(DType::bf16, value));
    }
  }
  Sample sample = sample_of(DType::bf16, 37, 128, expected, codes);
  // The score of the report, |x-y|^2 / (|x|^2 + |y|^2): one row of 37 against 36 + 37 of them.
  CHECK(1.0 / 73.0 == Catch::Approx(0.0137).epsilon(1e-3));
  const Comparison comparison = judge(sample.view(), parse_rule("row_l2=0.1", DType::bf16));
  CHECK_FALSE(comparison.accepted);
  CHECK(comparison.worst_row_l2_row == 11);
  CHECK(comparison.worst_row_l2 == 1.0);
  CHECK(comparison.reason == "row 11 has a relative L2 error of 1, the rule is row_l2=0.1");
  const Comparison elementwise = judge(sample.view(), parse_rule("rtol=2^-7", DType::bf16));
  CHECK(elementwise.worst_row == 11);
  CHECK(elementwise.worst_row_failing == 128);
  CHECK(elementwise.failing_rows == 1);
  CHECK(elementwise.failing == 128);
}

TEST_CASE("numbers: histogram, worst elements and examples") {
  // Code distances 0, 1, 2, 3, 4, 8, 16, 64, 65 from 1.0 (0x3F80), then a correct one.
  std::vector<std::uint64_t> codes;
  for (const int distance : {0, 1, 2, 3, 4, 8, 16, 64, 65, 0})
    codes.push_back(static_cast<std::uint64_t>(0x3F80 + distance));
  Sample sample = sample_of(DType::bf16, 2, 5, std::vector<double>(10, 1.0), codes);
  const Comparison comparison = judge(sample.view(), parse_rule("max_ulp=1", DType::bf16));
  CHECK(comparison.histogram == std::array<std::int64_t, 9>{2, 1, 1, 1, 1, 1, 1, 2, 0});
  CHECK(comparison.differing == 8);
  CHECK(comparison.failing == 7);
  CHECK(comparison.worst.index == 8);
  CHECK(comparison.worst.row == 1);
  CHECK(comparison.worst.column == 3);
  CHECK(comparison.worst_ratio == 65.0);
  CHECK(comparison.worst_ulp.index == 8);
  CHECK(comparison.worst_ulp.ulp == 65);
  CHECK(comparison.max_abs_error == 65 * 0x1p-7);
  CHECK(comparison.max_rel_error == 65 * 0x1p-7);
  CHECK(comparison.max_abs_expected == 1.0);
  REQUIRE(comparison.examples.size() == 7);
  CHECK(comparison.examples.front().index == 8);
  CHECK(comparison.examples.back().index == 2);
  CHECK(comparison.worst_row == 1);
  CHECK(comparison.worst_row_failing == 4);
  CHECK(comparison.failing_rows == 2);
}
