// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The other side of a tolerance: which known faults it kills. Output faults are applied to a right output,
// argument faults to the launch, source faults are compiled variants of the kernel. A fault that no case
// turns red is a survivor; an argument or source fault that no case shows is not proven killed either.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "harness/suite/runner.h"

namespace kvr {

enum class FaultKind : std::uint8_t { output, argument, source };
inline constexpr FaultKind kFaultKinds[] = {FaultKind::output, FaultKind::argument, FaultKind::source};
std::string_view fault_kind_name(FaultKind kind);

// One fault under one policy, over the cases of one fill.
struct FaultCell {
  std::int64_t applied = 0;  // cases in which the fault changed anything
  std::int64_t killed = 0;   // of these, rejected
  // The largest effect that was let through: code distance and where.
  std::int64_t hidden_ulp = 0;
  double hidden_error = 0.0;
  std::string hidden_case;
};

struct FaultRow {
  FaultKind kind = FaultKind::output;
  std::string name;
  std::string output;      // output faults: which one; empty otherwise
  std::int64_t tried = 0;  // cases in which it was applied, whether or not that changed anything
  // [policy][fill]
  std::vector<std::map<std::string, FaultCell>> cells;
  bool applied(std::size_t policy = 0) const;  // and judged, in at least one case
  bool killed(std::size_t policy) const;       // in at least one case
};

struct FaultMatrix {
  std::string kernel, machine;
  std::vector<std::string> policies;  // "shipped" first
  std::vector<FaultRow> rows;
  std::int64_t cases = 0;
  // Rows that applied somewhere and that policy `p` killed nowhere.
  // Points into this matrix.
  std::vector<const FaultRow*> survivors(std::size_t policy) const&;
  std::vector<const FaultRow*> survivors(std::size_t policy) const&& = delete;
  // Argument and source faults that changed nothing in any case, or that no case could try: the cases do not
  // show what they break. (Which output faults apply depends on an output's shape and dtype.)
  std::vector<const FaultRow*> unproven() const&;
  std::vector<const FaultRow*> unproven() const&& = delete;
};

struct FaultOptions {
  // Beside the shipped one: alternatives or rules. An alternative judges the outputs it covers, no others.
  std::vector<std::string> policies;
  Seed seed;
  std::set<FaultKind> kinds{std::begin(kFaultKinds), std::end(kFaultKinds)};
  std::vector<std::string> only;  // faults of these names, of whatever kind; empty: all
  int threads = 0;
  // Cases of one fill after which a fault that the shipped policy has killed is not tried again there.
  std::int64_t enough = 3;
};

// Runs every fault of `kernel` over `cases` (all of that kernel). The shipped policy acts as in `kvr check`:
// what verifies memory and equal bits (invariance.h) counts as a kill; the other policies are judged by their
// rule alone, as they are where they come from.
FaultMatrix run_fault_matrix(const std::string& kernel, const std::vector<const CaseId*>& cases,
                             const std::string& machine_name, const PolicyTable& policies,
                             const FaultOptions& options,
                             const std::function<void(std::int64_t done, std::int64_t total)>& progress);

// Every name that FaultOptions::only may hold: output faults, and the argument and source faults of these
// cases on this machine.
std::set<std::string> fault_names(const std::vector<const CaseId*>& cases, const MachineProperties& machine);

// The smallest faults that a rule detects on a right output.
struct Sensitivity {
  std::int64_t element_ulp =
      0;  // codes that one element (the middle one) must be off; 0: no error found that is detected
  double gain = 0.0;        // |gain - 1|; 0: not even a factor of 2 is detected
  double rows_share = 0.0;  // share of rows that must be zero; 0: not even all of them
};
Sensitivity measure_sensitivity(const Outcome& outcome, const Rule& rule);

struct SensitivityRow {
  std::string machine, case_name, output, policy;
  Sensitivity seen;
};
// Every output of the case under the shipped policy and those of `options`. Nothing for a case that is not
// computed on the machine.
std::vector<SensitivityRow> case_sensitivity(const CaseId& id, Machine& machine, const PolicyTable& policies,
                                             const FaultOptions& options);

}  // namespace kvr
