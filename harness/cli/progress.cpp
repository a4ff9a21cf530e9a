// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace kvr {

Progress::Progress(std::string unit) : unit_(std::move(unit)), terminal_(::isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (visible_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::show(std::uint64_t done, std::uint64_t total, const std::string& note) {
  const auto now = Clock::now();
  if (first_done_ == UINT64_MAX) first_done_ = done;
  const double since = std::chrono::duration<double>(now - last_).count();
  if (since < (terminal_ ? 0.2 : 10.0)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done - first_done_) / seconds;
  const auto left = rate > 0.0 ? static_cast<std::uint64_t>(static_cast<double>(total - done) / rate) : 0;
  const std::string line = fmt::format("{} of {} {}, {:.0f}/s, {}:{:02} left{}{}", done, total, unit_, rate,
                                       left / 60, left % 60, note.empty() ? "" : ", ", note);
  if (terminal_)
    fmt::print(stderr, "\r{}\x1b[K", line);
  else
    fmt::print(stderr, "{}\n", line);
  visible_ = terminal_;
  std::fflush(stderr);
}

}  // namespace kvr
