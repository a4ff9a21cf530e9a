// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/plan.h"

#include <fmt/format.h>

#include "harness/cli/executor.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/schedule_choice.h"

namespace kvr {
namespace {

// Why the cases that are left are not run; empty while they are.
struct Stop {
  std::string reason;
};

// Opened when the first case needs it: a machine nothing runs on is not opened. One that cannot be opened in
// this process is a failure of each of its cases.
class MachineRun {
 public:
  MachineRun(const MachineInfo& machine, const CheckOptions& options, const PolicyChoice& policy)
      : machine_(machine), policy_(policy), isolation_(options.isolation) {
    options_.machine = machine.properties.name;
    options_.threads = options.threads;
    options_.policy = options.policy;
    options_.timeout = options.timeout;
    options_.run.fault = options.fault;
    options_.run.alternative = policy.alternative;
    options_.run.rule_text = policy.rule_text;
    options_.schedules = options.schedules;
    choose_schedules(options_.run, options.schedules);
  }

  Executed run(const SelectedCase& one, const Stop& stop) {
    if (!stop.reason.empty()) return not_run(one, Verdict::skipped, stop.reason);
    if (!machine_.present) {
      std::string reason;
      const Verdict verdict = verdict_without_device(machine_, reason);
      return not_run(one, verdict, reason);
    }
    try {
      if (!executor_)
        executor_ = isolation_ ? worker_executor(options_) : in_process_executor(options_, policy_.table);
      return executor_->run(*one.id, one.seed);
    } catch (const std::exception& error) {
      return not_run(one, Verdict::fail, fmt::format("harness error: {}", error.what()));
    }
  }

 private:
  Executed not_run(const SelectedCase& one, Verdict verdict, std::string reason) {
    options_.run.seed.value = one.seed;
    return {unrun_report(*one.id, machine_.properties.name, options_.run, verdict, std::move(reason)), ""};
  }

  const MachineInfo& machine_;
  const PolicyChoice& policy_;
  bool isolation_;
  ExecutorOptions options_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace

std::vector<CaseReport> run_plan(const Plan& plan, const CheckOptions& options, const PolicyChoice& policy,
                                 Console& console) {
  std::vector<CaseReport> reports;
  reports.reserve(static_cast<std::size_t>(plan.size()));
  Stop stop;
  for (const MachineInfo& machine : plan.machines) {
    MachineRun run(machine, options, policy);
    for (const SelectedCase& one : plan.cases) {
      Executed executed = run.run(one, stop);
      console.forward(executed.printed);
      console.report(executed.report);
      if (options.fail_fast && stop.reason.empty() && is_failure(executed.report.verdict))
        stop.reason = "not run: --fail-fast";
      reports.push_back(std::move(executed.report));
    }
  }
  return reports;
}

}  // namespace kvr
