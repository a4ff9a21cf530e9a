// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/study_text.h"

#include <fmt/format.h>

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

std::string output_text(const OutputTally& output, std::uint64_t draws) {
  std::string text = fmt::format("\n'{}' ({}): {} elements, largest |reference| {:.4g}\n", output.output,
                                 dtype_name(output.dtype), output.elements, output.max_abs_expected);
  text += fmt::format(
      "  {} element{} in {} of {} draws not the rounding of the reference (error above half a ULP)\n",
      output.differing, output.differing == 1 ? "" : "s", output.over_half_ulp, draws);
  TextTable extremes;
  for (const char* title : {"worst", "", "where", "actual for expected", ""}) extremes.column(title);
  extremes.row({"absolute error", fmt::format("{:.6g}", output.worst_abs.value), place(output.worst_abs),
                values(output.worst_abs),
                is_floating(output.dtype)
                    ? fmt::format("half a ULP there: {:.6g}",
                                  ulp_at(output.dtype, output.worst_abs.element.expected) / 2.0)
                    : ""});
  extremes.row({"relative error", fmt::format("{:.6g}", output.worst_rel.value), place(output.worst_rel),
                values(output.worst_rel), ""});
  extremes.row({"code distance", fmt::format("{:.0f} ULP", output.worst_ulp.value), place(output.worst_ulp),
                values(output.worst_ulp), ""});
  extremes.row({"bias of a draw", fmt::format("{:.4g} ULP", output.worst_bias), "", "", ""});
  extremes.row({"row L2 error", fmt::format("{:.4g}", output.worst_row_l2), "", "", ""});
  text += extremes.text(2) + "\n";

  TextTable policies;
  policies.column("policy");
  policies.column("failing", TextTable::Align::right);
  policies.column("rate", TextTable::Align::right);
  for (const char* title : {"95 % interval", "worst error/allowed", "where", "actual for expected"})
    policies.column(title);
  for (const PolicyTally& policy : output.policies) {
    const Interval interval = rate_interval(policy.failing, draws);
    const std::string rate = rate_text(static_cast<double>(policy.failing) / static_cast<double>(draws));
    policies.row(
        {policy.policy == policy.rule ? policy.rule : fmt::format("{}: {}", policy.policy, policy.rule),
         std::to_string(policy.failing), rate,
         policy.failing == 0 ? fmt::format("below {}", rate_text(interval.high))
                             : fmt::format("{} to {}", rate_text(interval.low), rate_text(interval.high)),
         fmt::format("{:.4g}", policy.worst_ratio.value), place(policy.worst_ratio),
         values(policy.worst_ratio)});
  }
  return text + policies.text(2);
}

}  // namespace

std::string rate_text(double rate) {
  if (rate == 0.0) return "0";
  if (rate < 1e-4) return fmt::format("{:.2g} in a million", rate * 1e6);
  return fmt::format("{:.3g} %", rate * 100.0);
}

std::string study_text(const StudyResult& study) {
  std::string text =
      fmt::format("{}\n{}{}{}: {} draws, seeds from {}{}\n", study.case_name, study.machine,
                  study.fault.empty() ? "" : ", source fault " + study.fault,
                  study.envelope ? ", over the arithmetic envelope" : "", study.draws, study.first_seed,
                  study.draws == study.planned ? "" : fmt::format(" (of {} planned)", study.planned));
  for (const OutputTally& output : study.outputs) text += output_text(output, study.draws);
  return text + fmt::format("\ndigest {:#018x}\n", study.digest);
}

}  // namespace kvr
