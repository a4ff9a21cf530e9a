// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// How the errors of an accepted output are spread: what the reference does not explain, and whether the
// errors are bunched in a column, a lane, a row or a head. A rule may accept an output and these still say
// that something is wrong with it.
//
// An element is explained when its code is the rounding of some value within the reference's error bound
// (`budget`) of the expected one: a right kernel may produce it, so it is no sign of anything, however many
// codes it is off. Where a reference gives no bounds, only the rounding of the expected value is explained.
#pragma once

#include <cstdint>
#include <string>

#include "harness/judge/comparison.h"

namespace kvr {

struct ErrorSpread {
  std::int64_t outliers = 0;     // elements that are not explained
  std::int64_t outlier_ulp = 0;  // the largest code distance among them
  // Over the elements whose code is RN(expected) or that are not explained: what is left when legal
  // differences are taken out. Mean of (actual - expected) / ulp, and the largest |actual - expected|.
  double bias = 0.0;
  double max_error = 0.0;
  std::string pattern;  // "column 17: ..."; empty when the errors are scattered
};

// Patterns. Take the elements that are at least t codes off, t the smallest power of two that leaves at most
// 1/16 of all elements. Two groups are looked at: those that are not explained, and those that are. Under the
// null hypothesis the marked elements of a row fall evenly on
//  - not explained: all elements of the row;
//  - explained: the elements of the row whose bound reaches t codes at all (no other could be off by t).
// How many there are in a row is taken as given, because all elements of a row share its statistics: in a
// right kernel a sum that is off by one ULP may move every one of them. So for a line across rows - a column,
// or what a lane of each warp owns - the count k is a sum of independent indicators with mean
// m = sum over rows of (marked in the row) * (candidates in line and row) / (candidates in the row), and
// Chernoff gives P(count >= k) <= exp(-E), E = k ln(k/m) - k + m. For a row or a head the marked elements
// that are not explained fall evenly on all rows. Rows may be (nearly) alike, and then are one observation,
// not several: of elements whose expected values agree to the 8 bits of bf16, k counts one.
// A line is reported when
//  - lines * exp(-E) <= 1e-9, `lines` counting every line of every kind looked at (union bound). The full
//    tier compares some 60,000 outputs on two machines: one false alarm in 15,000 runs of it; and
//  - k >= 8 m: arithmetic may differ from column to column (only some are rotated), by small factors.
// Of several such lines the one with the largest E is named: a bad lane beats the columns it is made of, and
// a bad column the lane it lies in.
ErrorSpread measure_spread(const Outcome& outcome, const Comparison& comparison);

inline constexpr double kPatternChance = 1e-9;  // of a false alarm per output
inline constexpr double kPatternFactor = 8.0;   // times its share

// E of Chernoff's bound P(count >= k) <= exp(-E) for independent indicators whose probabilities add up to
// `mean`; 0 where k is no more than the mean.
double evidence_of_count(std::int64_t k, double mean);

}  // namespace kvr
