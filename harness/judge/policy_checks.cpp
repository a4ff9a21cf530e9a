// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The checks are by enumeration: dtypes and platforms are few, and outputs and arches that no row names are
// all alike.
#include "harness/judge/policy_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kvr {
namespace {

constexpr int kDTypes = static_cast<int>(DType::int64) + 1;
constexpr std::array<std::string_view, 3> kPlatforms{"cpu", "cuda", "hip"};

bool has_dtype(const Policy& row, DType dtype) {
  return row.dtypes.empty() || std::find(row.dtypes.begin(), row.dtypes.end(), dtype) != row.dtypes.end();
}

bool both_allow(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() || a == b;
}

int shared_dtypes(const Policy& a, const Policy& b) {
  int shared = 0;
  for (int each = 0; each < kDTypes; ++each) {
    shared += has_dtype(a, static_cast<DType>(each)) && has_dtype(b, static_cast<DType>(each)) ? 1 : 0;
  }
  return shared;
}

bool overlap(const Policy& a, const Policy& b) {
  return a.kernel == b.kernel && both_allow(a.output, b.output) && both_allow(a.platform, b.platform) &&
         both_allow(a.arch, b.arch) && shared_dtypes(a, b) > 0;
}

bool same_but_dtypes(const Policy& a, const Policy& b) {
  return a.kernel == b.kernel && a.output == b.output && a.platform == b.platform && a.arch == b.arch;
}

bool same_dtypes(const Policy& a, const Policy& b) {
  for (int each = 0; each < kDTypes; ++each) {
    if (has_dtype(a, static_cast<DType>(each)) != has_dtype(b, static_cast<DType>(each))) return false;
  }
  return true;
}

// Equal number of selectors and a common key: only a shorter list of dtypes, inside the other one, can
// decide.
bool ambiguous(const Policy& a, const Policy& b) {
  if (!overlap(a, b) || selector_count(a) != selector_count(b)) return false;
  if (!same_but_dtypes(a, b)) return true;
  const auto smaller = static_cast<int>(std::min(a.dtypes.size(), b.dtypes.size()));
  return shared_dtypes(a, b) < smaller || a.dtypes.size() == b.dtypes.size();
}

// Where `row` leaves output or arch open, the key with a name of its own meets the fewest rivals: if no such
// key reaches the row, none does.
bool reachable(const Policy& row, const std::vector<const Policy*>& rows) {
  for (int each = 0; each < kDTypes; ++each) {
    const auto dtype = static_cast<DType>(each);
    if (!has_dtype(row, dtype)) continue;
    for (const std::string_view platform : kPlatforms) {
      if (!row.platform.empty() && row.platform != platform) continue;
      const PolicyKey key{row.kernel, row.output.empty() ? "*" : row.output, dtype, std::string(platform),
                          row.arch.empty() ? "*" : row.arch};
      const bool taken = std::any_of(rows.begin(), rows.end(), [&](const Policy* rival) {
        return rival != &row && matches(*rival, key) && more_specific(*rival, row);
      });
      if (!taken) return true;
    }
  }
  return false;
}

bool is_neutral(const Policy& row) {
  return row.platform.empty() && row.arch.empty();
}

// The platform-neutral row that `row` overrides for `dtype`.
const Policy* sibling(const Policy& row, DType dtype, const std::vector<const Policy*>& rows) {
  const Policy* best = nullptr;
  for (const Policy* other : rows) {
    if (!is_neutral(*other) || other->kernel != row.kernel || !has_dtype(*other, dtype)) continue;
    // A sibling for one output says nothing about a row for another, but does about a row for all of them.
    if (!both_allow(other->output, row.output)) continue;
    if (best == nullptr || more_specific(*other, *best)) best = other;
  }
  return best;
}

bool no_larger(const std::optional<double>& a, const std::optional<double>& b) {
  return !b || (a && *a <= *b);
}

}  // namespace

bool matches(const Policy& row, const PolicyKey& key) {
  return row.kernel == key.kernel && (row.output.empty() || row.output == key.output) &&
         has_dtype(row, key.dtype) && (row.platform.empty() || row.platform == key.platform) &&
         (row.arch.empty() || row.arch == key.arch);
}

int selector_count(const Policy& row) {
  return (row.kernel.empty() ? 0 : 1) + (row.output.empty() ? 0 : 1) + (row.dtypes.empty() ? 0 : 1) +
         (row.platform.empty() ? 0 : 1) + (row.arch.empty() ? 0 : 1);
}

bool more_specific(const Policy& a, const Policy& b) {
  const int a_count = selector_count(a);
  const int b_count = selector_count(b);
  return a_count != b_count ? a_count > b_count : a.dtypes.size() < b.dtypes.size();
}

namespace {

// Limits that may be absent: no limit is the loosest.
template <class Limit>
bool no_looser(const std::optional<Limit>& a, const std::optional<Limit>& b) {
  return !b || (a && *a <= *b);
}

}  // namespace

bool at_least_as_tight(const Rule& a, const Rule& b) {
  if (a.outliers) {
    if (!b.outliers || a.outliers->count != b.outliers->count) return false;
    if (!no_looser(a.outliers->max_ulp, b.outliers->max_ulp) ||
        !no_looser(a.outliers->max_magnitude, b.outliers->max_magnitude) ||
        (a.outliers->anywhere && !b.outliers->anywhere))
      return false;
  }
  if (a.exact) return true;
  if (b.exact) return false;
  if (b.atol || b.rtol) {  // a missing one of the two is 0
    if (!a.atol && !a.rtol) return false;
    if (a.atol.value_or(0.0) > b.atol.value_or(0.0) || a.rtol.value_or(0.0) > b.rtol.value_or(0.0))
      return false;
  }
  if (b.max_ulp) {
    const bool by_codes = a.max_ulp && *a.max_ulp <= *b.max_ulp;
    const bool by_ties = a.tie_window && *b.max_ulp >= 1;
    if (!by_codes && !by_ties) return false;
  }
  return no_larger(a.tie_window, b.tie_window) && no_larger(a.budget, b.budget) &&
         no_larger(a.bias, b.bias) && no_larger(a.row_l2, b.row_l2);
}

std::vector<PolicyProblem> check_rows(const std::vector<const Policy*>& rows) {
  std::vector<PolicyProblem> problems;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Policy& row = *rows[i];
    bool refused = false;
    for (std::size_t j = 0; j < i && !refused; ++j) {
      const Policy& earlier = *rows[j];
      if (same_but_dtypes(row, earlier) && same_dtypes(row, earlier)) {
        problems.push_back(
            {row.line, fmt::format("no key reaches this row: same selectors as line {}", earlier.line)});
        refused = true;
      } else if (ambiguous(row, earlier)) {
        problems.push_back({row.line, fmt::format("overlaps the row in line {}, and neither is more specific",
                                                  earlier.line)});
        refused = true;
      }
    }
    if (!refused && !reachable(row, rows)) {
      problems.push_back(
          {row.line, "no key reaches this row: more specific rows take every dtype and platform of it"});
    }
    if (is_neutral(row) || (!row.evidence.empty() && !row.expires.empty())) continue;
    for (int each = 0; each < kDTypes; ++each) {
      const auto dtype = static_cast<DType>(each);
      if (!has_dtype(row, dtype)) continue;
      const Policy* neutral = sibling(row, dtype, rows);
      if (neutral == nullptr || at_least_as_tight(row.rule, neutral->rule)) continue;
      problems.push_back(
          {row.line, fmt::format("looser for {} than the platform-neutral row in line {}, without {}",
                                 dtype_name(dtype), neutral->line,
                                 row.evidence.empty() && row.expires.empty() ? "'evidence' and 'expires'"
                                 : row.evidence.empty()                      ? "'evidence'"
                                                                             : "'expires'")});
      break;
    }
  }
  return problems;
}

}  // namespace kvr
