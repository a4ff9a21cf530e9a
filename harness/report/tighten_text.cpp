// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/tighten_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harness/report/counted.h"
#include "harness/report/text_table.h"

namespace kvr {
namespace {

SupportedRule supported(const char* kind, const Worst& worst, double margin) {
  SupportedRule rule{kind, fmt::format("{:.4g}", worst.value), "", worst.where};
  if (std::isfinite(worst.value)) rule.rule = fmt::format("{}={}", kind, round_up(margin * worst.value));
  return rule;
}

std::string scope_text(const RowNeed& need, double margin, bool envelope) {
  return fmt::format("  {}: {} of {} on {}{}; margin {:g}\n", dtype_name(need.dtype),
                     counted(need.draws, "draw"), counted(need.cases, "case"), fmt::join(need.machines, ", "),
                     envelope ? ", over the arithmetic envelope" : "", margin);
}

std::string need_text(const RowNeed& need, double margin, bool envelope) {
  TextTable table;
  for (const char* title : {"kind", "worst seen", "supports", "where"}) table.column(title);
  for (const SupportedRule& rule : supported_rules(need, margin))
    table.row({rule.kind, rule.seen, rule.rule.empty() ? "nothing" : rule.rule, rule.where});
  return scope_text(need, margin, envelope) + table.text(4);
}

std::string shipped_text(const RowReport& report) {
  double used = 0.0;
  std::uint64_t failing = 0, draws = 0;
  std::string first;
  for (const RowNeed& need : report.needs) {
    used = std::max(used, need.shipped.value);
    failing += need.failing;
    draws += need.draws;
    if (need.failing == 0) continue;
    const std::size_t line = need.first_failure.find('\n');
    first += fmt::format("    {}: first {}\n      {}\n", dtype_name(need.dtype),
                         need.first_failure.substr(0, line), need.first_failure.substr(line + 1));
  }
  if (failing > 0) return fmt::format("  FAILS     {} of {}\n{}", failing, counted(draws, "draw"), first);
  return fmt::format("  shipped   {} holds; the worst element uses {:.3g} of what it allows\n",
                     report.row->rule.text(), used);
}

std::string loose_text(const Slack& slack) {
  if (std::isfinite(slack.factor))
    return fmt::format("  LOOSE     {} allows {:.3g} times what any machine here needs\n", slack.key,
                       slack.factor);
  return fmt::format("  LOOSE     {} is needed nowhere: there is nothing to allow\n", slack.key);
}

std::string relaxation_text(const Policy& row, const Relaxation& relaxation) {
  const std::string neutral =
      fmt::format("{} ({})", relaxation.neutral->place(), relaxation.neutral->rule.text());
  const std::string target = row.arch.empty() ? row.platform : row.arch;
  if (relaxation.measured_there)
    return relaxation.failing == 0
               ? fmt::format("  NEEDLESS  without this relaxation for {}, {} holds in {} there\n", target,
                             neutral, counted(relaxation.draws, "draw"))
               : fmt::format("  needed    without this relaxation for {}, {} fails {} of {} there\n", target,
                             neutral, relaxation.failing, counted(relaxation.draws, "draw"));
  return fmt::format("  elsewhere no {} here; on these machines {} fails {} of {}\n", target, neutral,
                     relaxation.failing, counted(relaxation.draws, "draw"));
}

}  // namespace

std::string round_up(double value) {
  if (value <= 0.0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
  for (double digits = std::ceil(value / unit);; ++digits) {
    const std::string text = fmt::format("{:.2g}", digits * unit);
    double back = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (back >= value) return text;
  }
}

std::vector<SupportedRule> supported_rules(const RowNeed& need, double margin) {
  std::vector<SupportedRule> rules;
  rules.push_back(need.differing == 0
                      ? SupportedRule{"exact", "no difference", "exact", ""}
                      : SupportedRule{"exact", counted(need.differing, "difference"), "", ""});
  rules.push_back(supported("atol", need.atol, margin));
  rules.push_back(supported("rtol", need.rtol, margin));
  SupportedRule codes{"max_ulp", fmt::format("{:.0f}", need.max_ulp.value), "", need.max_ulp.where};
  if (need.max_ulp.value < static_cast<double>(kNanDistance))
    codes.rule = fmt::format("max_ulp={:.0f}", need.max_ulp.value);
  rules.push_back(codes);
  rules.push_back(supported("tie_window", need.tie_window, margin));
  if (need.budget) rules.push_back(supported("budget", *need.budget, margin));
  rules.push_back(supported("bias", need.bias, margin));
  rules.push_back(supported("row_l2", need.row_l2, margin));
  return rules;
}

std::string row_text(const RowReport& report, double margin, bool envelope) {
  const Policy& row = *report.row;
  std::string selector = row.kernel;
  if (!row.output.empty()) selector += fmt::format(" '{}'", row.output);
  if (!row.platform.empty()) selector += fmt::format(" on {}", row.platform);
  if (!row.arch.empty()) selector += fmt::format(" {}", row.arch);
  std::string text = fmt::format("{}: {}: {}\n", row.place(), selector, row.rule.text());
  for (const RowNeed& need : report.needs) text += need_text(need, margin, envelope);
  if (!report.needs.empty()) text += shipped_text(report);
  for (const Slack& slack : report.loose) text += loose_text(slack);
  if (report.expired) text += fmt::format("  EXPIRED   on {}: {}\n", row.expires, row.reason);
  if (report.relaxation) text += relaxation_text(row, *report.relaxation);
  return text;
}

std::string tighten_summary(const std::vector<RowReport>& reports) {
  std::uint64_t measured = 0, loose = 0, expired = 0, needless = 0, failing = 0;
  for (const RowReport& report : reports) {
    measured += report.needs.empty() ? 0 : 1;
    loose += report.loose.empty() ? 0 : 1;
    expired += report.expired ? 1 : 0;
    needless += report.needless() ? 1 : 0;
    failing += report.failing() ? 1 : 0;
  }
  return fmt::format("{} measured: {} loose, {} expired, {} needless, {} failing\n", counted(measured, "row"),
                     loose, expired, needless, failing);
}

}  // namespace kvr
