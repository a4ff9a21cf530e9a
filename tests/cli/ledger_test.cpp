// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr check and the ledger, from outside: what is written, what is compared, what is refused.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "harness/report/ledger_file.h"
#include "harness/report/results_file.h"
#include "tests/cli/refused.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran kvr(const std::string& arguments, const std::string& environment = "") {
  return run_program(KVR_PROGRAM, arguments, environment);
}

std::string quoted(const std::string& path) {
  return "'" + path + "'";
}

// A text with the first `find` in it replaced.
std::string edited(std::string text, const std::string& find, const std::string& replace) {
  const std::size_t at = text.find(find);
  REQUIRE(at != std::string::npos);
  return text.replace(at, find.size(), replace);
}

TEST_CASE("--update-ledger makes a ledger, raises it, and writes the same file for the same run") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const std::string file = folder.path("ledger.json");
  const std::string command = "check k_norm_rope/public --update-ledger --ledger " + quoted(file);
  const Ran first = kvr(command);
  CAPTURE(first.out, first.err);
  CHECK(first.exit_code == 0);
  CHECK_THAT(first.out, ContainsSubstring("updated, ") && ContainsSubstring(" of them new"));
  CHECK(folder.names() == std::vector<std::string>{"ledger.json"});  // nothing is left beside it
  const std::string text = read_text(file);
  CHECK_THAT(kvr(command).out, ContainsSubstring("nothing new"));
  CHECK(read_text(file) == text);
  CHECK_THAT(kvr(command + " --threads 1").out, ContainsSubstring("nothing new"));
  // Other seeds raise it: every number is at least what it was.
  for (const char* seed : {"1", "2", "3"}) CHECK(kvr(command + " --seed " + seed).exit_code == 0);
  const Ledger before = ledger_from_json(text);
  const Ledger after = read_ledger(file);
  REQUIRE(after.size() == before.size());
  for (const auto& [key, entry] : before) {
    CHECK(after.at(key).bias >= entry.bias);
    CHECK(after.at(key).ratio >= entry.ratio);
    CHECK(after.at(key).worst_ulp >= entry.worst_ulp);
  }
  CHECK(ledger_to_json(after) != text);
}

TEST_CASE("a run within the ledger says so; what is not in it is one line") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const std::string file = folder.path("ledger.json");
  REQUIRE(kvr("check k_norm_rope/public --update-ledger --ledger " + quoted(file)).exit_code == 0);
  const std::string use = " --fail-on ledger --ledger " + quoted(file);
  const Ran same = kvr("check k_norm_rope/public" + use);
  CAPTURE(same.out);
  CHECK(same.exit_code == 0);
  CHECK_THAT(same.out, ContainsSubstring(file + ": nothing unusual in "));
  const Ran more = kvr("check k_norm_rope/public or k_norm_rope/far" + use);
  CHECK(more.exit_code == 0);  // unknown is not bad
  CHECK_THAT(more.out, ContainsSubstring("families are not in it"));
  CHECK_THAT(kvr("check k_norm_rope/public --no-ledger").out, !ContainsSubstring("ledger"));
  CHECK_THAT(kvr("check k_norm_rope/public", "KVR_LEDGER_FILE=" + quoted(file)).out,
             ContainsSubstring(file + ": nothing unusual"));
}

TEST_CASE("the shipped ledger knows the quick tier of this platform and finds nothing unusual in it") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran = kvr("check k_norm_rope or concat_and_cache_mla_rope/contracts --fail-on ledger -q");
  CAPTURE(ran.out);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("ledger tests/ledger.json: nothing unusual in "));
  if (ran.out.find("cpu:warp32") != std::string::npos)
    CHECK_THAT(ran.out, !ContainsSubstring("are not in it"));
}

TEST_CASE("a kernel that got worse inside a policy is remarked on, and fails only when asked to") {
  if (kvr("list k_norm_rope --faults").exit_code != 0) SKIP("this build has no source faults");
  if (!kvr_has_device()) SKIP("no device");
  // bf16 cut instead of rounded is within one ULP, which is what this published rule allows.
  const Folder folder;
  const std::string command = "check k_norm_rope/public --fault truncated --policy sglang-dsa-k --json " +
                              quoted(folder.path("r.json"));
  const Ran ran = kvr(command);
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("remark") && ContainsSubstring("times the ledger's worst: ") &&
                          ContainsSubstring("% of the elements are off without a reason in the reference"));
  CHECK(kvr(command + " --fail-on ledger").exit_code == 1);
  const Results results = read_results(folder.path("r.json"));
  REQUIRE(results.ledger.has_value());
  REQUIRE_FALSE(results.ledger->review.remarks.empty());
  CHECK(results.ledger->review.remarks[0].kind == Remark::Kind::worse);
  CHECK(results.ledger->file == "tests/ledger.json");
  CHECK(results.cases.at(0).outputs.at(0).spread.outliers > 1000);  // about half of 4736
}

TEST_CASE("a failing run does not touch the ledger") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  folder.write("strict.toml", "[[row]]\nkernel = \"k_norm_rope\"\natol = 0\nreason = \"fails\"\n");
  const Ran ran =
      kvr("check k_norm_rope/public --update-ledger --ledger " + quoted(folder.path("ledger.json")) +
          " --policy-file " + quoted(folder.path("strict.toml")));
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("not updated, "));
  CHECK(folder.names() == std::vector<std::string>{"strict.toml"});
}

TEST_CASE("bad options and bad ledgers are one line and exit 2 before anything runs") {
  const Folder folder;
  const std::string good = read_text(KVR_SOURCE_DIR "/tests/ledger.json");
  folder.write("cut.json", good.substr(0, good.size() / 2));
  folder.write("version.json", edited(good, "\"schema_version\": 1", "\"schema_version\": 9"));
  folder.write("number.json", edited(good, "\"worst_ulp\": ", "\"worst_ulp\": -"));
  folder.write("key.json", edited(good, "\"bias\"", "\"bais\""));
  folder.write("empty.json", "");
  folder.write("results.json", R"({"schema": "kvr-results", "schema_version": 1})");
  struct Row {
    std::string arguments;
    std::string says;
  };
  const auto with = [&](const std::string& name) { return "--ledger " + quoted(folder.path(name)); };
  const std::string nonsense = "--fail-on 'loose' is unknown; it takes: ledger";
  const Row rows[] = {
      {with("none.json"), "none.json' does not exist; 'kvr check --update-ledger' makes one"},
      {with("cut.json"), "cut.json: not JSON, near byte "},
      {with("empty.json"), "empty.json: not JSON"},
      {with("version.json"), "version.json: 'schema_version' is 9, this kvr reads 1"},
      {with("number.json"), "number.json: family 1: 'worst_ulp' is "},
      {with("key.json"), "key.json: family 1: 'bais' is an unknown key"},
      {with("results.json"), "results.json: 'schema' is 'kvr-results', not 'kvr-ledger'"},
      {"--ledger ''", "ledger '' does not exist"},
      {"--update-ledger " + with("cut.json"), "cut.json: not JSON"},
      {"--update-ledger --ledger /no/such/folder/l.json", "cannot write '/no/such/folder/l.json'"},
      {"--update-ledger --ledger /", "cannot write '/': is a directory"},
      {"--no-ledger --update-ledger", "--no-ledger and --update-ledger exclude each other"},
      {"--no-ledger --fail-on ledger", "--no-ledger and --fail-on ledger exclude each other"},
      {"--no-ledger " + with("cut.json"), "--no-ledger and --ledger exclude each other"},
      {"--update-ledger --policy atol=1", "--update-ledger and --policy exclude each other"},
      {"--fail-on loose", nonsense},
  };
  const auto names = folder.names();
  for (const Row& row : rows) {
    const Ran ran = kvr("check k_norm_rope/public " + row.arguments);
    CAPTURE(row.arguments);
    check_refused(ran, row.says);
    CHECK(folder.names() == names);
  }
}

}  // namespace
}  // namespace kvr::test
