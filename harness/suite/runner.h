// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Runs one case on one machine: inputs, launch, verification of memory, second run, judge, null answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/judge/policy.h"
#include "harness/machine/machine.h"
#include "harness/suite/execution.h"
#include "harness/suite/registry.h"
#include "harness/suite/verdict.h"

namespace kvr {

struct RunOptions {
  Seed seed;
  std::string fault;                     // launch this source fault instead of the production kernel
  std::string alternative;               // judge under this named alternative of the policy table
  std::optional<std::string> rule_text;  // judge under this rule ("atol=0.06 rtol=0") instead of the table's
  // Launch under these schedules too; the outputs must be bit for bit those of forward.
  std::optional<ScheduleChoice> schedule;  // this one
  int random_schedules = -1;  // every one that the machine has, and so many drawn ones; below 0: none
};

// How the command line names a policy: "" is the shipped one, "exact" or text with a '=' is a rule, anything
// else an alternative.
void choose_policy(RunOptions& options, std::string_view text);

// The rule given in the options, else the named alternative where it covers the key, else the table's most
// specific row. Throws PolicyError when there is none.
Policy resolve_policy(const PolicyKey& key, const PolicyTable& policies, const RunOptions& options);

// Throws for harness errors only (std::logic_error: a case that declares nonsense; PolicyError: no policy for
// an output). Everything a kernel does wrong is a verdict.
CaseReport run_case(const CaseId& id, Machine& machine, const PolicyTable& policies,
                    const RunOptions& options, Workspace* workspace = nullptr);

// The report on a case that was not run, or died: everything but numbers. For whoever finds out.
CaseReport unrun_report(const CaseId& id, std::string_view machine, const RunOptions& options,
                        Verdict verdict, std::string reason);

}  // namespace kvr
