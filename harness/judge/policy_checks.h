// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// How rows of a policy table relate: which is more specific, which can never be reached, which is looser.
#pragma once

#include <string>
#include <vector>

#include "harness/judge/policy.h"

namespace kvr {

bool matches(const Policy& row, const PolicyKey& key);

// How many of kernel, output, dtype, platform and arch are given.
int selector_count(const Policy& row);
// For two rows that match one key; a strict order on the rows of a table that passed the checks below.
bool more_specific(const Policy& a, const Policy& b);

// Can `a` be shown to accept nothing that `b` refuses? Compared key by key:
//  - `exact` is as tight as anything: it leaves one code;
//  - otherwise every key of `b` must be in `a` with a value that is no larger (tie_window counts as
//  max_ulp=1, since
//    it accepts the same or an adjacent code only);
//  - outliers only loosen: `a` may have them only where `b` has, with the same count and no larger max_ulp
//  and max_magnitude.
bool at_least_as_tight(const Rule& a, const Rule& b);

struct PolicyProblem {
  int line = 0;
  std::string what;
};
// Problems between rows that may meet in one look-up (the shipped rows, or the alternatives of one name).
std::vector<PolicyProblem> check_rows(const std::vector<const Policy*>& rows);

}  // namespace kvr
