// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// --schedules, --schedule and --schedule-seed: under which orders of lanes and warps a case is launched
// besides forward.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/commands.h"
#include "harness/suite/runner.h"

namespace kvr {

// Throws UsageError naming the option and the value: a schedule that this build does not have, a number that
// is none, options that exclude each other.
void choose_schedules(RunOptions& run, const ScheduleOptions& options);

// The same as arguments for a worker.
std::vector<std::string> schedule_arguments(const ScheduleOptions& options);

}  // namespace kvr
