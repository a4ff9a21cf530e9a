// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Output faults by hand: 2 rows x 4 of bf16, [1 2 3 4; 5 6 7 8] unless said otherwise.
#include "harness/suite/output_faults.h"

#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <set>

#include "harness/suite/fault_matrix.h"

namespace kvr {
namespace {

struct Output {
  std::vector<double> expected{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<std::uint16_t> codes;
  std::int64_t rows = 2, heads = 1;

  Outcome outcome() {
    codes.clear();
    for (const double v : expected) codes.push_back(static_cast<std::uint16_t>(encode(DType::bf16, v)));
    Outcome o;
    o.dtype = DType::bf16;
    o.rows = rows;
    o.row_len = static_cast<std::int64_t>(expected.size()) / rows;
    o.heads = heads;
    o.actual = std::as_bytes(std::span(codes));
    o.expected = std::span<const double>(expected);
    return o;
  }
};

std::vector<double> values(const std::vector<std::byte>& codes) {
  std::vector<double> out;
  for (std::size_t i = 0; i < codes.size(); i += 2)
    out.push_back(decode(
        DType::bf16, static_cast<std::uint64_t>(codes[i]) | static_cast<std::uint64_t>(codes[i + 1]) << 8));
  return out;
}

const OutputFault& find(std::string_view name) {
  for (const OutputFault& fault : output_faults())
    if (fault.name == name) return fault;
  FAIL("no fault called " << name);
  throw std::logic_error("unreachable");
}

TEST_CASE("each output fault does what its name says") {
  struct Row {
    const char* fault;
    std::vector<double> gives;
  };
  const Row rows[] = {
      {"zeros", {0, 0, 0, 0, 0, 0, 0, 0}},
      {"constant", {4.5, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5, 4.5}},
      {"sign_flipped", {-1, -2, -3, -4, -5, -6, -7, -8}},
      {"exponent_off", {2, 4, 6, 8, 10, 12, 14, 16}},
      // One bf16 step: 2^-7 in [1, 2), 2^-6 in [2, 4), 2^-5 in [4, 8), 2^-4 in [8, 16).
      {"one_code_up", {1.0078125, 2.015625, 3.015625, 4.03125, 5.03125, 6.03125, 7.03125, 8.0625}},
      {"element_4_ulp", {1, 2, 3, 4, 5, 6, 7.125, 8}},
      {"row_zeroed", {1, 2, 3, 4, 0, 0, 0, 0}},
      {"row_stale", {1, 2, 3, 4, 1, 2, 3, 4}},
      {"rows_swapped", {5, 6, 7, 8, 1, 2, 3, 4}},
      {"rows_shifted", {5, 6, 7, 8, 1, 2, 3, 4}},
      {"last_row_unwritten", {1, 2, 3, 4, 0, 0, 0, 0}},
      {"row_tail_wrong", {1, 2, 3, 4, 5, 6, 7, 0}},
      {"last_column_wrong", {1, 2, 3, 0, 5, 6, 7, 0}},
      {"halves_swapped", {3, 4, 1, 2, 7, 8, 5, 6}},
      {"pairs_swapped", {2, 1, 4, 3, 6, 5, 8, 7}},
  };
  for (const Row& row : rows) {
    Output output;
    const auto codes = find(row.fault).apply(output.outcome());
    CAPTURE(row.fault);
    REQUIRE(codes.has_value());
    CHECK(values(*codes) == row.gives);
  }
}

TEST_CASE("truncation cuts the value before rounding") {
  Output output;
  output.rows = 1;
  // 1 + 3/512 rounds up to 1 + 1/128 and is cut to 1; 1 + 1/512 rounds down either way; signs do not matter.
  output.expected = {1.0 + 3.0 / 512, 1.0 + 1.0 / 512, -(1.0 + 3.0 / 512), 4.0 - 1.0 / 1024};
  const auto codes = find("truncated").apply(output.outcome());
  REQUIRE(codes.has_value());
  CHECK(values(*codes) == std::vector<double>{1.0, 1.0, -1.0, 4.0 - 1.0 / 64});
}

TEST_CASE("faults that change nothing do not apply") {
  Output one_head;
  CHECK_FALSE(find("last_head_unwritten").apply(one_head.outcome()).has_value());
  CHECK_FALSE(find("nan_to_max").apply(one_head.outcome()).has_value());
  Output zero;
  zero.expected = std::vector<double>(8, 0.0);
  CHECK_FALSE(find("sign_flipped").apply(zero.outcome()).has_value());  // -0 equals +0
  CHECK_FALSE(find("zeros").apply(zero.outcome()).has_value());
  Output nan;
  nan.expected[3] = std::numeric_limits<double>::quiet_NaN();
  CHECK(find("nan_to_max").apply(nan.outcome()).has_value());
}

TEST_CASE("names are unique, and there are enough of them") {
  std::set<std::string> names;
  for (const OutputFault& fault : output_faults()) CHECK(names.insert(fault.name).second);
  CHECK(names.size() >= 20);
}

TEST_CASE("sensitivity: the smallest faults a rule sees") {
  Output output;
  // atol 0.1: 7 moves in steps of 1/32, so 4 codes (0.125) are the first power of two that is seen; a gain of
  // 2^-6 moves 8 by 0.125 = 2 codes of 1/16, 2^-7 by 0.0625 only; one row of two.
  const Sensitivity coarse = measure_sensitivity(output.outcome(), parse_rule("atol=0.1", DType::bf16));
  CHECK(coarse.element_ulp == 4);
  CHECK(coarse.gain == 0x1p-6);
  CHECK(coarse.rows_share == 0.5);
  const Sensitivity exact = measure_sensitivity(output.outcome(), parse_rule("max_ulp=0", DType::bf16));
  CHECK(exact.element_ulp == 1);
  const Sensitivity blind = measure_sensitivity(output.outcome(), parse_rule("atol=1000", DType::bf16));
  CHECK(blind.gain == 0.0);
  CHECK(blind.rows_share == 0.0);
}

}  // namespace
}  // namespace kvr
