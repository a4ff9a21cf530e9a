// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr faults from outside: the matrix, the known holes of published rules, and bad input.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/refused.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran kvr(const std::string& arguments) {
  return run_program(KVR_PROGRAM, arguments);
}

// One machine is enough here: unit.policy_gates runs all of them.
std::string first_machine() {
  const auto lines = lines_of(kvr("list --machines").out);
  return lines.at(1).substr(0, lines.at(1).find(' '));
}

TEST_CASE("the matrix: a line per fault, a column per policy, every survivor with what it hid") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran = kvr("faults k_norm_rope/public or k_norm_rope/fills --machine " + first_machine() +
                      " --policy sglang-dsa-k --policy 'atol=0.06 rtol=0' --fault truncated --fault zeros "
                      "--fault 'pairing swapped' --json -");
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  const auto json = nlohmann::json::parse(ran.out);
  REQUIRE(json.at("matrices").size() == 1);
  for (const auto& row : json["matrices"][0].at("rows")) {
    std::int64_t killed = 0;
    for (const auto& [fill, cell] : row.at("policies").at("shipped").items())
      killed += cell.at("killed").get<std::int64_t>();
    CAPTURE(row.at("fault"));
    CHECK(killed > 0);
  }
  const Ran text = kvr("faults k_norm_rope/public --machine " + first_machine() +
                       " --policy sglang-dsa-k --fault truncated");
  CHECK_THAT(text.out, ContainsSubstring("k_norm_rope on " + first_machine()) &&
                           ContainsSubstring("SURVIVES") && ContainsSubstring("shipped: ") &&
                           ContainsSubstring("output truncated (out) survives; hid up to 1 ULP (error ") &&
                           ContainsSubstring(" in k_norm_rope/public/n=37"));
}

TEST_CASE("known holes: what published rules let through shows in their columns") {
  if (!kvr_has_device()) SKIP("no device");
  const std::string on = " --machine " + first_machine();
  // atol 1e-2 where values are small: an output of zeros passes.
  const Ran zeros =
      kvr("faults concat_and_cache_mla_rope/fills fill=denormal --fault zeros --policy kernelbench" + on);
  CAPTURE(zeros.out);
  CHECK_THAT(zeros.out, ContainsSubstring("output zeros (q) survives"));
  // 95 % of the elements: one row of 37 is 2.7 %.
  const Ran last_row = kvr(
      "faults k_norm_rope/public --fault last_row_unwritten --fault row_tail_wrong --policy percent-95" + on);
  CAPTURE(last_row.out);
  CHECK_THAT(last_row.out, ContainsSubstring("shipped: 2 of 2 faults killed") &&
                               ContainsSubstring("percent-95: 0 of 2 faults killed") &&
                               ContainsSubstring("last_row_unwritten (out) survives"));
  // torch.testing.assert_close: truncation instead of rounding.
  CHECK_THAT(kvr("faults k_norm_rope/public --fault truncated --policy torch-assert-close" + on).out,
             ContainsSubstring("truncated (out) survives"));
}

TEST_CASE("a fault that no case shows is no pass: it is counted and named") {
  if (!kvr_has_device()) SKIP("no device");
  // The keys of this group lie packed already.
  const std::string command =
      "faults k_norm_rope/public --machine " + first_machine() + " --fault zeros --fault 'k stride packed'";
  const Ran ran = kvr(command);
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, ContainsSubstring(
                          "shipped: 1 of 2 faults killed\n"
                          "  argument k stride packed is not shown by these cases: it changed nothing in "
                          "the 2 that tried it\n"));
  const auto json = nlohmann::json::parse(kvr(command + " --json -").out);
  for (const auto& row : json.at("matrices").at(0).at("rows")) CHECK(row.at("tried") == 2);  // cases
  // A layout with gaps shows it.
  CHECK(kvr("faults k_norm_rope/layouts n=37 --machine " + first_machine() + " --fault 'k stride packed'")
            .exit_code == 0);
}

TEST_CASE("--kind leaves out the faults of other kinds") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran = kvr("faults k_norm_rope/public --kind output --machine " + first_machine());
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("output  zeros (out)") && !ContainsSubstring("argument  ") &&
                          !ContainsSubstring("source  "));
  const Ran two = kvr("faults k_norm_rope/public --kind output --kind argument --machine " + first_machine());
  CHECK_THAT(two.out, ContainsSubstring("argument  ") && !ContainsSubstring("source  "));
}

TEST_CASE("where no source fault is there to be tried, that is no pass either") {
#if defined(KVR_CONDUCT)
  const std::string command =
      "faults conduct_schedule/soak barrier=yes --tier soak --machine cpu:warp32 "
      "--policy-file " KVR_SOURCE_DIR "/tests/cli/conduct.toml";
  const Ran ran = run_program(KVR_CONDUCT, command);
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.out, ContainsSubstring("no source fault of conduct_schedule is in this program"));
  CHECK(run_program(KVR_CONDUCT, command + " --kind output").exit_code == 0);
#else
  SKIP("kvr_conduct runs on the cpu machines");
#endif
}

TEST_CASE("a policy judges what it covers and nothing else") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran =
      kvr("faults norm_quant/contract h=1024 dtype=bf16 q=token out=fp8 --policy vllm-residual "
          "--fault zeros --machine " +
          first_machine());
  CAPTURE(ran.out);
  for (const std::string& line : lines_of(ran.out)) {
    if (line.starts_with("output  zeros (out)")) CHECK(line.ends_with("-"));
    if (line.starts_with("output  zeros (residual)")) CHECK(line.ends_with("killed"));
  }
  CHECK_THAT(ran.out, ContainsSubstring("vllm-residual: 1 of 1 faults killed"));
}

TEST_CASE("sensitivity: the smallest error, gain and share of rows that each policy sees") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran =
      kvr("faults k_norm_rope/public pos=int32 --sensitivity --policy 'atol=0.06 rtol=0' --json - "
          "--machine " +
          first_machine());
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  const auto rows = nlohmann::json::parse(ran.out).at("rows");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("policy") == "shipped");
  CHECK(rows[0].at("element_ulp") == 1);
  CHECK(rows[1].at("policy") == "atol=0.06 rtol=0");
  CHECK(rows[1].at("element_ulp") > 1);
  CHECK(rows[1].at("gain") < 0.01);             // values reach 45: 0.06 is 0.13 %
  CHECK(rows[1].at("rows_share") == 1.0 / 37);  // one row of 37
}

TEST_CASE("bad input of kvr faults is one line and exit 2; nothing to do is exit 3") {
  if (!kvr_has_device()) SKIP("no device");  // where none is here, a line of its own says so
  const BadInput rows[] = {
      {"no_such_kernel", "no case matches 'no_such_kernel'"},
      {"k_norm_rope/public --policy atol=lots", "--policy 'atol=lots': atol: 'lots' is not a number"},
      {"k_norm_rope/public --policy atol", "--policy 'atol' is neither a rule"},
      {"k_norm_rope/public --policy ''", "--policy '' is neither a rule"},
      {"k_norm_rope/public --policy vllm-mla-cuda",
       "--policy 'vllm-mla-cuda' covers no output of k_norm_rope"},
      {"k_norm_rope/public --policy-file /no/such.toml", "'/no/such.toml': No such file or directory"},
      {"k_norm_rope/public --fault zeroes", "--fault 'zeroes' is none of the faults of these cases; did you"},
      {"k_norm_rope/public --kind sauce", "--kind 'sauce' is none of output, argument, source"},
      {"k_norm_rope/public --machine cpu:warp48", "--machine 'cpu:warp48' is unknown"},
      {"k_norm_rope/public --tier fast", "--tier 'fast' is none of quick, full, soak"},
      {"k_norm_rope/public --seed -1", "--seed '-1' is not a number"},
      {"k_norm_rope/public --threads -2", "--threads -2 is not a number from 0"},
      {"k_norm_rope/public/seed=1 or k_norm_rope/public/seed=2", "ask for the seeds 1 and 2"},
      {"k_norm_rope/public --sensitivity --fault zeros", "--sensitivity measures sizes of errors"},
      {"k_norm_rope/public --json /no/such/folder/m.json", "cannot write '/no/such/folder/m.json'"},
      {"k_norm_rope/public --json /", "cannot write '/': is a directory"},
  };
  for (const BadInput& row : rows) {
    CAPTURE(row.arguments);
    check_refused(kvr(std::string("faults ") + row.arguments), row.says);
  }
  const Ran elsewhere = kvr("faults k_norm_rope/full");
  CHECK(elsewhere.exit_code == 3);
  CHECK_THAT(elsewhere.err, ContainsSubstring("none in tier quick (--tier full has some)"));
  if (!kvr_has_device()) return;
  const Ran refused = kvr("faults k_norm_rope/refused");
  CHECK(refused.exit_code == 3);
  CHECK_THAT(refused.err, ContainsSubstring("no fault changes anything in the selected cases"));
}

}  // namespace
}  // namespace kvr::test
