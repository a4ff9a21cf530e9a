// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/ledger_text.h"

#include <fmt/format.h>

#include "harness/report/counted.h"

namespace kvr {
namespace {

constexpr std::size_t kShown = 20;  // the rest is in the results file

}  // namespace

std::string ledger_text(const LedgerReport& report) {
  const LedgerReview& review = report.review;
  std::string text = fmt::format(
      "ledger {}: {}", report.file,
      review.remarks.empty() ? fmt::format("nothing unusual in {} families of outputs", review.families)
                             : counted(review.remarks.size(), "remark") + " on what is inside its policy");
  if (review.unknown > 0)
    text += fmt::format("; {} of {} families are not in it (kvr check --update-ledger adds them)",
                        review.unknown, review.families);
  text += "\n";
  for (std::size_t i = 0; i < review.remarks.size() && i < kShown; ++i) {
    const Remark& remark = review.remarks[i];
    text += fmt::format("  {:<7}  {}  {} '{}': {}\n", remark_kind_name(remark.kind), remark.machine,
                        remark.case_name, remark.output, remark.text);
  }
  if (review.remarks.size() > kShown)
    text += fmt::format("  and {} more: --json FILE has all\n", review.remarks.size() - kShown);
  return text;
}

}  // namespace kvr
