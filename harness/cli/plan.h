// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Runs a plan: selected cases on chosen machines. Exactly one report per planned case, whatever happens to
// it.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/commands.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/selection.h"
#include "harness/machine/machine.h"
#include "harness/report/console.h"

namespace kvr {

struct Plan {
  std::vector<SelectedCase> cases;
  std::vector<MachineInfo> machines;  // every case runs on each of them
  std::int64_t size() const { return static_cast<std::int64_t>(cases.size() * machines.size()); }
};

// Machine by machine, in the order of the plan.
std::vector<CaseReport> run_plan(const Plan& plan, const CheckOptions& options, const PolicyChoice& policy,
                                 Console& console);

}  // namespace kvr
