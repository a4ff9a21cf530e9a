// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Fast where elements are as they should be, exact where they are not; the same numbers either way.
#include "harness/judge/segment.h"

#include <algorithm>
#include <cmath>

namespace kvr {
namespace {

std::size_t bucket_of(const Finding& finding) {
  if (finding.mismatch != Mismatch::none) return Comparison::kBuckets - 1;
  const std::int64_t distance = finding.distance;
  if (distance < 4) return static_cast<std::size_t>(distance);
  return distance < 8 ? 4 : distance < 16 ? 5 : distance < 64 ? 6 : 7;
}

// A ratio this close below 1 (or above) is decided by the exact pass: three roundings in Real separate it
// from the truth.
template <class Real>
constexpr Real kSurelyBelow = sizeof(Real) == 4 ? Real(1) - Real(0x1p-20) : Real(1) - Real(0x1p-48);

}  // namespace

void Tally::add_failure(const Failure& failure) {
  if (examples.size() == kExamples && !(failure < examples.back())) return;
  if (examples.size() == kExamples) examples.pop_back();
  examples.insert(std::upper_bound(examples.begin(), examples.end(), failure), failure);
}

void Tally::merge(const Tally& later, std::int64_t outlier_limit) {
  finite += later.finite;
  failing += later.failing;
  differing += later.differing;
  nan_actual += later.nan_actual;
  nan_expected += later.nan_expected;
  inf_actual += later.inf_actual;
  inf_expected += later.inf_expected;
  for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += later.histogram[i];
  max_error = std::max(max_error, later.max_error);
  max_relative = std::max(max_relative, later.max_relative);
  max_expected = std::max(max_expected, later.max_expected);
  ulps += later.ulps;
  ratio.raise(later.ratio.value, later.ratio.begin, later.ratio.count);
  distance.raise(later.distance.value, later.distance.begin, later.distance.count);
  if (first_mismatch < 0) first_mismatch = later.first_mismatch;
  if (bad_budget < 0) bad_budget = later.bad_budget;
  for (const Failure& each : later.examples) add_failure(each);
  for (const std::int64_t index : later.outliers) {
    if (static_cast<std::int64_t>(outliers.size()) > outlier_limit) break;  // one too many tells enough
    outliers.push_back(index);
  }
  differing_stretches.insert(differing_stretches.end(), later.differing_stretches.begin(),
                             later.differing_stretches.end());
  equal.elements += later.equal.elements;
  equal.ulps += later.equal.ulps;
  equal.max_error = std::max(equal.max_error, later.equal.max_error);
  if (later.worst_inexcusable.index >= 0 &&
      (worst_inexcusable.index < 0 || later.worst_inexcusable < worst_inexcusable)) {
    worst_inexcusable = later.worst_inexcusable;
  }
}

template <class Real>
SegmentJudge<Real>::SegmentJudge(const ElementJudge& elements, const Real* expected,
                                 std::int64_t outlier_limit)
    : elements_(elements), expected_(expected), scan_(nullptr) {
  const Rule& rule = elements.rule();
  scan_rule_.relative = rule.atol || rule.rtol;
  scan_rule_.atol = static_cast<Real>(rule.atol.value_or(0.0));
  scan_rule_.rtol = static_cast<Real>(rule.rtol.value_or(0.0));
  if (std::isfinite(elements.clamp())) {
    scan_rule_.clamp = static_cast<Real>(elements.clamp());
  }
  // A clamp that Real cannot hold would move under the scan.
  if (!std::isfinite(elements.clamp()) || static_cast<double>(scan_rule_.clamp) == elements.clamp()) {
    scan_ = scan_for<Real>(elements.outcome().dtype, scan_rule_);
  }
  has_code_keys_ = rule.exact || rule.max_ulp || rule.tie_window || rule.budget;
  outlier_capacity_ = rule.outliers ? static_cast<std::size_t>(outlier_limit) + 1 : 0;
}

template <class Real>
void SegmentJudge<Real>::run(std::int64_t begin, std::int64_t count, Tally& tally, RowSums& row) const {
  if (scan_ != nullptr && run_fast(begin, count, tally, row)) return;
  run_exact(begin, count, tally, row);
  tally.differing_stretches.push_back({begin, count});
}

template <class Real>
void SegmentJudge<Real>::note_failure(const Finding& finding, std::int64_t index, Tally& tally,
                                      RowSums& row) const {
  ++tally.failing;
  ++row.failing;
  tally.add_failure({finding.ratio, index});
  if (elements_.excusable(finding, index)) {
    if (tally.outliers.size() < outlier_capacity_) tally.outliers.push_back(index);
  } else if (tally.worst_inexcusable.index < 0 || finding.ratio > tally.worst_inexcusable.ratio) {
    tally.worst_inexcusable = {finding.ratio, index};
  }
}

// False, and nothing added, where the segment needs the exact pass.
template <class Real>
bool SegmentJudge<Real>::run_fast(std::int64_t begin, std::int64_t count, Tally& tally, RowSums& row) const {
  const Outcome& outcome = elements_.outcome();
  const std::size_t code_size = dtype_size(outcome.dtype);
  Scan<Real> scan;
  scan_(outcome.actual.data() + static_cast<std::size_t>(begin) * code_size, expected_ + begin, count,
        scan_rule_, scan);
  if (scan.unusual || scan.max_ratio > kSurelyBelow<Real>) return false;
  if (elements_.rule().budget) {
    std::int64_t bad = 0;
    const double* budget = outcome.budget.data() + begin;
    for (std::int64_t i = 0; i < count; ++i) bad |= static_cast<std::int64_t>(!(budget[i] >= 0.0));
    if (bad != 0) return false;
  }

  double ratio = static_cast<double>(scan.max_ratio);
  if (has_code_keys_ && scan.differing != 0) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (scan.off[static_cast<std::size_t>(i)] < Real(0.5)) continue;
      const Finding finding = elements_.at(begin + i);
      ratio = std::max(ratio, finding.ratio);
      if (finding.fails) note_failure(finding, begin + i, tally, row);
    }
  }
  tally.finite += count;
  tally.differing += scan.differing;
  tally.histogram[0] += count - scan.differing;
  tally.histogram[1] += scan.differing;
  tally.max_error = std::max(tally.max_error, static_cast<double>(scan.max_error));
  tally.max_relative = std::max(tally.max_relative, static_cast<double>(scan.max_relative));
  tally.max_expected = std::max(tally.max_expected, static_cast<double>(scan.max_expected));
  const double ulps = fold_lanes(scan.ulps);
  tally.ulps += ulps;
  tally.ratio.raise(ratio, begin, count);
  if (scan.differing != 0) {
    tally.distance.raise(1, begin, count);
    tally.differing_stretches.push_back({begin, count});
  } else {
    tally.equal.elements += count;
    tally.equal.ulps += ulps;
    tally.equal.max_error = std::max(tally.equal.max_error, static_cast<double>(scan.max_error));
  }
  row.error2 += fold_lanes(scan.error2);
  row.expected2 += fold_lanes(scan.expected2);
  return true;
}

template <class Real>
void SegmentJudge<Real>::run_exact(std::int64_t begin, std::int64_t count, Tally& tally, RowSums& row) const {
  const DType dtype = elements_.outcome().dtype;
  Lanes ulps{}, error2{}, expected2{};
  double ratio = 0.0;
  std::int64_t distance = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t index = begin + i;
    const Finding finding = elements_.at(index);
    tally.nan_actual += is_nan_code(dtype, finding.code) ? 1 : 0;
    tally.nan_expected += is_nan_code(dtype, finding.expected_code) ? 1 : 0;
    tally.inf_actual += is_inf_code(dtype, finding.code) ? 1 : 0;
    tally.inf_expected += is_inf_code(dtype, finding.expected_code) ? 1 : 0;
    tally.differing += finding.distance != 0 ? 1 : 0;
    ++tally.histogram[bucket_of(finding)];
    distance = std::max(distance, finding.distance);
    if (finding.fails) note_failure(finding, index, tally, row);
    if (finding.mismatch != Mismatch::none && tally.first_mismatch < 0) tally.first_mismatch = index;
    if (finding.bad_budget && tally.bad_budget < 0) tally.bad_budget = index;
    if (!is_nan_code(dtype, finding.expected_code) && !is_inf_code(dtype, finding.expected_code)) {
      tally.max_expected = std::max(tally.max_expected, std::fabs(finding.expected));
    }
    if (!finding.finite) continue;

    ++tally.finite;
    const double error = std::fabs(finding.difference);
    tally.max_error = std::max(tally.max_error, error);
    if (finding.expected != 0.0) {
      const Real relative = static_cast<Real>(error) / static_cast<Real>(std::fabs(finding.expected));
      tally.max_relative = std::max(tally.max_relative, static_cast<double>(relative));
    }
    ratio = std::max(ratio, finding.ratio);
    const auto lane = static_cast<std::size_t>(i) % kLanes;
    ulps[lane] += finding.ulps;
    error2[lane] += finding.difference * finding.difference;
    expected2[lane] += finding.expected * finding.expected;
  }
  tally.ulps += fold_lanes(ulps);
  tally.ratio.raise(ratio, begin, count);
  tally.distance.raise(distance, begin, count);
  row.error2 += fold_lanes(error2);
  row.expected2 += fold_lanes(expected2);
}

template class SegmentJudge<float>;
template class SegmentJudge<double>;

}  // namespace kvr
