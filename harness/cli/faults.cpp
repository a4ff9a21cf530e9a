// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr faults: the policy x fault matrix. Everything that can be wrong with the request is found before the
// first launch.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/numbers.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/progress.h"
#include "harness/cli/selection.h"
#include "harness/report/fault_text.h"
#include "harness/report/results_file.h"
#include "harness/suite/fault_matrix.h"

namespace kvr {
namespace {

// The cases of one kernel.
using Cases = std::vector<const CaseId*>;

struct Request {
  PolicyTable table;
  std::map<std::string, Cases> kernels;
  std::vector<MachineInfo> machines;  // present
  std::uint64_t seed = 0;
};

bool covers(const PolicyTable& table, const std::string& alternative, const std::string& kernel) {
  return std::any_of(table.alternatives().begin(), table.alternatives().end(),
                     [&](const Policy& row) { return row.name == alternative && row.kernel == kernel; });
}

// The columns beside the shipped policy. An alternative of another kernel is none.
std::vector<std::string> columns_for(const std::string& kernel, const FaultsOptions& options,
                                     const PolicyTable& table) {
  std::vector<std::string> columns;
  for (const std::string& policy : options.policies) {
    RunOptions choice;
    choose_policy(choice, policy);
    if (choice.rule_text || covers(table, policy, kernel)) columns.push_back(policy);
  }
  if (options.published)
    for (const Policy& row : table.alternatives())
      if (row.kernel == kernel && std::find(columns.begin(), columns.end(), row.name) == columns.end())
        columns.push_back(row.name);
  return columns;
}

std::set<FaultKind> chosen_kinds(const FaultsOptions& options) {
  std::set<FaultKind> chosen;
  for (const std::string& name : options.kinds) {
    const auto* const found = std::find_if(std::begin(kFaultKinds), std::end(kFaultKinds),
                                           [&](FaultKind kind) { return fault_kind_name(kind) == name; });
    if (found == std::end(kFaultKinds))
      throw UsageError(fmt::format("--kind '{}' is none of output, argument, source", name));
    chosen.insert(*found);
  }
  return chosen;
}

FaultOptions fault_options(const std::string& kernel, const FaultsOptions& options, const Request& request) {
  FaultOptions chosen;
  chosen.policies = columns_for(kernel, options, request.table);
  chosen.seed = Seed{request.seed};
  chosen.only = options.faults;
  if (!options.kinds.empty()) chosen.kinds = chosen_kinds(options);
  chosen.threads = options.threads;
  return chosen;
}

// Kernels whose source faults were asked for, and that have none on any of these machines: nobody has shown
// that their cases notice a wrong kernel.
std::vector<std::string> kernels_without_source_faults(const FaultsOptions& options, const Request& request) {
  if (!options.faults.empty()) return {};
  if (!options.kinds.empty() && !chosen_kinds(options).contains(FaultKind::source)) return {};
  std::vector<std::string> without;
  for (const auto& [kernel, cases] : request.kernels)
    if (std::all_of(request.machines.begin(), request.machines.end(), [&](const MachineInfo& machine) {
          return kernel_faults(kernel, machine.properties.build).empty();
        }))
      without.push_back(kernel);
  return without;
}

void check_policies(const FaultsOptions& options, const Request& request) {
  for (const std::string& policy : options.policies) {
    PolicyOptions one = options.policy_file;
    one.policy = policy;
    if (choose_policy(one).rule_text) continue;
    const bool used = std::any_of(request.kernels.begin(), request.kernels.end(), [&](const auto& kernel) {
      return covers(request.table, policy, kernel.first);
    });
    if (used) continue;
    std::vector<std::string> kernels;
    for (const auto& [kernel, cases] : request.kernels) kernels.push_back(kernel);
    throw UsageError(fmt::format("--policy '{}' covers no output of {}", policy, fmt::join(kernels, ", ")));
  }
}

void check_fault_names(const FaultsOptions& options, const Request& request) {
  if (options.faults.empty()) return;
  std::set<std::string> known;
  for (const MachineInfo& machine : request.machines)
    for (const auto& [kernel, cases] : request.kernels) known.merge(fault_names(cases, machine.properties));
  for (const std::string& fault : options.faults)
    if (!known.contains(fault))
      throw UsageError(fmt::format("--fault '{}' is none of the faults of these cases{}", fault,
                                   did_you_mean(fault, {known.begin(), known.end()})));
}

Request understand(const FaultsOptions& options) {
  check_threads(options.threads);
  chosen_kinds(options);
  Request request{choose_policy(options.policy_file).table, {}, {}, 0};
  const std::vector<SelectedCase> cases =
      select_cases(options.filter, tier_option(options.tier), seed_option(options.seed));
  request.seed = cases.front().seed;
  for (const SelectedCase& one : cases) {
    if (one.seed != request.seed)
      throw UsageError(fmt::format("the filters ask for the seeds {} and {}; this command takes one",
                                   request.seed, one.seed));
    request.kernels[one.id->kernel].push_back(one.id);
  }
  for (const MachineInfo& machine : choose_machines(options.machines)) {
    if (machine.present)
      request.machines.push_back(machine);
    else
      fmt::print(stderr, "kvr: {} skipped: no device: {}\n", machine.properties.name, machine.why);
  }
  check_policies(options, request);
  check_fault_names(options, request);
  return request;
}

int report_sensitivity(const FaultsOptions& options, const Request& request,
                       const std::optional<ResultsFile>& file) {
  std::vector<SensitivityRow> rows;
  for (const MachineInfo& info : request.machines) {
    MachineOptions machine_options;
    machine_options.threads = options.threads;
    const auto machine = open_machine(info.properties.name, machine_options);
    for (const auto& [kernel, cases] : request.kernels) {
      const FaultOptions chosen = fault_options(kernel, options, request);
      for (const CaseId* id : cases)
        for (SensitivityRow& row : case_sensitivity(*id, *machine, request.table, chosen))
          rows.push_back(std::move(row));
    }
  }
  if (rows.empty()) throw NothingSelected("no selected case has an output to measure here");
  if (file) file->write(sensitivity_to_json(rows));
  if (!file || !file->is_standard_output()) fmt::print("{}", sensitivity_text(rows));
  return kExitPass;
}

}  // namespace

int run_faults(const FaultsOptions& options) {
  if (options.sensitivity && !options.faults.empty())
    throw UsageError("--sensitivity measures sizes of errors; it takes no --fault");
  const Request request = understand(options);
  std::optional<ResultsFile> file;
  if (options.json) file.emplace(*options.json);
  if (options.sensitivity) return report_sensitivity(options, request, file);

  std::vector<FaultMatrix> matrices;
  std::size_t alive = 0;
  std::int64_t applied = 0;
  for (const MachineInfo& machine : request.machines) {
    for (const auto& [kernel, cases] : request.kernels) {
      Progress progress(fmt::format("cases of {} on {}", kernel, machine.properties.name));
      matrices.push_back(run_fault_matrix(
          kernel, cases, machine.properties.name, request.table, fault_options(kernel, options, request),
          [&](std::int64_t done, std::int64_t total) {
            progress.show(static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total));
          }));
      alive += matrices.back().survivors(0).size() + matrices.back().unproven().size();
      for (const FaultRow& row : matrices.back().rows) applied += row.applied() ? 1 : 0;
    }
  }
  if (applied == 0) throw NothingSelected("no fault changes anything in the selected cases");
  if (file) file->write(fault_matrices_to_json(matrices));
  if (!file || !file->is_standard_output())
    for (const FaultMatrix& matrix : matrices) fmt::print("{}\n", fault_matrix_text(matrix));
  const std::vector<std::string> missing = kernels_without_source_faults(options, request);
  if (!missing.empty()) {
    std::FILE* const stream = file && file->is_standard_output() ? stderr : stdout;
    fmt::print(
        stream,
        "no source fault of {} is in this program (KVR_BUILD_FAULTS is OFF, or there is no faults.txt): none "
        "was tried; --kind output --kind argument leaves them out\n",
        fmt::join(missing, ", "));
  }
  return alive > 0 || !missing.empty() ? kExitFail : kExitPass;
}

}  // namespace kvr
