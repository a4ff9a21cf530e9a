// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/policy_coverage.h"

#include <algorithm>
#include <string>

#include "harness/machine/arch.h"

namespace kvr {
namespace {

struct Arch {
  const char* platform;
  const char* name;
};
constexpr Arch kUsual[] = {{"cpu", "emulated-warp32"},
                           {"cpu", "emulated-warp64"},
                           {"cuda", "sm_90"},
                           {"hip", "gfx942"},
                           {"hip", "gfx950"}};

std::string platform_of(const std::string& arch) {
  return arch.starts_with("sm_") ? "cuda" : arch.starts_with("gfx") ? "hip" : "cpu";
}

MachineProperties machine_of(const std::string& platform, const std::string& arch) {
  MachineProperties machine;
  machine.name = platform + ":" + arch;
  machine.platform = platform;
  machine.arch = arch;
  if (platform == "cpu") {
    machine.warp_size = arch == "emulated-warp64" ? 64 : 32;
    machine.fp8 = machine.warp_size == 64 ? kE4m3fnuz224 : kE4m3fn;
  } else {
    machine.warp_size = warp_size_of_arch(arch);
    machine.fp8 = fp8_of_arch(arch);
  }
  return machine;
}

}  // namespace

std::vector<MachineProperties> machines_of_table(const PolicyTable& policies) {
  std::vector<MachineProperties> machines;
  const auto add = [&](const std::string& platform, const std::string& arch) {
    const MachineProperties machine = machine_of(platform, arch);
    const bool there = std::any_of(machines.begin(), machines.end(),
                                   [&](const MachineProperties& m) { return m.name == machine.name; });
    if (!there) machines.push_back(machine);
  };
  for (const Arch& arch : kUsual) add(arch.platform, arch.name);
  for (const auto* rows : {&policies.rows(), &policies.alternatives()})
    for (const Policy& row : *rows)
      if (!row.arch.empty()) add(row.platform.empty() ? platform_of(row.arch) : row.platform, row.arch);
  return machines;
}

std::vector<PolicyKey> policy_keys(const CaseId& id, const MachineProperties& machine) {
  CaseBuilder builder(id.params, Seed{0}, machine, id.data_id);
  id.describe(builder);
  std::vector<PolicyKey> keys;
  for (const TensorDecl& tensor : builder.tensors())
    if (tensor.role != Role::input)
      keys.push_back({id.kernel, tensor.spec.name, tensor.spec.dtype, machine.platform, machine.arch});
  return keys;
}

std::vector<const Policy*> unused_rows(const PolicyTable& policies, const std::vector<CaseId>& cases) {
  std::vector<const Policy*> unused;
  for (const auto* rows : {&policies.rows(), &policies.alternatives()})
    for (const Policy& row : *rows) unused.push_back(&row);
  const std::vector<std::string> names = policies.alternative_names();
  const std::vector<MachineProperties> machines = machines_of_table(policies);
  for (const CaseId& id : cases) {
    for (const MachineProperties& machine : machines) {
      if (unused.empty()) return unused;
      for (const PolicyKey& key : policy_keys(id, machine)) {
        std::erase(unused, policies.resolve(key));
        for (const std::string& name : names) std::erase(unused, policies.alternative(name, key));
      }
    }
  }
  return unused;
}

}  // namespace kvr
