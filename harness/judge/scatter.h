// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Are outliers scattered? See Outliers in rule.h for the rule and where its limit comes from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/judge/comparison.h"

namespace kvr {

// How many of `outliers` elements a line of `length` among `numel` may hold, when there are `lines` such
// lines.
std::int64_t scatter_limit(std::int64_t outliers, std::int64_t numel, std::int64_t length,
                           std::int64_t lines);

// Empty when scattered, else one line: "row 5 holds 8 of 8 outliers, at most 5 can be chance".
std::string find_cluster(const std::vector<std::int64_t>& outliers, const Outcome& outcome);

}  // namespace kvr
