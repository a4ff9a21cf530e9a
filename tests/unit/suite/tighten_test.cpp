// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The survey behind kvr tighten, on hand-made tables and studies whose answers are known.
#include "harness/suite/tighten.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>

namespace kvr {
namespace {

using Catch::Matchers::WithinRel;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

MachineProperties machine(const std::string& platform) {
  MachineProperties properties;
  properties.name = platform + ":0";
  properties.platform = platform;
  return properties;
}

Extreme seen(double value, std::uint64_t seed = 1) {
  Extreme extreme;
  extreme.consider(value, seed, {});
  return extreme;
}

// 100 draws of output 'out' in which the worst element used `used` of what the row allows. `policies`:
// failing draws by rule, the shipped row's first.
StudyResult study(const std::string& name, double used,
                  const std::vector<std::pair<std::string, std::uint64_t>>& policies) {
  StudyResult result;
  result.case_name = name;
  result.machine = "m:0";
  result.draws = 100;
  OutputTally& out = result.outputs.emplace_back();
  out.output = "out";
  out.elements = 1000;
  out.worst_abs = seen(used);
  for (const auto& [rule, failing] : policies) {
    PolicyTally& tally = out.policies.emplace_back();
    tally.rule = rule;
    tally.failing = failing;
    tally.worst_ratio = seen(used);
  }
  return result;
}

PolicyTable table(const std::string& rows) {
  return PolicyTable::parse(rows, "t.toml");
}

const char* const kNeutral = R"(
[[row]]
kernel = "k"
atol = 1
reason = "r"
)";
const char* const kForHip = R"(
[[row]]
kernel = "k"
platform = "hip"
atol = 2
reason = "r"
evidence = "e"
expires = 2026-11-30
)";

TEST_CASE("a row is measured by the worst of all cases and machines") {
  const PolicyTable policies = table(kNeutral);
  TightenSurvey survey(policies);
  StudyResult one = study("k/g/n=1", 0.25, {{"atol=1", 0}});
  StudyResult two = study("k/g/n=2", 0.5, {{"atol=1", 0}});
  two.machine = "m:1";
  two.outputs[0].differing = 3;
  two.outputs[0].worst_bias = 0.125;
  survey.add("k", machine("cuda"), one);
  survey.add("k", machine("hip"), two);
  const auto reports = survey.report("2026-11-30");
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].row == &policies.rows()[0]);
  REQUIRE(reports[0].needs.size() == 1);
  const RowNeed& need = reports[0].needs[0];
  CHECK(need.draws == 200);
  CHECK(need.cases == 2);
  CHECK(need.machines == std::set<std::string>{"m:0", "m:1"});
  CHECK(need.atol.value == 0.5);
  CHECK(need.atol.where == "seed 1 of k/g/n=2");
  CHECK(need.bias.value == 0.125);
  CHECK(need.differing == 3);
  CHECK_FALSE(need.budget.has_value());
  CHECK(reports[0].loose.empty());
  CHECK_FALSE(reports[0].failing());
}

TEST_CASE("loose is over 8 times what any case, dtype and machine needs") {
  struct Row {
    double used_here, used_there;
    bool loose;
  };
  // An eighth, a bit more, a bit less, and one machine that needs more than the other.
  for (const Row& row : {Row{0.125, 0.125, false}, Row{0.126, 0.01, false}, Row{0.124, 0.01, true},
                         Row{0.001, 0.9, false}, Row{0.0, 0.0, true}}) {
    const PolicyTable policies = table(kNeutral);
    TightenSurvey survey(policies);
    survey.add("k", machine("cuda"), study("k/g/n=1", row.used_here, {{"atol=1", 0}}));
    survey.add("k", machine("hip"), study("k/g/n=1", row.used_there, {{"atol=1", 0}}));
    CAPTURE(row.used_here, row.used_there);
    CHECK(survey.report("2026-11-30").at(0).loose.empty() == !row.loose);
  }
}

TEST_CASE("a row that fails is not called loose") {
  const PolicyTable policies = table(kNeutral);
  TightenSurvey survey(policies);
  survey.add("k", machine("cuda"), study("k/g/n=1", 0.01, {{"atol=1", 2}}));
  const auto reports = survey.report("2026-11-30");
  CHECK(reports.at(0).failing());
  CHECK(reports.at(0).needs.at(0).failing == 2);
  CHECK(reports.at(0).loose.empty());
}

// A need in which the element used 1/10 of its allowance, codes were 2 off, the bias 0.1 and the row L2
// 0.001.
RowNeed tenth() {
  RowNeed need;
  need.shipped.value = 0.1;
  need.max_ulp.value = 2.0;
  need.bias.value = 0.1;
  need.row_l2.value = 0.001;
  return need;
}

TEST_CASE("the slack of each part of a rule") {
  struct Row {
    const char* rule;
    std::vector<Slack> slack;
  };
  const Row rows[] = {
      {"exact", {}},
      {"budget=1", {}},
      {"budget=0.5 exact=true", {}},
      {"budget=20", {{"budget=20", 10.0}}},
      {"atol=0.5", {{"atol=0.5", 10.0}}},
      {"atol=0.5 rtol=0.25", {{"atol=0.5 rtol=0.25", 10.0}}},
      {"tie_window=0.25", {{"tie_window=0.25", 10.0}}},
      {"max_ulp=27", {{"max_ulp=27", 11.0}}},  // 27.5 / 2.5
      {"bias=1", {{"bias=1", 10.0}}},
      {"row_l2=0.5", {{"row_l2=0.5", 500.0}}},
      {"atol=0.5 bias=0.1 row_l2=0.5", {{"atol=0.5", 10.0}, {"bias=0.1", 1.0}, {"row_l2=0.5", 500.0}}},
      {"budget=1 bias=2", {{"bias=2", 20.0}}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    const std::vector<Slack> slack = slack_of(parse_rule(row.rule, DType::f32), {tenth()});
    REQUIRE(slack.size() == row.slack.size());
    for (std::size_t i = 0; i < slack.size(); ++i) {
      CHECK(slack[i].key == row.slack[i].key);
      CHECK_THAT(slack[i].factor, WithinRel(row.slack[i].factor, 1e-12));
    }
  }
  CHECK(slack_of(parse_rule("atol=1", DType::f32), {RowNeed{}}).at(0).factor == kInfinity);
  // One code allowed and none needed: 1.5 ULP where 0.5 is rounding, which is no scandal.
  CHECK(slack_of(parse_rule("max_ulp=1", DType::f32), {RowNeed{}}).at(0).factor == 3.0);
  // The dtype that needs most decides.
  RowNeed other = tenth();
  other.shipped.value = 0.5;
  CHECK(slack_of(parse_rule("atol=1", DType::f32), {tenth(), other}).at(0).factor == 2.0);
}

TEST_CASE("a row has expired on the day after the one it names") {
  const PolicyTable policies = table(std::string(kNeutral) + kForHip);
  TightenSurvey survey(policies);
  CHECK(survey.report("2026-11-30").empty());
  const auto reports = survey.report("2026-12-01");
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].row == &policies.rows()[1]);
  CHECK(reports[0].expired);
  CHECK(reports[0].needs.empty());
}

TEST_CASE("a relaxation is judged by the neutral row on the platform it is for") {
  const PolicyTable policies = table(std::string(kNeutral) + kForHip);
  const Policy* const neutral = &policies.rows()[0];
  for (const std::uint64_t failing : {0U, 7U}) {
    TightenSurvey survey(policies);
    // On hip the row itself is judged first, and the neutral one beside it; on cuda there is but the neutral
    // one.
    CHECK(survey.policies_for("k", machine("hip"), {{"out", DType::f32}}) ==
          std::vector<std::string>{"", "atol=1"});
    CHECK(survey.policies_for("k", machine("cuda"), {{"out", DType::f32}}) == std::vector<std::string>{""});
    survey.add("k", machine("cuda"), study("k/g/n=1", 0.5, {{"atol=1", 3}}));
    survey.add("k", machine("hip"), study("k/g/n=1", 0.5, {{"atol=2", 0}, {"atol=1", failing}}));
    survey.add("k", machine("cuda"), study("k/g/n=2", 0.5, {{"atol=1", 3}}));
    const auto reports = survey.report("2026-11-30");
    REQUIRE(reports.size() == 2);
    CHECK_FALSE(reports[0].relaxation.has_value());
    REQUIRE(reports[1].relaxation.has_value());
    CHECK(reports[1].relaxation->neutral == neutral);
    CHECK(reports[1].relaxation->measured_there);
    CHECK(reports[1].relaxation->draws == 100);
    CHECK(reports[1].relaxation->failing == failing);
    CHECK(reports[1].needless() == (failing == 0));
  }
}

TEST_CASE(
    "a relaxation for a platform that is not here is shown what happens here, and is not called needless") {
  const PolicyTable policies = table(std::string(kNeutral) + kForHip);
  TightenSurvey survey(policies);
  survey.add("k", machine("cuda"), study("k/g/n=1", 0.5, {{"atol=1", 0}}));
  survey.add("k", machine("cpu"), study("k/g/n=1", 0.5, {{"atol=1", 4}}));
  const auto reports = survey.report("2026-11-30");
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].needs.empty());
  REQUIRE(reports[1].relaxation.has_value());
  CHECK_FALSE(reports[1].relaxation->measured_there);
  CHECK(reports[1].relaxation->draws == 200);
  CHECK(reports[1].relaxation->failing == 4);
  CHECK_FALSE(reports[1].needless());
}

TEST_CASE("a platform row without a neutral one relaxes nothing") {
  const PolicyTable policies = table(kForHip);
  TightenSurvey survey(policies);
  survey.add("k", machine("hip"), study("k/g/n=1", 0.5, {{"atol=2", 0}}));
  const auto reports = survey.report("2026-11-30");
  REQUIRE(reports.size() == 1);
  CHECK_FALSE(reports[0].relaxation.has_value());
}

}  // namespace
}  // namespace kvr
