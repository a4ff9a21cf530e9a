// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/executor.h"

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "harness/cli/schedule_choice.h"
#include "harness/cli/worker_process.h"
#include "harness/report/json.h"

namespace kvr {
namespace {

using Clock = std::chrono::steady_clock;

// Replaying takes the same program and the same table.
void complete_replay(CaseReport& report, const PolicyOptions& policy) {
  name_command(report, policy.project);
  if (policy.file) report.replay += fmt::format(" --policy-file '{}'", *policy.file);
}

class InProcessExecutor final : public Executor {
 public:
  InProcessExecutor(const ExecutorOptions& options, const PolicyTable& policies)
      : options_(options),
        machine_(open_with_threads(options.machine, options.threads)),
        policies_(policies) {}

  Executed run(const CaseId& id, std::uint64_t seed) override {
    options_.run.seed.value = seed;
    Executed executed{run_and_report(id, *machine_, policies_, options_.run, workspace_), ""};
    complete_replay(executed.report, options_.policy);
    return executed;
  }

 private:
  ExecutorOptions options_;
  std::unique_ptr<Machine> machine_;
  Workspace workspace_;
  const PolicyTable& policies_;
};

// The last lines of what a process wrote, as one line.
std::string last_words(std::string_view text) {
  constexpr std::size_t kLines = 2;
  constexpr std::size_t kLength = 300;
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::size_t begin = text.size();
  for (std::size_t line = 0; line < kLines && begin != std::string_view::npos && begin > 0; ++line)
    begin = text.rfind('\n', begin - 1);
  if (begin != std::string_view::npos && begin < text.size())
    text.remove_prefix(begin + (text[begin] == '\n' ? 1 : 0));
  if (text.size() > kLength) text.remove_prefix(text.size() - kLength);
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string(" | ") : std::string(1, c);
  return line;
}

class WorkerExecutor final : public Executor {
 public:
  explicit WorkerExecutor(const ExecutorOptions& options) : options_(options) {}

  Executed run(const CaseId& id, std::uint64_t seed) override {
    options_.run.seed.value = seed;
    const auto start = Clock::now();
    Executed executed;
    const auto died = [&](Verdict verdict, std::string reason) {
      const std::string words = last_words(executed.printed);
      if (!words.empty()) reason += ": " + words;
      executed.report = unrun_report(id, options_.machine, options_.run, verdict, std::move(reason));
      worker_.reset();
    };
    if (!ensure_worker(executed.printed)) {
      died(Verdict::crash, "the worker process did not start: " + ending_);
    } else {
      worker_->send(fmt::format("{} {}", seed, id.name));
      const WorkerProcess::Answer answer = worker_->wait(limit(), executed.printed);
      if (answer.kind == WorkerProcess::Answer::Kind::late) {
        worker_->kill();
        worker_->drain(executed.printed);
        died(Verdict::timeout, fmt::format("ran past the limit of {:g} s", options_.timeout));
      } else if (answer.kind == WorkerProcess::Answer::Kind::ended) {
        died(Verdict::crash, answer.text);
      } else {
        try {
          executed.report = case_from_json(answer.text);
        } catch (const JsonError& error) {
          worker_->kill();
          died(Verdict::crash, fmt::format("the worker process sent no report ({})", error.what()));
        }
      }
    }
    if (executed.report.verdict == Verdict::crash || executed.report.verdict == Verdict::timeout)
      executed.report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    complete_replay(executed.report, options_.policy);
    return executed;
  }

 private:
  std::chrono::milliseconds limit() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(options_.timeout * 1000.0));
  }

  // Opening a machine is not part of a case, and may take longer than one: a GPU's context does.
  bool ensure_worker(std::string& printed) {
    if (worker_) return true;
    std::vector<std::string> arguments{"--machine", options_.machine, "--threads",
                                       std::to_string(options_.threads)};
    if (options_.policy.file) arguments.insert(arguments.end(), {"--policy-file", *options_.policy.file});
    if (options_.policy.policy) arguments.insert(arguments.end(), {"--policy", *options_.policy.policy});
    if (!options_.run.fault.empty()) arguments.insert(arguments.end(), {"--fault", options_.run.fault});
    const auto schedules = schedule_arguments(options_.schedules);
    arguments.insert(arguments.end(), schedules.begin(), schedules.end());
    worker_ = WorkerProcess::start(arguments);
    const auto answer = worker_->wait(std::max(limit(), std::chrono::milliseconds(60000)), printed);
    if (answer.kind == WorkerProcess::Answer::Kind::line && answer.text == kWorkerReady) return true;
    ending_ = answer.kind == WorkerProcess::Answer::Kind::late ? "no sign of life" : answer.text;
    worker_->kill();
    return false;
  }

  ExecutorOptions options_;
  std::unique_ptr<WorkerProcess> worker_;
  std::string ending_;
};

}  // namespace

void name_command(CaseReport& report, const ProjectFiles& project) {
  constexpr std::string_view kUnnamed = "kvr ";  // how unrun_report() calls whatever program this is
  if (report.replay.starts_with(kUnnamed)) report.replay.replace(0, kUnnamed.size(), project.command + ' ');
}

std::unique_ptr<Executor> in_process_executor(const ExecutorOptions& options, const PolicyTable& policies) {
  return std::make_unique<InProcessExecutor>(options, policies);
}

std::unique_ptr<Executor> worker_executor(const ExecutorOptions& options) {
  return std::make_unique<WorkerExecutor>(options);
}

CaseReport run_and_report(const CaseId& id, Machine& machine, const PolicyTable& policies,
                          const RunOptions& options, Workspace& workspace) {
  try {
    return run_case(id, machine, policies, options, &workspace);
  } catch (const std::exception& error) {
    return unrun_report(id, machine.name(), options, Verdict::fail,
                        fmt::format("harness error: {}", error.what()));
  }
}

std::unique_ptr<Machine> open_with_threads(const std::string& machine, int threads) {
  // References and the judge run on TBB too: --threads 1 means one thread, not one for the kernel only.
  static std::optional<tbb::global_control> limit;
  if (threads > 0)
    limit.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
  MachineOptions options;
  options.threads = threads;
  return open_machine(machine, options);
}

}  // namespace kvr
