// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the case families of norm_quant share: the description of a case, and inputs that no general fill
// gives.
//
// Parameters of a case; a missing one takes the value in brackets.
//   n, h, dtype         tokens, width, T
//   q                   static, token, g64, g128
//   out    [fp8]        fp8 (what the machine uses), int8, or a descriptor: e4m3fn, e4m3fnuz_224,
//   e4m3fnuz_240 norm   [rms]        rms, layer res    [none]       none, f32_sum, rounded_sum round [per_op]
//   per_op, once w      [same]       dtype of weight and bias: same (as T), f32 fill   [normal]     a general
//   fill, or one of input_values() std    [unit]       unit, 1/h, 1/2h, eps (1e-3: variance = eps) scale  [1]
//   static scale;  at [host]: device passes it (or the bound) through device memory ub     [none]       none,
//   inf, a number, or q75: the 75 % quantile of the amax of (the first 64) rows layout [contiguous] where the
//   rows of in, residual and out lie; see strides_of() scales [row]        row, row_gap, col, col4 (N rounded
//   up to 4), col_gap refuse              the argument that is made invalid, and how
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/suite/case.h"
#include "reference/norm_quant.h"

namespace kvr::norm_quant_cases {

void describe(CaseBuilder& c);

// Everything but pointers, strides and the bound.
NormQuantArgs contract_of(const CaseBuilder& c);

// Inputs of a few named cases, given as values: for `in` (n x h) and for the weights (h).
struct InputValues {
  Fill in, weight;
  float eps;
};
std::optional<InputValues> input_values(const CaseBuilder& c, const NormQuantArgs& args);

// The argument named before the ':' is made invalid.
void break_argument(NormQuantArgs& args, const std::string& what);

}  // namespace kvr::norm_quant_cases
