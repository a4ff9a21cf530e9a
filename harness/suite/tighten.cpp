// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/tighten.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kvr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void raise(Worst& worst, double value, std::string_view where) {
  if (value <= worst.value) return;
  worst.value = value;
  worst.where = where;
}

void raise(Worst& worst, const Extreme& extreme, std::string_view case_name) {
  raise(worst, extreme.value, fmt::format("seed {} of {}", extreme.seed, case_name));
}

// The row that would decide if no platform had one of its own.
const Policy* neutral_row(const PolicyTable& table, PolicyKey key) {
  key.platform.clear();
  key.arch.clear();
  return table.resolve(key);
}

bool is_for_platform(const Policy& row) {
  return !row.platform.empty() || !row.arch.empty();
}

const PolicyTally* tally_of(const OutputTally& output, const std::string& rule) {
  for (const PolicyTally& tally : output.policies)
    if (tally.rule == rule) return &tally;
  return nullptr;
}

// The part of `rule` that `keep` copies, as it is written.
template <class Keep>
std::string part_text(const Rule& rule, Keep keep) {
  Rule part;
  keep(rule, part);
  return part.text();
}

double factor(double used) {
  return used > 0.0 ? 1.0 / used : kInfinity;
}

}  // namespace

bool RowReport::failing() const {
  return std::any_of(needs.begin(), needs.end(), [](const RowNeed& need) { return need.failing > 0; });
}

std::vector<std::string> TightenSurvey::policies_for(
    const std::string& kernel, const MachineProperties& machine,
    const std::vector<std::pair<std::string, DType>>& outputs) const {
  std::vector<std::string> policies{""};
  for (const auto& [output, dtype] : outputs) {
    const PolicyKey key{kernel, output, dtype, machine.platform, machine.arch};
    const Policy* neutral = neutral_row(table_, key);
    if (neutral == nullptr || neutral == table_.resolve(key)) continue;
    const std::string rule = neutral->rule.text();
    if (std::find(policies.begin(), policies.end(), rule) == policies.end()) policies.push_back(rule);
  }
  return policies;
}

void TightenSurvey::add(const std::string& kernel, const MachineProperties& machine,
                        const StudyResult& study) {
  for (const OutputTally& output : study.outputs) {
    if (output.elements == 0) continue;
    const PolicyKey key{kernel, output.output, output.dtype, machine.platform, machine.arch};
    const Policy* row = table_.resolve(key);
    RowNeed& need = needs_[row][output.dtype];
    const PolicyTally& shipped = output.policies.front();
    const std::string& name = study.case_name;
    need.dtype = output.dtype;
    need.draws += study.draws;
    ++need.cases;
    need.machines.insert(study.machine);
    need.differing += output.differing;
    need.failing += shipped.failing;
    if (shipped.failing > 0 && need.first_failure.empty())
      need.first_failure = fmt::format("seed {} of {} on {}\n'{}': {}", shipped.first_failing_seed, name,
                                       study.machine, output.output, shipped.first_failure);
    raise(need.atol, output.worst_abs, name);
    raise(need.rtol, output.worst_rel, name);
    raise(need.max_ulp, output.worst_ulp, name);
    raise(need.tie_window, output.worst_tie, name);
    if (output.worst_budget.value >= 0.0) {
      if (!need.budget) need.budget.emplace();
      raise(*need.budget, output.worst_budget, name);
    }
    raise(need.bias, output.worst_bias, name);
    raise(need.row_l2, output.worst_row_l2, name);
    raise(need.shipped, shipped.worst_ratio, name);
    add_relaxations(key, output, study.draws);
  }
}

void TightenSurvey::add_relaxations(const PolicyKey& key, const OutputTally& output, std::uint64_t draws) {
  const Policy* neutral = neutral_row(table_, key);
  if (neutral == nullptr) return;
  const Policy* here = table_.resolve(key);
  const PolicyTally* judged =
      here == neutral ? &output.policies.front() : tally_of(output, neutral->rule.text());
  if (judged == nullptr) return;
  for (const Policy& row : table_.rows()) {
    if (!is_for_platform(row)) continue;
    const PolicyKey there{key.kernel, key.output, key.dtype,
                          row.platform.empty() ? key.platform : row.platform, row.arch};
    if (table_.resolve(there) != &row) continue;
    Relaxation& relaxation = relaxations_[&row];
    const bool measured_there = here == &row;
    if (relaxation.neutral != nullptr && relaxation.measured_there && !measured_there) continue;
    if (relaxation.neutral == nullptr || (measured_there && !relaxation.measured_there))
      relaxation = {neutral, measured_there, 0, 0};  // what happens there outweighs what happens elsewhere
    relaxation.draws += draws;
    relaxation.failing += judged->failing;
  }
}

std::vector<Slack> slack_of(const Rule& rule, const std::vector<RowNeed>& needs) {
  double element = 0.0, codes = 0.0, bias = 0.0, row_l2 = 0.0;
  for (const RowNeed& need : needs) {
    element = std::max(element, need.shipped.value);
    codes = std::max(codes, need.max_ulp.value);
    if (rule.bias) bias = std::max(bias, need.bias.value / *rule.bias);
    if (rule.row_l2) row_l2 = std::max(row_l2, need.row_l2.value / *rule.row_l2);
  }
  std::vector<Slack> slack;
  const bool derived = rule.exact || (rule.budget && *rule.budget <= 1.0);
  const bool by_value = rule.atol || rule.rtol || rule.tie_window || rule.budget;
  if (by_value && !derived)
    slack.push_back({part_text(rule,
                               [](const Rule& from, Rule& to) {
                                 to.atol = from.atol;
                                 to.rtol = from.rtol;
                                 to.max_ulp = from.max_ulp;
                                 to.tie_window = from.tie_window;
                                 to.budget = from.budget;
                               }),
                     factor(element)});
  // N codes from the rounding are up to N + 1/2 ULP from the value.
  if (rule.max_ulp && !by_value && !derived)
    slack.push_back({part_text(rule, [](const Rule& from, Rule& to) { to.max_ulp = from.max_ulp; }),
                     (static_cast<double>(*rule.max_ulp) + 0.5) / (codes + 0.5)});
  if (rule.bias)
    slack.push_back({part_text(rule, [](const Rule& from, Rule& to) { to.bias = from.bias; }), factor(bias)});
  if (rule.row_l2)
    slack.push_back(
        {part_text(rule, [](const Rule& from, Rule& to) { to.row_l2 = from.row_l2; }), factor(row_l2)});
  return slack;
}

std::vector<RowReport> TightenSurvey::report(std::string_view today) const {
  std::vector<RowReport> reports;
  for (const Policy& row : table_.rows()) {
    RowReport report;
    report.row = &row;
    report.expired = !row.expires.empty() && row.expires < today;
    if (const auto found = needs_.find(&row); found != needs_.end())
      for (const auto& [dtype, need] : found->second) report.needs.push_back(need);
    if (const auto found = relaxations_.find(&row); found != relaxations_.end())
      report.relaxation = found->second;
    if (!report.needs.empty() && !report.failing()) {
      report.loose = slack_of(row.rule, report.needs);
      std::erase_if(report.loose, [](const Slack& slack) { return !(slack.factor > kLoose); });
    }
    if (!report.needs.empty() || report.expired || report.relaxation) reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace kvr
