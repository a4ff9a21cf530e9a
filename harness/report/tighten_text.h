// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What kvr tighten prints: a row of the policy table beside the tightest rule of each kind that the draws
// support.
#pragma once

#include <string>
#include <vector>

#include "harness/suite/tighten.h"

namespace kvr {

struct SupportedRule {
  std::string kind;  // "atol"
  std::string seen;  // the worst value
  std::string rule;  // "atol=0.094"; empty: no number of this kind would do
  std::string where;
};

// One for each kind, in the order of the table's keys. Numbers are the worst value times `margin`, rounded up
// to two digits; exact and max_ulp are as seen.
std::vector<SupportedRule> supported_rules(const RowNeed& need, double margin);

std::string row_text(const RowReport& report, double margin, bool envelope);
// "2 rows measured: 1 loose, 0 expired, ..."
std::string tighten_summary(const std::vector<RowReport>& reports);

// Decimal, rounded up to two digits: what goes into the table must not be below what was seen.
std::string round_up(double value);

}  // namespace kvr
