// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Bug reports A24 and A25: a kernel that does not run is never a pass, and a case that dies costs one
// verdict.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "harness/report/results_file.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran conduct(const std::string& arguments, const std::string& environment = "") {
  return run_program(KVR_CONDUCT, arguments + " --policy-file " KVR_SOURCE_DIR "/tests/cli/conduct.toml",
                     environment);
}

// Runs on one machine; returns the reports in order.
std::vector<CaseReport> check(const std::string& arguments, int exit_code, std::string* out = nullptr) {
  const Folder folder;
  const Ran ran =
      conduct("check " + arguments + " --machine cpu:warp32 --json '" + folder.path("r.json") + "'");
  CAPTURE(arguments, ran.out, ran.err);
  CHECK(ran.exit_code == exit_code);
  if (out != nullptr) *out = ran.out;
  const Results results = read_results(folder.path("r.json"));
  CHECK(results.info.planned == static_cast<std::int64_t>(results.cases.size()));
  CHECK(folder.names() == std::vector<std::string>{"r.json"});
  return results.cases;
}

struct Want {
  Verdict verdict;
  const char* says;
};

void check_verdicts(const std::vector<CaseReport>& reports, const std::vector<Want>& wanted) {
  REQUIRE(reports.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i, reports[i].name, reports[i].reason);
    CHECK(verdict_name(reports[i].verdict) == verdict_name(wanted[i].verdict));
    CHECK_THAT(reports[i].reason, ContainsSubstring(wanted[i].says));
    CHECK_THAT(reports[i].replay,
               ContainsSubstring("kvr replay '" + reports[i].name + "/seed=0' --machine cpu:warp32"));
  }
}

TEST_CASE("five cases of which one aborts and one is wrong: five verdicts (A25)") {
  std::string out;
  check_verdicts(check("conduct/five", 1, &out),
                 {{Verdict::pass, ""},
                  {Verdict::crash, "killed by SIGABRT: terminate called: the layout is not supported"},
                  {Verdict::pass, ""},
                  {Verdict::fail, "'y': "},
                  {Verdict::pass, ""}});
  CHECK_THAT(out, ContainsSubstring("5 planned, 5 reported: 3 passed, 1 failed, 1 crashed"));
}

TEST_CASE("the same list on two machines: ten verdicts") {
  const Ran ran = conduct("check conduct/five --seed 3");
  CAPTURE(ran.out);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("10 planned, 10 reported: 6 passed, 2 failed, 2 crashed"));
  CHECK_THAT(ran.out, ContainsSubstring("conduct/five/does=wrong/seed=3"));
}

TEST_CASE("segmentation fault, endless loop, exit and exception each cost one verdict") {
  check_verdicts(check("conduct/dies --tier full --timeout 1.5", 1),
                 {{Verdict::pass, ""},
                  {Verdict::crash, "killed by SIGSEGV: SIGSEGV at address 0x0000000000001230"},
                  {Verdict::pass, ""},
                  {Verdict::timeout, "ran past the limit of 1.5 s"},
                  {Verdict::crash, "exited with status 7"},
                  {Verdict::fail, "the launcher threw"},
                  {Verdict::pass, ""}});
}

TEST_CASE("a launch that fails, or does nothing, is never a pass (A24)") {
  check_verdicts(check("conduct/status --tier full", 1),
                 {{Verdict::launch_error, "1500 threads per block, the limit is 1024"},
                  {Verdict::fail, "8 elements of 8 never written"}});
}

TEST_CASE("a case that declares nonsense, or an output without a policy, fails and the rest goes on") {
  check_verdicts(check("conduct/nonsense --tier full", 1),
                 {{Verdict::fail, "harness error: "}, {Verdict::fail, "no policy row"}, {Verdict::pass, ""}});
}

TEST_CASE("unsupported is a verdict with a reason; a run of nothing else is exit 3") {
  check_verdicts(check("conduct/nothing --tier full", 3), {{Verdict::unsupported, "n: only 1"}});
}

TEST_CASE("after the first failure, --fail-fast reports the rest as not run") {
  for (const char* jobs : {"1", "4"})
    check_verdicts(check(std::string("conduct/five --fail-fast --jobs ") + jobs, 1),
                   {{Verdict::pass, ""},
                    {Verdict::crash, "SIGABRT"},
                    {Verdict::skipped, "--fail-fast"},
                    {Verdict::skipped, "--fail-fast"},
                    {Verdict::skipped, "--fail-fast"}});
}

TEST_CASE("a source fault runs in place of the kernel and turns it red") {
  const auto reports = check("conduct/soak --tier soak --fault halved", 1);
  check_verdicts(reports, {{Verdict::fail, "'y': "}});
  CHECK(reports[0].fault == "halved");
  CHECK_THAT(reports[0].replay, ContainsSubstring("--fault halved"));
}

TEST_CASE("--policy takes the name of an alternative or a rule") {
  check_verdicts(check("conduct/five does=wrong --policy 'max_ulp=1'", 1), {{Verdict::fail, "'y': "}});
  const auto reports = check("conduct/five does=wrong --policy loose --seed 1", 1);
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].verdict == Verdict::no_power);
  CHECK_THAT(reports[0].replay, ContainsSubstring("--policy loose"));
}

TEST_CASE("without isolation the verdicts are the same for what does not die") {
  check_verdicts(check("conduct/five does=wrong or conduct/five does=right --no-isolation", 1),
                 {{Verdict::pass, ""}, {Verdict::fail, "'y': "}});
  CHECK(conduct("check conduct/five does=abort --machine cpu:warp32 --no-isolation").exit_code == 128 + 6);
}

TEST_CASE("what a kernel prints is passed on") {
  const Ran ran = conduct("check conduct/prints --tier full --machine cpu:warp32");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.err, ContainsSubstring("a line from the kernel"));
}

TEST_CASE("a failure says where, under which policy, with which inputs, and how to see it again") {
  const Ran ran = conduct("check conduct/five does=wrong --machine cpu:warp32 --seed 9");
  CAPTURE(ran.out);
  for (const char* part :
       {"(0, 3)", "exact", "conduct.toml:3", "doubling is exact", "seed 9", "1 of 8 elements fail",
        "kvr replay 'conduct/five/does=wrong/seed=9' --machine cpu:warp32 --policy-file"})
    CHECK_THAT(ran.out, ContainsSubstring(part));
}

TEST_CASE("the printed replay command fails in the same way") {
  const auto reports = check("conduct/five does=wrong --seed 18446744073709551615", 1);
  REQUIRE(reports.size() == 1);
  const std::string command = reports[0].replay;
  REQUIRE(command.starts_with("kvr replay "));
  const Folder folder;
  const Ran ran = run_program(KVR_CONDUCT, command.substr(4) + " --json '" + folder.path("again.json") + "'");
  CAPTURE(command, ran.out, ran.err);
  CHECK(ran.exit_code == 1);
  const Results again = read_results(folder.path("again.json"));
  REQUIRE(again.cases.size() == 1);
  CHECK(again.cases[0].reason == reports[0].reason);
  CHECK(again.cases[0].input_hash == reports[0].input_hash);
  CHECK(again.cases[0].replay == command);
}

}  // namespace
}  // namespace kvr::test
