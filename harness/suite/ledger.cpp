// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <tuple>

#include "harness/suite/registry.h"

namespace kvr {
namespace {

constexpr double kLeastRatio = 1.0 / 64;
constexpr double kRoundingDeviation = 0.28867513459481287;  // 1/sqrt(12): of errors even over one ULP

std::string printed(const CaseReport& report) {
  return fmt::format("{}/seed={}", report.name, report.seed);
}

const MachineProperties& properties_of(const std::string& machine, const std::vector<MachineInfo>& machines) {
  for (const MachineInfo& info : machines)
    if (info.properties.name == machine) return info.properties;
  throw std::logic_error(fmt::format("report on machine '{}', which the run did not have", machine));
}

LedgerEntry numbers_of(const OutputReport& output) {
  LedgerEntry entry;
  entry.worst_ulp = output.comparison.worst_ulp.ulp;
  entry.outliers =
      round_up(static_cast<double>(output.spread.outliers) / static_cast<double>(output.comparison.numel));
  entry.bias = round_up(std::fabs(output.spread.bias));
  entry.ratio = round_up(output.comparison.worst_ratio);
  entry.rule = output.policy.rule.text();
  return entry;
}

void raise(LedgerEntry& entry, const LedgerEntry& seen) {
  entry.worst_ulp = std::max(entry.worst_ulp, seen.worst_ulp);
  entry.outliers = std::max(entry.outliers, seen.outliers);
  entry.bias = std::max(entry.bias, seen.bias);
  entry.ratio = entry.rule == seen.rule ? std::max(entry.ratio, seen.ratio) : seen.ratio;
  entry.rule = seen.rule;
}

// Calls `visit` for every output that the ledger is about.
void for_each_output(
    const std::vector<CaseReport>& cases, const std::vector<MachineInfo>& machines,
    const std::function<void(const LedgerKey&, const CaseReport&, const OutputReport&)>& visit) {
  for (const CaseReport& report : cases) {
    if (report.verdict != Verdict::pass) continue;
    for (const OutputReport& output : report.outputs) {
      if (!output.comparison.accepted) continue;
      const MachineProperties& machine = properties_of(report.machine, machines);
      visit({report.kernel, report.group, output.output, output.dtype, machine.platform, machine.arch},
            report, output);
    }
  }
}

// The worst excess of one number in one family.
struct Excess {
  double factor = 0.0;  // over the baseline
  Remark remark;
  void consider(double candidate, const CaseReport& report, const OutputReport& output, std::string text) {
    if (candidate <= factor) return;
    factor = candidate;
    remark = {Remark::Kind::worse, report.machine, printed(report), output.output, std::move(text)};
  }
};

struct FamilyExcess {
  Excess ulp, outliers, bias, ratio;

  void compare(const LedgerEntry& known, const CaseReport& report, const OutputReport& output) {
    const auto numel = static_cast<double>(output.comparison.numel);
    const ErrorSpread& spread = output.spread;

    const std::int64_t ulp_limit = std::max<std::int64_t>(known.worst_ulp, 1);
    const auto distance = static_cast<double>(spread.outlier_ulp);
    if (distance > kWorseFactor * static_cast<double>(ulp_limit))
      ulp.consider(distance / static_cast<double>(ulp_limit), report, output,
                   fmt::format("off by {} ULP, its family never by more than {}", spread.outlier_ulp,
                               known.worst_ulp));

    const double usual = std::max(known.outliers * numel, 1.0);
    if (evidence_of_count(spread.outliers, kWorseFactor * usual) > -std::log(kPatternChance))
      outliers.consider(
          static_cast<double>(spread.outliers) / usual, report, output,
          fmt::format("{:.3g} % of the elements are off without a reason in the reference, in "
                      "its family never more than {:.3g} %",
                      100.0 * static_cast<double>(spread.outliers) / numel, 100.0 * known.outliers));

    const double bias_limit = std::max(known.bias, kRoundingDeviation / std::sqrt(numel));
    if (std::fabs(spread.bias) > kWorseFactor * bias_limit)
      bias.consider(
          std::fabs(spread.bias) / bias_limit, report, output,
          fmt::format("bias {:+.3g} ULP, in its family never more than {:.3g}", spread.bias, known.bias));

    if (known.rule != output.policy.rule.text() || output.policy.rule.budget) return;
    const double ratio_limit = std::max(known.ratio, kLeastRatio);
    if (output.comparison.worst_ratio > kWorseFactor * ratio_limit)
      ratio.consider(output.comparison.worst_ratio / ratio_limit, report, output,
                     fmt::format("{:.3g} of what is allowed, its family never needed more than {:.3g}",
                                 output.comparison.worst_ratio, known.ratio));
  }
  void append_to(std::vector<Remark>& remarks) const {
    for (const Excess* each : {&ulp, &outliers, &bias, &ratio})
      if (each->factor > 0.0)
        remarks.push_back(
            {each->remark.kind, each->remark.machine, each->remark.case_name, each->remark.output,
             fmt::format("{:.3g} times the ledger's worst: {}", each->factor, each->remark.text)});
  }
};

// What one group of siblings came to.
struct Siblings {
  struct One {
    double error = 0.0;
    const CaseReport* report = nullptr;
  };
  One best, worst;
  double rounding = 0.0;
  void add(const CaseReport& report, const OutputReport& output) {
    const double error = output.spread.max_error;
    if (best.report == nullptr || error < best.error) best = {error, &report};
    if (worst.report == nullptr || error > worst.error) worst = {error, &report};
    const double size = output.comparison.max_abs_expected;
    rounding = std::max(rounding, 0.5 * ulp_at(output.dtype, size));
  }
};

// Of the case's own parameters where it is known to this program, else its name: no siblings but on other
// machines.
std::string data_of(const CaseReport& report) {
  const CaseId* id = find_case(report.name);
  return id == nullptr ? report.name : id->data_id;
}

}  // namespace

std::string_view remark_kind_name(Remark::Kind kind) {
  switch (kind) {
    case Remark::Kind::worse:
      return "worse";
    case Remark::Kind::sibling:
      return "sibling";
    case Remark::Kind::pattern:
      return "pattern";
  }
  return "?";
}

double round_up(double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const int exponent = static_cast<int>(std::floor(std::log10(value))) - 2;
  // Through text: 10^-5 times an integer is not the double that "1.23e-3" reads as.
  for (auto digits = static_cast<std::int64_t>(value * std::pow(10.0, -exponent));; ++digits) {
    const double candidate = std::strtod(fmt::format("{}e{}", digits, exponent).c_str(), nullptr);
    if (candidate >= value) return candidate;
  }
}

bool update_ledger(Ledger& ledger, const std::vector<CaseReport>& cases,
                   const std::vector<MachineInfo>& machines) {
  const Ledger before = ledger;
  for_each_output(cases, machines,
                  [&](const LedgerKey& key, const CaseReport& report, const OutputReport& output) {
                    if (!report.fault.empty()) return;
                    const LedgerEntry seen = numbers_of(output);
                    const auto [entry, added] = ledger.try_emplace(key, seen);
                    if (!added) raise(entry->second, seen);
                  });
  return ledger != before;
}

LedgerReview review(const Ledger& ledger, const std::vector<CaseReport>& cases,
                    const std::vector<MachineInfo>& machines) {
  LedgerReview review;
  std::map<LedgerKey, FamilyExcess> families;
  std::map<std::tuple<std::string, std::string, DType, std::uint64_t>, Siblings> siblings;
  std::vector<Remark> patterns;
  for_each_output(
      cases, machines, [&](const LedgerKey& key, const CaseReport& report, const OutputReport& output) {
        FamilyExcess& family = families[key];
        if (const auto known = ledger.find(key); known != ledger.end())
          family.compare(known->second, report, output);
        siblings[{data_of(report), output.output, output.dtype, report.seed}].add(report, output);
        if (!output.spread.pattern.empty())
          patterns.push_back(
              {Remark::Kind::pattern, report.machine, printed(report), output.output, output.spread.pattern});
      });
  review.families = static_cast<std::int64_t>(families.size());
  for (const auto& [key, family] : families) {
    review.unknown += ledger.contains(key) ? 0 : 1;
    family.append_to(review.remarks);
  }
  for (const auto& [data, group] : siblings) {
    const double usual = std::max(group.best.error, group.rounding);
    if (!(group.worst.error > kSiblingFactor * usual)) continue;
    const CaseReport& worst = *group.worst.report;
    review.remarks.push_back(
        {Remark::Kind::sibling, worst.machine, printed(worst), std::get<1>(data),
         fmt::format("largest error {:.3g}, {:.3g} times that on the same data in {} on {}",
                     group.worst.error, group.worst.error / usual, printed(*group.best.report),
                     group.best.report->machine)});
  }
  review.remarks.insert(review.remarks.end(), patterns.begin(), patterns.end());
  return review;
}

}  // namespace kvr
