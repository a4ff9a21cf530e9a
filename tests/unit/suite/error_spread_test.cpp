// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Errors put into a right output of 40 rows x 128 by hand: what is bunched must be named, what is scattered
// must not.
#include "harness/suite/error_spread.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <string>

#include "harness/random/random.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinAbs;

constexpr std::int64_t kRows = 40;
constexpr std::int64_t kColumns = 128;

std::uint16_t code_of(double value) {
  return static_cast<std::uint16_t>(encode(DType::bf16, value));
}

struct Output {
  std::vector<double> expected, budget;
  std::vector<std::uint16_t> codes;
  std::int64_t heads = 1;

  explicit Output(std::uint64_t seed = 1) {
    const RandomStream random(Seed{seed}, "error_spread_test", "expected");
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      expected.push_back(1.0 + random.uniform(static_cast<std::uint64_t>(i)));  // one binade: 1 ULP is 2^-7
      codes.push_back(code_of(expected.back()));
    }
  }
  std::size_t at(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * kColumns + column);
  }
  void move(std::int64_t row, std::int64_t column, int steps = 1) {
    std::uint16_t& code = codes[at(row, column)];
    code = static_cast<std::uint16_t>(code + steps);
  }
  // Says of every element that it may be a code off.
  void open_everywhere() { budget.assign(expected.size(), 0x1p-7); }

  ErrorSpread spread() const {
    Outcome outcome;
    outcome.dtype = DType::bf16;
    outcome.rows = kRows;
    outcome.row_len = kColumns;
    outcome.heads = heads;
    outcome.actual = std::as_bytes(std::span(codes));
    outcome.expected = std::span<const double>(expected);
    outcome.budget = budget;
    return measure_spread(outcome, judge(outcome, parse_rule("max_ulp=1000", DType::bf16)));
  }
  std::string pattern() const { return spread().pattern; }
};

TEST_CASE("Chernoff's bound, worked by hand") {
  CHECK(evidence_of_count(3, 3.0) == 0.0);
  CHECK(evidence_of_count(2, 3.0) == 0.0);
  // 10 ln 10 - 10 + 1 = 14.0258...
  CHECK_THAT(evidence_of_count(10, 1.0), WithinAbs(14.025850929940457, 1e-12));
  CHECK(std::isinf(evidence_of_count(1, 0.0)));
}

TEST_CASE("a right output: rounding alone, no outliers, no pattern") {
  const ErrorSpread spread = Output().spread();
  CHECK(spread.outliers == 0);
  CHECK(spread.outlier_ulp == 0);
  CHECK(spread.pattern.empty());
  CHECK(spread.max_error <= 0x1p-8);  // half a ULP
  // The mean of 5120 errors that are even over one ULP: 0.289 / sqrt(5120) = 0.004; five of them.
  CHECK(std::fabs(spread.bias) < 0.02);
}

TEST_CASE("a column, a lane, a row and a head are named") {
  Output column;
  for (std::int64_t r = 0; r < kRows; r += 2) column.move(r, 17);
  CHECK_THAT(column.pattern(), StartsWith("column 17 holds 20 of the 20 elements off by a code or more") ||
                                   StartsWith("column 17 holds 19 of the 20"));

  Output lane;  // element by element, lane 5 of each warp of 32
  for (std::int64_t r = 0; r < kRows; r += 3)
    for (const std::int64_t c : {5, 37, 69, 101}) lane.move(r, c);
  CHECK_THAT(lane.pattern(), StartsWith("lane 5 of each warp of 32 holds"));

  Output vector_lane;  // lane 3 owns columns 24 to 31
  for (std::int64_t r = 0; r < kRows; r += 3)
    for (std::int64_t c = 24; c < 32; ++c) vector_lane.move(r, c);
  CHECK_THAT(vector_lane.pattern(), StartsWith("lane 3 of each warp of 32, 8 columns a lane holds"));

  Output row;
  for (std::int64_t c = 0; c < kColumns; c += 3) row.move(3, c);
  CHECK_THAT(row.pattern(), StartsWith("row 3 holds"));

  Output head;
  head.heads = 20;  // 2 tokens
  for (std::int64_t r = 7; r < kRows; r += 20)
    for (std::int64_t c = 0; c < kColumns; c += 5) head.move(r, c);
  CHECK_THAT(head.pattern(), StartsWith("head 7 holds"));
}

TEST_CASE("large errors among small ones: those far off decide") {
  Output output(2);
  const RandomStream random(Seed{9}, "error_spread_test", "places");
  for (std::uint64_t i = 0; i < 600; ++i)  // more than 1/16 of the elements are one code off
    output.move(static_cast<std::int64_t>(random.uniform(2 * i) * kRows),
                static_cast<std::int64_t>(random.uniform(2 * i + 1) * kColumns));
  for (std::int64_t r = 0; r < kRows; ++r) output.move(r, 99, 20);
  CHECK_THAT(output.pattern(), StartsWith("column 99 holds"));
}

TEST_CASE("scattered errors are no pattern, whatever their number: 2,000 outputs") {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Output output(seed % 10);
    const RandomStream random(Seed{seed}, "error_spread_test", "scatter");
    const std::uint64_t count = 1 + seed % 300;
    for (std::uint64_t i = 0; i < count; ++i)
      output.move(static_cast<std::int64_t>(random.uniform(2 * i) * kRows),
                  static_cast<std::int64_t>(random.uniform(2 * i + 1) * kColumns));
    if (seed % 2 == 0) output.open_everywhere();
    alarms += output.pattern().empty() ? 0 : 1;
  }
  CHECK(alarms == 0);  // 2e-6 expected
}

TEST_CASE("a row that shares one statistic is no pattern where the reference explains it") {
  Output output;
  for (std::int64_t c = 0; c < kColumns; c += 2) output.move(3, c);
  output.open_everywhere();
  const ErrorSpread spread = output.spread();
  CHECK(spread.pattern.empty());
  CHECK(spread.outliers == 0);
  output.budget.assign(output.expected.size(), 0.0);  // the code is determined
  CHECK(output.spread().outliers == 64);
  CHECK(output.spread().outlier_ulp == 1);
  CHECK_THAT(output.pattern(), StartsWith("row 3 holds") && ContainsSubstring("without a reason"));
}

TEST_CASE("a column is a pattern even where each of its elements is explained") {
  Output output;
  for (std::int64_t r = 0; r < kRows; ++r) output.move(r, 17);
  output.open_everywhere();
  CHECK(output.spread().outliers == 0);
  CHECK_THAT(output.pattern(), StartsWith("column 17 holds"));
}

TEST_CASE("where only some columns can be off, errors in them are no pattern") {
  // The first 16 columns are rotated: only they have a bound.
  Output output;
  output.budget.assign(output.expected.size(), 0.0);
  const RandomStream random(Seed{4}, "error_spread_test", "rotated");
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t c = 0; c < 16; ++c) {
      output.budget[output.at(r, c)] = 0x1p-7;
      if (random.uniform(static_cast<std::uint64_t>(r * 16 + c)) < 0.2) output.move(r, c);
    }
  }
  CHECK(output.pattern().empty());
}

TEST_CASE("rows that are alike are one observation") {
  Output output;
  for (std::int64_t r = 1; r < kRows; ++r) {
    for (std::int64_t c = 0; c < kColumns; ++c) {
      output.expected[output.at(r, c)] = output.expected[output.at(0, c)] + 1e-9 * static_cast<double>(r);
      output.codes[output.at(r, c)] = output.codes[output.at(0, c)];
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) output.move(r, 17);
  CHECK(output.pattern().empty());
}

TEST_CASE("bias and largest error leave out what is explained") {
  Output output;
  output.budget.assign(output.expected.size(), 0.0);
  output.budget[output.at(2, 2)] = 1.0;
  output.move(2, 2, 40);
  const ErrorSpread spread = output.spread();
  CHECK(spread.outliers == 0);
  CHECK(spread.max_error <= 0x1p-8);
  output.budget[output.at(2, 2)] = 0.0;
  CHECK(output.spread().outlier_ulp == 40);
  CHECK_THAT(output.spread().max_error, WithinAbs(40 * 0x1p-7, 0x1p-7));
}

}  // namespace
}  // namespace kvr
