// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What is known of a stretch of the output, from one segment of a row up to the whole: a tally. Tallies of
// neighbours are merged in order, so the whole does not depend on who computed the parts.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "harness/judge/element.h"
#include "harness/judge/segment_scan.h"

namespace kvr {

// A failing element, for the list of examples: worst first, then in order of place.
struct Failure {
  double ratio = 0.0;
  std::int64_t index = 0;
  friend bool operator<(const Failure& a, const Failure& b) {
    return a.ratio != b.ratio ? a.ratio > b.ratio : a.index < b.index;
  }
};

// A largest value and the segment in which it first occurs; the element is found by looking again.
template <class Value>
struct Peak {
  Value value{};
  std::int64_t begin = -1, count = 0;
  void raise(Value other, std::int64_t other_begin, std::int64_t other_count) {
    if (other > value) *this = {other, other_begin, other_count};
  }
};

struct Tally {
  static constexpr std::size_t kExamples = 8;

  std::int64_t finite = 0, failing = 0, differing = 0;
  std::int64_t nan_actual = 0, nan_expected = 0, inf_actual = 0, inf_expected = 0;
  std::array<std::int64_t, Comparison::kBuckets> histogram{};
  double max_error = 0.0, max_relative = 0.0, max_expected = 0.0;
  double ulps = 0.0;  // sum of signed errors in ULP
  Peak<double> ratio;
  Peak<std::int64_t> distance;
  std::int64_t first_mismatch = -1;
  std::int64_t bad_budget = -1;   // first element whose budget is negative or NaN
  std::vector<Failure> examples;  // sorted
  std::vector<std::int64_t>
      outliers;  // failing elements that `outliers` could excuse, in order; no more than needed
  Failure worst_inexcusable{0.0, -1};  // the worst one that it could not
  std::vector<Comparison::Stretch> differing_stretches;
  Comparison::Equal equal;

  void add_failure(const Failure& failure);
  void merge(const Tally& later, std::int64_t outlier_limit);
};

// Sums of one row or a piece of it.
struct RowSums {
  double error2 = 0.0, expected2 = 0.0;
  std::int64_t failing = 0;
};

// Judges segments of one output under one rule.
template <class Real>
class SegmentJudge {
 public:
  SegmentJudge(const ElementJudge& elements, const Real* expected, std::int64_t outlier_limit);

  // Elements [begin, begin + count), all in one row, at most kSegment; adds to the tally and to the row's
  // sums.
  void run(std::int64_t begin, std::int64_t count, Tally& tally, RowSums& row) const;

 private:
  bool run_fast(std::int64_t begin, std::int64_t count, Tally& tally, RowSums& row) const;
  void run_exact(std::int64_t begin, std::int64_t count, Tally& tally, RowSums& row) const;
  void note_failure(const Finding& finding, std::int64_t index, Tally& tally, RowSums& row) const;

  const ElementJudge& elements_;
  const Real* expected_;
  ScanRule<Real> scan_rule_;
  ScanFunction<Real> scan_;  // nullptr: the exact pass always
  bool has_code_keys_;       // keys that look at codes: exact, max_ulp, tie_window, budget
  std::size_t outlier_capacity_;
};

extern template class SegmentJudge<float>;
extern template class SegmentJudge<double>;

}  // namespace kvr
