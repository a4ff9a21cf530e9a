// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// From what was typed to the cases it means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/suite/registry.h"

namespace kvr {

struct SelectedCase {
  const CaseId* id = nullptr;
  std::uint64_t seed = 0;
};

// The words on the command line are the terms of one filter (suite/registry.h), quoted together or not; the
// word "or" starts another one. No words: every case. `seed` is for cases whose filter names none; both at
// once must agree. Throws UsageError for a filter that no case matches in any tier, with the nearest names;
// NothingSelected when cases match and none is in `tier` or a lower one.
std::vector<SelectedCase> select_cases(const std::vector<std::string>& words, Tier tier,
                                       std::optional<std::uint64_t> seed);

// Throw UsageError naming the option and the value.
Tier tier_option(const std::string& text);
std::optional<std::uint64_t> seed_option(const std::optional<std::string>& text);

// "; did you mean a, b or c?", or nothing.
std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names);

}  // namespace kvr
