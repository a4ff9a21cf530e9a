// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/schedules.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/suite/memory_check.h"
#include "harness/suite/null_answers.h"

namespace kvr {
namespace {

class ScheduleGuard {
 public:
  explicit ScheduleGuard(Machine& machine) : machine_(machine) {}
  ~ScheduleGuard() { machine_.set_schedule({}); }
  ScheduleGuard(const ScheduleGuard&) = delete;
  ScheduleGuard& operator=(const ScheduleGuard&) = delete;

 private:
  Machine& machine_;
};

std::optional<std::string> difference(const Execution& execution, const OutputCodes& forward,
                                      const ScheduleChoice& schedule) {
  const OutputCodes codes = execution.outputs();
  for (std::size_t t = 0; t < codes.size(); ++t) {
    const auto [here, there] = std::mismatch(codes[t].begin(), codes[t].end(), forward[t].begin());
    if (here == codes[t].end()) continue;
    const HostTensor& tensor = execution.tensors()[t];
    const std::size_t size = dtype_size(tensor.decl->spec.dtype);
    const auto element = static_cast<std::size_t>(here - codes[t].begin()) / size;
    return fmt::format(
        "the result depends on the schedule: {} is {:#x} under forward and {:#x} under {} (a race: threads "
        "that nothing orders)",
        element_place(tensor, *execution.expected(t), element),
        load_code(forward[t].data() + element * size, size),
        load_code(codes[t].data() + element * size, size), schedule_text(schedule));
  }
  return std::nullopt;
}

}  // namespace

std::string schedule_text(const ScheduleChoice& schedule) {
  return fmt::format("{} (seed {})", schedule.name, schedule.seed);
}

std::optional<ScheduleDifference> find_schedule_difference(Execution& execution, const OutputCodes& forward,
                                                           const std::vector<ScheduleChoice>& schedules,
                                                           std::string_view fault) {
  const ScheduleGuard guard(execution.machine());
  for (const ScheduleChoice& schedule : schedules) {
    execution.machine().set_schedule(schedule);
    const LaunchStatus status = execution.launch(0, fault);
    const std::string under = fmt::format("under schedule {}: ", schedule_text(schedule));
    if (!status.ok()) return ScheduleDifference{schedule, Verdict::launch_error, under + status.what};
    if (const auto stray = execution.stray_write())
      return ScheduleDifference{schedule, Verdict::fail, under + *stray};
    if (auto differs = difference(execution, forward, schedule))
      return ScheduleDifference{schedule, Verdict::fail, std::move(*differs)};
  }
  return std::nullopt;
}

}  // namespace kvr
