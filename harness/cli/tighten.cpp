// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr tighten: the tightest rule of each kind that the draws support, beside the shipped row; rows that are
// loose or expired.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/numbers.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/progress.h"
#include "harness/cli/selection.h"
#include "harness/report/text_table.h"
#include "harness/suite/study.h"

namespace kvr {
namespace {

// What all draws of all cases that one row covers came to.
struct Seen {
  std::uint64_t draws = 0;
  double absolute = 0.0, relative = 0.0, ulp = 0.0, bias = 0.0, row_l2 = 0.0;
  std::map<std::string, double> ratio;  // machine -> worst error over allowed
  std::uint64_t failing = 0;

  void add(const OutputTally& tally, const std::string& machine, std::uint64_t count) {
    draws += count;
    absolute = std::max(absolute, tally.worst_abs.value);
    relative = std::max(relative, tally.worst_rel.value);
    ulp = std::max(ulp, tally.worst_ulp.value);
    bias = std::max(bias, tally.worst_bias);
    row_l2 = std::max(row_l2, tally.worst_row_l2);
    double& worst = ratio[machine];
    worst = std::max(worst, tally.policies.front().worst_ratio.value);
    failing += tally.policies.front().failing;
  }
  // The shipped row would do with a fraction of what it allows, on every machine. A rule that is met exactly
  // has nothing to give.
  double slack() const {
    double worst = 0.0;
    for (const auto& [machine, value] : ratio) worst = std::max(worst, value);
    return worst > 0.0 ? 1.0 / worst : 1.0;
  }
};

std::string today() {
  const std::chrono::year_month_day date{
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now())};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

struct FailOn {
  bool expired = false, loose = false;
};

FailOn parse_fail_on(const std::string& text) {
  FailOn fail;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (word == "expired")
      fail.expired = true;
    else if (word == "loose")
      fail.loose = true;
    else
      throw UsageError(fmt::format("--fail-on {}: '{}' is neither expired nor loose", text, word));
  }
  return fail;
}

// Decimal, rounded up to two digits: what goes into the table must not be below what was seen.
std::string round_up(double value) {
  if (value <= 0.0) return "0";
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
  return fmt::format("{:.2g}", std::ceil(value / unit) * unit);
}

std::string tightest(const Seen& seen, double margin) {
  return fmt::format("max_ulp={:.0f} | atol={} | rtol={} | bias={} | row_l2={}", std::ceil(seen.ulp),
                     round_up(margin * seen.absolute), round_up(margin * seen.relative),
                     round_up(margin * seen.bias), round_up(margin * seen.row_l2));
}

// Over this factor a row allows more than anything needs, and hides what it should show.
constexpr double kLoose = 8.0;

// Rows for which "error over allowed" is a question of how much is allowed; an exact rule and a rule by
// budget allow what the reference derives.
bool has_free_number(const Rule& rule) {
  return rule.atol || rule.rtol || rule.row_l2 || rule.bias;
}

}  // namespace

int run_tighten(const TightenOptions& options) {
  const FailOn fail_on = parse_fail_on(options.fail_on);
  if (!(options.margin >= 1.0))
    throw UsageError(fmt::format("--margin {}: must be at least 1", options.margin));
  const std::uint64_t draws = positive_number("--draws", options.draws);
  const PolicyChoice choice = choose_policy(options.policy_file);
  const std::vector<SelectedCase> cases =
      select_cases(options.filter, Tier::quick, seed_option(options.seed));

  std::map<const Policy*, std::map<DType, Seen>> seen;
  {
    Progress progress("cases");
    std::uint64_t done = 0;
    std::vector<MachineInfo> machines = choose_machines(options.machines);
    std::erase_if(machines, [](const MachineInfo& machine) { return !machine.present; });
    for (const MachineInfo& machine : machines) {
      for (const SelectedCase& one : cases) {
        progress.show(done++, cases.size() * machines.size());
        CaseBuilder builder(one.id->params, Seed{one.seed}, machine.properties, one.id->data_id);
        one.id->describe(builder);
        if (builder.refusal() || builder.unsupported()) continue;
        StudyOptions study;
        study.draws = draws;
        study.first_seed = Seed{one.seed};
        study.threads = options.threads;
        study.envelope = options.envelope;
        const StudyResult result =
            run_study(*one.id, machine.properties.name, choice.table, study, nullptr, {});
        for (const OutputTally& output : result.outputs) {
          const Policy* row = choice.table.resolve({one.id->kernel, output.output, output.dtype,
                                                    machine.properties.platform, machine.properties.arch});
          seen[row][output.dtype].add(output, machine.properties.name, result.draws);
        }
      }
    }
  }
  if (seen.empty()) throw NothingSelected("no selected case has an output to measure here");

  bool failed = false;
  const std::string date = today();
  for (const Policy& row : choice.table.rows()) {
    const auto found = seen.find(&row);
    const bool expired = !row.expires.empty() && row.expires < date;
    if (found == seen.end() && !expired) continue;
    fmt::print("{}: {}{}\n  shipped   {}\n", row.place(), row.kernel,
               row.output.empty() ? "" : fmt::format(" '{}'", row.output), row.rule.text());
    if (expired) {
      fmt::print("  EXPIRED   on {}: {}\n", row.expires, row.reason);
      failed = failed || fail_on.expired;
    }
    if (found == seen.end()) continue;
    for (const auto& [dtype, numbers] : found->second) {
      fmt::print("  {:9} {} draws support, with a margin of {:g}: {}\n", dtype_name(dtype), numbers.draws,
                 options.margin, tightest(numbers, options.margin));
      const bool loose = has_free_number(row.rule) && numbers.slack() > kLoose;
      if (loose) fmt::print("  LOOSE     allows {:.0f} times what any machine needs\n", numbers.slack());
      if (loose && !row.platform.empty())
        fmt::print("            a relaxation for {} that is not needed here\n", row.platform);
      if (numbers.failing > 0) fmt::print("  FAILS     {} draws\n", numbers.failing);
      failed = failed || (loose && fail_on.loose) || numbers.failing > 0;
    }
    fmt::print("\n");
  }
  return failed ? kExitFail : kExitPass;
}

}  // namespace kvr
