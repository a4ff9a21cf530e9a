// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the ledger keeps of runs and what it remarks on, with numbers given by hand.
#include "harness/suite/ledger.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;

std::vector<MachineInfo> machines() {
  std::vector<MachineInfo> list;
  for (const char* warp : {"warp32", "warp64"}) {
    MachineInfo info;
    info.properties.name = std::string("cpu:") + warp;
    info.properties.platform = "cpu";
    info.properties.arch = std::string("emulated-") + warp;
    list.push_back(info);
  }
  return list;
}

// 10,000 elements of bf16 up to 1.0: a ULP of the largest is 2^-7, so rounding alone costs up to 2^-8.
OutputReport output(const char* rule = "atol=1") {
  OutputReport report;
  report.output = "out";
  report.dtype = DType::bf16;
  report.policy.rule = parse_rule(rule, DType::bf16);
  report.comparison.accepted = true;
  report.comparison.numel = 10000;
  report.comparison.max_abs_expected = 1.0;
  report.comparison.worst_ratio = 0.02;
  report.spread.max_error = 0x1p-8;
  return report;
}

CaseReport passed(OutputReport one, const char* machine = "cpu:warp32", const char* name = "k/g/n=1") {
  CaseReport report;
  report.name = name;
  report.kernel = "k";
  report.group = "g";
  report.machine = machine;
  report.outputs = {std::move(one)};
  return report;
}

Ledger ledger_of(const std::vector<CaseReport>& cases) {
  Ledger ledger;
  update_ledger(ledger, cases, machines());
  return ledger;
}

std::vector<Remark> remarks(const CaseReport& before, const CaseReport& now) {
  return review(ledger_of({before}), {now}, machines()).remarks;
}

TEST_CASE("rounding up to three digits") {
  struct Row {
    double value, gives;
  };
  const Row rows[] = {{0.0, 0.0},           {1.0, 1.0},       {0.5, 0.5},        {1.234, 1.24},
                      {0.0099999, 0.01},    {123456, 124000}, {0.123, 0.123},    {0.1230001, 0.124},
                      {9.991e-7, 0.000001}, {1e-300, 1e-300}, {1.001e9, 1.01e9}, {7.0, 7.0}};
  for (const Row& row : rows) {
    CAPTURE(row.value);
    CHECK(round_up(row.value) == row.gives);
    CHECK(round_up(row.gives) == row.gives);  // what the ledger holds stays as it is
  }
  CHECK(std::isinf(round_up(std::numeric_limits<double>::infinity())));
}

TEST_CASE("the ledger keeps maxima, per family") {
  OutputReport small = output(), large = output();
  small.comparison.worst_ulp.ulp = 1;
  small.comparison.worst_ratio = 0.5;
  small.spread.bias = -0.25;
  large.comparison.worst_ulp.ulp = 3;
  large.spread.outliers = 25;  // of 10,000
  Ledger ledger = ledger_of({passed(small), passed(large), passed(small, "cpu:warp64")});
  REQUIRE(ledger.size() == 2);
  const LedgerEntry& entry = ledger.begin()->second;
  CHECK(ledger.begin()->first.arch == "emulated-warp32");
  CHECK(entry.worst_ulp == 3);
  CHECK(entry.ratio == 0.5);
  CHECK(entry.bias == 0.25);
  CHECK(entry.outliers == 0.0025);
  CHECK(entry.rule == "atol=1");
  CHECK_FALSE(update_ledger(ledger, {passed(small), passed(large)}, machines()));  // nothing new
}

TEST_CASE("failures, refused launches and faults leave the ledger alone") {
  CaseReport failed = passed(output());
  failed.verdict = Verdict::fail;
  CaseReport fault = passed(output());
  fault.fault = "truncated";
  CaseReport rejected = passed(output());
  rejected.outputs[0].comparison.accepted = false;
  CHECK(ledger_of({failed, fault, rejected}).empty());
}

TEST_CASE("another rule begins the ratio anew, and is not compared with") {
  OutputReport before = output("atol=1"), now = output("atol=0.001");
  before.comparison.worst_ratio = 0.9;
  now.comparison.worst_ratio = 0.5;
  Ledger ledger = ledger_of({passed(before)});
  CHECK(review(ledger, {passed(now)}, machines()).remarks.empty());
  CHECK(update_ledger(ledger, {passed(now)}, machines()));
  CHECK(ledger.begin()->second.ratio == 0.5);
  CHECK(ledger.begin()->second.rule == "atol=0.001");
}

TEST_CASE("over eight times the baseline is remarked on, eight times is not") {
  OutputReport before = output();
  before.comparison.worst_ratio = 0.05;
  before.comparison.worst_ulp.ulp = 2;
  before.spread.bias = 0.01;
  OutputReport now = before;
  now.comparison.worst_ratio = 0.4;
  now.spread.outlier_ulp = 16;
  now.spread.bias = -0.08;
  CHECK(remarks(passed(before), passed(now)).empty());
  now.comparison.worst_ratio = 0.41;
  now.spread.outlier_ulp = 17;
  now.spread.bias = -0.081;
  const auto seen = remarks(passed(before), passed(now));
  REQUIRE(seen.size() == 3);
  CHECK_THAT(seen[0].text, ContainsSubstring("8.5 times") && ContainsSubstring("off by 17 ULP"));
  CHECK_THAT(seen[1].text, ContainsSubstring("8.1 times") && ContainsSubstring("bias -0.081"));
  CHECK_THAT(seen[2].text, ContainsSubstring("8.2 times") && ContainsSubstring("0.41 of what is allowed"));
  CHECK(seen[0].case_name == "k/g/n=1/seed=0");
  CHECK(seen[0].kind == Remark::Kind::worse);
}

TEST_CASE("a baseline of zero has a floor") {
  const OutputReport before = [] {
    OutputReport zero = output();
    zero.comparison.worst_ratio = 0.0;
    return zero;
  }();
  OutputReport now = before;
  now.comparison.worst_ratio = 0.125;  // 8/64
  now.spread.outlier_ulp = 8;          // 8 x 1
  now.spread.bias = 0.023;             // 8 x 0.2887 / sqrt(10000) = 0.0231
  now.spread.outliers = 30;            // of at most 8 expected: exp(-(30 ln(30/8) - 22)) = 2e-8
  CHECK(remarks(passed(before), passed(now)).empty());
  now.comparison.worst_ratio = 0.126;
  now.spread.outlier_ulp = 9;
  now.spread.bias = 0.024;
  now.spread.outliers = 40;  // exp(-(40 ln 5 - 32)) = 9e-15
  CHECK(remarks(passed(before), passed(now)).size() == 4);
}

TEST_CASE("under a bound of the reference's own the ratio says nothing") {
  OutputReport before = output("budget=1"), now = output("budget=1");
  before.comparison.worst_ratio = 0.02;
  now.comparison.worst_ratio = 0.99;
  CHECK(remarks(passed(before), passed(now)).empty());
}

TEST_CASE("one remark per family and number, on the worst") {
  OutputReport now = output();
  now.spread.outlier_ulp = 20;
  OutputReport worse = output();
  worse.spread.outlier_ulp = 50;
  const LedgerReview seen =
      review(ledger_of({passed(output())}),
             {passed(now), passed(worse, "cpu:warp32", "k/g/n=2"), passed(now, "cpu:warp32", "k/g/n=3")},
             machines());
  REQUIRE(seen.remarks.size() == 1);
  CHECK(seen.remarks[0].case_name == "k/g/n=2/seed=0");
}

TEST_CASE("a sibling on the same data that is over a hundred times worse") {
  OutputReport good = output(), bad = output();
  bad.spread.max_error = 100 * 0x1p-8;
  const auto both = [&] {
    return review(ledger_of({passed(output()), passed(output(), "cpu:warp64")}),
                  {passed(good), passed(bad, "cpu:warp64")}, machines())
        .remarks;
  };
  CHECK(both().empty());
  bad.spread.max_error = 0.4;
  const auto seen = both();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].kind == Remark::Kind::sibling);
  CHECK(seen[0].machine == "cpu:warp64");
  CHECK_THAT(seen[0].text,
             ContainsSubstring("102 times") && ContainsSubstring("k/g/n=1/seed=0 on cpu:warp32"));
  // An exact sibling is no better than rounding: half a ULP of 1.0 is 2^-8 in any case.
  good.spread.max_error = 0.0;
  bad.spread.max_error = 0x1p-8;
  CHECK(both().empty());
  // Another output dtype or other data are no siblings.
  bad.spread.max_error = 0.4;
  bad.dtype = DType::fp16;
  CHECK(both().empty());
}

TEST_CASE("patterns are passed on; families that the ledger does not know are counted") {
  OutputReport now = output();
  now.spread.pattern = "column 17 holds 20 of the 20 elements";
  const LedgerReview seen = review({}, {passed(now), passed(output(), "cpu:warp64")}, machines());
  REQUIRE(seen.remarks.size() == 1);
  CHECK(seen.remarks[0].kind == Remark::Kind::pattern);
  CHECK(seen.families == 2);
  CHECK(seen.unknown == 2);
}

}  // namespace
}  // namespace kvr
