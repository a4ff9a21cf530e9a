// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/study_text.h"

#include <fmt/format.h>

#include "harness/report/counted.h"
#include "harness/report/text_table.h"

namespace kvr {
namespace {

std::string place(const Extreme& extreme) {
  if (extreme.element.index < 0) return "";
  return fmt::format("row {}, column {}, seed {}", extreme.element.row, extreme.element.column, extreme.seed);
}

std::string values(const Extreme& extreme) {
  if (extreme.element.index < 0) return "";
  return fmt::format("{:.7g} for {:.9g}", extreme.element.actual, extreme.element.expected);
}

// "1.07 % (1 % to 1.13 %)", "0 (below 3 in a million)": a share of the draws with its 95 % interval.
std::string interval_text(std::uint64_t count, std::uint64_t draws) {
  const Interval interval = rate_interval(count, draws);
  return count == 0 ? fmt::format("below {}", rate_text(interval.high))
                    : fmt::format("{} to {}", rate_text(interval.low), rate_text(interval.high));
}

std::string share_text(std::uint64_t count, std::uint64_t draws) {
  return rate_text(static_cast<double>(count) / static_cast<double>(draws));
}

std::string extremes_text(const OutputTally& output) {
  TextTable extremes;
  for (const char* title : {"worst", "", "where", "actual for expected", ""}) extremes.column(title);
  extremes.row({"absolute error", fmt::format("{:.6g}", output.worst_abs.value), place(output.worst_abs),
                values(output.worst_abs),
                is_floating(output.dtype) && output.worst_abs.element.index >= 0
                    ? fmt::format("half a ULP there: {:.6g}",
                                  ulp_at(output.dtype, output.worst_abs.element.expected) / 2.0)
                    : ""});
  extremes.row({"relative error", fmt::format("{:.6g}", output.worst_rel.value), place(output.worst_rel),
                values(output.worst_rel), ""});
  extremes.row({"code distance", fmt::format("{:.0f} ULP", output.worst_ulp.value), place(output.worst_ulp),
                values(output.worst_ulp), ""});
  extremes.row({"bias of a draw", fmt::format("{:.4g} ULP", output.worst_bias), "", "", ""});
  extremes.row({"row L2 error", fmt::format("{:.4g}", output.worst_row_l2), "", "", ""});
  return extremes.text(2);
}

// How far the envelope took the output from the machine's own arithmetic.
std::string moved_text(const OutputTally& output, std::uint64_t draws) {
  std::string text =
      fmt::format("  other than with the machine's own arithmetic in {} of {} ({}, 95 % interval {}; {})\n",
                  output.moved_draws, counted(draws, "draw"), share_text(output.moved_draws, draws),
                  interval_text(output.moved_draws, draws), counted(output.moved, "element"));
  if (output.moved == 0) return text;
  return text + fmt::format("    by up to {:.3g} of the value: {:.9g} for {:.9g}, {}\n",
                            output.worst_moved.value, output.worst_moved.element.actual,
                            output.worst_moved.element.expected, place(output.worst_moved));
}

std::string policy_label(const PolicyTally& policy, const std::string& output) {
  if (policy.policy == policy.rule) return policy.rule;
  if (policy.shipped && policy.policy != "shipped")
    return fmt::format("{} says nothing of '{}'; shipped: {}", policy.policy, output, policy.rule);
  return fmt::format("{}: {}", policy.policy, policy.rule);
}

std::string policies_text(const OutputTally& output, std::uint64_t draws) {
  TextTable policies;
  policies.column("policy");
  policies.column("failing", TextTable::Align::right);
  policies.column("rate", TextTable::Align::right);
  for (const char* title : {"95 % interval", "worst error/allowed", "where", "actual for expected"})
    policies.column(title);
  for (const PolicyTally& policy : output.policies)
    policies.row({policy_label(policy, output.output), std::to_string(policy.failing),
                  share_text(policy.failing, draws), interval_text(policy.failing, draws),
                  fmt::format("{:.4g}", policy.worst_ratio.value), place(policy.worst_ratio),
                  values(policy.worst_ratio)});
  return policies.text(2);
}

std::string first_failures_text(const OutputTally& output) {
  std::string text;
  for (const PolicyTally& policy : output.policies)
    if (policy.failing > 0)
      text += fmt::format("  first failure under {}: seed {}\n    {}\n", policy.policy,
                          policy.first_failing_seed, policy.first_failure);
  return text;
}

std::string output_text(const OutputTally& output, const StudyResult& study) {
  std::string text = fmt::format("\n'{}' ({}): ", output.output, dtype_name(output.dtype));
  if (output.elements == 0) return text + "never written\n";
  text += fmt::format("{}, largest |reference| {:.4g}\n", counted(output.elements, "element"),
                      output.max_abs_expected);
  text += fmt::format("  error above half a ULP in {} of {} ({})\n", output.over_half_ulp,
                      counted(study.draws, "draw"), counted(output.differing, "element"));
  if (study.envelope) text += moved_text(output, study.draws);
  return text + extremes_text(output) + "\n" + policies_text(output, study.draws) +
         first_failures_text(output);
}

std::string seeds_text(const StudyResult& study) {
  if (study.draws != study.planned)
    return fmt::format("{} of {} planned, seeds from {}", study.draws, counted(study.planned, "draw"),
                       study.first_seed);
  if (study.draws == 1) return fmt::format("1 draw, seed {}", study.first_seed);
  return fmt::format("{} draws, seeds {} to {}", study.draws, study.first_seed,
                     study.first_seed + (study.draws - 1));
}

}  // namespace

std::string rate_text(double rate) {
  if (rate == 0.0) return "0";
  if (rate < 1e-4) return fmt::format("{:.2g} in a million", rate * 1e6);
  return fmt::format("{:.3g} %", rate * 100.0);
}

std::string study_text(const StudyResult& study) {
  std::string text = fmt::format("{}\n{}{}{}: {}\n", study.case_name, study.machine,
                                 study.fault.empty() ? "" : ", source fault " + study.fault,
                                 study.envelope ? ", over the arithmetic envelope" : "", seeds_text(study));
  if (!study.envelope_gap.empty()) text += fmt::format("not varied: {}\n", study.envelope_gap);
  if (study.draws > 0)
    for (const OutputTally& output : study.outputs) text += output_text(output, study);
  return text + fmt::format("\ndigest {:#018x}\n", study.digest);
}

}  // namespace kvr
