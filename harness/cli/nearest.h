// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Did you mean: the names closest to a mistyped one.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kvr {

// Insertions, deletions and substitutions that turn one into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The closest of `names`, nearest first, at most `count`; only those with more than half of `wanted` in
// common.
std::vector<std::string> nearest_names(std::string_view wanted, const std::set<std::string>& names,
                                       std::size_t count = 3);

}  // namespace kvr
