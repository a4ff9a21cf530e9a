// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/error_spread.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "harness/judge/element.h"
#include "harness/suite/null_answers.h"

namespace kvr {
namespace {

constexpr std::int64_t kMarkedShare = 16;      // at most 1/16 of the elements are marked
constexpr std::size_t kFewest = 3;             // two elements of a rotated pair are one accident
constexpr std::size_t kStretchesPerTask = 16;  // fixed, so that sums do not depend on the number of threads

// An element whose code is not RN(expected).
struct Different {
  std::int64_t row, column, distance;
  double expected;
  bool explained;
};

struct Part {
  std::vector<Different> different;
  double ulps = 0.0, max_error = 0.0;
  std::int64_t counted = 0;
};

void scan_stretch(const ElementJudge& elements, const ElementJudge& within_bounds,
                  const Comparison::Stretch& stretch, Part& part) {
  const Outcome& outcome = elements.outcome();
  for (std::int64_t index = stretch.begin; index < stretch.begin + stretch.count; ++index) {
    const Finding finding = elements.at(index);
    const bool explained =
        finding.distance != 0 && finding.finite && !outcome.budget.empty() && !within_bounds.at(index).fails;
    if (finding.distance != 0)
      part.different.push_back(
          {index / outcome.row_len, index % outcome.row_len, finding.distance, finding.expected, explained});
    if (explained || !finding.finite) continue;
    part.ulps += finding.ulps;
    part.max_error = std::max(part.max_error, std::fabs(finding.difference));
    ++part.counted;
  }
}

// What the judge has found to be equal is taken from there.
Part scan(const Outcome& outcome, const Comparison& comparison) {
  Rule exact;
  exact.exact = true;
  const ElementJudge elements(outcome, exact);
  Rule bounded;
  bounded.budget = 1.0;
  const ElementJudge within_bounds(outcome, bounded);
  const auto& stretches = comparison.differing_stretches;
  const std::size_t tasks = (stretches.size() + kStretchesPerTask - 1) / kStretchesPerTask;
  std::vector<Part> parts(tasks);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, tasks), [&](const auto& range) {
    for (std::size_t task = range.begin(); task != range.end(); ++task)
      for (std::size_t s = task * kStretchesPerTask;
           s < std::min(stretches.size(), (task + 1) * kStretchesPerTask); ++s)
        scan_stretch(elements, within_bounds, stretches[s], parts[task]);
  });
  Part whole;
  whole.ulps = comparison.equal.ulps;
  whole.max_error = comparison.equal.max_error;
  whole.counted = comparison.equal.elements;
  for (Part& part : parts) {
    whole.different.insert(whole.different.end(), part.different.begin(), part.different.end());
    whole.ulps += part.ulps;
    whole.max_error = std::max(whole.max_error, part.max_error);
    whole.counted += part.counted;
  }
  return whole;
}

// The lines of one kind.
struct Kind {
  enum class Of : std::uint8_t { column, lane, row, head } of;
  std::int64_t warp = 0, vector = 0;  // lanes: of a warp of this size, each owning `vector` neighbours
  std::int64_t lines = 0;

  std::int64_t line(std::int64_t row_name, std::int64_t column, std::int64_t heads) const {
    switch (of) {
      case Of::column:
        return column;
      case Of::lane:
        return column / vector % warp;
      case Of::row:
        return row_name;
      case Of::head:
        return row_name % heads;
    }
    return 0;
  }
  bool across_rows() const { return of == Of::column || of == Of::lane; }
  std::string name(std::int64_t line) const {
    switch (of) {
      case Of::column:
        return fmt::format("column {}", line);
      case Of::lane:
        return vector == 1 ? fmt::format("lane {} of each warp of {}", line, warp)
                           : fmt::format("lane {} of each warp of {}, {} columns a lane", line, warp, vector);
      case Of::row:
        return fmt::format("row {}", line);
      case Of::head:
        return fmt::format("head {}", line);
    }
    return "";
  }
};

std::vector<Kind> kinds_of(const Outcome& outcome, bool with_rows) {
  std::vector<Kind> kinds;
  if (outcome.row_len > 1) kinds.push_back({Kind::Of::column, 0, 0, outcome.row_len});
  for (const std::int64_t warp : {32, 64}) {
    for (const std::int64_t vector : {1, 2, 4, 8}) {
      const std::int64_t lanes = std::min(warp, (outcome.row_len + vector - 1) / vector);
      // One lane holds everything, or each holds one column.
      if (lanes < 2 || (vector == 1 && warp >= outcome.row_len)) continue;
      if (warp == 64 && outcome.row_len <= 32 * vector) continue;  // the lanes of a warp of 32 again
      kinds.push_back({Kind::Of::lane, warp, vector, lanes});
    }
  }
  if (with_rows && outcome.rows > 1) kinds.push_back({Kind::Of::row, 0, 0, outcome.rows});
  if (with_rows && outcome.heads > 1 && outcome.rows > outcome.heads)
    kinds.push_back({Kind::Of::head, 0, 0, outcome.heads});
  return kinds;
}

struct Bunch {
  double evidence = 0.0;  // E
  std::string text;
};

// Marked elements of one group: explained or not.
class Search {
 public:
  Search(const Outcome& outcome, std::vector<Different> marked, std::int64_t threshold, bool explained)
      : outcome_(outcome), marked_(std::move(marked)), threshold_(threshold), explained_(explained) {
    for (const Different& d : marked_) ++in_row_[d.row];
    kinds_ = kinds_of(outcome, !explained);
    for (const Kind& kind : kinds_) lines_ += kind.lines;
    if (explained_) find_candidates();
  }

  std::int64_t lines() const { return lines_; }

  // `lines`: of both groups.
  void look(std::int64_t lines, Bunch& best) const {
    if (marked_.size() < kFewest) return;
    const double needed = std::log(static_cast<double>(lines) / kPatternChance);
    for (const Kind& kind : kinds_) {
      std::map<std::int64_t, std::set<std::uint64_t>> held;
      for (const Different& d : marked_)
        held[kind.line(name_of_row(outcome_, d.row), d.column, outcome_.heads)].insert(
            encode(DType::bf16, d.expected));
      const std::map<std::int64_t, double> shares = shares_of(kind);
      for (const auto& [line, values] : held) {
        const auto count = static_cast<std::int64_t>(values.size());
        const double share = shares.at(line);
        const double evidence = evidence_of_count(count, share);
        if (static_cast<double>(count) < kPatternFactor * share || evidence < needed ||
            evidence <= best.evidence)
          continue;
        best.evidence = evidence;
        best.text = fmt::format(
            "{} holds {} of the {} elements off by {}{}, its share would be {:.2g}", kind.name(line), count,
            marked_.size(), threshold_ == 1 ? "a code or more" : fmt::format("{} codes or more", threshold_),
            explained_ ? "" : " without a reason in the reference", share);
      }
    }
  }

 private:
  // Which elements of the rows that hold marked ones could be off by the threshold.
  void find_candidates() {
    std::set<std::pair<std::int64_t, std::int64_t>> marked;
    for (const Different& d : marked_) marked.emplace(d.row, d.column);
    for (const auto& [row, marks] : in_row_) {
      std::vector<std::int64_t>& columns = candidates_[row];
      for (std::int64_t c = 0; c < outcome_.row_len; ++c) {
        const std::int64_t index = row * outcome_.row_len + c;
        if (marked.contains({row, c})) {
          columns.push_back(c);
          continue;
        }
        const double value = expected_at(outcome_, index);
        const double budget = outcome_.budget[static_cast<std::size_t>(index)];
        if (!(budget > 0.0) || !std::isfinite(value)) continue;
        const std::uint64_t code = round_to(outcome_, value);
        const std::int64_t reach =
            std::max(ulp_distance(outcome_.dtype, round_to(outcome_, value - budget), code),
                     ulp_distance(outcome_.dtype, round_to(outcome_, value + budget), code));
        if (reach >= threshold_) columns.push_back(c);
      }
    }
  }

  // How many marked elements each line would hold if they fell evenly.
  std::map<std::int64_t, double> shares_of(const Kind& kind) const {
    std::map<std::int64_t, double> shares;
    const auto marked = static_cast<double>(marked_.size());
    if (!kind.across_rows()) {
      for (const Different& d : marked_)
        shares[kind.line(name_of_row(outcome_, d.row), d.column, outcome_.heads)] =
            marked / static_cast<double>(kind.lines);
    } else if (!explained_) {
      for (std::int64_t c = 0; c < outcome_.row_len; ++c)
        shares[kind.line(0, c, 1)] += marked / static_cast<double>(outcome_.row_len);
    } else {
      for (const auto& [row, columns] : candidates_)
        for (const std::int64_t c : columns)
          shares[kind.line(0, c, 1)] +=
              static_cast<double>(in_row_.at(row)) / static_cast<double>(columns.size());
    }
    return shares;
  }

  const Outcome& outcome_;
  std::vector<Different> marked_;
  std::int64_t threshold_;
  bool explained_;
  std::vector<Kind> kinds_;
  std::int64_t lines_ = 0;
  std::map<std::int64_t, std::int64_t> in_row_;                   // marked elements
  std::map<std::int64_t, std::vector<std::int64_t>> candidates_;  // columns
};

std::string find_pattern(const Outcome& outcome, const std::vector<Different>& different) {
  const std::int64_t numel = outcome.rows * outcome.row_len;
  std::int64_t threshold = 1;
  const auto at_least = [&](std::int64_t codes) {
    return std::count_if(different.begin(), different.end(),
                         [&](const Different& d) { return d.distance >= codes; });
  };
  while (at_least(threshold) > numel / kMarkedShare) threshold *= 2;
  std::vector<Different> explained, unexplained;
  for (const Different& d : different)
    if (d.distance >= threshold) (d.explained ? explained : unexplained).push_back(d);
  Bunch best;
  const Search among_explained(outcome, std::move(explained), threshold, true);
  const Search among_others(outcome, std::move(unexplained), threshold, false);
  const std::int64_t lines = among_explained.lines() + among_others.lines();
  among_explained.look(lines, best);
  among_others.look(lines, best);
  return best.text;
}

}  // namespace

double evidence_of_count(std::int64_t k, double mean) {
  const auto count = static_cast<double>(k);
  if (count <= mean) return 0.0;
  if (mean <= 0.0) return std::numeric_limits<double>::infinity();
  return count * std::log(count / mean) - count + mean;
}

ErrorSpread measure_spread(const Outcome& outcome, const Comparison& comparison) {
  ErrorSpread spread;
  spread.bias = comparison.mean_signed_ulp;
  spread.max_error = comparison.max_abs_error;
  if (comparison.differing == 0) return spread;  // every code is the rounding of the expected value
  const Part whole = scan(outcome, comparison);
  for (const Different& d : whole.different) {
    if (d.explained) continue;
    ++spread.outliers;
    spread.outlier_ulp = std::max(spread.outlier_ulp, d.distance);
  }
  spread.bias = whole.counted == 0 ? 0.0 : whole.ulps / static_cast<double>(whole.counted);
  spread.max_error = whole.max_error;
  spread.pattern = find_pattern(outcome, whole.different);
  return spread;
}

}  // namespace kvr
