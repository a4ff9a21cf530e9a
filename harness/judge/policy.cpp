// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Looking rows up. The order of rows in the file never matters.
#include "harness/judge/policy.h"

#include <algorithm>

#include "harness/judge/policy_checks.h"

namespace kvr {

std::string Policy::place() const {
  return file + ":" + std::to_string(line);
}

const Policy* PolicyTable::resolve(const PolicyKey& key) const {
  const Policy* best = nullptr;
  for (const Policy& row : rows_) {
    if (matches(row, key) && (best == nullptr || more_specific(row, *best))) best = &row;
  }
  return best;
}

const Policy* PolicyTable::alternative(std::string_view name, const PolicyKey& key) const {
  const Policy* best = nullptr;
  for (const Policy& row : alternatives_) {
    if (row.name == name && matches(row, key) && (best == nullptr || more_specific(row, *best))) best = &row;
  }
  return best;
}

std::vector<std::string> PolicyTable::alternative_names() const {
  std::vector<std::string> names;
  for (const Policy& row : alternatives_) names.push_back(row.name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace kvr
