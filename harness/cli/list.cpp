// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr list: names of cases, machines with their properties, source faults.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/selection.h"
#include "harness/report/json.h"
#include "harness/report/results_file.h"
#include "harness/report/text_table.h"

namespace kvr {
namespace {

void emit(const std::optional<std::string>& json, std::string_view as_json, std::string_view as_text) {
  if (json) ResultsFile(*json).write(as_json);
  if (!json || *json != "-") fmt::print("{}", as_text);
}

std::string bytes_text(std::int64_t bytes) {
  if (bytes == 0) return "-";
  if (bytes < (std::int64_t{1} << 20)) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) * 0x1p-30);
}

int list_all_machines(const ListOptions& options) {
  const std::vector<MachineInfo> machines = list_machines();
  TextTable table;
  for (const char* title :
       {"machine", "arch", "warp", "fp8", "threads/block", "shared/block", "memory", "device"})
    table.column(title);
  for (const MachineInfo& machine : machines) {
    const MachineProperties& p = machine.properties;
    table.row({p.name, p.arch, std::to_string(p.warp_size),
               fmt::format("{} max {:g}", dtype_name(p.fp8.encoding), p.fp8.max),
               std::to_string(p.max_threads_per_block), bytes_text(p.shared_bytes_per_block),
               bytes_text(p.memory_bytes), machine.present ? p.device : "no device: " + machine.why});
  }
  emit(options.json, machines_to_json(machines), table.text());
  return machines.empty() ? kExitNothingRan : kExitPass;
}

// Kernels of the selected cases, in order of name.
std::set<std::string> kernels_of(const std::vector<SelectedCase>& cases) {
  std::set<std::string> kernels;
  for (const SelectedCase& one : cases) kernels.insert(one.id->kernel);
  return kernels;
}

int list_faults(const ListOptions& options, const std::vector<SelectedCase>& cases) {
  std::vector<std::string> names;
  TextTable table;
  for (const char* title : {"kernel", "fault", "builds"}) table.column(title);
  for (const std::string& kernel : kernels_of(cases)) {
    std::map<std::string, std::string> builds;
    for (const MachineInfo& machine : list_machines())
      for (const std::string& fault : kernel_faults(kernel, machine.properties.build)) {
        std::string& list = builds[fault];
        if (list.find(machine.properties.build) == std::string::npos)
          list += (list.empty() ? "" : ", ") + machine.properties.build;
      }
    for (const auto& [fault, list] : builds) {
      names.push_back(fmt::format("{}/{}", kernel, fault));
      table.row({kernel, fault, list});
    }
  }
  if (names.empty()) throw NothingSelected("no source faults in this build");
  emit(options.json, names_to_json("kvr-faults", names), table.text());
  return kExitPass;
}

}  // namespace

int run_list(const ListOptions& options) {
  if (options.machines && options.faults)
    throw UsageError("--machines and --faults are two lists; ask for one");
  if (options.machines && !options.filter.empty())
    throw UsageError(fmt::format("--machines takes no filter, and '{}' was given", options.filter.front()));
  if (options.machines) return list_all_machines(options);
  const std::vector<SelectedCase> cases =
      select_cases(options.filter, tier_option(options.tier), std::nullopt);
  if (options.faults) return list_faults(options, cases);
  std::vector<std::string> names;
  std::string text;
  for (const SelectedCase& one : cases) {
    // One name however many seeds a filter asked for.
    if (!names.empty() && names.back() == one.id->name) continue;
    names.push_back(one.id->name);
    text += one.id->name + '\n';
  }
  emit(options.json, names_to_json("kvr-cases", names), text);
  return kExitPass;
}

}  // namespace kvr
