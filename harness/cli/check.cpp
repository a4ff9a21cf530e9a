// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr check and kvr replay. Everything that can be wrong with the request is found before the first case
// runs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/ledger_choice.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/numbers.h"
#include "harness/cli/plan.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/schedule_choice.h"
#include "harness/cli/selection.h"
#include "harness/report/json.h"
#include "harness/report/ledger_text.h"
#include "harness/report/results_file.h"

namespace kvr {
namespace {

constexpr double kMaxTimeout = 86400.0;  // a day

void check_numbers(const CheckOptions& options) {
  check_threads(options.threads);
  if (options.jobs < 0 || options.jobs > kMaxThreads)
    throw UsageError(
        fmt::format("--jobs {} is not a number from 0 (as many as threads and memory allow) to {}",
                    options.jobs, kMaxThreads));
  if (options.jobs > 1 && !options.isolation)
    throw UsageError(
        fmt::format("--jobs {} and --no-isolation exclude each other: one process runs one case at a time",
                    options.jobs));
  if (!(options.timeout > 0.0) || options.timeout > kMaxTimeout)
    throw UsageError(fmt::format("--timeout {:g} is not a number of seconds above 0 and up to {:g}",
                                 options.timeout, kMaxTimeout));
  RunOptions unused;
  choose_schedules(unused, options.schedules);
  if (options.quiet && options.verbose) throw UsageError("--quiet and --verbose exclude each other");
}

// Keeps the cases of the kernels that have the fault.
void restrict_to_fault(Plan& plan, const std::string& fault) {
  if (fault.empty()) return;
  std::set<std::string> kernels;
  for (const SelectedCase& one : plan.cases) kernels.insert(one.id->kernel);
  const auto with = kernels_with_fault({kernels.begin(), kernels.end()}, plan.machines, fault);
  std::erase_if(plan.cases, [&](const SelectedCase& one) {
    return std::find(with.begin(), with.end(), one.id->kernel) == with.end();
  });
}

int run_planned(const Plan& plan, const CheckOptions& options, const PolicyChoice& policy,
                LedgerChoice& ledger, std::uint64_t seed) {
  std::optional<ResultsFile> file;
  if (options.json) file.emplace(*options.json);
  // With --json - standard output is for the results alone.
  std::FILE* stream = file && file->is_standard_output() ? stderr : stdout;

  Results results;
  results.info.version = kvr_version();
  results.info.platform = plan.machines.empty() ? "" : plan.machines.front().properties.platform;
  results.info.machines = plan.machines;
  results.info.tier = options.tier;
  results.info.seed = seed;
  results.info.threads = options.threads;
  results.info.planned = plan.size();

  ConsoleOptions console_choice = console_options(stream);
  console_choice.quiet = options.quiet;
  console_choice.verbose = options.verbose;
  Console console(stream, plan.size(), console_choice);
  results.cases = run_plan(plan, options, policy, console);
  results.ledger = ledger.finish(results);
  if (file) file->write(results_to_json(results));
  console.finish(results.cases);
  if (!ledger.note().empty()) fmt::print(stream, "{}\n", ledger.note());
  if (results.ledger) fmt::print(stream, "{}", ledger_text(*results.ledger));

  Counts counts;
  for (const CaseReport& report : results.cases) counts.add(report.verdict);
  if (counts.total() != plan.size())
    throw std::logic_error(fmt::format("{} cases planned, {} reported", plan.size(), counts.total()));
  if (counts.failed() > 0 || (results.ledger && ledger.fails(*results.ledger))) return kExitFail;
  return counts.executed() == 0 ? kExitNothingRan : kExitPass;
}

}  // namespace

int run_check(const CheckOptions& options) {
  check_numbers(options);
  const auto seed = seed_option(options.seed);
  const Tier tier = tier_option(options.tier);
  Plan plan;
  plan.machines = choose_machines(options.machines);
  plan.cases = select_cases(options.filter, tier, seed);
  if (plan.machines.empty()) throw NothingSelected("this build has no machines");
  restrict_to_fault(plan, options.fault);
  const PolicyChoice policy = choose_policy(options.policy);
  LedgerChoice ledger(options);
  return run_planned(plan, options, policy, ledger, seed.value_or(0));
}

int run_replay(CheckOptions options) {
  check_numbers(options);
  const auto seed = seed_option(options.seed);
  // A name is a filter; here it must be the whole name of one case.
  Plan plan;
  plan.machines = choose_machines(options.machines);
  plan.cases = select_cases(options.filter, Tier::soak, seed);
  const std::string& name = plan.cases.front().id->name;
  const std::string given = Filter::parse(options.filter.front()).terms.empty()
                                ? ""
                                : Filter::parse(options.filter.front()).terms.front();
  if (plan.cases.size() != 1 || given != name)
    throw UsageError(fmt::format("'{}' is not the name of one case: it selects {}, the first is '{}'",
                                 options.filter.front(), plan.cases.size(), name));
  if (plan.machines.empty()) throw NothingSelected("this build has no machines");
  restrict_to_fault(plan, options.fault);
  const PolicyChoice policy = choose_policy(options.policy);
  LedgerChoice ledger(options);
  options.tier = tier_name(plan.cases.front().id->tier);
  options.verbose = true;
  return run_planned(plan, options, policy, ledger, plan.cases.front().seed);
}

}  // namespace kvr
