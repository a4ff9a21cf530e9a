// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/machine/machine.h"

#include <fmt/format.h>

#include "harness/machine/platform.h"

namespace kvr {

std::vector<MachineInfo> list_machines() {
  return platform_machines();
}

std::unique_ptr<Machine> open_machine(std::string_view name, const MachineOptions& options) {
  std::vector<std::string> names;
  for (const MachineInfo& info : platform_machines()) {
    if (info.properties.name == name) {
      if (!info.present) throw NoDevice(fmt::format("{}: no device: {}", name, info.why));
      return open_platform_machine(info, options);
    }
    names.push_back(info.properties.name);
  }
  throw UnknownMachine(fmt::format("unknown machine '{}'; this build has: {}", name, fmt::join(names, ", ")));
}

}  // namespace kvr
