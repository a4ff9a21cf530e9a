// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Which machines a command runs on, and what becomes of the cases of one whose device is not here.
#pragma once

#include <string>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/suite/verdict.h"

namespace kvr {

// `names` empty: every machine of this build. In listing order, each once. Throws UsageError naming an
// unknown machine and the known ones.
std::vector<MachineInfo> choose_machines(const std::vector<std::string>& names);

// The verdict on a case whose machine is not present: skipped, or a failure where KVR_REQUIRE_DEVICE is set
// (to anything but 0). `reason` receives "no device: WHY".
Verdict verdict_without_device(const MachineInfo& machine, std::string& reason);

// Throws UsageError, naming the faults there are, unless some of `kernels` has `fault` on every one of
// `machines`. Returns the kernels that have it; all of them when `fault` is empty.
std::vector<std::string> kernels_with_fault(const std::vector<std::string>& kernels,
                                            const std::vector<MachineInfo>& machines,
                                            const std::string& fault);

}  // namespace kvr
