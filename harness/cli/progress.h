// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// How far a long command has come: a line that is rewritten on a terminal, a plain line every ten seconds
// elsewhere. Goes to standard error, so that standard output holds results only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace kvr {

class Progress {
 public:
  // `unit` in the plural: "draws". `done_before`: by an earlier run, which says nothing of this one's rate.
  explicit Progress(std::string unit, std::uint64_t done_before = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Draws a line when enough time has passed since the last. `note` follows it: "3 failing".
  void show(std::uint64_t done, std::uint64_t total, const std::string& note = "");

 private:
  using Clock = std::chrono::steady_clock;
  std::string unit_;
  bool terminal_;
  bool visible_ = false;
  std::uint64_t done_before_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = Clock::now();
};

}  // namespace kvr
