// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kvr {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::vector<std::string> nearest_names(std::string_view wanted, const std::set<std::string>& names,
                                       std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    const std::size_t longer = std::max(name.size(), wanted.size());
    if (longer - std::min(name.size(), wanted.size()) > wanted.size() / 2) continue;  // cannot be close
    const std::size_t distance = edit_distance(wanted, name);
    if (distance <= wanted.size() / 2) ranked.emplace_back(distance, name);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(count, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

}  // namespace kvr
