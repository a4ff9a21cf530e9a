// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "harness/cli/executor.h"
#include "harness/cli/hand_out.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/schedule_choice.h"

namespace kvr {
namespace {

// Opened when the first case needs it: a machine nothing runs on is not opened. One that cannot be opened in
// this process is a failure of each of its cases.
class MachineRun {
 public:
  MachineRun(const MachineInfo& machine, const CheckOptions& options, int threads, const PolicyChoice& policy)
      : machine_(machine), policy_(policy), isolation_(options.isolation) {
    options_.machine = machine.properties.name;
    options_.threads = threads;
    options_.policy = options.policy;
    options_.timeout = options.timeout;
    options_.run.fault = options.fault;
    options_.run.alternative = policy.alternative;
    options_.run.rule_text = policy.rule_text;
    options_.schedules = options.schedules;
    choose_schedules(options_.run, options.schedules);
  }

  Executed run(const SelectedCase& one) {
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

  Executed not_run(const SelectedCase& one, Verdict verdict, std::string reason) {
    options_.run.seed.value = one.seed;
    return {unrun_report(*one.id, machine_.properties.name, options_.run, verdict, std::move(reason)), ""};
  }

 private:
  const MachineInfo& machine_;
  const PolicyChoice& policy_;
  bool isolation_;
  ExecutorOptions options_;
  std::unique_ptr<Executor> executor_;
};

// One more case at a time needs as much memory as a case of the full tier may take: 4096 x 8192 in f32 with a
// residual, 0.9 GB of expectations (float value, budget and flag of 2 x 32 Mi elements) and 1.3 GB of
// tensors, codes and what their predecessors left for them; 2.2 GB were seen.
constexpr std::int64_t kJobBytes = std::int64_t{5} << 29;

int threads_in_all(const CheckOptions& options) {
  return options.threads > 0 ? options.threads
                             : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

// How many cases run at a time on this machine.
int jobs_for(const MachineInfo& machine, const CheckOptions& options, std::size_t cases) {
  if (machine.properties.platform != "cpu" || !options.isolation) return 1;
  const std::int64_t fit = std::max<std::int64_t>(1, machine.properties.memory_bytes / kJobBytes);
  const std::int64_t wanted =
      options.jobs > 0 ? options.jobs : std::min<std::int64_t>(threads_in_all(options), fit);
  return static_cast<int>(
      std::min<std::int64_t>(wanted, std::max<std::int64_t>(1, static_cast<std::int64_t>(cases))));
}

// Cases that several threads take from a list and one collects in its order.
class Parallel {
 public:
  Parallel(const std::vector<SelectedCase>& cases, int jobs, std::function<MachineRun()> open)
      : cases_(cases), open_(std::move(open)), hand_out_(cases), done_(cases.size()) {
    for (int job = 0; job < jobs; ++job)
      threads_.emplace_back([this] {
        MachineRun run = open_();
        HandOut::Taker taker;
        while (!stopped_) {
          const auto i = hand_out_.next(taker);
          if (!i) return;
          Executed executed = run.run(cases_[*i]);
          const std::lock_guard lock(mutex_);
          done_[*i] = std::move(executed);
          changed_.notify_one();
        }
      });
  }
  ~Parallel() {
    stop();
    for (std::thread& thread : threads_) thread.join();
  }
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  Executed wait(std::size_t i) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return done_[i].has_value(); });
    Executed executed = std::move(*done_[i]);
    done_[i].reset();
    return executed;
  }
  // No further case is begun; none may be waited for any more.
  void stop() { stopped_ = true; }

 private:
  const std::vector<SelectedCase>& cases_;
  std::function<MachineRun()> open_;
  HandOut hand_out_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<Executed>> done_;
  std::vector<std::thread> threads_;
};

}  // namespace

std::vector<CaseReport> run_plan(const Plan& plan, const CheckOptions& options, const PolicyChoice& policy,
                                 Console& console) {
  std::vector<CaseReport> reports;
  reports.reserve(static_cast<std::size_t>(plan.size()));
  bool failed = false;
  for (const MachineInfo& machine : plan.machines) {
    const int jobs = jobs_for(machine, options, plan.cases.size());
    const int threads = jobs > 1 ? std::max(1, threads_in_all(options) / jobs) : options.threads;
    const auto open = [&] { return MachineRun(machine, options, threads, policy); };
    MachineRun here = open();
    std::optional<Parallel> parallel;
    if (jobs > 1 && machine.present && !failed) parallel.emplace(plan.cases, jobs, open);
    for (std::size_t i = 0; i < plan.cases.size(); ++i) {
      Executed executed = failed     ? here.not_run(plan.cases[i], Verdict::skipped, "not run: --fail-fast")
                          : parallel ? parallel->wait(i)
                                     : here.run(plan.cases[i]);
      console.forward(executed.printed);
      console.report(executed.report);
      if (options.fail_fast && !failed && is_failure(executed.report.verdict)) {
        failed = true;
        parallel.reset();
      }
      reports.push_back(std::move(executed.report));
    }
  }
  return reports;
}

}  // namespace kvr
