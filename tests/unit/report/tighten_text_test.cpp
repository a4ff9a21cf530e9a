// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/tighten_text.h"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <limits>
#include <random>

namespace kvr {
namespace {

TEST_CASE("numbers for the table are rounded up to two digits") {
  struct Row {
    double value;
    const char* text;
  };
  for (const Row& row : {Row{0.0, "0"}, Row{0.06141, "0.062"}, Row{0.062, "0.062"}, Row{1.0, "1"},
                         Row{1.0001, "1.1"}, Row{9.91, "10"}, Row{99.5, "1e+02"}, Row{123.0, "1.3e+02"},
                         Row{3e-7, "3e-07"}, Row{0.0301, "0.031"}}) {
    CAPTURE(row.value);
    CHECK(round_up(row.value) == row.text);
  }
}

TEST_CASE("a rounded number is never below the value and at most a tenth above it") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52,
                                    static_cast<int>(random() % 120) - 60);
    const double rounded = std::stod(round_up(value));
    CAPTURE(value, rounded);
    REQUIRE(rounded >= value);
    REQUIRE(rounded <= value * 1.1000001);
  }
}

RowNeed need() {
  RowNeed n;
  n.dtype = DType::bf16;
  n.draws = 200;
  n.cases = 2;
  n.machines = {"cpu:warp32", "cpu:warp64"};
  n.differing = 1;
  n.atol = {0.06, "seed 5 of k/g/n=1"};
  n.rtol = {std::numeric_limits<double>::infinity(), "seed 6 of k/g/n=1"};
  n.max_ulp = {2.0, "seed 7 of k/g/n=1"};
  n.budget = Worst{0.5, "seed 8 of k/g/n=1"};
  n.shipped = {0.25, ""};
  return n;
}

std::string rule_of(const std::vector<SupportedRule>& rules, const std::string& kind) {
  for (const SupportedRule& rule : rules)
    if (rule.kind == kind) return rule.rule;
  return "no such kind";
}

TEST_CASE(
    "the rule of each kind: the worst value times the margin; codes as seen; none where none would do") {
  const auto rules = supported_rules(need(), 2.0);
  CHECK(rule_of(rules, "exact").empty());
  CHECK(rule_of(rules, "atol") == "atol=0.12");
  CHECK(rule_of(rules, "rtol").empty());
  CHECK(rule_of(rules, "max_ulp") == "max_ulp=2");
  CHECK(rule_of(rules, "budget") == "budget=1");
  CHECK(rule_of(rules, "bias") == "bias=0");
  RowNeed exact;
  CHECK(rule_of(supported_rules(exact, 2.0), "exact") == "exact");
  CHECK(rule_of(supported_rules(exact, 2.0), "budget") == "no such kind");
}

TEST_CASE("a row's text says what it allows, what is needed, and what could go") {
  const PolicyTable table = PolicyTable::parse(
      "[[row]]\nkernel = \"k\"\noutput = \"out\"\natol = 0.24\nreason = \"r\"\n\n"
      "[[row]]\nkernel = \"k\"\noutput = \"out\"\nplatform = \"hip\"\natol = 0.5\nreason = \"to be seen\"\n"
      "evidence = \"e\"\nexpires = 2020-01-01\n",
      "t.toml");
  RowReport report;
  report.row = &table.rows()[0];
  report.needs = {need()};
  CHECK(row_text(report, 2.0, true) ==
        "t.toml:1: k 'out': atol=0.24\n"
        "  bf16: 200 draws of 2 cases on cpu:warp32, cpu:warp64, over the arithmetic envelope; margin 2\n"
        "    kind        worst seen    supports      where\n"
        "    exact       1 difference  nothing\n"
        "    atol        0.06          atol=0.12     seed 5 of k/g/n=1\n"
        "    rtol        inf           nothing       seed 6 of k/g/n=1\n"
        "    max_ulp     2             max_ulp=2     seed 7 of k/g/n=1\n"
        "    tie_window  0             tie_window=0\n"
        "    budget      0.5           budget=1      seed 8 of k/g/n=1\n"
        "    bias        0             bias=0\n"
        "    row_l2      0             row_l2=0\n"
        "  shipped   atol=0.24 holds; the worst element uses 0.25 of what it allows\n");
  RowReport other;
  other.row = &table.rows()[1];
  other.expired = true;
  other.relaxation = Relaxation{&table.rows()[0], true, 200, 0};
  CHECK(row_text(other, 2.0, false) ==
        "t.toml:7: k 'out' on hip: atol=0.5\n"
        "  EXPIRED   on 2020-01-01: to be seen\n"
        "  NEEDLESS  without this relaxation for hip, t.toml:1 (atol=0.24) holds in 200 draws there\n");
  other.relaxation->failing = 3;
  CHECK(row_text(other, 2.0, false)
            .ends_with("  needed    without this relaxation for hip, t.toml:1 (atol=0.24) fails 3 of 200 "
                       "draws there\n"));
  other.relaxation->measured_there = false;
  CHECK(row_text(other, 2.0, false)
            .ends_with(
                "  elsewhere no hip here; on these machines t.toml:1 (atol=0.24) fails 3 of 200 draws\n"));
  CHECK(tighten_summary({report, other}) == "1 row measured: 0 loose, 1 expired, 0 needless, 0 failing\n");
}

}  // namespace
}  // namespace kvr
