// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// --schedules: bug report A9 is green under forward and red under another order of the warps, and the line
// that is printed then shows it again.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "harness/report/results_file.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran conduct(const std::string& arguments) {
  return run_program(KVR_CONDUCT, arguments + " --policy-file " KVR_SOURCE_DIR "/tests/cli/conduct.toml");
}

CaseReport check(const std::string& arguments, int exit_code) {
  const Folder folder;
  const Ran ran =
      conduct("check --tier soak --machine cpu:warp32 --json '" + folder.path("r.json") + "' " + arguments);
  CAPTURE(arguments, ran.out, ran.err);
  CHECK(ran.exit_code == exit_code);
  const Results results = read_results(folder.path("r.json"));
  REQUIRE(results.cases.size() == 1);
  return results.cases.front();
}

TEST_CASE("A9: right under forward, wrong when warp 1 is delayed, and replayable") {
  CHECK(check("conduct_schedule barrier=no", 0).verdict == Verdict::pass);
  for (const char* isolation : {"", " --no-isolation"}) {
    const CaseReport report = check("conduct_schedule barrier=no --schedules 3" + std::string(isolation), 1);
    INFO(report.reason << "; " << report.replay);
    CHECK(report.verdict == Verdict::fail);
    CHECK_THAT(report.reason, ContainsSubstring("the result depends on the schedule: 'y' row 0, column ") &&
                                  ContainsSubstring(" under forward and ") && ContainsSubstring(" (seed "));
    CHECK_THAT(report.replay, ContainsSubstring(" --schedule ") && ContainsSubstring(" --schedule-seed "));
    const std::string replay = report.replay.substr(report.replay.find("replay"));
    const Ran again = run_program(KVR_CONDUCT, replay);
    CAPTURE(replay, again.out, again.err);
    CHECK(again.exit_code == 1);
    CHECK_THAT(again.out, ContainsSubstring("the result depends on the schedule"));
  }
}

TEST_CASE("A9: which orders show it, by name") {
  for (const char* schedule : {"ahead --schedule-seed 0", "last --schedule-seed 1", "last --schedule-seed 3"})
    CHECK_THAT(check("conduct_schedule barrier=no --schedule " + std::string(schedule), 1).reason,
               ContainsSubstring("the result depends on the schedule"));
  for (const char* schedule : {"ahead --schedule-seed 1", "last", "reverse", "forward"})
    CHECK(check("conduct_schedule barrier=no --schedule " + std::string(schedule), 0).verdict ==
          Verdict::pass);
}

TEST_CASE("with the barrier every schedule gives the same bits") {
  CHECK(check("conduct_schedule barrier=yes --schedules 50", 0).verdict == Verdict::pass);
}

TEST_CASE("schedule options that make no sense") {
  const auto complains = [](const std::string& arguments, const char* text) {
    const Ran ran = conduct("check conduct_schedule --tier soak " + arguments);
    CAPTURE(arguments, ran.out, ran.err);
    CHECK(ran.exit_code == 2);
    CHECK_THAT(ran.err, ContainsSubstring(text));
  };
  complains("--schedules -1", "--schedules -1: must be a number from 0 to");
  complains("--schedules many", "--schedules many");
  complains(
      "--schedule lats",
      "--schedule 'lats' is none of forward, reverse, round_robin, ahead, last, random; did you mean last");
  complains("--schedule last --schedule-seed x", "--schedule-seed x");
  complains("--schedule-seed 3", "--schedule-seed 3 goes with --schedule");
  complains("--schedule last --schedules 3", "exclude each other");
}

}  // namespace
}  // namespace kvr::test
