// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Why a comparison was refused, in one line that a person can act on.
#pragma once

#include <string>

#include "harness/judge/comparison.h"
#include "harness/judge/element.h"

namespace kvr {

// "element 1 (row 0, column 1): unexpected NaN, expected 2".
std::string mismatch_reason(const Element& element);
// "element 5 (row 0, column 5): 24 instead of 24.062 is off by 0.062, atol=0.06 allows 0.06; 1 of 4736
// elements fail".
std::string tolerance_reason(const ElementJudge& elements, std::int64_t index, std::int64_t failing);
// "row 3 has a relative L2 error of 1, row_l2=0.01".
std::string row_l2_reason(const Comparison& comparison, const Rule& rule);
std::string bias_reason(const Comparison& comparison, const Rule& rule);

}  // namespace kvr
