// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/suite/null_answers.h"
#include "harness/suite/output_faults.h"

namespace kvr {
namespace {

// The outcome as codes, with the elements that are wrong: off by more than one code, or off at all when none
// is.
class View {
 public:
  explicit View(const Outcome& outcome) : outcome_(outcome), numel_(outcome.rows * outcome.row_len) {
    const std::size_t size = dtype_size(outcome.dtype);
    std::vector<std::int64_t> by_more_than_one, at_all;
    for (std::int64_t i = 0; i < numel_; ++i) {
      actual_.push_back(load_code(outcome.actual.data() + static_cast<std::size_t>(i) * size, size));
      expected_.push_back(round_to(outcome, value(i)));
      const std::int64_t distance = ulp_distance(outcome.dtype, actual_.back(), expected_.back());
      if (distance > 1) by_more_than_one.push_back(i);
      if (distance > 0) at_all.push_back(i);
    }
    wrong_ = by_more_than_one.empty() ? std::move(at_all) : std::move(by_more_than_one);
  }

  double value(std::int64_t i) const { return expected_at(outcome_, i); }
  const Outcome& outcome() const { return outcome_; }
  const std::vector<std::int64_t>& wrong() const { return wrong_; }
  std::uint64_t actual(std::int64_t i) const { return actual_[static_cast<std::size_t>(i)]; }
  std::uint64_t expected(std::int64_t i) const { return expected_[static_cast<std::size_t>(i)]; }
  std::int64_t row_len() const { return outcome_.row_len; }
  std::int64_t rows() const { return outcome_.rows; }
  std::int64_t row_name(std::int64_t row) const {
    return outcome_.row_ids.empty() ? row : outcome_.row_ids[static_cast<std::size_t>(row)];
  }
  bool same(std::int64_t i, std::uint64_t code) const {
    return ulp_distance(outcome_.dtype, actual(i), code) == 0;
  }

 private:
  const Outcome& outcome_;
  std::int64_t numel_;
  std::vector<std::uint64_t> actual_, expected_;
  std::vector<std::int64_t> wrong_;
};

std::string row_list(const View& view, const std::set<std::int64_t>& rows) {
  if (rows.size() == 1) {
    const std::int64_t row = *rows.begin();
    const bool last = row == view.rows() - 1 && view.rows() > 1;
    return fmt::format("row {}{}", view.row_name(row), last ? " (the last)" : "");
  }
  if (static_cast<std::int64_t>(rows.size()) == view.rows()) return "every row";
  const std::int64_t span = *rows.rbegin() - *rows.begin() + 1;
  if (span == static_cast<std::int64_t>(rows.size()))
    return fmt::format("rows {} to {}", view.row_name(*rows.begin()), view.row_name(*rows.rbegin()));
  return fmt::format("{} of {} rows", rows.size(), view.rows());
}

using Explanation = std::optional<std::string>;

// A pattern is claimed only where wrong elements that lie anywhere would rarely show it: `patterns` patterns
// of this kind could have been found, and each holds `share` of the elements (of the rows, the heads).
bool beyond_chance(double patterns, double share, std::size_t wrong) {
  return std::log(patterns) + static_cast<double>(wrong) * std::log(share) <= std::log(0.02);
}

constexpr std::int64_t kSystematic = 8;  // a few elements in one direction are chance

// Every element is what dropping the low bits of the unrounded value gives; rounding to nearest would give
// larger magnitudes for half.
Explanation truncation(const View& view) {
  std::int64_t shorter = 0;
  for (std::int64_t i = 0; i < view.rows() * view.row_len(); ++i) {
    const double value = view.value(i);
    if (!std::isfinite(value)) continue;
    const std::uint64_t rounded = view.expected(i);
    const bool up = std::fabs(decode(view.outcome().dtype, rounded)) > std::fabs(value);
    if (!view.same(i, up ? step_code(view.outcome().dtype, rounded, -1) : rounded)) return std::nullopt;
    shorter += up ? 1 : 0;
  }
  if (shorter < kSystematic) return std::nullopt;
  return fmt::format("systematic truncation: {} elements are rounded toward zero, none to nearest", shorter);
}

// Whole rows that hold another row of the reference.
Explanation foreign_rows(const View& view, const std::set<std::int64_t>& rows) {
  if (view.rows() < 2 || view.row_len() < 2) return std::nullopt;
  std::set<std::int64_t> shifts;
  std::string example;
  for (const std::int64_t row : rows) {
    std::optional<std::int64_t> source;
    for (std::int64_t other = 0; other < view.rows() && !source; ++other) {
      if (other == row) continue;
      bool fits = true;
      for (std::int64_t c = 0; c < view.row_len() && fits; ++c)
        fits = ulp_distance(view.outcome().dtype, view.actual(row * view.row_len() + c),
                            view.expected(other * view.row_len() + c)) <= 1;
      if (fits) source = other;
    }
    if (!source) return std::nullopt;
    shifts.insert(*source - row);
    if (example.empty())
      example =
          fmt::format("row {} holds what belongs to row {}", view.row_name(row), view.row_name(*source));
  }
  if (rows.size() == 1) return "stale or misplaced: " + example;
  if (shifts.size() == 1) return fmt::format("rows are shifted by {}: {}", *shifts.begin(), example);
  return "rows are exchanged: " + example;
}

// Every wrong row, or one stretch of columns of it (a group with a scale of its own), is the right one times
// the same power of two.
Explanation scaled_rows(const View& view, const std::set<std::int64_t>& rows) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> stretches;  // of a row: its wrong columns
  for (const std::int64_t i : view.wrong()) {
    const auto [at, added] =
        stretches.try_emplace(i / view.row_len(), i % view.row_len(), i % view.row_len());
    at->second.second = i % view.row_len();  // in order
  }
  const bool narrow = dtype_size(view.outcome().dtype) == 1;
  // 8-bit codes round again after the scale: 0.5 within one code of e4m3 (2^-3 relative).
  const double slack = narrow ? 0.07 : 0.005;
  std::optional<int> exponent;
  std::int64_t seen = 0;
  for (const auto& [row, stretch] : stretches) {
    for (std::int64_t c = stretch.first; c <= stretch.second; ++c) {
      const std::int64_t i = row * view.row_len() + c;
      const double want = decode(view.outcome().dtype, view.expected(i));
      const double have = decode(view.outcome().dtype, view.actual(i));
      if (want == 0.0 && have == 0.0) continue;
      if (want == 0.0 || have == 0.0 || !std::isfinite(want) || !std::isfinite(have)) return std::nullopt;
      int e = 0;
      const double fraction = std::frexp(have / want, &e);
      const bool power = std::fabs(fraction - 0.5) <= slack || std::fabs(fraction - 1.0) <= slack;
      const int here = std::fabs(fraction - 1.0) <= slack ? e : e - 1;
      if (!power || here == 0 || (exponent && *exponent != here)) return std::nullopt;
      exponent = here;
      ++seen;
    }
  }
  // Quotients lie that near a power of two by chance in 2 of 100 elements, of 8-bit codes in 30 of 100.
  if (!exponent || seen < (narrow ? 16 : 4)) return std::nullopt;
  const auto [first, last] = stretches.begin()->second;
  const bool whole = last - first + 1 > view.row_len() / 2;
  return fmt::format("scale flip: {}{} is the reference times 2^{}",
                     whole ? "" : fmt::format("the group of columns {} to {} of ", first, last),
                     row_list(view, rows), *exponent);
}

Explanation zero_rows(const View& view, const std::set<std::int64_t>& rows) {
  for (const std::int64_t row : rows)
    for (std::int64_t c = 0; c < view.row_len(); ++c)
      if (decode(view.outcome().dtype, view.actual(row * view.row_len() + c)) != 0.0) return std::nullopt;
  return fmt::format("{} holds zeros", row_list(view, rows));
}

// Where in their rows the wrong elements lie.
Explanation columns(const View& view, const std::set<std::int64_t>& rows,
                    const std::set<std::int64_t>& wrong_columns) {
  const std::int64_t first = *wrong_columns.begin();
  const std::int64_t last = *wrong_columns.rbegin();
  const auto count = static_cast<std::int64_t>(wrong_columns.size());
  if (count == view.row_len()) return std::nullopt;
  const auto length = static_cast<double>(view.row_len());
  const std::size_t wrong = view.wrong().size();
  if (count == 1) return fmt::format("column {} is wrong in {}", first, row_list(view, rows));
  for (const std::int64_t n : {64, 32, 16, 8, 4, 2}) {
    const bool regular = std::all_of(wrong_columns.begin(), wrong_columns.end(),
                                     [&](std::int64_t c) { return c % n == first % n; });
    // Regular by more than chance: at least half of the columns that the pattern covers, and two of them.
    if (regular && 2 * count >= view.row_len() / n &&
        beyond_chance(2.0 * length, 1.0 / static_cast<double>(n), wrong))
      return fmt::format("every {}{} element from column {} is wrong in {}", n,
                         n == 2 || n == 32 ? "nd" : "th", first, row_list(view, rows));
  }
  if (!beyond_chance(length * length, static_cast<double>(count) / length, wrong)) return std::nullopt;
  if (last == view.row_len() - 1 && last - first + 1 == count)
    return fmt::format("the tail from column {} is wrong in {}", first, row_list(view, rows));
  if (last - first + 1 == count)
    return fmt::format("columns {} to {} are wrong in {}", first, last, row_list(view, rows));
  return std::nullopt;
}

Explanation heads(const View& view, const std::set<std::int64_t>& rows) {
  const std::int64_t heads = view.outcome().heads;
  if (heads <= 1) return std::nullopt;
  std::set<std::int64_t> wrong;
  for (const std::int64_t row : rows) wrong.insert(row % heads);
  if (wrong.size() == 1 &&
      beyond_chance(static_cast<double>(heads), 1.0 / static_cast<double>(heads), rows.size()))
    return fmt::format("head {} is wrong in {} tokens", *wrong.begin(), rows.size());
  return std::nullopt;
}

}  // namespace

std::optional<std::string> explain_pattern(const Outcome& outcome) {
  const View view(outcome);
  if (view.wrong().empty()) return std::nullopt;
  std::set<std::int64_t> rows, wrong_columns;
  for (const std::int64_t i : view.wrong()) {
    rows.insert(i / view.row_len());
    wrong_columns.insert(i % view.row_len());
  }
  if (auto found = zero_rows(view, rows)) return found;
  if (auto found = truncation(view)) return found;
  if (auto found = scaled_rows(view, rows)) return found;
  if (auto found = foreign_rows(view, rows)) return found;
  if (auto found = columns(view, rows, wrong_columns)) return found;
  if (auto found = heads(view, rows)) return found;
  if (view.wrong().size() == 1) return fmt::format("a single element is wrong");
  const auto count = static_cast<double>(rows.size());
  const auto all = static_cast<double>(view.rows());
  if (count < all && beyond_chance(std::pow(all, count), count / all, view.wrong().size()))
    return fmt::format("{} {} wrong", row_list(view, rows), rows.size() == 1 ? "is" : "are");
  return std::nullopt;
}

std::optional<std::string> explain(Execution& execution, std::size_t t, const Outcome& outcome,
                                   const Rule& rule) {
  const std::string& name = execution.tensors()[t].decl->spec.name;
  for (const CaseBuilder::ArgumentFault& fault : execution.builder().argument_faults()) {
    if (!execution.can_try(fault)) continue;
    const Expectations expectations = execution.reference_with(fault.host_args);
    const auto found = expectations.find(name);
    if (found == expectations.end() || found->second.row_ids() != execution.expected(t)->row_ids() ||
        found->second.is_set() != execution.expected(t)->is_set())
      continue;
    Outcome other = outcome;
    other.expected = found->second.values();
    other.budget = found->second.budgets();
    other.magnitude = found->second.magnitudes();
    other.counts = found->second.counts;
    if (judge(other, rule).accepted) return fmt::format("the output is what '{}' would give", fault.name);
  }
  return explain_pattern(outcome);
}

std::optional<std::string> explain_stray_write(const Execution& execution, std::size_t t) {
  const Expected* want = execution.expected(t);
  const HostTensor& tensor = execution.tensors()[t];
  if (want == nullptr || want->touched_rows() == 0) return std::nullopt;
  const DType dtype = tensor.decl->spec.dtype;
  const std::size_t size = dtype_size(dtype);
  const auto row_len = static_cast<std::size_t>(want->row_len());
  std::vector<double> values;
  const OutputCodes codes = execution.outputs();
  const Outcome outcome = execution.outcome(t, codes[t], values);
  std::vector<std::int64_t> others;  // rows that must not be touched
  const std::set<std::int64_t> touched(want->row_ids().begin(), want->row_ids().end());
  std::copy_if(tensor.rows.begin(), tensor.rows.end(), std::back_inserter(others),
               [&](std::int64_t row) { return !touched.contains(row); });
  const std::vector<std::byte> before = gather(tensor.decl->spec, others, tensor.memory);
  const std::vector<std::byte> after = gather(tensor.decl->spec, others, execution.after(t));
  for (std::size_t o = 0; o < others.size(); ++o) {
    const std::byte* row = after.data() + o * row_len * size;
    if (std::equal(row, row + row_len * size, before.data() + o * row_len * size)) continue;
    for (std::size_t r = 0; r < want->row_ids().size(); ++r) {
      bool fits = true;
      for (std::size_t c = 0; c < row_len && fits; ++c)
        fits = ulp_distance(dtype, load_code(row + c * size, size),
                            round_to(outcome, want->value(r * row_len + c))) <= 1;
      if (fits)
        return fmt::format("row {} holds what belongs to row {}: another slot", others[o],
                           want->row_ids()[r]);
    }
    return std::nullopt;  // the first one that changed decides
  }
  return std::nullopt;
}

}  // namespace kvr
