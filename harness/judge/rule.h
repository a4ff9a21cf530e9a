// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The rule an output must meet: a small immutable value. A rule is a conjunction: every key that is present
// must hold. `outliers` is the one exception: elements that fail the elementwise keys may be excused by it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "harness/numeric/dtype.h"

namespace kvr {

// An allowance for elements that miss the elementwise keys, for kernels whose arithmetic cannot be bounded.
// All of these must hold:
//  - there are at most `count` such elements (outliers), and none of them is a special-value mismatch;
//  - none is more than `max_ulp` codes from RN_T(expected), where that is given;
//  - none is more than `max_magnitude` times its magnitude from expected, where that is given. The reference
//  says how large the
//    terms were that an element was added up from; where they cancel, the rounding errors of a low-precision
//    chain scale with them and not with the little that is left;
//  - they are scattered. A line is a row, a column, a head, a tile (8 neighbours in a row, from a multiple of
//  8) or a
//    lane (the same tile of every row). With N outliers among `numel` elements, a line of L elements may hold
//    at most max(2, k) of them; k is the smallest number with lines * P(Binomial(N, L / numel) > k) <= 1e-6,
//    where `lines` is how many lines of that kind there are. So (union bound over the lines of five kinds)
//    outliers that fall independently and evenly are refused less than once in 200,000 comparisons, while a
//    line full of them is. Two are always let through: a pair of elements that a rotation ties together is
//    one accident, not a pattern.
struct Outliers {
  std::string count;  // expression over numel, rows, row_len and named counts of the case: "numel/100000 + 8"
  std::optional<std::int64_t> max_ulp = 1;  // at least one of the two is given
  std::optional<double> max_magnitude{};
  // They need not be scattered: a flat percentage budget, as some published rules have. It forgives just the
  // classic bugs (last row, last token, tail), so only alternatives may say it.
  bool anywhere = false;
  friend bool operator==(const Outliers&, const Outliers&) = default;
};

struct Rule {
  bool exact = false;  // same code; -0 equals +0, any NaN equals any NaN
  std::optional<double>
      atol;  // |actual - expected| <= atol + rtol * |expected|; a missing one of the two is 0
  std::optional<double> rtol;
  std::optional<std::int64_t> max_ulp;  // distance in codes to RN_T(expected)
  std::optional<double>
      tie_window;  // ULP: same code, or adjacent and |expected - midpoint| <= tie_window * ulp_at(expected)
  std::optional<double>
      budget;  // actual lies in [RN_T(e - budget*b), RN_T(e + budget*b)], b from the reference
  std::optional<double>
      bias;  // |mean of (actual - expected) / ulp_at(expected)| over finite elements, in ULP
  std::optional<double> row_l2;  // ||actual - expected||_2 / ||expected||_2 per row; the worst row decides
  std::optional<Outliers> outliers;

  bool empty() const;
  // Is there a key that is decided element by element (exact, atol, rtol, max_ulp, tie_window, budget)?
  bool has_elementwise() const;
  // One line in the notation parse_rule() reads, keys in the order above: "atol=0.001 rtol=2^-7". Reads back
  // equal.
  std::string text() const;
  friend bool operator==(const Rule&, const Rule&) = default;
};

// "atol=0.06 rtol=0", "max_ulp=1 bias=0.02", "outliers.count='numel/100000 + 8' outliers.max_ulp=1". Numbers
// may be written "2^-7" or "2ulp" (ULP of `dtype` at 1.0: 2 * 2^-mantissa_bits; 1 for integers). Throws
// std::invalid_argument, one line naming key and value: an unknown key, a key given twice, a number that is
// negative, not finite or not a number, half an `outliers`, outliers without an elementwise key to miss, no
// key at all.
Rule parse_rule(std::string_view text, DType dtype);
double parse_number(std::string_view text, DType dtype);

// Evaluates an outlier-count expression: + - * /, parentheses, decimal numbers and names. Throws
// std::invalid_argument naming the unknown name or the place that does not parse. The result is rounded down;
// a negative one is 0.
std::int64_t evaluate_count(std::string_view expression, const std::map<std::string, double>& names);
// Only the syntax: any name will do. Throws as above.
void check_count(std::string_view expression);

}  // namespace kvr
