// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr tighten: the tightest rule of each kind that the draws support, beside the shipped row; rows that are
// loose, expired or needless.
#include "harness/suite/tighten.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/numbers.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/progress.h"
#include "harness/cli/selection.h"
#include "harness/report/tighten_text.h"

namespace kvr {
namespace {

std::string today() {
  const std::chrono::year_month_day date{
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

struct FailOn {
  bool expired = false, loose = false;
};

FailOn parse_fail_on(const std::optional<std::string>& given) {
  FailOn fail;
  if (!given) return fail;
  for (std::size_t begin = 0; begin <= given->size();) {
    const std::size_t end = std::min(given->find(',', begin), given->size());
    const std::string word = given->substr(begin, end - begin);
    begin = end + 1;
    if (word == "expired")
      fail.expired = true;
    else if (word == "loose")
      fail.loose = true;
    else
      throw UsageError(fmt::format("--fail-on '{}': '{}' is neither expired nor loose", *given, word));
  }
  return fail;
}

// One case on one machine, and what came of it.
struct Task {
  const SelectedCase* one = nullptr;
  const MachineProperties* machine = nullptr;
  std::optional<StudyResult> result;  // none: the case does not run there
};

void run_task(Task& task, const TightenSurvey& survey, const PolicyTable& table, StudyOptions study) {
  const CaseId& id = *task.one->id;
  CaseBuilder builder(id.params, Seed{task.one->seed}, *task.machine, id.data_id);
  id.describe(builder);
  if (builder.refusal() || builder.unsupported()) return;
  std::vector<std::pair<std::string, DType>> outputs;
  for (const TensorDecl& tensor : builder.tensors())
    if (tensor.role != Role::input) outputs.emplace_back(tensor.spec.name, tensor.spec.dtype);
  study.first_seed = Seed{task.one->seed};
  study.policies = survey.policies_for(id.kernel, *task.machine, outputs);
  try {
    task.result = run_study(id, task.machine->name, table, study, nullptr, {});
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{} on {}: {}", id.name, task.machine->name, error.what()));
  }
}

// Cases run side by side on cpu machines, each on one thread; results are kept in order, so that ties between
// cases are decided alike whatever the number of threads.
void run_tasks(std::vector<Task>& tasks, const TightenSurvey& survey, const PolicyTable& table,
               const StudyOptions& study) {
  const unsigned cores = study.threads > 0 ? static_cast<unsigned>(study.threads)
                                           : std::max(1U, std::thread::hardware_concurrency());
  const bool cpu = std::all_of(tasks.begin(), tasks.end(),
                               [](const Task& task) { return task.machine->platform == "cpu"; });
  const bool side_by_side = cpu && tasks.size() >= cores;
  StudyOptions each = study;
  if (side_by_side) each.threads = 1;
  Progress progress("cases");
  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::uint64_t done = 0;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t at = next++; at < tasks.size() && !stop; at = next++) {
      try {
        run_task(tasks[at], survey, table, each);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        stop = true;
      }
      const std::lock_guard lock(mutex);
      progress.show(++done, tasks.size());
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 1; side_by_side && w < cores; ++w) workers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

bool fails(const std::vector<RowReport>& reports, const FailOn& fail_on) {
  return std::any_of(reports.begin(), reports.end(), [&](const RowReport& report) {
    return report.failing() || (fail_on.expired && report.expired) ||
           (fail_on.loose && (!report.loose.empty() || report.needless()));
  });
}

}  // namespace

int run_tighten(const TightenOptions& options) {
  const FailOn fail_on = parse_fail_on(options.fail_on);
  if (!(options.margin >= 1.0 && options.margin <= 1e6))
    throw UsageError(fmt::format("--margin {:g} is not a factor from 1 to 1e+06", options.margin));
  check_threads(options.threads);
  StudyOptions study;
  study.draws = positive_number("--draws", options.draws);
  study.threads = options.threads;
  study.envelope = options.envelope;
  study.every_kind = true;
  const PolicyChoice choice = choose_policy(options.policy_file);
  const std::vector<SelectedCase> cases =
      select_cases(options.filter, Tier::quick, seed_option(options.seed));
  std::vector<MachineInfo> machines = choose_machines(options.machines);
  const std::string absent = machines.empty() ? "no machines" : machines.front().why;
  std::erase_if(machines, [](const MachineInfo& machine) { return !machine.present; });
  if (machines.empty()) throw NothingSelected(fmt::format("no device: {}", absent));

  TightenSurvey survey(choice.table);
  std::vector<Task> tasks;
  for (const MachineInfo& machine : machines)
    for (const SelectedCase& one : cases) tasks.push_back({&one, &machine.properties, std::nullopt});
  run_tasks(tasks, survey, choice.table, study);
  for (const Task& task : tasks)
    if (task.result) survey.add(task.one->id->kernel, *task.machine, *task.result);
  if (survey.empty()) throw NothingSelected("no selected case has an output to measure here");

  const std::vector<RowReport> reports = survey.report(today());
  for (const RowReport& report : reports)
    fmt::print("{}\n", row_text(report, options.margin, options.envelope));
  fmt::print("{}", tighten_summary(reports));
  return fails(reports, fail_on) ? kExitFail : kExitPass;
}

}  // namespace kvr
