// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A kernel that shows whether a product and a sum were fused: the same in plain operators and in CUDA's
// words.
#pragma once

namespace kvr::test {

struct ContractionArgs {
  const float* in = nullptr;  // [kContractionForms, 3]: a, b, c of each, so that no two share a product
  float* out = nullptr;       // [kContractionForms]
};

enum ContractionForm {
  kPlainSum,           // a * b + c: a compiler may fuse it
  kPlainDifference,    // a * b - -c: likewise
  kProductRounded,     // __fmul_rn(a, b) + c
  kSumRounded,         // __fadd_rn(a * b, c)
  kDifferenceRounded,  // __fsub_rn(a * b, -c)
  kBothRounded,        // __fadd_rn(__fmul_rn(a, b), c)
  kFused,              // __fmaf_rn(a, b, c)
  kContractionForms
};

}  // namespace kvr::test
