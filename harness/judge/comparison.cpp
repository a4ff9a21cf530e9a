// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// judge(): divides the output into blocks, tallies them in parallel, merges in order, applies the rule to the
// whole.
#include "harness/judge/comparison.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "harness/judge/reason.h"
#include "harness/judge/scatter.h"
#include "harness/judge/segment.h"

namespace kvr {
namespace {

constexpr std::int64_t kBlock = 64 * kSegment;  // elements of one parallel task: 128 KiB of bf16

// What the rows of an output, or a block of them, come to.
struct RowTally {
  double worst_l2 = -1.0;
  std::int64_t worst_l2_row = -1;
  std::int64_t most_failing = 0, most_failing_row = -1;
  std::int64_t failing_rows = 0;

  void add(std::int64_t row, const RowSums& sums) {
    const double error = std::sqrt(sums.error2);
    const double size = std::sqrt(sums.expected2);
    const double l2 = error == 0.0 ? 0.0 : error / size;  // any error of an all-zero row is infinite
    if (l2 > worst_l2) {
      worst_l2 = l2;
      worst_l2_row = row;
    }
    if (sums.failing > 0) ++failing_rows;
    if (sums.failing > most_failing) {
      most_failing = sums.failing;
      most_failing_row = row;
    }
  }
  void merge(const RowTally& later) {
    if (later.worst_l2 > worst_l2) {
      worst_l2 = later.worst_l2;
      worst_l2_row = later.worst_l2_row;
    }
    if (later.most_failing > most_failing) {
      most_failing = later.most_failing;
      most_failing_row = later.most_failing_row;
    }
    failing_rows += later.failing_rows;
  }
};

struct Whole {
  Tally tally;
  RowTally rows;
};

template <class Real>
void run_row_piece(const SegmentJudge<Real>& segments, std::int64_t begin, std::int64_t end, Tally& tally,
                   RowSums& sums) {
  for (std::int64_t at = begin; at < end; at += kSegment)
    segments.run(at, std::min(kSegment, end - at), tally, sums);
}

// Rows shorter than a block: a task is as many whole rows as fit.
template <class Real>
Whole run_short_rows(const SegmentJudge<Real>& segments, const Outcome& outcome, std::int64_t outlier_limit) {
  const std::int64_t rows_per_task = kBlock / outcome.row_len;
  const std::int64_t tasks = (outcome.rows + rows_per_task - 1) / rows_per_task;
  std::vector<Whole> parts(static_cast<std::size_t>(tasks));
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, tasks), [&](const tbb::blocked_range<std::int64_t>& range) {
        for (std::int64_t task = range.begin(); task != range.end(); ++task) {
          Whole& part = parts[static_cast<std::size_t>(task)];
          const std::int64_t last = std::min(outcome.rows, (task + 1) * rows_per_task);
          for (std::int64_t row = task * rows_per_task; row < last; ++row) {
            RowSums sums;
            run_row_piece(segments, row * outcome.row_len, (row + 1) * outcome.row_len, part.tally, sums);
            part.rows.add(row, sums);
          }
        }
      });
  Whole whole;
  for (const Whole& part : parts) {
    whole.tally.merge(part.tally, outlier_limit);
    whole.rows.merge(part.rows);
  }
  return whole;
}

// Rows of at least a block: a task is a block of one row.
template <class Real>
Whole run_long_rows(const SegmentJudge<Real>& segments, const Outcome& outcome, std::int64_t outlier_limit) {
  struct Part {
    Tally tally;
    RowSums sums;
  };
  const std::int64_t blocks = (outcome.row_len + kBlock - 1) / kBlock;
  const std::int64_t tasks = outcome.rows * blocks;
  std::vector<Part> parts(static_cast<std::size_t>(tasks));
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(0, tasks), [&](const tbb::blocked_range<std::int64_t>& range) {
        for (std::int64_t task = range.begin(); task != range.end(); ++task) {
          Part& part = parts[static_cast<std::size_t>(task)];
          const std::int64_t row_begin = task / blocks * outcome.row_len;
          const std::int64_t from = task % blocks * kBlock;
          run_row_piece(segments, row_begin + from, row_begin + std::min(outcome.row_len, from + kBlock),
                        part.tally, part.sums);
        }
      });
  Whole whole;
  RowSums row;
  for (std::int64_t task = 0; task < tasks; ++task) {
    const Part& part = parts[static_cast<std::size_t>(task)];
    whole.tally.merge(part.tally, outlier_limit);
    row.error2 += part.sums.error2;
    row.expected2 += part.sums.expected2;
    row.failing += part.sums.failing;
    if ((task + 1) % blocks == 0) {
      whole.rows.add(task / blocks, row);
      row = RowSums{};
    }
  }
  return whole;
}

void refuse_bad_input(const Outcome& outcome, const Rule& rule) {
  const auto refuse = [](const std::string& what) { throw std::invalid_argument("judge: " + what); };
  if (outcome.rows <= 0 || outcome.row_len <= 0) {
    refuse(fmt::format("nothing to compare: rows={} row_len={}", outcome.rows, outcome.row_len));
  }
  if (outcome.heads <= 0) refuse(fmt::format("heads={}", outcome.heads));
  // 2^56: offsets in bytes stay far inside 64 bits.
  if (outcome.rows > (std::int64_t{1} << 56) / outcome.row_len) {
    refuse(fmt::format("too large: rows={} row_len={}", outcome.rows, outcome.row_len));
  }
  const auto numel = static_cast<std::size_t>(outcome.rows * outcome.row_len);
  const std::size_t bytes = numel * dtype_size(outcome.dtype);
  const std::size_t expected = std::visit([](const auto& values) { return values.size(); }, outcome.expected);
  if (outcome.actual.size() != bytes) {
    refuse(fmt::format("actual holds {} bytes, {} x {} {} is {}", outcome.actual.size(), outcome.rows,
                       outcome.row_len, dtype_name(outcome.dtype), bytes));
  }
  if (expected != numel) refuse(fmt::format("expected holds {} values, actual {}", expected, numel));
  if (!outcome.row_ids.empty() && outcome.row_ids.size() != static_cast<std::size_t>(outcome.rows)) {
    refuse(fmt::format("row_ids names {} rows of {}", outcome.row_ids.size(), outcome.rows));
  }
  if (!outcome.budget.empty() && outcome.budget.size() != numel) {
    refuse(fmt::format("budget holds {} values, actual {}", outcome.budget.size(), numel));
  }
  if (!outcome.magnitude.empty() && outcome.magnitude.size() != numel) {
    refuse(fmt::format("magnitude holds {} values, actual {}", outcome.magnitude.size(), numel));
  }
  if (!(outcome.format_max >= 0.0))
    refuse(fmt::format("format_max={} is negative or NaN", outcome.format_max));
  if (rule.empty()) refuse("the rule holds no key");
  if (rule.outliers && !rule.has_elementwise()) refuse("outliers without a key that elements could miss");
  if (rule.outliers && rule.outliers->max_magnitude && outcome.magnitude.empty()) {
    refuse("outliers.max_magnitude is given, and the reference gives no magnitudes");
  }
  if (rule.budget && outcome.budget.empty()) {
    refuse(fmt::format("the rule is budget={}, and the reference gives no budget", *rule.budget));
  }
}

std::int64_t outlier_limit_of(const Outcome& outcome, const Rule& rule) {
  if (!rule.outliers) return 0;
  std::map<std::string, double> names = outcome.counts;
  names["numel"] = static_cast<double>(outcome.rows * outcome.row_len);
  names["rows"] = static_cast<double>(outcome.rows);
  names["row_len"] = static_cast<double>(outcome.row_len);
  return std::min(evaluate_count(rule.outliers->count, names), outcome.rows * outcome.row_len);
}

// The first element of a peak's segment for which `reaches` holds.
template <class Value, class Reaches>
Element find_peak(const ElementJudge& elements, const Peak<Value>& peak, Reaches reaches) {
  for (std::int64_t index = peak.begin; index >= 0 && index < peak.begin + peak.count; ++index) {
    if (reaches(elements.at(index))) return elements.describe(index);
  }
  return {};
}

void fill_numbers(const ElementJudge& elements, const Whole& whole, Comparison& comparison) {
  const Tally& tally = whole.tally;
  comparison.failing = tally.failing;
  comparison.differing = tally.differing;
  comparison.worst_ratio = tally.ratio.value;
  comparison.max_abs_error = tally.max_error;
  comparison.max_rel_error = tally.max_relative;
  comparison.max_abs_expected = tally.max_expected;
  comparison.mean_signed_ulp = tally.finite > 0 ? tally.ulps / static_cast<double>(tally.finite) : 0.0;
  comparison.worst_row_l2 = whole.rows.worst_l2;
  comparison.worst_row_l2_row = name_of_row(elements.outcome(), whole.rows.worst_l2_row);
  comparison.worst_row_failing = whole.rows.most_failing;
  if (whole.rows.most_failing > 0) {
    comparison.worst_row = name_of_row(elements.outcome(), whole.rows.most_failing_row);
  }
  comparison.failing_rows = whole.rows.failing_rows;
  comparison.nan_actual = tally.nan_actual;
  comparison.nan_expected = tally.nan_expected;
  comparison.inf_actual = tally.inf_actual;
  comparison.inf_expected = tally.inf_expected;
  comparison.histogram = tally.histogram;
  comparison.differing_stretches = tally.differing_stretches;
  comparison.equal = tally.equal;
  for (const Failure& each : tally.examples) comparison.examples.push_back(elements.describe(each.index));
  comparison.worst_ulp = find_peak(elements, tally.distance, [&](const Finding& finding) {
    return finding.distance == tally.distance.value;
  });
  if (tally.first_mismatch >= 0) {
    comparison.worst = elements.describe(tally.first_mismatch);
  } else {
    comparison.worst = find_peak(elements, tally.ratio, [&](const Finding& finding) {
      return finding.finite && finding.ratio == tally.ratio.value;
    });
  }
}

// Why the elementwise keys refuse; empty when they hold, or outliers excuse what misses them.
std::string elementwise_reason(const ElementJudge& elements, const Tally& tally, Comparison& comparison) {
  if (tally.first_mismatch >= 0) return mismatch_reason(comparison.worst);
  if (tally.failing == 0) return {};
  const std::string worst = tolerance_reason(elements, comparison.worst.index, tally.failing);
  const auto& outliers = elements.rule().outliers;
  if (!outliers) return worst;
  if (tally.worst_inexcusable.index >= 0) {
    const std::int64_t index = tally.worst_inexcusable.index;
    const std::string reason = tolerance_reason(elements, index, tally.failing);
    if (outliers->max_ulp && elements.at(index).distance > *outliers->max_ulp)
      return fmt::format("{}, this one by more than outliers.max_ulp={}", reason, *outliers->max_ulp);
    return fmt::format("{}, this one by more than outliers.max_magnitude={} of {}", reason,
                       *outliers->max_magnitude,
                       elements.outcome().magnitude[static_cast<std::size_t>(index)]);
  }
  if (tally.failing > comparison.outlier_limit) {
    return fmt::format("{} outliers, outliers.count='{}' allows {}; {}", tally.failing, outliers->count,
                       comparison.outlier_limit, worst);
  }
  const Outcome& outcome = elements.outcome();
  const std::string cluster = outliers->anywhere ? "" : find_cluster(tally.outliers, outcome);
  if (!cluster.empty()) return fmt::format("outliers are not scattered: {}; {}", cluster, worst);
  comparison.excused = tally.failing;
  return {};
}

template <class Real>
Comparison compare(const ElementJudge& elements, std::span<const Real> expected) {
  const Outcome& outcome = elements.outcome();
  const Rule& rule = elements.rule();
  Comparison comparison;
  comparison.numel = outcome.rows * outcome.row_len;
  comparison.outlier_limit = outlier_limit_of(outcome, rule);

  const SegmentJudge<Real> segments(elements, expected.data(), comparison.outlier_limit);
  const Whole whole = outcome.row_len < kBlock ? run_short_rows(segments, outcome, comparison.outlier_limit)
                                               : run_long_rows(segments, outcome, comparison.outlier_limit);
  if (whole.tally.bad_budget >= 0) {
    throw std::invalid_argument(
        fmt::format("judge: the budget of element {} is {}", whole.tally.bad_budget,
                    outcome.budget[static_cast<std::size_t>(whole.tally.bad_budget)]));
  }
  fill_numbers(elements, whole, comparison);
  comparison.reason = elementwise_reason(elements, whole.tally, comparison);
  if (comparison.reason.empty() && rule.row_l2 && comparison.worst_row_l2 > *rule.row_l2) {
    comparison.reason = row_l2_reason(comparison, rule);
  }
  if (comparison.reason.empty() && rule.bias && std::fabs(comparison.mean_signed_ulp) > *rule.bias) {
    comparison.reason = bias_reason(comparison, rule);
  }
  comparison.accepted = comparison.reason.empty();
  return comparison;
}

}  // namespace

Comparison judge(const Outcome& outcome, const Rule& rule) {
  refuse_bad_input(outcome, rule);
  const ElementJudge elements(outcome, rule);
  if (const auto* single = std::get_if<std::span<const float>>(&outcome.expected))
    return compare(elements, *single);
  return compare(elements, std::get<std::span<const double>>(outcome.expected));
}

std::array<std::string_view, Comparison::kBuckets> histogram_labels() {
  return {"0", "1", "2", "3", "4-7", "8-15", "16-63", "64+", "special"};
}

std::string_view mismatch_name(Mismatch mismatch) {
  switch (mismatch) {
    case Mismatch::none:
      return "none";
    case Mismatch::unexpected_nan:
      return "unexpected NaN";
    case Mismatch::missing_nan:
      return "missing NaN";
    case Mismatch::wrong_infinity:
      return "wrong infinity";
    case Mismatch::tolerance:
      return "tolerance";
  }
  return "none";
}

}  // namespace kvr
