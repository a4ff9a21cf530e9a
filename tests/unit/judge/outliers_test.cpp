// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Outliers: how many, how far, and scattered. A2 of the bug reports is the budget numel/100000 + 8, each one
// code.
#include <catch2/catch_test_macros.hpp>

#include <cmath>

#include "harness/judge/scatter.h"
#include "outcome_of.h"

using namespace kvr;
using namespace kvr::test;

namespace {

constexpr std::int64_t kRows = 64, kRowLen = 512;  // 32,768 elements: the budget is 8
const char* const kRule = "exact outliers.count='numel/100000 + 8' outliers.max_ulp=1";

Sample correct(std::int64_t heads = 1) {
  const auto numel = static_cast<std::size_t>(kRows * kRowLen);
  Sample sample = sample_of(DType::e4m3fn, kRows, kRowLen, std::vector<double>(numel, 1.0),
                            std::vector<std::uint64_t>(numel, 0x38));  // 1.0
  sample.outcome.heads = heads;
  return sample;
}

// No two of these share a row, a column, a tile or a lane.
std::int64_t scattered(std::int64_t i) {
  return (7 * i % kRows) * kRowLen + (40 * i + 3) % kRowLen;
}

Comparison under(Sample& sample, const char* rule = kRule) {
  return judge(sample.view(), parse_rule(rule, sample.outcome.dtype));
}

}  // namespace

TEST_CASE("A2: eight codes off by one pass and the report says so") {
  Sample sample = correct();
  for (std::int64_t i = 0; i < 8; ++i) sample.set_code(scattered(i), i % 2 == 0 ? 0x39 : 0x37);
  const Comparison comparison = under(sample);
  CHECK(comparison.reason.empty());
  CHECK(comparison.accepted);
  CHECK(comparison.failing == 8);
  CHECK(comparison.excused == 8);
  CHECK(comparison.outlier_limit == 8);
  // The platform whose rule is exact still refuses the same output.
  CHECK_FALSE(under(sample, "exact").accepted);
}

TEST_CASE("A2: one code off by two fails") {
  Sample sample = correct();
  sample.set_code(scattered(0), 0x3A);
  const Comparison comparison = under(sample);
  CHECK_FALSE(comparison.accepted);
  CHECK(comparison.excused == 0);
  CHECK(comparison.reason.find("outliers.max_ulp=1") != std::string::npos);
  CHECK(comparison.reason.starts_with("element 3 (row 0, column 3): 1.25 instead of 1"));
}

TEST_CASE("A2: one more than the budget fails") {
  Sample sample = correct();
  for (std::int64_t i = 0; i < 9; ++i) sample.set_code(scattered(i), 0x39);
  const Comparison comparison = under(sample);
  CHECK_FALSE(comparison.accepted);
  CHECK(comparison.reason.starts_with("9 outliers, outliers.count='numel/100000 + 8' allows 8; element 3 "));
}

TEST_CASE("outliers that fill a line are no accident") {
  // As many outliers as it takes, each with its own way of lining up; the count would allow 16. Heads: 32 of
  // them, so rows 0 and 32 are the same head.
  struct Row {
    const char* where;
    std::int64_t outliers;
    std::int64_t (*row)(std::int64_t);
    std::int64_t (*column)(std::int64_t);
  };
  const Row table[] = {
      {"row 0 ", 8, [](std::int64_t) { return std::int64_t{0}; }, [](std::int64_t i) { return 40 * i; }},
      {"column 3 ", 8, [](std::int64_t i) { return 7 * i; }, [](std::int64_t) { return std::int64_t{3}; }},
      {"head 5 ", 8, [](std::int64_t i) { return 5 + 32 * (i % 2); }, [](std::int64_t i) { return 40 * i; }},
      {"tile 2 of row 9 ", 4, [](std::int64_t) { return std::int64_t{9}; },
       [](std::int64_t i) { return 16 + i; }},
      {"lane 2 ", 8, [](std::int64_t i) { return 7 * i; }, [](std::int64_t i) { return 16 + i; }},
  };
  for (const Row& row : table) {
    INFO(row.where);
    Sample sample = correct(32);
    for (std::int64_t i = 0; i < row.outliers; ++i)
      sample.set_code(row.row(i) * kRowLen + row.column(i), 0x39);
    const Comparison comparison = under(sample, "exact outliers.count=16 outliers.max_ulp=1");
    CHECK_FALSE(comparison.accepted);
    CHECK(comparison.reason.starts_with("outliers are not scattered: " + std::string(row.where)));
  }
}

TEST_CASE("a flat percentage budget forgives a whole row, and only where it is asked to") {
  Sample sample = correct();
  for (std::int64_t c = 0; c < kRowLen; ++c) sample.set_code((kRows - 1) * kRowLen + c, 0x00);
  const std::string flat = "exact outliers.count='numel/20' outliers.max_ulp=65535";
  CHECK_FALSE(under(sample, flat.c_str()).accepted);
  const Comparison anywhere = under(sample, (flat + " outliers.anywhere=true").c_str());
  CHECK(anywhere.accepted);
  CHECK(anywhere.excused == kRowLen);
  const Rule rule = parse_rule(flat + " outliers.anywhere=true", DType::e4m3fn);
  CHECK(rule.text() == flat + " outliers.anywhere=true");
  CHECK(parse_rule(rule.text(), DType::e4m3fn) == rule);
  CHECK_THROWS_AS(parse_rule("exact outliers.anywhere=true", DType::e4m3fn), std::invalid_argument);
  CHECK_THROWS_AS(parse_rule(flat + " outliers.anywhere=1", DType::e4m3fn), std::invalid_argument);
}

TEST_CASE("outliers may scale with the terms an element was added up from") {
  // 0x39 is 1.125, an error of 0.125; allowed is 2^-4 times a magnitude of 2, exactly that, or of a little
  // less.
  Sample sample = correct();
  sample.magnitude.assign(sample.expected.size(), 2.0);
  sample.set_code(scattered(0), 0x39);
  const char* rule = "exact outliers.count=8 outliers.max_magnitude=2^-4";
  CHECK(under(sample, rule).accepted);
  sample.magnitude[static_cast<std::size_t>(scattered(0))] = 1.999;
  const Comparison comparison = under(sample, rule);
  CHECK_FALSE(comparison.accepted);
  CHECK(comparison.reason.ends_with("this one by more than outliers.max_magnitude=0.0625 of 1.999"));
}

TEST_CASE("rows of a selection go by their own names") {
  Sample sample = sample_of(DType::bf16, 2, 2, {1, 1, 1, 1}, {0x3F80, 0x3F80, 0x3F80, 0x3F90});
  sample.row_ids = {7, 41};
  const Comparison comparison = under(sample, "exact");
  CHECK(comparison.worst.row == 41);
  CHECK(comparison.worst.index == 3);
  CHECK(comparison.worst_row == 41);
  CHECK(comparison.worst_row_l2_row == 41);
  CHECK(comparison.reason.starts_with("element 3 (row 41, column 1): 1.125 instead of 1 "));
}

TEST_CASE("the limit of a line is the binomial tail of its comment") {
  // Worked by hand: p = 1/37, N = 8, 37 lines. 37 * P(X > 5) = 37 * (28 p^6 (1-p)^2 + 8 p^7 (1-p) + p^8)
  // = 3.8e-7 <= 1e-6; 37 * P(X > 4) >= 37 * 56 p^5 (1-p)^3 = 2.7e-5 > 1e-6.
  CHECK(scatter_limit(8, 37 * 128, 128, 37) == 5);
  // p = 1/592: 592 * P(X > 3) = 592 * 70 p^4 = 3.4e-7; 592 * P(X > 2) = 592 * 56 p^3 = 1.6e-4.
  CHECK(scatter_limit(8, 37 * 128, 8, 592) == 3);
  // Two are always let through, though 2^24 tiles and p = 2^-24 make even that rare: 28 p = 1.7e-6 and 56 p^2
  // = 0.
  CHECK(scatter_limit(8, std::int64_t{1} << 27, 8, std::int64_t{1} << 24) == 2);
  CHECK(scatter_limit(2, 4736, 8, 592) == 2);
  // One line holds everything.
  CHECK(scatter_limit(1000, 4096, 4096, 1) == 1000);
  // Large N, where p^N is no double: N = 4000 over 64 rows. mean 62.5, sigma 7.8; 1e-6/64 is 5.5 sigma, so
  // about 105..110.
  const std::int64_t limit = scatter_limit(4000, 64 * 4096, 4096, 64);
  CHECK(limit > 62 + 5 * 7);
  CHECK(limit < 62 + 7 * 8);
}
