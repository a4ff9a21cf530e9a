// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/report/text_table.h"

namespace kvr {
namespace {

struct Line {
  std::string kernel, machine, group;
  Counts counts;
  Worst worst;
  double seconds = 0.0;
};

std::vector<Line> lines_of(const std::vector<CaseReport>& cases) {
  std::vector<Line> lines;
  for (const CaseReport& report : cases) {
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& l) {
      return l.kernel == report.kernel && l.machine == report.machine && l.group == report.group;
    });
    if (line == lines.end())
      line = lines.insert(lines.end(), {report.kernel, report.machine, report.group, {}, {}, 0.0});
    line->counts.add(report.verdict);
    line->worst.add(report);
    line->seconds += report.seconds;
  }
  return lines;
}

}  // namespace

std::string summary_table(const std::vector<CaseReport>& cases) {
  const std::vector<Line> lines = lines_of(cases);
  Counts all;
  for (const CaseReport& report : cases) all.add(report.verdict);

  // pass and fail always have a column; the others when they occurred.
  std::vector<Verdict> shown;
  for (std::size_t v = 0; v < kVerdicts; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    if (verdict == Verdict::pass || verdict == Verdict::fail || all[verdict] > 0) shown.push_back(verdict);
  }

  TextTable table;
  table.column("kernel");
  table.column("machine");
  table.column("group");
  for (const Verdict verdict : shown)
    table.column(std::string(verdict_name(verdict)), TextTable::Align::right);
  table.column("worst/allowed", TextTable::Align::right);
  table.column("worst ULP", TextTable::Align::right);
  table.column("seconds", TextTable::Align::right);
  for (const Line& line : lines) {
    std::vector<std::string> cells{line.kernel, line.machine, line.group};
    for (const Verdict verdict : shown)
      cells.push_back(line.counts[verdict] == 0 ? "-" : std::to_string(line.counts[verdict]));
    cells.push_back(line.worst.known ? ratio_text(line.worst.ratio) : "-");
    cells.push_back(line.worst.known ? ulp_text(line.worst.ulp) : "-");
    cells.push_back(fmt::format("{:.2f}", line.seconds));
    table.row(std::move(cells));
  }
  return table.text();
}

std::string totals_line(std::int64_t planned, const Counts& counts) {
  constexpr std::array<const char*, kVerdicts> kWords{
      "passed", "failed", "unsupported", "skipped", "launch errors", "crashed", "timed out", "without power"};
  std::string text = fmt::format("{} planned, {} reported:", planned, counts.total());
  const char* separator = " ";
  for (std::size_t v = 0; v < kVerdicts; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    if (counts[verdict] == 0 && verdict != Verdict::pass && verdict != Verdict::fail) continue;
    text += fmt::format("{}{} {}", separator, counts[verdict], kWords[v]);
    separator = ", ";
  }
  return text;
}

}  // namespace kvr
