// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What people read.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdio>
#include <limits>

#include "harness/report/console.h"
#include "harness/report/failure_text.h"
#include "harness/report/summary.h"
#include "harness/report/text_table.h"
#include "tests/unit/report/sample_report.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;
using test::sample_report;

CaseReport report_of(Verdict verdict) {
  CaseReport report = sample_report();
  report.verdict = verdict;
  if (verdict != Verdict::pass && verdict != Verdict::fail && verdict != Verdict::no_power)
    report.outputs.clear();
  return report;
}

TEST_CASE("columns are as wide as their widest cell; lines do not end in blanks") {
  TextTable table;
  table.column("name");
  table.column("n", TextTable::Align::right);
  table.column("note");
  table.row({"a", "1", ""});
  table.row({"longer", "12345", "x"});
  CHECK(table.text() ==
        "name        n  note\n"
        "a           1\n"
        "longer  12345  x\n");
  CHECK_THROWS(table.row({"too", "few"}));
}

TEST_CASE("the text of a failure") {
  CHECK(describe_case(sample_report()) ==
        R"(  reason    'out': element 7 (row 0, column 7): unexpected NaN
  output 'out', bf16: 2 of 4736 elements fail, in 2 rows; row 0 has 1 of them
    (row, column)  actual  code    expected  code    error  allowed             ULP
    (0, 7)            nan  0x7fc0         1  0x3f80      -        -  unexpected NaN
    (30, 61)           24  0x41c0    24.062  0x41c0  0.062     0.06               0
  likely    one NaN and a rounding error
  errors    max 0.062, relative nan, inf x allowed; mean -0.012 ULP; row L2 0.0021 (row 30)
  ULP off   0: 4735,  special: 1
  special   NaN: 1 actual, 0 expected; infinite: 0 actual, 0 expected
  policy    atol=0.06 rtol=0   [absolute]   tests/tolerances.toml:21
  because   absolute only: "smaller" than half a step from 16 up
  inputs    0x0123456789abcdef, seed 18446744073709551615
  replay    kvr replay 'k_norm_rope/public/n=37/dtype=bf16/seed=18446744073709551615' --machine cpu:warp32
)");
}

TEST_CASE("an accepted output beside a rejected one is one line") {
  CaseReport report = sample_report();
  OutputReport accepted = report.outputs[0];
  accepted.output = "scale";
  accepted.comparison.accepted = true;
  accepted.comparison.worst_ratio = 0.25;
  accepted.comparison.worst_ulp.ulp = 1;
  report.outputs.push_back(accepted);
  CHECK_THAT(describe_case(report),
             ContainsSubstring("  output 'scale', bf16: accepted, 0.25 x allowed, 1 ULP at worst\n"));
}

TEST_CASE("an output that is right to the last bit points at the policy, not at the kernel (A1)") {
  CaseReport report = sample_report();
  Comparison& c = report.outputs[0].comparison;
  c.differing = 0;
  c.examples = {c.examples[1]};  // 24.062 rounds to 24
  c.histogram = {4736, 0, 0, 0, 0, 0, 0, 0, 0};
  CHECK_THAT(
      describe_case(report),
      ContainsSubstring("  likely    the policy: every code is the correct rounding of the reference\n"));
}

TEST_CASE("which side of the limit a ratio lies on is seen") {
  CHECK(ratio_text(0.41) == "0.41");
  CHECK(ratio_text(1.0) == "1.00");
  CHECK(ratio_text(1.0013333) == "1.001333");
  CHECK(ratio_text(0.9999) == "0.999900");
  CHECK(ratio_text(1234.0) == "1.2e+03");
  CHECK(ratio_text(std::numeric_limits<double>::infinity()) == "inf");
}

TEST_CASE("a failure never takes more than 25 lines") {
  CaseReport report = sample_report();
  for (int i = 0; i < 6; ++i)
    report.outputs[0].comparison.examples.push_back(report.outputs[0].comparison.examples[0]);
  report.outputs[0].policy.reason = std::string(600, 'x');
  for (std::size_t i = 40; i < 600; i += 40) report.outputs[0].policy.reason[i] = ' ';
  const std::string text = describe_case(report);
  CHECK(std::count(text.begin(), text.end(), '\n') <= 25);
}

TEST_CASE("the line of a case") {
  CaseReport report = sample_report();
  report.seed = 5;
  report.seconds = 1.5;
  CHECK(case_line(report) ==
        "fail            1.500 s      inf x  nan ULP  cpu:warp32  k_norm_rope/public/n=37/dtype=bf16/seed=5: "
        "'out': element 7 "
        "(row 0, column 7): unexpected NaN");
  report.verdict = Verdict::pass;
  report.outputs.clear();
  CHECK(case_line(report) ==
        "pass            1.500 s        -      -      cpu:warp32  k_norm_rope/public/n=37/dtype=bf16/seed=5");
}

TEST_CASE("totals name every verdict that occurred") {
  Counts counts;
  for (const Verdict verdict : {Verdict::pass, Verdict::pass, Verdict::crash, Verdict::skipped})
    counts.add(verdict);
  CHECK(totals_line(5, counts) == "5 planned, 4 reported: 2 passed, 0 failed, 1 skipped, 1 crashed");
  CHECK(counts.failed() == 1);
  CHECK(counts.executed() == 3);
}

TEST_CASE("the table has a line per kernel, machine and group, with the worst of each") {
  CaseReport first = report_of(Verdict::pass);
  first.outputs[0].comparison.worst_ratio = 0.5;
  first.outputs[0].comparison.worst_ulp.ulp = 1;
  CaseReport second = first;
  second.outputs[0].comparison.worst_ratio = 0.75;
  CaseReport other = report_of(Verdict::crash);
  other.group = "shapes";
  other.seconds = 2.0;
  first.seconds = second.seconds = 0.25;
  CHECK(summary_table({first, other, second}) ==
        "kernel       machine     group   pass  fail  crash  worst/allowed  worst ULP  seconds\n"
        "k_norm_rope  cpu:warp32  public     2     -      -           0.75          1     0.50\n"
        "k_norm_rope  cpu:warp32  shapes     -     -      1              -          -     2.00\n");
}

std::string console_output(ConsoleOptions options, int failures = 1) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    Console console(file, failures + 1, options);
    std::vector<CaseReport> cases{report_of(Verdict::pass)};
    for (int i = 0; i < failures; ++i) cases.push_back(report_of(Verdict::fail));
    for (const CaseReport& report : cases) console.report(report);
    console.finish(cases);
  }
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

TEST_CASE("without a terminal: plain lines") {
  const std::string text = console_output({});
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, ContainsSubstring("pass ") && ContainsSubstring("because") &&
                       ContainsSubstring("2 planned, 2 reported"));
}

TEST_CASE("on a terminal: a progress line that is wiped before anything else is printed") {
  ConsoleOptions options;
  options.terminal = true;
  const std::string text = console_output(options);
  CHECK_THAT(text, ContainsSubstring("\r0/2 cases, 0 failed") && ContainsSubstring("\r1/2 cases, 0 failed"));
  CHECK_THAT(text, ContainsSubstring("\r\x1b[Kpass "));
  CHECK(text.find("\x1b[1;31m") == std::string::npos);
  options.colour = true;
  CHECK_THAT(console_output(options), ContainsSubstring("\x1b[1;31mfail"));
}

TEST_CASE("quiet leaves passes out; after ten failures in full there is a line each") {
  ConsoleOptions options;
  options.quiet = true;
  CHECK_THAT(console_output(options), !ContainsSubstring("pass       "));
  CHECK_THAT(console_output({}), ContainsSubstring("pass       "));
  const std::string many = console_output({}, 12);
  std::size_t shown = 0;
  for (std::size_t at = many.find("  because"); at != std::string::npos; at = many.find("  because", at + 1))
    ++shown;
  CHECK(shown == 10);
  CHECK_THAT(many, ContainsSubstring("12 failed") && ContainsSubstring("further failures"));
}

TEST_CASE("colours and progress are for terminals only") {
  std::FILE* file = std::tmpfile();
  const ConsoleOptions options = console_options(file);
  CHECK_FALSE(options.terminal);
  CHECK_FALSE(options.colour);
  std::fclose(file);
}

}  // namespace
}  // namespace kvr
