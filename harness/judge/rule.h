// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The rule an output must meet: a small immutable value. A rule is a conjunction: every key that is present must hold.
// `outliers` is the one exception: elements that fail the elementwise keys may be excused by it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/numeric/dtype.h"

namespace kvr {

// An allowance for elements that miss the elementwise keys. Scattered elements only: more than `max_share_of_line` of
// any row, column, head or lane (tile of 8) being outliers fails whatever the count.
struct Outliers {
  std::string count;        // expression over numel, rows, row_len and named counts of the case: "numel/100000 + 8"
  std::int64_t max_ulp = 1;  // no outlier may be further off than this
};

struct Rule {
  bool exact = false;                    // same code; -0 equals +0, any NaN equals any NaN
  std::optional<double> atol;            // |actual - expected| <= atol + rtol * |expected|; a missing one of the two is 0
  std::optional<double> rtol;
  std::optional<std::int64_t> max_ulp;   // distance in codes to RN_T(expected)
  std::optional<double> tie_window;      // ULP: same code, or adjacent and |expected - midpoint| <= tie_window * ulp_at(expected)
  std::optional<double> budget;          // actual lies in [RN_T(e - budget*b), RN_T(e + budget*b)], b from the reference
  std::optional<double> bias;            // |mean of (actual - expected) / ulp_at(expected)| over finite elements, in ULP
  std::optional<double> row_l2;          // ||actual - expected||_2 / ||expected||_2 per row; the worst row decides
  std::optional<Outliers> outliers;

  bool empty() const;
  // One line in the notation parse_rule() reads: "rtol=2^-7 atol=0.001".
  std::string text() const;
};

// "atol=0.06 rtol=0", "max_ulp=1 bias=0.02", "outliers.count='numel/100000 + 8' outliers.max_ulp=1". Numbers may be
// written "2^-7" or "2ulp" (ULP of `dtype` at 1.0: 2 * 2^-mantissa_bits). Throws std::invalid_argument, one line naming key and value.
Rule parse_rule(std::string_view text, DType dtype);
double parse_number(std::string_view text, DType dtype);

// Evaluates an outlier-count expression: + - * /, parentheses, decimal numbers and names. Throws std::invalid_argument naming the unknown
// name or the place that does not parse. The result is rounded down.
std::int64_t evaluate_count(std::string_view expression, const std::map<std::string, double>& names);

}  // namespace kvr
