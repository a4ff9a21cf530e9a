// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What must be equal bit for bit: the rows of an output whose inputs are equal, and a case and its baseline,
// which differ only in how the same data lies in memory.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/suite/execution.h"

namespace kvr {

// The bits of an output that a presentation must not change: of one row where all rows are alike.
std::uint64_t hash_output(const Execution& execution, std::size_t t, const std::vector<std::byte>& codes);

// Each describes the first difference in one line; nothing when there is none. `codes` are the execution's
// outputs.
std::optional<std::string> find_unlike_rows(const Execution& execution, const OutputCodes& codes);
// Runs the baseline of the case, with the same fault, where it has one.
std::optional<std::string> find_baseline_difference(const Execution& execution, const OutputCodes& codes,
                                                    std::string_view fault);

}  // namespace kvr
