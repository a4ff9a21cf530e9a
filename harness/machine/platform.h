// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What each platform provides to machine.cpp: cpu_machine.cpp on cpu, the gpu files on cuda and hip. One of
// them is linked.
#pragma once

#include <memory>
#include <vector>

#include "harness/machine/machine.h"

namespace kvr {

// Every machine of this build, in listing order; on a GPU platform without a device, one entry with `present`
// false and `why`.
std::vector<MachineInfo> platform_machines();

// `info` is one of platform_machines(), and present. Throws std::invalid_argument naming an option that makes
// no sense here.
std::unique_ptr<Machine> open_platform_machine(const MachineInfo& info, const MachineOptions& options);

}  // namespace kvr
