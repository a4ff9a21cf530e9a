// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/machine_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

#include "harness/cli/exit_code.h"
#include "harness/cli/selection.h"

namespace kvr {

std::vector<MachineInfo> choose_machines(const std::vector<std::string>& names) {
  std::vector<MachineInfo> all = list_machines();
  std::vector<std::string> known;
  for (const MachineInfo& machine : all) known.push_back(machine.properties.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError(fmt::format("--machine '{}' is unknown; machines of this build: {}", name,
                                   known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", "))));
  if (names.empty()) {
    std::erase_if(all, [](const MachineInfo& machine) { return machine.properties.strict; });
    return all;
  }
  std::erase_if(all, [&](const MachineInfo& machine) {
    return std::find(names.begin(), names.end(), machine.properties.name) == names.end();
  });
  return all;
}

Verdict verdict_without_device(const MachineInfo& machine, std::string& reason) {
  reason = "no device: " + machine.why;
  const char* require = std::getenv("KVR_REQUIRE_DEVICE");
  if (require == nullptr || *require == '\0' || std::string_view(require) == "0") return Verdict::skipped;
  reason += fmt::format(" (KVR_REQUIRE_DEVICE={})", require);
  return Verdict::fail;
}

std::vector<std::string> kernels_with_fault(const std::vector<std::string>& kernels,
                                            const std::vector<MachineInfo>& machines,
                                            const std::string& fault) {
  if (fault.empty()) return kernels;
  std::vector<std::string> with;
  std::set<std::string> known;
  for (const std::string& kernel : kernels) {
    bool everywhere = true;
    for (const MachineInfo& machine : machines) {
      if (why_no_kernel(kernel, machine.properties.warp_size)) continue;  // its cases are unsupported there
      const std::vector<std::string> faults = kernel_faults(kernel, machine.properties.build);
      everywhere = everywhere && std::find(faults.begin(), faults.end(), fault) != faults.end();
      known.insert(faults.begin(), faults.end());
    }
    if (everywhere) with.push_back(kernel);
  }
  if (with.empty())
    throw UsageError(fmt::format("--fault '{}' is unknown for {}{}; 'kvr list --faults' prints them", fault,
                                 fmt::join(kernels, ", "),
                                 did_you_mean(fault, {known.begin(), known.end()})));
  return with;
}

}  // namespace kvr
