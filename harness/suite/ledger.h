// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The ledger: the worst that right kernels have ever come to, per family of cases. A policy says what is
// allowed; the ledger says what is usual, so that a kernel that got worse inside its policy is noticed.
//
// What is remarked on, though it is inside the policy:
//  - worse: a number of an output is over 8 times the worst of its family in the ledger;
//  - sibling: one variant's largest error is over 100 times that of another variant on the same data;
//  - pattern: errors are bunched in a column, lane, row or head (error_spread.h).
// Remarks are not failures.
//
// An output's family is kernel, group, output and dtype on one platform and arch. Siblings are the outputs of
// one run with equal kernel, output, dtype, seed and data (CaseId::data_id: the case's parameters but for
// those that only lay the same data out differently): the same inputs in another layout, with another
// position type, another scale layout, or on another machine (warp size, block size, vector path).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/suite/verdict.h"

namespace kvr {

struct LedgerKey {
  std::string kernel, group, output;
  DType dtype = DType::f32;
  std::string platform, arch;
  friend auto operator<=>(const LedgerKey&, const LedgerKey&) = default;
};

// Maxima over all outputs of the family, ever. Numbers but worst_ulp are rounded up to three digits, so that
// a file of them changes when something changed and not in its last digits.
struct LedgerEntry {
  std::int64_t worst_ulp = 0;  // code distance to the rounded reference
  double outliers = 0.0;       // share of an output's elements that are not explained (error_spread.h)
  double bias = 0.0;           // |mean signed error| in ULP, without what is explained
  double ratio = 0.0;          // error over allowed; comparable under `rule` only
  std::string rule;
  friend bool operator==(const LedgerEntry&, const LedgerEntry&) = default;
};

using Ledger = std::map<LedgerKey, LedgerEntry>;

struct Remark {
  enum class Kind : std::uint8_t { worse, sibling, pattern } kind = Kind::worse;
  std::string machine, case_name, output;  // the case as printed, seed included
  std::string text;                        // one line
};
std::string_view remark_kind_name(Remark::Kind kind);

// Raises the ledger to what these runs came to: accepted outputs of cases that passed with the production
// kernel. A family whose rule is another one than before begins its ratio anew. True when anything changed.
bool update_ledger(Ledger& ledger, const std::vector<CaseReport>& cases,
                   const std::vector<MachineInfo>& machines);

struct LedgerReview {
  std::vector<Remark> remarks;
  std::int64_t families = 0;  // in this run
  std::int64_t unknown = 0;   // of these, not in the ledger
};

// Accepted outputs only: one that a policy rejects needs no remark. Each family has at most one remark per
// number, on the output that is worst in it, each group of siblings one.
//
// Limits, where the ledger says nothing or nothing useful:
//  - worst_ulp: one code where the ledger has 0, since one rounding at a tie is right. Distances of elements
//    that the reference explains do not count: where terms cancel the distance has a tail of 1/x, and a new
//    seed exceeds the old maximum eightfold one time in nine.
//  - outliers: one element of the output where the ledger has none, for a share below 1/numel cannot have
//    been seen; and the excess over 8 times that must not be chance (Chernoff, as for patterns, 1e-9).
//  - bias: 0.289/sqrt(numel), the standard deviation of the mean of errors that are evenly spread over one
//    ULP, so that 8 of them is nothing that a new seed gives.
//  - ratio: 1/64, so that nothing below 1/8 of what is allowed is remarked on: a rule looser than 8 times is
//    for `kvr tighten` to name. Under `budget` the ratio is not compared: an element that a legal flip puts
//    on the other side takes any fraction of its bound, up to all of it.
//  - siblings: half a ULP at the largest |expected|, which is what rounding alone costs.
LedgerReview review(const Ledger& ledger, const std::vector<CaseReport>& cases,
                    const std::vector<MachineInfo>& machines);

inline constexpr double kWorseFactor = 8.0;
inline constexpr double kSiblingFactor = 100.0;

// The smallest number of three significant decimal digits that is not below `value` (>= 0, or infinite).
double round_up(double value);

}  // namespace kvr
