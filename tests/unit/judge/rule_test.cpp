// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reading and writing rules and outlier counts.
#include <catch2/catch_test_macros.hpp>

#include <random>
#include <stdexcept>

#include "harness/judge/rule.h"

using namespace kvr;

namespace {

std::string error_of(std::string_view text) {
  try {
    parse_rule(text, DType::bf16);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string count_error(std::string_view text) {
  try {
    evaluate_count(text, {{"numel", 10.0}, {"rows", 2.0}});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("rule: numbers") {
  CHECK(parse_number("0.06", DType::bf16) == 0.06);
  CHECK(parse_number("1e-3", DType::bf16) == 1e-3);
  CHECK(parse_number("0", DType::bf16) == 0.0);
  CHECK(parse_number("2^-7", DType::bf16) == 0.0078125);
  CHECK(parse_number("2^3", DType::bf16) == 8.0);
  // Mantissa bits: bf16 7, fp16 10, f32 23, e4m3fn 3, e5m2 2.
  CHECK(parse_number("2ulp", DType::bf16) == 0.015625);
  CHECK(parse_number("2ulp", DType::fp16) == 0x1p-9);
  CHECK(parse_number("1ulp", DType::f32) == 0x1p-23);
  CHECK(parse_number("0.5ulp", DType::e4m3fn) == 0.0625);
  CHECK(parse_number("1ulp", DType::e5m2) == 0.25);
  CHECK(parse_number("3ulp", DType::int8) == 3.0);
  for (const char* bad : {"", "x", "1x", "-1", "-0", "inf", "nan", "1e999", "2^", "2^x", "2^2000", "2^-2000",
                          "ulp", "0x10", " 1", "1 ", "+1", "2^-7ulp"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_number(bad, DType::bf16), std::invalid_argument);
  }
}

TEST_CASE("rule: every key is read") {
  const Rule rule = parse_rule(
      "exact atol=0.06 rtol=2^-7 max_ulp=3 tie_window=0.25 budget=2 bias=0.02 row_l2=1e-2 "
      "outliers.count='numel/100000 + 8' outliers.max_ulp=1",
      DType::bf16);
  CHECK(rule.exact);
  CHECK(rule.atol == 0.06);
  CHECK(rule.rtol == 0x1p-7);
  CHECK(rule.max_ulp == 3);
  CHECK(rule.tie_window == 0.25);
  CHECK(rule.budget == 2.0);
  CHECK(rule.bias == 0.02);
  CHECK(rule.row_l2 == 0.01);
  REQUIRE(rule.outliers);
  CHECK(rule.outliers->count == "numel/100000 + 8");
  CHECK(rule.outliers->max_ulp == 1);
  CHECK_FALSE(rule.empty());
  CHECK(Rule{}.empty());
  CHECK(rule.text() ==
        "exact atol=0.06 rtol=2^-7 max_ulp=3 tie_window=0.25 budget=2 bias=0.02 row_l2=0.01 "
        "outliers.count='numel/100000 + 8' outliers.max_ulp=1");
}

TEST_CASE("rule: text reads back equal") {
  std::mt19937_64 bits(1);
  const auto maybe = [&](std::optional<double>& key) {
    if (bits() % 2 == 0) return;
    // Any finite non-negative double, powers of two among them.
    const double value = std::ldexp(bits() % 3 == 0 ? 0.5 : static_cast<double>(bits() >> 11) * 0x1p-53,
                                    static_cast<int>(bits() % 2000) - 1000);
    key = value;
  };
  for (int i = 0; i < 2000; ++i) {
    Rule rule;
    rule.exact = bits() % 2 == 0;
    maybe(rule.atol);
    maybe(rule.rtol);
    maybe(rule.tie_window);
    maybe(rule.budget);
    maybe(rule.bias);
    maybe(rule.row_l2);
    if (bits() % 2 == 0) rule.max_ulp = static_cast<std::int64_t>(bits() >> 1);
    if (rule.has_elementwise() && bits() % 2 == 0) {
      rule.outliers = Outliers{"2*(rows - 1)", static_cast<std::int64_t>(bits() % 9), {}};
      maybe(rule.outliers->max_magnitude);
      if (rule.outliers->max_magnitude && bits() % 2 == 0) rule.outliers->max_ulp.reset();
    }
    if (rule.empty()) continue;
    INFO(rule.text());
    CHECK(parse_rule(rule.text(), DType::bf16) == rule);
  }
}

TEST_CASE("rule: what is wrong is named") {
  CHECK(error_of("atoll=1").find("unknown key 'atoll'") == 0);
  CHECK(error_of("atol=1 atol=2") == "atol is given twice");
  CHECK(error_of("rtol=-1") == "rtol: '-1' is negative");
  CHECK(error_of("rtol=x") == "rtol: 'x' is not a number (0.06, 1e-3, 2^-7, 2ulp)");
  CHECK(error_of("max_ulp=1.5") == "max_ulp: '1.5' is not a whole number >= 0");
  CHECK(error_of("atol") == "'atol' is not key=value");
  CHECK(error_of("atol=") == "atol has no value");
  CHECK(error_of("exact=false").find("exact: 'false'") == 0);
  CHECK(error_of("outliers.count='8") == "outliers.count: missing closing '");
  CHECK(error_of("exact outliers.count=8") ==
        "outliers.count without outliers.max_ulp or outliers.max_magnitude");
  CHECK(error_of("exact outliers.max_ulp=8") == "outliers.max_ulp without outliers.count");
  CHECK(error_of("bias=1 outliers.count=8 outliers.max_ulp=1") ==
        "outliers without a key that elements could miss");
  CHECK(error_of("exact outliers.count='8+' outliers.max_ulp=1") ==
        "count '8+': a number or a name is missing at position 3");
  CHECK(error_of("") == "'' holds no key");
  CHECK(error_of("  ") == "'  ' holds no key");
}

TEST_CASE("rule: counts") {
  const std::map<std::string, double> names{
      {"numel", 250000.0}, {"rows", 37.0}, {"row_len", 128.0}, {"flipped_rows", 3.0}};
  const std::pair<const char*, std::int64_t> table[] = {
      {"8", 8},         {"numel/100000 + 8", 10},  // 10.5, rounded down
      {"2+3*4", 14},    {"(2+3)*4", 20},
      {"10-4-3", 3},    {"16/4/2", 2},
      {"0.5*rows", 18}, {"flipped_rows*row_len + 8", 392},
      {" 7 ", 7},       {"5-9", 0},
      {"((rows))", 37}, {".5 + .5", 1},
  };
  for (const auto& [text, value] : table) {
    INFO(text);
    CHECK(evaluate_count(text, names) == value);
    CHECK_NOTHROW(check_count(text));
  }
  CHECK(count_error("numl + 8") == "count 'numl + 8': unknown name 'numl' (known: numel, rows)");
  CHECK(count_error("") == "count '': a number or a name is missing at position 1");
  CHECK(count_error("(1") == "count '(1': missing ')' at position 3");
  CHECK(count_error("1 2") == "count '1 2': unexpected '2' at position 3");
  CHECK(count_error("1.2.3").find("'1.2.3' is not a number") != std::string::npos);
  CHECK(count_error("-1").find("unexpected '-'") != std::string::npos);
  CHECK(count_error("1/0") == "count '1/0' comes to inf");
  CHECK(count_error("0/0").find("comes to") != std::string::npos);
  CHECK_THROWS_AS(check_count(std::string(100000, '(')), std::invalid_argument);
}
