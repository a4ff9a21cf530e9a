// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Runs cases one after the other on one machine, in this process or in a worker process. A worker that dies
// or hangs costs one verdict; the next case gets a new worker. Cases share a worker as long as it lives, so
// isolation costs a process, not a process per case.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/cli/commands.h"
#include "harness/cli/policy_choice.h"
#include "harness/suite/runner.h"

namespace kvr {

struct Executed {
  CaseReport report;
  std::string printed;  // what the case wrote to its output streams, when that was caught
};

class Executor {
 public:
  virtual ~Executor() = default;
  // Always comes back with a report on this case.
  virtual Executed run(const CaseId& id, std::uint64_t seed) = 0;
};

struct ExecutorOptions {
  std::string machine;  // present
  int threads = 0;
  PolicyOptions policy;  // as given, for workers
  ScheduleOptions schedules;
  RunOptions run;         // the same, understood; the seed is each case's own
  double timeout = 60.0;  // seconds per case; workers only
};

std::unique_ptr<Executor> in_process_executor(const ExecutorOptions& options, const PolicyTable& policies);
std::unique_ptr<Executor> worker_executor(const ExecutorOptions& options);

// run_case(), with an error of the harness itself (a case that declares nonsense, an output without a policy)
// as a failure.
CaseReport run_and_report(const CaseId& id, Machine& machine, const PolicyTable& policies,
                          const RunOptions& options, Workspace& workspace);

// Makes the replay line one for the project's own command.
void name_command(CaseReport& report, const ProjectFiles& project);

// The machine, and the limit on host threads that goes with it for as long as the process lives.
std::unique_ptr<Machine> open_with_threads(const std::string& machine, int threads);

}  // namespace kvr
