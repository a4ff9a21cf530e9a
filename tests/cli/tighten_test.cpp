// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr tighten from outside: known answers on a kernel whose error is known, the rules it prints against
// studies of the same draws, exit codes for CI, bad input.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sstream>

#include "tests/cli/refused.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

#if defined(KVR_CONDUCT)

// y = 2x, exact but for element 3 of `does=wrong`, which is 1 too large.
constexpr const char* kWrong = "conduct/five does=wrong";
constexpr const char* kRight = "conduct/five does=right";

// [[row]] for the kernel `conduct`.
std::string row(const std::string& rule, const std::string& more = "") {
  return fmt::format("[[row]]\nkernel = \"conduct\"\n{}\nreason = \"for a test\"\n{}\n", rule, more);
}

Ran tighten(const std::string& arguments, const std::string& table) {
  const Folder folder;
  folder.write("t.toml", table);
  return run_program(
      KVR_CONDUCT, fmt::format("tighten {} --draws 3 --policy-file '{}'", arguments, folder.path("t.toml")));
}

TEST_CASE("known answers: an error of 1 under rules that allow less, enough and too much") {
  struct Row {
    const char* rule;
    const char* filter;
    int exit_code;
    const char* says;
  };
  const Row rows[] = {
      {"atol = 0.5", kWrong, 1,
       "  FAILS     6 of 6 draws\n    f32: first seed 0 of conduct/five/does=wrong on cpu:warp32\n      'y': "
       "element 3 (row 0, column 3): "},  // 3 on each of two machines
      {"atol = 4", kWrong, 0, "atol=4 holds; the worst element uses 0.25 of what it allows\n"},
      {"atol = 7.5", kWrong, 0, ": 0 loose,"},
      {"atol = 16", kWrong, 1, "  LOOSE     atol=16 allows 16 times what any machine here needs\n"},
      {"atol = 16", kRight, 1, "  LOOSE     atol=16 is needed nowhere: there is nothing to allow\n"},
      {"exact = true", kRight, 0, "exact       no difference  exact"},
      {"max_ulp = 3", kRight, 0, "1 row measured: 0 loose"},
      {"max_ulp = 9", kRight, 1, "  LOOSE     max_ulp=9 allows 19 times what any machine here needs\n"},
      {"atol = 4\nrow_l2 = 8", kWrong, 1, "  LOOSE     row_l2=8 allows "},
  };
  for (const Row& one : rows) {
    const Ran ran = tighten(fmt::format("{} --fail-on loose", one.filter), row(one.rule));
    CAPTURE(one.rule, one.filter, ran.out, ran.err);
    CHECK(ran.exit_code == one.exit_code);
    CHECK_THAT(ran.out, ContainsSubstring(one.says));
    CHECK(ran.err.empty());
  }
}

TEST_CASE("several cases under one filter are one row's evidence") {
  const Ran ran = tighten("conduct/five does=wrong or conduct/five does=right or conduct/five does=right_too",
                          row("atol = 4"));
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("f32: 18 draws of 6 cases on cpu:warp32, cpu:warp64; margin 1.5"));
  CHECK_THAT(ran.out, ContainsSubstring("exact       6 differences  nothing"));
  CHECK_THAT(ran.out, ContainsSubstring("1 row measured: 0 loose, 0 expired, 0 needless, 0 failing\n"));
}

TEST_CASE("rows fail a run for what --fail-on names, and failing rows always do") {
  const std::string loose = row("atol = 100");
  CHECK(tighten(kWrong, loose).exit_code == 0);
  CHECK(tighten(std::string(kWrong) + " --fail-on expired", loose).exit_code == 0);
  CHECK(tighten(std::string(kWrong) + " --fail-on expired,loose", loose).exit_code == 1);
  const auto expiring = [](const char* day) {
    return row("atol = 2") +
           row("atol = 4", fmt::format("platform = \"hip\"\nevidence = \"e\"\nexpires = {}", day));
  };
  CHECK(tighten(std::string(kWrong) + " --fail-on loose", expiring("2020-01-01")).exit_code == 0);
  const Ran expired = tighten(std::string(kWrong) + " --fail-on loose,expired", expiring("2020-01-01"));
  CHECK(expired.exit_code == 1);
  CHECK_THAT(expired.out, ContainsSubstring("  EXPIRED   on 2020-01-01: for a test\n") &&
                              ContainsSubstring("0 loose, 1 expired,"));
  CHECK(tighten(std::string(kWrong) + " --fail-on expired", expiring("2999-01-01")).exit_code == 0);
  CHECK(tighten(kWrong, row("atol = 0.5")).exit_code == 1);
}

TEST_CASE("a platform's relaxation: needed, needless, or for a platform that is not here") {
  const auto relaxed = [](const char* neutral, const char* platform, const char* rule) {
    return row(neutral) +
           row(rule, fmt::format("platform = \"{}\"\nevidence = \"e\"\nexpires = 2999-01-01", platform));
  };
  const Ran needed =
      tighten(std::string(kWrong) + " --fail-on loose", relaxed("atol = 0.5", "cpu", "atol = 4"));
  CAPTURE(needed.out, needed.err);
  CHECK(needed.exit_code == 0);
  CHECK_THAT(needed.out, ContainsSubstring("  needed    without this relaxation for cpu, ") &&
                             ContainsSubstring(" (atol=0.5) fails 6 of 6 draws there\n"));
  const Ran needless =
      tighten(std::string(kWrong) + " --fail-on loose", relaxed("atol = 2", "cpu", "atol = 4"));
  CAPTURE(needless.out);
  CHECK(needless.exit_code == 1);
  CHECK_THAT(needless.out, ContainsSubstring("  NEEDLESS  without this relaxation for cpu, ") &&
                               ContainsSubstring(" (atol=2) holds in 6 draws there\n"));
  CHECK(tighten(kWrong, relaxed("atol = 2", "cpu", "atol = 4")).exit_code == 0);
  const Ran elsewhere =
      tighten(std::string(kWrong) + " --fail-on loose", relaxed("atol = 2", "hip", "atol = 4"));
  CAPTURE(elsewhere.out);
  CHECK(elsewhere.exit_code == 0);
  CHECK_THAT(elsewhere.out, ContainsSubstring("  elsewhere no hip here; on these machines ") &&
                                ContainsSubstring(" (atol=2) fails 0 of 6 draws\n"));
}

TEST_CASE("cases of other tiers than quick are not measured") {
  const Ran other = tighten("conduct/status", row("atol = 1"));
  CAPTURE(other.out, other.err);
  CHECK(other.exit_code == 3);
  CHECK_THAT(other.err, ContainsSubstring("none in tier quick"));
  CHECK(other.out.empty());
}

#endif

Ran kvr(const std::string& arguments) {
  return run_program(KVR_PROGRAM, arguments);
}

// The rules in the column "supports" of the first table.
std::vector<std::string> supported(const std::string& text) {
  std::vector<std::string> rules;
  for (const std::string& line : lines_of(text)) {
    std::istringstream words(line);
    std::string kind, value, rule;
    words >> kind >> value >> rule;
    if (!rule.starts_with(kind + "=")) continue;
    rules.push_back(rule);
  }
  return rules;
}

TEST_CASE("every rule it prints holds on the draws it was made from, and a tenth less does not") {
  if (!kvr_has_device()) SKIP("no device");
  const std::string filter = "k_norm_rope/public pos=int32";
  const std::string machine = lines_of(kvr("list --machines").out).at(1);
  const std::string name = machine.substr(0, machine.find(' '));
  const Ran ran = kvr(fmt::format("tighten {} --draws 200 --margin 1 --machine {}", filter, name));
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  const std::vector<std::string> rules = supported(ran.out);
  REQUIRE(rules.size() == 7);  // atol, rtol, max_ulp, tie_window, budget, bias, row_l2
  for (const std::string& rule : rules) {
    const std::size_t equals = rule.find('=');
    const std::string kind = rule.substr(0, equals);
    const double number = std::stod(rule.substr(equals + 1));
    const std::string tighter = kind == "max_ulp" ? fmt::format("max_ulp={:.0f}", number - 1)
                                                  : fmt::format("{}={:.6g}", kind, 0.9 * number);
    const Ran study = kvr(fmt::format("study {} --draws 200 --machine {} --policy '{}' --policy '{}'", filter,
                                      name, rule, tighter));
    CAPTURE(study.out, study.err, rule, tighter);
    REQUIRE(study.exit_code == 0);
    // The table's two lines: "  atol=0.062  0  0  below 1.5 % ..." and one with failing draws.
    bool holds = false, fails = false;
    for (const std::string& line : lines_of(study.out)) {
      std::istringstream words(line);
      std::string policy, failing;
      words >> policy >> failing;
      holds = holds || (policy == rule && failing == "0");
      fails = fails || (policy == tighter && failing != "0");
    }
    CHECK(holds);
    CHECK(fails);
  }
}

TEST_CASE("several kernels under one filter: a row each, whatever the number of threads") {
  if (!kvr_has_device()) SKIP("no device");
  const std::string filter = "k_norm_rope/public or norm_quant/rows n=2";
  const Ran one = kvr(fmt::format("tighten {} --draws 5 --threads 1", filter));
  CAPTURE(one.out, one.err);
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.out, ContainsSubstring(": k_norm_rope 'out': budget=1\n") &&
                          ContainsSubstring(": norm_quant: budget=1\n") &&
                          ContainsSubstring("2 rows measured: "));
  CHECK(kvr(fmt::format("tighten {} --draws 5 --threads 3", filter)).out == one.out);
}

TEST_CASE("bad input to tighten is one line that names the thing and the value, and exit 2") {
  const BadInput rows[] = {
      {"tighten k_norm_rope/pubilc", "no case matches 'k_norm_rope/pubilc'; did you mean k_norm_rope/public"},
      {"tighten k_norm_rope/public --fail-on never",
       "--fail-on 'never': 'never' is neither expired nor loose"},
      {"tighten k_norm_rope/public --fail-on loose,", "--fail-on 'loose,': '' is neither expired nor loose"},
      {"tighten k_norm_rope/public --fail-on ''", "--fail-on '': '' is neither expired nor loose"},
      {"tighten k_norm_rope/public --margin 0.5", "--margin 0.5 is not a factor from 1"},
      {"tighten k_norm_rope/public --margin -1", "--margin -1 is not a factor from 1"},
      {"tighten k_norm_rope/public --margin nan", "--margin nan is not a factor from 1"},
      {"tighten k_norm_rope/public --margin wide", "--margin"},
      {"tighten k_norm_rope/public --draws 0", "--draws '0' is not a number from 1"},
      {"tighten k_norm_rope/public --draws few", "--draws 'few' is not a number from 1"},
      {"tighten k_norm_rope/public --threads -1", "--threads -1 is not a number from 0"},
      {"tighten k_norm_rope/public --machine cpu:warp48", "--machine 'cpu:warp48' is unknown"},
      {"tighten k_norm_rope/public --policy-file /no/such.toml", "'/no/such.toml': No such file"},
  };
  for (const BadInput& row : rows) {
    CAPTURE(row.arguments);
    check_refused(kvr(row.arguments), row.says);
  }
}

}  // namespace
}  // namespace kvr::test
