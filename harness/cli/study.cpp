// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr study: one case over many seeds under several policies.
#include "harness/suite/study.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <utility>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/numbers.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/progress.h"
#include "harness/cli/selection.h"
#include "harness/report/counted.h"
#include "harness/report/results_file.h"
#include "harness/report/study_file.h"
#include "harness/report/study_text.h"

namespace kvr {
namespace {

std::atomic<bool> interrupted{false};

// Ctrl-C, and the SIGTERM of a batch system, end a study after the draws in flight, so that it can be saved;
// a second one ends the process.
class InterruptGuard {
 public:
  InterruptGuard()
      : previous_int_(std::signal(SIGINT, &on_interrupt)),
        previous_term_(std::signal(SIGTERM, &on_interrupt)) {}
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard() {
    std::signal(SIGINT, previous_int_);
    std::signal(SIGTERM, previous_term_);
  }

 private:
  static void on_interrupt(int signal) {
    interrupted = true;
    std::signal(signal, SIG_DFL);
  }
  void (*previous_int_)(int);
  void (*previous_term_)(int);
};

std::uint64_t failing(const StudyResult& study) {
  std::uint64_t count = 0;
  for (const OutputTally& output : study.outputs)
    for (const PolicyTally& policy : output.policies) count += policy.failing;
  return count;
}

bool shipped_fails(const StudyResult& study) {
  for (const OutputTally& output : study.outputs)
    for (const PolicyTally& policy : output.policies)
      if (policy.shipped && policy.failing > 0) return true;
  return false;
}

int finish(const StudyResult& study, const std::optional<ResultsFile>& file) {
  if (file) file->write(study_to_json(study));
  if (!file || !file->is_standard_output()) fmt::print("{}", study_text(study));
  return shipped_fails(study) ? kExitFail : kExitPass;
}

// What is in the files cannot be chosen again.
void reject_options_beside_merge(const StudyCommandOptions& options) {
  const StudyCommandOptions defaults;
  const std::pair<bool, const char*> given[] = {{options.machine != defaults.machine, "--machine"},
                                                {options.draws != defaults.draws, "--draws"},
                                                {options.seed.has_value(), "--seed"},
                                                {!options.policies.empty(), "--policy"},
                                                {options.shard != defaults.shard, "--shard"},
                                                {options.envelope, "--envelope"},
                                                {!options.fault.empty(), "--fault"},
                                                {options.resume, "--resume"},
                                                {options.policy_file.file.has_value(), "--policy-file"}};
  for (const auto& [is_given, name] : given)
    if (is_given) throw UsageError(fmt::format("--merge takes no {}: the files say it all", name));
  if (!options.filter.empty())
    throw UsageError(fmt::format("--merge takes no filter, and '{}' was given", options.filter.front()));
}

int merge(const StudyCommandOptions& options) {
  reject_options_beside_merge(options);
  std::vector<StudyResult> parts;
  for (const std::string& name : options.merge) parts.push_back(read_study(name));
  for (std::size_t p = 1; p < parts.size(); ++p) {
    try {
      parts.front() = merge_studies({parts.front(), parts[p]});
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--merge {}: {}", options.merge[p], error.what()));
    }
  }
  std::optional<ResultsFile> file;
  if (options.json) file.emplace(*options.json);
  return finish(parts.front(), file);
}

void parse_shard(const std::string& text, StudyOptions& study) {
  const std::size_t slash = text.find('/');
  const auto wrong = [&text]() {
    return UsageError(fmt::format("--shard '{}' is not I/N with 0 <= I < N", text));
  };
  if (slash == std::string::npos) throw wrong();
  const auto index = parse_unsigned(text.substr(0, slash));
  const auto count = parse_unsigned(text.substr(slash + 1));
  if (!index || !count || *index >= *count) throw wrong();
  study.shard = *index;
  study.shards = *count;
}

std::string choose_machine(const std::string& name) {
  const std::vector<MachineInfo> machines =
      choose_machines(name.empty() ? std::vector<std::string>{} : std::vector{name});
  for (const MachineInfo& machine : machines)
    if (machine.present) return machine.properties.name;
  throw NothingSelected(
      fmt::format("{}: no device: {}", machines.front().properties.name, machines.front().why));
}

}  // namespace

int run_study_command(const StudyCommandOptions& options) {
  if (!options.merge.empty()) return merge(options);
  if (options.filter.empty())
    throw UsageError("a study needs a case: kvr study FILTER (kvr list prints the cases)");
  check_threads(options.threads);
  const PolicyChoice table = choose_policy(options.policy_file);
  StudyOptions study;
  study.draws = positive_number("--draws", options.draws);
  parse_shard(options.shard, study);
  const std::vector<SelectedCase> cases = select_cases(options.filter, Tier::soak, seed_option(options.seed));
  if (cases.size() != 1)
    throw UsageError(
        fmt::format("a study takes one case; the filter matches {} (kvr list prints them)", cases.size()));
  study.first_seed = Seed{cases.front().seed};
  if (study.draws > UINT64_MAX - study.first_seed.value)
    throw UsageError(
        fmt::format("--draws {}: seeds from {} on would pass 2^64-1", options.draws, study.first_seed.value));
  study.threads = options.threads;
  study.envelope = options.envelope;
  study.fault = options.fault;
  study.policies = options.policies;
  for (const std::string& policy : options.policies) {
    PolicyOptions one = options.policy_file;
    if (!policy.empty()) one.policy = policy;
    choose_policy(one);  // complains of a name or a rule that means nothing, before anything runs
  }
  if (options.resume && !options.json)
    throw UsageError("--resume needs --json FILE, the study to go on with");
  const std::string machine = choose_machine(options.machine);
  kernels_with_fault({cases.front().id->kernel}, choose_machines({machine}), options.fault);

  std::optional<StudyResult> resume;
  if (options.resume && std::filesystem::exists(*options.json)) {
    resume = read_study(*options.json);
    try {
      require_resumable(*cases.front().id, machine, table.table, study, *resume);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--resume {}: {}", *options.json, error.what()));
    }
  }
  std::optional<ResultsFile> file;
  if (options.json) file.emplace(*options.json);

  interrupted = false;
  const InterruptGuard guard;
  StudyResult result;
  {
    const std::uint64_t target = draws_to_reach(study, resume ? &*resume : nullptr);
    Progress progress("draws", resume ? resume->draws : 0);
    auto saved = std::chrono::steady_clock::now();
    result = run_study(*cases.front().id, machine, table.table, study, resume ? &*resume : nullptr,
                       [&](const StudyResult& so_far, std::uint64_t draws) {
                         const auto now = std::chrono::steady_clock::now();
                         if (file && !file->is_standard_output() && now - saved > std::chrono::seconds(10)) {
                           file->write(study_to_json(so_far));
                           saved = now;
                         }
                         progress.show(draws, target, fmt::format("{} failing", failing(so_far)));
                         return !interrupted;
                       });
  }
  const int exit_code = finish(result, file);
  if (!interrupted) return exit_code;
  fmt::print(stderr, "kvr: interrupted after {}{}\n", counted(result.draws, "draw"),
             file ? "; --resume goes on" : "");
  return kExitNothingRan;
}

}  // namespace kvr
