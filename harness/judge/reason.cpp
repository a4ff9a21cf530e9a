// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Values are printed with six significant digits: enough to recognise them; results files carry all digits.
#include "harness/judge/reason.h"

#include <fmt/format.h>

namespace kvr {
namespace {

std::string place(const Element& element) {
  return fmt::format("element {} (row {}, column {})", element.index, element.row, element.column);
}

std::string limit(std::string_view key, const Rule& rule) {
  Rule only;
  if (key == rule_key_name(RuleKey::exact)) only.exact = true;
  if (key == rule_key_name(RuleKey::atol_rtol)) {
    only.atol = rule.atol;
    only.rtol = rule.rtol;
  }
  if (key == rule_key_name(RuleKey::max_ulp)) only.max_ulp = rule.max_ulp;
  if (key == rule_key_name(RuleKey::tie_window)) only.tie_window = rule.tie_window;
  if (key == rule_key_name(RuleKey::budget)) only.budget = rule.budget;
  if (key == "bias") only.bias = rule.bias;
  if (key == "row_l2") only.row_l2 = rule.row_l2;
  return only.text();
}

}  // namespace

std::string mismatch_reason(const Element& element) {
  switch (element.mismatch) {
    case Mismatch::unexpected_nan:
      return fmt::format("{}: unexpected NaN, expected {:.6g}", place(element), element.expected);
    case Mismatch::missing_nan:
      return fmt::format("{}: {:.6g}, expected NaN", place(element), element.actual);
    default:
      return fmt::format("{}: {:.6g}, expected {:.6g}: infinity equals only itself", place(element),
                         element.actual, element.expected);
  }
}

std::string tolerance_reason(const ElementJudge& elements, std::int64_t index, std::int64_t failing) {
  const Element element = elements.describe(index);
  const Finding finding = elements.at(index);
  return fmt::format(
      "{}: {:.6g} instead of {:.6g} is off by {:.4g} ({} {}), {} allows {:.4g}; {} of {} elements fail",
      place(element), element.actual, element.expected, element.error, element.ulp,
      element.ulp == 1 ? "code" : "codes", limit(rule_key_name(finding.key), elements.rule()),
      element.allowed, failing, elements.outcome().rows * elements.outcome().row_len);
}

std::string row_l2_reason(const Comparison& comparison, const Rule& rule) {
  return fmt::format("row {} has a relative L2 error of {:.4g}, the rule is {}", comparison.worst_row_l2_row,
                     comparison.worst_row_l2, limit("row_l2", rule));
}

std::string bias_reason(const Comparison& comparison, const Rule& rule) {
  return fmt::format("the mean signed error is {:+.4g} ULP, the rule is {}", comparison.mean_signed_ulp,
                     limit("bias", rule));
}

}  // namespace kvr
