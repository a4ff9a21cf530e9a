// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace kvr {
namespace {

// "2:05", "1:00:00"; not known while nothing has been done.
std::string time_text(double seconds) {
  constexpr double kAgeOfTheUniverse = 4e17;
  if (!(seconds < kAgeOfTheUniverse)) return "?";
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string unit, std::uint64_t done_before)
    : unit_(std::move(unit)), terminal_(::isatty(STDERR_FILENO) != 0), done_before_(done_before) {}

Progress::~Progress() {
  if (visible_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(std::uint64_t done, std::uint64_t total, const std::string& note) {
  const auto now = Clock::now();
  const double since = std::chrono::duration<double>(now - last_).count();
  if (since < (terminal_ ? 0.2 : 10.0)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done - done_before_) / seconds;
  const std::string line =
      fmt::format("{} of {} {}, {:.{}f}/s, {} left{}{}", done, total, unit_, rate, rate < 10.0 ? 1 : 0,
                  time_text(static_cast<double>(total - done) / rate), note.empty() ? "" : ", ", note);
  if (terminal_)
    fmt::print(stderr, "\r{}\x1b[K", line);
  else
    fmt::print(stderr, "{}\n", line);
  visible_ = terminal_;
  std::fflush(stderr);
}

}  // namespace kvr
