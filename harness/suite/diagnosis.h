// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// On failure: which explanation fits? Patterns of the wrong elements (the tail of rows, every n-th lane, one
// row, one column), values that stand elsewhere in the reference (stale or shifted rows), systematic rounding
// (truncation), a scale of a row that is a power of two off, and the reference under each of the case's
// argument faults (other pairing, neighbour position, other contract). Nothing is claimed that wrong elements
// lying anywhere would show by chance.
#pragma once

#include <optional>
#include <string>

#include "harness/judge/comparison.h"
#include "harness/suite/execution.h"

namespace kvr {

// From one output alone. "every 32nd element from column 31 is wrong", "the last row is zero", ...
std::optional<std::string> explain_pattern(const Outcome& outcome);

// `outcome` is tensor t of the execution, whose inputs still hold their initial values. Tries the argument
// faults first: a reference that fits every element says more than a pattern.
std::optional<std::string> explain(Execution& execution, std::size_t t, const Outcome& outcome,
                                   const Rule& rule);

// Tensor t was written in rows that the case must not touch: is it a row of the output that lies in the wrong
// place? "row 12 holds what belongs to row 11: another slot".
std::optional<std::string> explain_stray_write(const Execution& execution, std::size_t t);

}  // namespace kvr
