// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a person reads when a case fails: where, what pattern, under which policy and why, and how to see it
// again. At most about 25 lines, tables within 80 columns.
#pragma once

#include <string>

#include "harness/suite/verdict.h"

namespace kvr {

// "k_norm_rope/public/n=37/seed=0": the name as it is printed, filtered by and replayed.
std::string printed_name(const CaseReport& report);

// The numbers of a case, whatever its verdict. Every line ends in a newline.
std::string describe_case(const CaseReport& report);

}  // namespace kvr
