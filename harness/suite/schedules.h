// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The same launch under other schedules. Any order in which lanes and warps may run is legal, so a kernel
// whose output bits depend on it has a race, whatever its policy says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/suite/execution.h"
#include "harness/suite/verdict.h"

namespace kvr {

struct ScheduleDifference {
  ScheduleChoice schedule;
  Verdict verdict = Verdict::fail;
  std::string reason;  // names both schedules, tensor and element
};

// Launches the prepared case under each schedule and compares its outputs with `forward`, those of forward.
// The first that differs, ends with an error, or writes where it may not. The machine is left at forward.
std::optional<ScheduleDifference> find_schedule_difference(Execution& execution, const OutputCodes& forward,
                                                           const std::vector<ScheduleChoice>& schedules,
                                                           std::string_view fault);

// "last (seed 3)"
std::string schedule_text(const ScheduleChoice& schedule);

}  // namespace kvr
