// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr bench --traffic: what the launches of the serving cases move, against the minimum they declare.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "harness/cli/commands.h"
#include "harness/cli/executor.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/progress.h"
#include "harness/cli/selection.h"
#include "harness/report/results_file.h"
#include "harness/report/traffic_text.h"

namespace kvr {
namespace {

// The strict machines that were asked for, else all. Throws UsageError for one that counts nothing.
std::vector<MachineInfo> counting_machines(const std::vector<std::string>& names) {
  std::vector<MachineInfo> machines = names.empty() ? list_machines() : choose_machines(names);
  for (const MachineInfo& machine : machines)
    if (!names.empty() && !machine.properties.strict)
      throw UsageError(fmt::format("--machine {} counts no traffic; strict machines do, as cpu:warp32+strict",
                                   machine.properties.name));
  std::erase_if(machines, [](const MachineInfo& machine) { return !machine.properties.strict; });
  if (machines.empty()) throw NothingSelected("no machine of this build counts traffic: strict ones do");
  for (const MachineInfo& machine : machines)
    if (!machine.present)
      throw NothingSelected(fmt::format("{} counts traffic, but {}", machine.properties.name, machine.why));
  return machines;
}

std::vector<SelectedCase> serving_cases(const BenchOptions& options) {
  std::vector<SelectedCase> cases = select_cases(options.filter, Tier::soak, seed_option(options.seed));
  std::erase_if(cases, [](const SelectedCase& one) { return one.id->group != kServingGroup; });
  if (cases.empty())
    throw NothingSelected(
        fmt::format("nothing selected: no case of a '{}' group matches, and those alone declare a minimum",
                    kServingGroup));
  return cases;
}

// Kernels that would escape: without a serving group they are in no table and held to nothing.
std::set<std::string> unmeasured_kernels() {
  std::set<std::string> kernels;
  for (const CaseId& id : all_cases()) kernels.insert(id.kernel);
  for (const CaseId& id : all_cases())
    if (id.group == kServingGroup) kernels.erase(id.kernel);
  return kernels;
}

}  // namespace

int run_bench(const BenchOptions& options) {
  if (!options.traffic) throw UsageError("bench: --traffic is what it measures, and must be asked for");
  const std::vector<SelectedCase> cases = serving_cases(options);
  const std::vector<MachineInfo> machines = counting_machines(options.machines);
  std::optional<ResultsFile> file;
  if (options.json) file.emplace(*options.json);

  std::vector<TrafficReport> reports;
  {
    Progress progress("launches");
    for (const MachineInfo& info : machines) {
      MachineOptions choice;
      choice.traffic = true;
      const std::unique_ptr<Machine> machine = open_machine(info.properties.name, choice);
      for (const SelectedCase& one : cases) {
        reports.push_back(measure_traffic(*one.id, *machine, Seed{one.seed}));
        progress.show(reports.size(), cases.size() * machines.size());
      }
    }
  }
  if (file) file->write(traffic_to_json(reports));
  std::FILE* stream = file && file->is_standard_output() ? stderr : stdout;
  fmt::print(stream, "{}", traffic_text(reports));
  const auto rejected =
      std::count_if(reports.begin(), reports.end(), [](const TrafficReport& r) { return !r.accepted; });
  const std::set<std::string> unmeasured =
      options.filter.empty() ? unmeasured_kernels() : std::set<std::string>{};
  for (const std::string& kernel : unmeasured)
    fmt::print(stream, "{} has no case in a '{}' group, and is not measured\n", kernel, kServingGroup);
  fmt::print(stream, "\n{} launches, {} rejected\n", reports.size(), rejected);
  return rejected > 0 || !unmeasured.empty() ? kExitFail : kExitPass;
}

}  // namespace kvr
