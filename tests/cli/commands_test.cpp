// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the commands print and write for the cases of this build.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "harness/report/results_file.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran kvr(const std::string& arguments, const std::string& environment = "") {
  return run_program(KVR_PROGRAM, arguments, environment);
}

TEST_CASE("list prints one name per line; a name lists itself") {
  const Ran ran = kvr("list k_norm_rope/public");
  REQUIRE(ran.exit_code == 0);
  const auto names = lines_of(ran.out);
  REQUIRE(names.size() == 2);  // position types int32 and int64
  for (const std::string& name : names) CHECK(kvr("list '" + name + "'").out == name + "\n");
}

TEST_CASE("words are terms that must all match, quoted together or not; 'or' starts another filter") {
  CHECK(kvr("list k_norm_rope/public pos=int64").out == kvr("list 'k_norm_rope/public pos=int64'").out);
  CHECK(lines_of(kvr("list k_norm_rope/public pos=int64").out).size() == 1);
  CHECK(lines_of(kvr("list k_norm_rope/public pos=int64 or k_norm_rope/public").out).size() == 2);
}

TEST_CASE("lists are also JSON") {
  const Ran ran = kvr("list k_norm_rope/public --json -");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("\"kvr-cases\"") && ContainsSubstring("k_norm_rope/public/n=37"));
  CHECK_THAT(kvr("list --machines --json -").out,
             ContainsSubstring("\"kvr-machines\"") && ContainsSubstring("\"warp_size\""));
}

TEST_CASE("machines come with their properties") {
  const Ran ran = kvr("list --machines");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("machine") && ContainsSubstring("arch") && ContainsSubstring("warp"));
}

TEST_CASE("policy prints the row, why, and where it stands; and the alternatives") {
  const Ran ran = kvr("policy k_norm_rope/public");
  CAPTURE(ran.out);
  CHECK(ran.exit_code == 0);
  for (const char* part :
       {"k_norm_rope 'out' bf16 on ", "rule", "because", "tests/tolerances.toml:", "Alternatives"})
    CHECK_THAT(ran.out, ContainsSubstring(part));
  CHECK_THAT(kvr("policy k_norm_rope/public --policy sglang-dsa-k").out, ContainsSubstring("[sglang-dsa-k]"));
}

TEST_CASE("a check of one group: table, totals, results file") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const Ran ran =
      kvr("check k_norm_rope/public --seed 18446744073709551615 --json '" + folder.path("r.json") + "'");
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring(" planned, ") && ContainsSubstring(" passed, 0 failed"));
  CHECK(ran.out.find('\r') == std::string::npos);  // not a terminal
  CHECK(ran.out.find('\x1b') == std::string::npos);
  CHECK(folder.names() == std::vector<std::string>{"r.json"});
  const Results results = read_results(folder.path("r.json"));
  CHECK(results.info.seed == 18446744073709551615ULL);
  CHECK(results.info.tier == "quick");
  REQUIRE(results.cases.size() >= 2);
  for (const CaseReport& report : results.cases) {
    CHECK(report.seed == 18446744073709551615ULL);
    CHECK(report.verdict == Verdict::pass);
    REQUIRE(report.outputs.size() == 1);
    CHECK(report.outputs[0].policy.place().starts_with("tests/tolerances.toml:"));
    CHECK(report.outputs[0].comparison.numel == 37 * 128);
    // The machine changes neither the inputs nor, for this kernel, the bits of the output.
    for (const CaseReport& other : results.cases) {
      if (other.name != report.name) continue;
      CHECK(report.input_hash == other.input_hash);
      CHECK(report.outputs[0].output_hash == other.outputs[0].output_hash);
    }
  }
}

TEST_CASE("--json - leaves standard output to the results") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran = kvr("check k_norm_rope/public pos=int32 --json -");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.starts_with("{"));
  CHECK_THAT(ran.err, ContainsSubstring(" planned, "));
}

TEST_CASE("replay takes a name as printed and shows the numbers of a pass") {
  if (!kvr_has_device()) SKIP("no device");
  const std::string name = lines_of(kvr("list k_norm_rope/public pos=int32").out).at(0);
  for (const std::string& given : {name, name + "/seed=5"}) {
    const Ran ran = kvr("replay '" + given + "'");
    CAPTURE(ran.out, ran.err);
    CHECK(ran.exit_code == 0);
    CHECK_THAT(ran.out, ContainsSubstring(name + (given == name ? "/seed=0" : "/seed=5")));
    CHECK_THAT(ran.out, ContainsSubstring("of 4736 elements fail") && ContainsSubstring("policy"));
  }
}

TEST_CASE("inputs and outputs do not depend on how many threads, processes and earlier cases there were") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const auto results = [&](const std::string& options) {
    const std::string file = folder.path("r.json");
    CHECK(kvr("check k_norm_rope/public or norm_quant/layouts/n=6/h=768/dtype=bf16 " + options + " --json '" +
              file + "'")
              .exit_code == 0);
    return read_results(file);
  };
  const Results one = results("--threads 1 --jobs 1");
  REQUIRE(one.cases.size() > 20);
  for (const char* options : {"--threads 3 --jobs 1", "--threads 2 --jobs 5", "--no-isolation"}) {
    const Results other = results(options);
    CAPTURE(options);
    REQUIRE(one.cases.size() == other.cases.size());
    for (std::size_t i = 0; i < one.cases.size(); ++i) {
      CHECK(one.cases[i].name == other.cases[i].name);
      CHECK(one.cases[i].input_hash == other.cases[i].input_hash);
      REQUIRE(one.cases[i].outputs.size() == other.cases[i].outputs.size());
      for (std::size_t o = 0; o < one.cases[i].outputs.size(); ++o)
        CHECK(one.cases[i].outputs[o].output_hash == other.cases[i].outputs[o].output_hash);
    }
  }
}

TEST_CASE(
    "without a device every case is skipped with the reason, and that is exit 3; unless a device is "
    "required") {
  if (kvr_has_device()) SKIP("a device is here");
  const Ran ran = kvr("check k_norm_rope/public");
  CHECK(ran.exit_code == 3);
  CHECK_THAT(ran.out, ContainsSubstring("no device: ") && ContainsSubstring("0 passed, 0 failed"));
  const Ran required = kvr("check k_norm_rope/public", "KVR_REQUIRE_DEVICE=1");
  CHECK(required.exit_code == 1);
  CHECK_THAT(required.out, ContainsSubstring("KVR_REQUIRE_DEVICE=1"));
}

}  // namespace
}  // namespace kvr::test
