// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The end of a run: a table with one line per kernel, machine and group, and one line of totals.
#pragma once

#include <string>
#include <vector>

#include "harness/report/results.h"

namespace kvr {

// Lines in the order the cases came in.
std::string summary_table(const std::vector<CaseReport>& cases);

// "5 planned, 5 reported: 3 passed, 1 failed, 1 crash". Every verdict that occurred is named.
std::string totals_line(std::int64_t planned, const Counts& counts);

}  // namespace kvr
