// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// One test per pattern: a right output of 16 rows x 64 is made wrong by hand, and the explanation must name
// what was done.
#include "harness/suite/diagnosis.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <functional>

#include "harness/random/random.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr std::int64_t kRows = 16;
constexpr std::int64_t kColumns = 64;

struct Output {
  std::vector<double> expected;
  std::vector<std::uint16_t> codes;
  std::int64_t heads = 1;

  Output() {
    const RandomStream random(Seed{3}, "diagnosis_test", "expected");
    for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
      expected.push_back(random.normal(static_cast<std::uint64_t>(i)));
      codes.push_back(code(expected.back()));
    }
  }
  static std::uint16_t code(double value) { return static_cast<std::uint16_t>(encode(DType::bf16, value)); }
  std::uint16_t& at(std::int64_t r, std::int64_t c) {
    return codes[static_cast<std::size_t>(r * kColumns + c)];
  }
  double want(std::int64_t r, std::int64_t c) const {
    return expected[static_cast<std::size_t>(r * kColumns + c)];
  }

  std::string explain() const {
    Outcome outcome;
    outcome.dtype = DType::bf16;
    outcome.rows = kRows;
    outcome.row_len = kColumns;
    outcome.heads = heads;
    outcome.actual = std::as_bytes(std::span(codes));
    outcome.expected = std::span<const double>(expected);
    return explain_pattern(outcome).value_or("(nothing)");
  }
};

void for_all(const std::function<void(std::int64_t, std::int64_t)>& visit) {
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kColumns; ++c) visit(r, c);
}

TEST_CASE("a right output needs no explanation") {
  CHECK(Output().explain() == "(nothing)");
}

TEST_CASE("the tail of every row") {
  Output o;
  for_all([&](auto r, auto c) {
    if (c >= 56) o.at(r, c) = Output::code(9.0);
  });
  CHECK_THAT(o.explain(), ContainsSubstring("the tail from column 56 is wrong in every row"));
}

TEST_CASE("every n-th lane") {
  Output o;
  for_all([&](auto r, auto c) {
    if (c % 32 == 31) o.at(r, c) = Output::code(9.0);
  });
  CHECK_THAT(o.explain(), ContainsSubstring("every 32nd element from column 31 is wrong in every row"));
}

TEST_CASE("one column") {
  Output o;
  for_all([&](auto r, auto c) {
    if (c == 17) o.at(r, c) = Output::code(9.0);
  });
  CHECK_THAT(o.explain(), ContainsSubstring("column 17 is wrong in every row"));
}

TEST_CASE("a row of zeros, the last one") {
  Output o;
  for (std::int64_t c = 0; c < kColumns; ++c) o.at(kRows - 1, c) = 0;
  CHECK_THAT(o.explain(), ContainsSubstring("row 15 (the last) holds zeros"));
}

TEST_CASE("a stale row") {
  Output o;
  for (std::int64_t c = 0; c < kColumns; ++c) o.at(9, c) = Output::code(o.want(2, c));
  CHECK_THAT(o.explain(), ContainsSubstring("row 9 holds what belongs to row 2"));
}

TEST_CASE("rows shifted by one: a neighbour's position or slot") {
  Output o;
  for_all([&](auto r, auto c) {
    if (r > 0) o.at(r, c) = Output::code(o.want(r - 1, c));
  });
  CHECK_THAT(o.explain(), ContainsSubstring("rows are shifted by -1"));
}

TEST_CASE("a scale one exponent off in one row") {
  Output o;
  for (std::int64_t c = 0; c < kColumns; ++c) o.at(4, c) = Output::code(2.0 * o.want(4, c));
  CHECK_THAT(o.explain(), ContainsSubstring("scale flip: row 4 is the reference times 2^1"));
}

TEST_CASE("a scale one exponent off in one group") {
  Output o;
  for (std::int64_t c = 32; c < 48; ++c) o.at(4, c) = Output::code(0.5 * o.want(4, c));
  CHECK_THAT(
      o.explain(),
      ContainsSubstring("scale flip: the group of columns 32 to 47 of row 4 is the reference times 2^-1"));
}

TEST_CASE("other rows, in another order") {
  Output o;
  for (std::int64_t c = 0; c < kColumns; ++c) {
    o.at(3, c) = Output::code(o.want(8, c));
    o.at(8, c) = Output::code(o.want(3, c));
  }
  CHECK_THAT(o.explain(), ContainsSubstring("rows are exchanged: row 3 holds what belongs to row 8"));
}

TEST_CASE("systematic truncation") {
  Output o;
  for_all([&](auto r, auto c) {
    const auto value = static_cast<float>(o.want(r, c));
    o.at(r, c) = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  });
  CHECK_THAT(o.explain(), ContainsSubstring("systematic truncation"));
}

TEST_CASE("one head") {
  Output o;
  o.heads = 4;
  for_all([&](auto r, auto c) {
    if (r % 4 == 2) o.at(r, c) = Output::code(o.want(r, c) + 1.0 + static_cast<double>(c % 5));
  });
  CHECK_THAT(o.explain(), ContainsSubstring("head 2 is wrong in 4 tokens"));
}

TEST_CASE("a single element") {
  Output o;
  o.at(5, 6) = Output::code(40.0);
  CHECK_THAT(o.explain(), ContainsSubstring("column 6 is wrong in row 5"));
}

// Wrong elements lying anywhere, wrong by anything: there is nothing to explain, and a wrong explanation
// sends people the wrong way.
TEST_CASE("noise is given no explanation") {
  int claims = 0;
  constexpr int kTrials = 500;
  for (int trial = 0; trial < kTrials; ++trial) {
    const RandomStream random(Seed{static_cast<std::uint64_t>(trial)}, "diagnosis_test", "noise");
    Output o;
    o.heads = 1 + trial % 4;
    const int wrong = trial % 10 == 0 ? kRows * kColumns : 2 + trial % 40;
    std::uint64_t at = 0;
    for (int i = 0; i < wrong; ++i) {
      const auto r = static_cast<std::int64_t>(random.uniform(at++) * kRows);
      const auto c = static_cast<std::int64_t>(random.uniform(at++) * kColumns);
      o.at(r, c) = Output::code(random.normal(at++));
    }
    const std::string said = o.explain();
    if (said == "(nothing)") continue;
    ++claims;
    UNSCOPED_INFO(wrong << " wrong: " << said);
  }
  CHECK(claims <= kTrials / 50);  // two elements may share a row or a column by chance
}

TEST_CASE("noise of one code everywhere is no truncation and no scale") {
  const RandomStream random(Seed{5}, "diagnosis_test", "steps");
  Output o;
  for_all([&](auto r, auto c) {
    const auto i = static_cast<std::uint64_t>(r * kColumns + c);
    o.at(r, c) = static_cast<std::uint16_t>(o.at(r, c) + (random.uniform(i) < 0.5 ? 1 : 0));
  });
  CHECK(o.explain() == "(nothing)");
}

}  // namespace
}  // namespace kvr
