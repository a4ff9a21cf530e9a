// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr faults: the policy x fault matrix.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/progress.h"
#include "harness/cli/selection.h"
#include "harness/report/fault_text.h"
#include "harness/report/results_file.h"
#include "harness/report/text_table.h"
#include "harness/suite/execution.h"
#include "harness/suite/fault_matrix.h"

namespace kvr {
namespace {

std::vector<std::string> columns_for(const std::string& kernel, const FaultsOptions& options,
                                     const PolicyTable& table) {
  std::vector<std::string> columns = options.policies;
  if (options.published)
    for (const Policy& row : table.alternatives())
      if (row.kernel == kernel && std::find(columns.begin(), columns.end(), row.name) == columns.end())
        columns.push_back(row.name);
  return columns;
}

std::string or_nothing(bool seen, const std::string& text) {
  return seen ? text : "nothing seen";
}

// The smallest faults each policy sees, for every output of every selected case.
int print_sensitivity(const std::vector<SelectedCase>& cases, const std::vector<MachineInfo>& machines,
                      const FaultsOptions& options, const PolicyTable& policies) {
  TextTable table;
  for (const char* title : {"machine", "case", "output", "policy", "one element", "gain", "rows zeroed"})
    table.column(title);
  for (const MachineInfo& info : machines) {
    if (!info.present) continue;
    const auto machine = open_machine(info.properties.name);
    for (const SelectedCase& one : cases) {
      Execution execution(*one.id, *machine, Seed{one.seed});
      if (execution.builder().unsupported() || execution.builder().refusal()) continue;
      execution.prepare();
      if (!execution.launch(0, "").ok()) continue;
      execution.compute_reference();
      const OutputCodes codes = execution.outputs();
      std::vector<std::string> columns = columns_for(one.id->kernel, options, policies);
      columns.insert(columns.begin(), "");
      for (std::size_t t = 0; t < codes.size(); ++t) {
        if (codes[t].empty()) continue;
        std::vector<double> values;
        const Outcome outcome = execution.outcome(t, codes[t], values);
        const std::string& output = execution.tensors()[t].decl->spec.name;
        for (const std::string& column : columns) {
          RunOptions choice;
          choose_policy(choice, column);
          const PolicyKey key{one.id->kernel, output, outcome.dtype, info.properties.platform,
                              info.properties.arch};
          const Sensitivity seen = measure_sensitivity(outcome, resolve_policy(key, policies, choice).rule);
          table.row({info.properties.name, one.id->name, output, column.empty() ? "shipped" : column,
                     or_nothing(seen.element_ulp > 0, fmt::format("{} ULP", seen.element_ulp)),
                     or_nothing(seen.gain > 0, fmt::format("{:.3g} %", 100.0 * seen.gain)),
                     or_nothing(seen.rows_share > 0, fmt::format("{:.3g} %", 100.0 * seen.rows_share))});
        }
      }
    }
  }
  if (table.empty()) throw NothingSelected("no selected case has an output to measure here");
  fmt::print("{}", table.text());
  return kExitPass;
}

}  // namespace

int run_faults(const FaultsOptions& options) {
  const PolicyChoice choice = choose_policy(options.policy_file);
  for (const std::string& policy : options.policies) {
    PolicyOptions one = options.policy_file;
    one.policy = policy;
    choose_policy(one);  // complains of a name or a rule that means nothing, before anything runs
  }
  const std::vector<SelectedCase> cases =
      select_cases(options.filter, tier_option(options.tier), seed_option(options.seed));
  const std::vector<MachineInfo> machines = choose_machines(options.machines);
  if (options.sensitivity) return print_sensitivity(cases, machines, options, choice.table);
  std::optional<ResultsFile> file;
  if (options.json) file.emplace(*options.json);

  std::set<std::string> kernels;
  for (const SelectedCase& one : cases) kernels.insert(one.id->kernel);
  std::vector<FaultMatrix> matrices;
  std::size_t survivors = 0;
  for (const MachineInfo& machine : machines) {
    if (!machine.present) {
      fmt::print(stderr, "kvr: {} skipped: no device: {}\n", machine.properties.name, machine.why);
      continue;
    }
    for (const std::string& kernel : kernels) {
      std::vector<const CaseId*> of_kernel;
      for (const SelectedCase& one : cases)
        if (one.id->kernel == kernel) of_kernel.push_back(one.id);
      FaultOptions fault_options;
      fault_options.policies = columns_for(kernel, options, choice.table);
      fault_options.seed = Seed{cases.front().seed};
      fault_options.threads = options.threads;
      Progress progress(fmt::format("cases of {} on {}", kernel, machine.properties.name));
      matrices.push_back(run_fault_matrix(kernel, of_kernel, machine.properties.name, choice.table,
                                          fault_options, [&](std::int64_t done, std::int64_t total) {
                                            progress.show(static_cast<std::uint64_t>(done),
                                                          static_cast<std::uint64_t>(total));
                                          }));
      survivors += matrices.back().survivors(0).size();
    }
  }
  if (file) file->write(fault_matrices_to_json(matrices));
  if (!file || !file->is_standard_output())
    for (const FaultMatrix& matrix : matrices) fmt::print("{}\n", fault_matrix_text(matrix));
  if (matrices.empty()) return kExitNothingRan;
  return survivors > 0 ? kExitFail : kExitPass;
}

}  // namespace kvr
