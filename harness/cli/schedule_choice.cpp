// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/schedule_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/cli/exit_code.h"
#include "harness/cli/numbers.h"
#include "harness/cli/selection.h"

namespace kvr {
namespace {

constexpr std::uint64_t kMostSchedules = 100000;  // a typing error above it

void check_known(const std::string& name) {
  const std::vector<std::string> known = schedule_names();
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw UsageError(fmt::format("--schedule '{}' is none of {}{}", name, fmt::join(known, ", "),
                                 did_you_mean(name, known)));
}

}  // namespace

void choose_schedules(RunOptions& run, const ScheduleOptions& options) {
  if (options.schedules && options.schedule)
    throw UsageError("--schedules and --schedule exclude each other");
  if (options.seed && !options.schedule)
    throw UsageError(fmt::format("--schedule-seed {} goes with --schedule", *options.seed));
  if ((options.schedules || options.schedule) && schedule_names().size() < 2)
    throw UsageError(
        "--schedule, --schedules: GPUs schedule their own threads; only cpu machines have a choice");
  if (options.schedules) {
    const auto count = parse_unsigned(*options.schedules);
    if (!count || *count > kMostSchedules)
      throw UsageError(
          fmt::format("--schedules {}: must be a number from 0 to {}", *options.schedules, kMostSchedules));
    run.random_schedules = static_cast<int>(*count);
  }
  if (!options.schedule) return;
  check_known(*options.schedule);
  run.schedule = ScheduleChoice{*options.schedule, 0};
  if (!options.seed) return;
  const auto seed = parse_unsigned(*options.seed);
  if (!seed)
    throw UsageError(fmt::format("--schedule-seed {}: must be a number from 0 to 2^64-1", *options.seed));
  run.schedule->seed = *seed;
}

std::vector<std::string> schedule_arguments(const ScheduleOptions& options) {
  std::vector<std::string> arguments;
  const auto add = [&arguments](const char* name, const std::optional<std::string>& value) {
    if (value) arguments.insert(arguments.end(), {name, *value});
  };
  add("--schedules", options.schedules);
  add("--schedule", options.schedule);
  add("--schedule-seed", options.seed);
  return arguments;
}

}  // namespace kvr
