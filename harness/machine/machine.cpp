// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/machine/machine.h"

#include <fmt/format.h>

#include "harness/machine/platform.h"

namespace kvr {

void Machine::set_schedule(const ScheduleChoice& schedule) {
  if (schedule == ScheduleChoice{}) return;
  throw std::invalid_argument(
      fmt::format("schedule '{}' (seed {}): {} schedules its own threads; only cpu machines have schedules",
                  schedule.name, schedule.seed, name()));
}

std::vector<MachineInfo> list_machines() {
  return platform_machines();
}

std::unique_ptr<Machine> open_machine(std::string_view name, const MachineOptions& options) {
  std::vector<std::string> names;
  for (const MachineInfo& info : platform_machines()) {
    if (info.properties.name == name) {
      if (!info.present) throw NoDevice(fmt::format("{}: no device: {}", name, info.why));
      if (options.traffic && !info.properties.strict)
        throw std::invalid_argument(fmt::format("traffic: {} counts none; strict machines do", name));
      return open_platform_machine(info, options);
    }
    names.push_back(info.properties.name);
  }
  throw UnknownMachine(fmt::format("unknown machine '{}'; this build has: {}", name, fmt::join(names, ", ")));
}

}  // namespace kvr
