// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a run prints while it goes on: a line per case, the full text of the first failures, and on a terminal
// a progress line. Without a terminal there are plain lines only: no carriage returns, no colours.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "harness/report/results.h"

namespace kvr {

struct ConsoleOptions {
  bool terminal = false;  // progress line
  bool colour = false;
  bool quiet = false;    // only what did not pass, and the summary
  bool verbose = false;  // the numbers of every case
  std::int64_t failures_in_full =
      10;  // further failures get their one line: a broken kernel fails everywhere
};

// Terminal and colours as `stream` and the environment (NO_COLOR, TERM=dumb) say.
ConsoleOptions console_options(std::FILE* stream);

class Console {
 public:
  Console(std::FILE* stream, std::int64_t planned, ConsoleOptions options);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void report(const CaseReport& report);
  // What the case wrote to its own streams: passed on as it is.
  void forward(std::string_view text);
  // Removes the progress line; prints the table and the totals.
  void finish(const std::vector<CaseReport>& cases);

 private:
  void show_progress();
  void clear_progress();
  std::string paint(std::string_view text, Verdict verdict) const;

  std::FILE* stream_;
  std::int64_t planned_;
  ConsoleOptions options_;
  Counts counts_;
  std::int64_t failures_shown_ = 0;
  bool progress_visible_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_progress_{};
};

// "pass          0.003 s    0.41 x    1 ULP  cpu:warp32  k_norm_rope/.../seed=0", without a newline. What did
// not pass ends in its reason.
std::string case_line(const CaseReport& report);

}  // namespace kvr
