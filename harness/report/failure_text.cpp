// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/failure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "harness/report/counted.h"
#include "harness/report/results.h"
#include "harness/report/text_table.h"

namespace kvr {
namespace {

constexpr std::size_t kElementsShown = 5;  // of the judge's eight: the rest is in the results file
constexpr std::size_t kReasonWidth = 100;  // a policy's reason is prose; longer lines are folded

std::string field(std::string_view label, std::string_view text) {
  return fmt::format("  {:<8}  {}\n", label, text);
}

// Folds prose at blanks; following lines stand under the first.
std::string prose(std::string_view label, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = text.size();
    if (length > kReasonWidth) {
      length = text.rfind(' ', kReasonWidth);
      if (length == std::string_view::npos || length == 0)
        length = std::min(text.find(' ', kReasonWidth), text.size());
    }
    out += field(out.empty() ? label : "", text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out;
}

std::string code_text(DType dtype, std::uint64_t code) {
  return fmt::format("{:#0{}x}", code, 2 + 2 * dtype_size(dtype));
}

// What decided: a special value has no meaningful "allowed".
std::vector<std::string> element_cells(const Element& e, DType dtype) {
  const bool special = e.mismatch == Mismatch::unexpected_nan || e.mismatch == Mismatch::missing_nan ||
                       e.mismatch == Mismatch::wrong_infinity;
  return {fmt::format("({}, {})", e.row, e.column),
          fmt::format("{:.9g}", e.actual),
          code_text(dtype, e.code),
          fmt::format("{:.9g}", e.expected),
          code_text(dtype, e.expected_code),
          special ? "-" : fmt::format("{:.5g}", e.error),
          special ? "-" : fmt::format("{:.5g}", e.allowed),
          special ? std::string(mismatch_name(e.mismatch)) : ulp_text(e.ulp)};
}

std::string elements(const OutputReport& output) {
  const Comparison& c = output.comparison;
  TextTable table;
  table.column("(row, column)");
  table.column("actual", TextTable::Align::right);
  table.column("code");
  table.column("expected", TextTable::Align::right);
  table.column("code");
  table.column("error", TextTable::Align::right);
  table.column("allowed", TextTable::Align::right);
  table.column("ULP", TextTable::Align::right);
  std::vector<Element> shown = c.examples;
  if (shown.size() > kElementsShown) shown.resize(kElementsShown);
  if (shown.empty()) {  // nothing failed element by element: the places closest to it
    if (c.worst.index >= 0) shown.push_back(c.worst);
    if (c.worst_ulp.index >= 0 && c.worst_ulp.index != c.worst.index) shown.push_back(c.worst_ulp);
  }
  for (const Element& element : shown) table.row(element_cells(element, output.dtype));
  return table.empty() ? "" : table.text(4);
}

std::string counts(const Comparison& c) {
  std::string text = fmt::format("{} of {} fail", c.failing, counted(c.numel, "element"));
  if (c.failing > 0) text += fmt::format(", in {}", counted(c.failing_rows, "row"));
  if (c.worst_row >= 0 && c.worst_row_failing > 0)
    text += fmt::format("; row {} has {} of them", c.worst_row, c.worst_row_failing);
  if (c.outlier_limit > 0)
    text += fmt::format("; {} excused as outliers, {} allowed", c.excused, c.outlier_limit);
  return text;
}

std::string errors(const Comparison& c) {
  std::string text =
      fmt::format("max {:.3g}, relative {:.3g}, {} x allowed; mean {:+.2g} ULP", c.max_abs_error,
                  c.max_rel_error, ratio_text(c.worst_ratio), c.mean_signed_ulp);
  if (c.worst_row_l2_row >= 0)
    text += fmt::format("; row L2 {:.2g} (row {})", c.worst_row_l2, c.worst_row_l2_row);
  return text;
}

// "0: 4730, 1: 5, special: 1": the buckets that hold anything.
std::string histogram(const Comparison& c) {
  std::string text;
  for (std::size_t b = 0; b < Comparison::kBuckets; ++b)
    if (c.histogram[b] > 0)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ",  ", histogram_labels()[b], c.histogram[b]);
  return text;
}

std::string policy_line(const Policy& policy) {
  std::string text = policy.rule.text();
  if (!policy.name.empty()) text += fmt::format("   [{}]", policy.name);
  if (!policy.file.empty()) text += fmt::format("   {}", policy.place());
  return text;
}

std::string describe_output(const OutputReport& output) {
  const Comparison& c = output.comparison;
  std::string out =
      fmt::format("  output '{}', {}: {}\n", output.output, dtype_name(output.dtype), counts(c));
  out += elements(output);
  if (!c.accepted && c.differing == 0)
    out += prose("likely", "the policy: every code is the correct rounding of the reference");
  else if (!output.explanation.empty())
    out += prose("likely", output.explanation);
  out += field("errors", errors(c));
  out += field("ULP off", histogram(c));
  if (c.nan_actual + c.nan_expected + c.inf_actual + c.inf_expected > 0)
    out += field("special", fmt::format("NaN: {} actual, {} expected; infinite: {} actual, {} expected",
                                        c.nan_actual, c.nan_expected, c.inf_actual, c.inf_expected));
  out += field("policy", policy_line(output.policy));
  out += prose("because", output.policy.reason);
  return out;
}

}  // namespace

std::string printed_name(const CaseReport& report) {
  return fmt::format("{}/seed={}", report.name, report.seed);
}

std::string describe_case(const CaseReport& report) {
  std::string out = prose("reason", report.reason);
  // When some output was rejected, the accepted ones are one line each.
  const bool some_rejected = std::any_of(report.outputs.begin(), report.outputs.end(),
                                         [](const OutputReport& o) { return !o.comparison.accepted; });
  for (const OutputReport& output : report.outputs) {
    if (some_rejected && output.comparison.accepted)
      out += fmt::format("  output '{}', {}: accepted, {} x allowed, {} ULP at worst\n", output.output,
                         dtype_name(output.dtype), ratio_text(output.comparison.worst_ratio),
                         ulp_text(output.comparison.worst_ulp.ulp));
    else
      out += describe_output(output);
  }
  if (!report.fault.empty()) out += field("fault", report.fault);
  // No inputs were generated for a case that was not run.
  out += field("inputs", report.input_hash == 0
                             ? fmt::format("seed {}", report.seed)
                             : fmt::format("{:#018x}, seed {}", report.input_hash, report.seed));
  out += field("replay", report.replay);
  return out;
}

}  // namespace kvr
