// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The judge: compares an output with what was expected, under a rule. It sees tensors, never machines, and
// returns numbers and places, never just a bool.
//
// Special values come first, and no rule excuses them. What counts is RN_T(expected): NaN is near nothing but
// NaN (any payload), infinity equals only itself, -0 equals +0. So where expected rounds to infinity, the
// largest finite value is wrong, unless the output saturates: then expected is clamped first, and infinity
// becomes the largest value. Integer outputs always saturate, and a NaN becomes 0. Elements where either side
// is special and the two agree are right, and take no part in errors, sums and norms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "harness/judge/rule.h"
#include "harness/numeric/codec.h"

namespace kvr {

// Values before the last rounding, in logical order, in the fp32 or double of the reference that made them.
using ExpectedValues = std::variant<std::span<const float>, std::span<const double>>;

// An output in logical order: `rows` x `row_len` codes of `dtype`, no gaps. Rows are (token, head) pairs when
// `heads` > 1: row = token * heads + head.
struct Outcome {
  DType dtype = DType::f32;
  std::int64_t rows = 0;
  std::int64_t row_len = 0;
  std::int64_t heads = 1;
  std::span<const std::byte> actual;  // rows * row_len * dtype_size(dtype)
  ExpectedValues expected;
  std::span<const std::int64_t>
      row_ids;  // what to call each row when the outcome is a selection of rows; empty: 0, 1, ...
  std::span<const double> budget;  // per element, same units as expected; empty when the reference gives none
  std::span<const double> magnitude;   // likewise: of the largest term that was added up to give the element
  Overflow overflow = Overflow::ieee;  // how RN_T treats a value beyond the format
  double format_max =
      0.0;  // with Overflow::saturate: clamp (Fp8Format::max); 0 = the format's largest finite value
  std::map<std::string, double> counts;  // named counts for outlier expressions ("flipped_rows")
};

enum class Mismatch : std::uint8_t {
  none,
  unexpected_nan,  // actual NaN, expected not
  missing_nan,     // expected NaN, actual not
  wrong_infinity,  // one is infinite, the other is not, or the signs differ
  tolerance,       // both finite, the rule does not hold
};

struct Element {
  std::int64_t index = -1;  // row * row_len + column; -1: no such element
  std::int64_t row = 0, column = 0;
  std::uint64_t code = 0, expected_code = 0;  // expected_code = RN_T(expected)
  double actual = 0.0, expected = 0.0;
  double error = 0.0;    // |actual - expected|; infinite for a mismatch of special values
  double allowed = 0.0;  // by the elementwise key that left the least room
  std::int64_t ulp = 0;  // code distance; kNanDistance where one side is NaN
  Mismatch mismatch = Mismatch::none;
};

struct Comparison {
  bool accepted = false;
  std::string reason;  // one line; empty when accepted: "element 1 (row 0, column 1): unexpected NaN"

  std::int64_t numel = 0;
  std::int64_t failing = 0;        // elements that miss the elementwise keys (before outliers are excused)
  std::int64_t excused = 0;        // of these, accepted as outliers
  std::int64_t outlier_limit = 0;  // what `outliers.count` came to
  std::int64_t differing = 0;      // code differs from RN_T(expected) (-0 = +0, NaN = NaN)
  double worst_ratio =
      0.0;            // max error / allowed over finite elements (infinity: error where none is allowed)
  Element worst;      // the first special-value mismatch, else the first element at worst_ratio > 0
  Element worst_ulp;  // the first element with the largest code distance, if any is not 0
  double max_abs_error = 0.0;
  double max_rel_error =
      0.0;  // over expected != 0; a quotient in the precision of the expected values, like worst_ratio
  double max_abs_expected = 0.0;  // finite ones
  double mean_signed_ulp = 0.0;   // mean of (actual - expected)/ulp_at(expected) over finite elements
  double worst_row_l2 = 0.0;      // relative L2 error of the worst row
  std::int64_t worst_row_l2_row = -1;
  std::int64_t worst_row_failing = 0;  // failing elements in the row that has most of them
  std::int64_t worst_row = -1;
  std::int64_t failing_rows = 0;
  std::int64_t nan_actual = 0, nan_expected = 0, inf_actual = 0, inf_expected = 0;
  // Elements by code distance: 0, 1, 2, 3, 4-7, 8-15, 16-63, 64 and more; special-value mismatches last.
  static constexpr std::size_t kBuckets = 9;
  std::array<std::int64_t, kBuckets> histogram{};
  std::vector<Element> examples;  // the worst failing elements, at most 8, worst first

  // Stretches [begin, begin + count) of a row in which some code differs from RN_T(expected), or is infinite
  // or NaN, in order; and what all other elements come to.
  struct Stretch {
    std::int64_t begin = 0, count = 0;
  };
  std::vector<Stretch> differing_stretches;
  struct Equal {
    std::int64_t elements = 0;
    double ulps = 0.0;  // sum of the signed errors in ULP
    double max_error = 0.0;
  } equal;
};

// Throws std::invalid_argument for an empty outcome (nothing compared is not a pass), spans of the wrong
// length, a rule with no keys, or a rule that asks for a budget the reference did not give or gave as a
// negative number or NaN.
//
// Deterministic: the same result for any number of threads and any processor. Sums have a fixed shape:
// segments of 1024 elements of a row, each in eight lanes; 64 segments make a block; blocks of a row (or,
// where rows are shorter than a block, the segments of as many whole rows as fit into one) are added in
// order.
Comparison judge(const Outcome& outcome, const Rule& rule);

// Labels of Comparison::histogram, in order.
std::array<std::string_view, Comparison::kBuckets> histogram_labels();
std::string_view mismatch_name(Mismatch mismatch);

}  // namespace kvr
