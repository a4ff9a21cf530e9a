// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Which policy table and ledger a command reads: the ones its project gave it, and none where it gave none.
// kvr's own project gave kvr both; kvr_conduct was made without any.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/cli/refused.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran conduct(const std::string& arguments, const std::string& environment = "") {
  return run_program(KVR_CONDUCT, arguments, environment);
}

const std::string kTable = std::string(KVR_SOURCE_DIR) + "/tests/cli/conduct.toml";

TEST_CASE("a command without a policy table asks for one, before anything runs") {
  for (const char* command : {"check", "policy", "faults", "tighten --draws 1"})
    check_refused(conduct(command), "no policy table: kvr was built without one (kvr_add_command's POLICIES");
  CHECK(conduct("list").exit_code == 0);  // needs none
  CHECK_THAT(conduct("policy", "KVR_POLICY_FILE='" + kTable + "'").out, ContainsSubstring("conduct.toml:"));
}

TEST_CASE("a command without a ledger uses none, and says so in one line") {
  const std::string use = " conduct/five does=right --machine cpu:warp32 --policy-file '" + kTable + "'";
  const std::string note =
      "ledger: none is used (kvr_add_command's LEDGER, --ledger FILE or KVR_LEDGER_FILE names one)";
  const Ran ran = conduct("check -q" + use);
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(lines_of(ran.out).back() == note);
  CHECK_THAT(conduct("check -q --no-ledger" + use).out, !ContainsSubstring("ledger"));
  check_refused(conduct("check --update-ledger" + use),
                "--update-ledger needs a ledger, and kvr was built without one");
  check_refused(conduct("check --fail-on ledger" + use),
                "--fail-on ledger needs a ledger, and kvr was built without one");
  const Folder folder;
  const Ran made = conduct("check --update-ledger --ledger '" + folder.path("l.json") + "'" + use);
  CHECK(made.exit_code == 0);
  CHECK(folder.names() == std::vector<std::string>{"l.json"});
}

TEST_CASE("help names the files that are read by default") {
  const Ran own = run_program(KVR_PROGRAM, "check --help");
  CHECK_THAT(own.out, ContainsSubstring("else tests/tolerances.toml)") &&
                          ContainsSubstring("else tests/ledger.json)"));
  CHECK_THAT(conduct("check --help").out, ContainsSubstring("KVR_POLICY_FILE, else none)"));
}

TEST_CASE("a missing policy row names the table") {
  const Folder folder;
  folder.write("other.toml", "[[row]]\nkernel = \"another\"\natol = 1\nreason = \"of another kernel\"\n");
  const Ran ran = conduct("check conduct/five does=right --machine cpu:warp32 --policy-file '" +
                          folder.path("other.toml") + "'");
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("no policy row for conduct, output 'y'") &&
                          ContainsSubstring("arch emulated-warp32 in\n") &&
                          ContainsSubstring(folder.path("other.toml") + "\n"));
}

}  // namespace
}  // namespace kvr::test
