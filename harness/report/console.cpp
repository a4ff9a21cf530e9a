// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/console.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "harness/report/failure_text.h"
#include "harness/report/summary.h"

namespace kvr {
namespace {

constexpr std::size_t kVerdictWidth = 12;  // "launch_error"
constexpr auto kProgressInterval = std::chrono::milliseconds(100);

// The part of a case line behind the verdict.
std::string line_tail(const CaseReport& report, bool with_reason) {
  Worst worst;
  worst.add(report);
  const std::string numbers =
      worst.known ? fmt::format("{:>8} x {:>4} ULP", ratio_text(worst.ratio), ulp_text(worst.ulp))
                  : fmt::format("{:>8}   {:>4}    ", "-", "-");
  std::string text =
      fmt::format("{:>8.3f} s {}  {}  {}", report.seconds, numbers, report.machine, printed_name(report));
  if (!report.fault.empty()) text += fmt::format("  fault {}", report.fault);
  if (with_reason && report.verdict != Verdict::pass) text += ": " + report.reason;
  return text;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

}  // namespace

std::string case_line(const CaseReport& report) {
  return fmt::format("{:<{}} {}", verdict_name(report.verdict), kVerdictWidth, line_tail(report, true));
}

ConsoleOptions console_options(std::FILE* stream) {
  ConsoleOptions options;
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  options.terminal = ::isatty(::fileno(stream)) == 1 && !dumb;
  const char* no_color = std::getenv("NO_COLOR");
  options.colour = options.terminal && (no_color == nullptr || *no_color == '\0');
  return options;
}

Console::Console(std::FILE* stream, std::int64_t planned, ConsoleOptions options)
    : stream_(stream), planned_(planned), options_(options) {
  show_progress();
}

Console::~Console() {
  clear_progress();
}

std::string Console::paint(std::string_view text, Verdict verdict) const {
  if (!options_.colour) return std::string(text);
  const char* colour = is_failure(verdict)        ? "\x1b[1;31m"
                       : verdict == Verdict::pass ? "\x1b[32m"
                                                  : "\x1b[33m";
  return fmt::format("{}{}\x1b[0m", colour, text);
}

void Console::report(const CaseReport& report) {
  counts_.add(report.verdict);
  const bool failed = is_failure(report.verdict);
  if (!options_.quiet || failed) {
    clear_progress();
    const bool in_full = options_.verbose || (failed && failures_shown_ < options_.failures_in_full);
    fmt::print(stream_, "{} {}\n",
               paint(fmt::format("{:<{}}", verdict_name(report.verdict), kVerdictWidth), report.verdict),
               line_tail(report, !in_full));  // the full text begins with the reason
    if (in_full) {
      failures_shown_ += failed ? 1 : 0;
      fmt::print(stream_, "{}", describe_case(report));
      if (!options_.verbose && failures_shown_ == options_.failures_in_full)
        fmt::print(stream_,
                   "(further failures get one line: --verbose, --json FILE or kvr replay say more)\n");
    }
    std::fflush(stream_);
  }
  show_progress();
}

void Console::forward(std::string_view text) {
  if (text.empty()) return;
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (text.back() != '\n') std::fputc('\n', stderr);
}

void Console::show_progress() {
  if (!options_.terminal) return;
  const auto now = std::chrono::steady_clock::now();
  if (progress_visible_ && now - last_progress_ < kProgressInterval) return;
  clear_progress();
  last_progress_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::int64_t done = counts_.total();
  const double rate = elapsed > 0.0 ? static_cast<double>(done) / elapsed : 0.0;
  std::string line = fmt::format("{}/{} cases, {} failed", done, planned_, counts_.failed());
  if (done > 0)
    line +=
        fmt::format(", {:.0f}/s, {} left", rate, duration_text(static_cast<double>(planned_ - done) / rate));
  fmt::print(stream_, "\r{}", line);
  std::fflush(stream_);
  progress_visible_ = true;
}

void Console::clear_progress() {
  if (!progress_visible_) return;
  fmt::print(stream_, "\r\x1b[K");
  std::fflush(stream_);
  progress_visible_ = false;
}

void Console::finish(const std::vector<CaseReport>& cases) {
  clear_progress();
  options_.terminal = false;
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const Verdict tone = counts_.failed() > 0      ? Verdict::fail
                       : counts_.executed() == 0 ? Verdict::skipped
                                                 : Verdict::pass;
  fmt::print(stream_, "\n{}\n{} in {:.1f} s\n", summary_table(cases),
             paint(totals_line(planned_, counts_), tone), elapsed);
  std::fflush(stream_);
}

}  // namespace kvr
