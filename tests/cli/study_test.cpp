// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr study from outside: one result for any number of threads, split, order and interruption; files that do
// not fit are refused; the table.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>

#include "harness/report/study_file.h"
#include "tests/cli/refused.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

// bf16, 37 rows of 128: the case of the K-kernel report.
constexpr const char* kCase = "k_norm_rope/public pos=int32";
constexpr const char* kPolicies = "--policy 'atol=0.06 rtol=0' --policy ''";

Ran kvr(const std::string& arguments) {
  return run_program(KVR_PROGRAM, arguments);
}

// Runs a study of `draws` and saves it as `name`; returns what it printed.
std::string study(const Folder& folder, const std::string& name, int draws, const std::string& more = "") {
  const Ran ran = kvr(
      fmt::format("study {} {} --draws {} {} --json '{}'", kCase, kPolicies, draws, more, folder.path(name)));
  CAPTURE(more, ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  return ran.out;
}

std::string merge_arguments(const Folder& folder, const std::vector<std::string>& names) {
  std::string arguments = "study";
  for (const std::string& name : names) arguments += fmt::format(" --merge '{}'", folder.path(name));
  return arguments;
}

TEST_CASE("the number of threads changes neither the text nor a byte of the file") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const std::string one = study(folder, "1.json", 450, "--threads 1");
  CHECK(study(folder, "2.json", 450, "--threads 2") == one);
  CHECK(study(folder, "4.json", 450, "--threads 4") == one);
  CHECK(read_text(folder.path("2.json")) == read_text(folder.path("1.json")));
  CHECK(read_text(folder.path("4.json")) == read_text(folder.path("1.json")));
  // Nothing of it hangs on the seeds being few: other seeds are another study.
  CHECK(study(folder, "other.json", 450, "--seed 450") != one);
}

TEST_CASE("any split into shards, merged in any order, is the whole, to the byte") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const std::string whole = study(folder, "whole.json", 450);
  for (int i = 0; i < 3; ++i) study(folder, fmt::format("3_{}.json", i), 450, fmt::format("--shard {}/3", i));
  for (int i = 0; i < 7; ++i)  // more shards than chunks of draws: some are empty
    study(folder, fmt::format("7_{}.json", i), 450, fmt::format("--shard {}/7", i));
  const std::vector<std::vector<std::string>> orders{
      {"3_0.json", "3_1.json", "3_2.json"},
      {"3_2.json", "3_0.json", "3_1.json"},
      {"7_6.json", "7_0.json", "7_3.json", "7_5.json", "7_1.json", "7_4.json", "7_2.json"},
      {"whole.json"}};
  for (const auto& order : orders) {
    const Ran merged =
        kvr(merge_arguments(folder, order) + fmt::format(" --json '{}'", folder.path("merged.json")));
    CAPTURE(order.front(), merged.err);
    CHECK(merged.exit_code == 0);
    CHECK(merged.out == whole);
    CHECK(read_text(folder.path("merged.json")) == read_text(folder.path("whole.json")));
  }
  const Ran part = kvr(merge_arguments(folder, {"3_0.json", "3_2.json"}));
  CHECK(part.exit_code == 0);
  CHECK_THAT(part.out, ContainsSubstring(": 250 of 450 draws planned, seeds from 0\n"));
}

TEST_CASE("an interrupted study goes on from its file to the result of an uninterrupted one") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  constexpr int kDraws = 6000;
  const std::string arguments = fmt::format("study {} {} --draws {} --threads 1", kCase, kPolicies, kDraws);
  const Ran interrupted = run_program(
      "/usr/bin/timeout",
      fmt::format("-s INT 0.4 '{}' {} --json '{}'", KVR_PROGRAM, arguments, folder.path("s.json")));
  CAPTURE(interrupted.out, interrupted.err);
  CHECK(interrupted.exit_code == 124);  // timeout's own, when it had to send the signal
  CHECK_THAT(interrupted.err,
             ContainsSubstring("kvr: interrupted after ") && ContainsSubstring("; --resume goes on"));
  const StudyResult so_far = read_study(folder.path("s.json"));
  CHECK(so_far.draws < kDraws);
  CHECK(so_far.planned == kDraws);
  const Ran resumed = kvr(fmt::format("{} --resume --json '{}'", arguments, folder.path("s.json")));
  CHECK(resumed.exit_code == 0);
  CHECK(resumed.out == study(folder, "whole.json", kDraws));
  CHECK(read_text(folder.path("s.json")) == read_text(folder.path("whole.json")));
  // And once more, with nothing left to do.
  CHECK(kvr(fmt::format("{} --resume --json '{}'", arguments, folder.path("s.json"))).out == resumed.out);
  CHECK(read_text(folder.path("s.json")) == read_text(folder.path("whole.json")));
}

TEST_CASE("files that do not belong together are not merged, and nothing is written") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const bool emulated = kvr("list --machines").out.find("cpu:warp64") != std::string::npos;
  const auto part = [&](const std::string& name, const std::string& of, const std::string& policies,
                        const std::string& more) {
    const Ran ran = kvr(fmt::format("study {} {} --draws 200 --shard 1/2 {} --json '{}'", of, policies, more,
                                    folder.path(name)));
    CAPTURE(name, ran.err);
    CHECK(ran.exit_code == 0);
  };
  study(folder, "a.json", 200, "--shard 0/2");
  part("case.json", "k_norm_rope/public pos=int64", kPolicies, "");
  part("policy.json", kCase, "--policy 'atol=0.07 rtol=0' --policy ''", "");
  part("fewer.json", kCase, "--policy ''", "");
  part("seed.json", kCase, kPolicies, "--seed 9");
  struct Row {
    const char* other;
    const char* says;
  };
  std::vector<Row> rows{
      {"case.json",
       "pos=int32' and case 'k_norm_rope/public/n=37/dtype=bf16/pairing=interleaved/table=normal/pos=int64'"},
      {"policy.json",
       "policies 'atol=0.06 rtol=0', 'budget=1' and policies 'atol=0.07 rtol=0', 'budget=1' for 'out'"},
      {"fewer.json", "policies 'atol=0.06 rtol=0', 'budget=1' and policies 'budget=1' for 'out'"},
      {"seed.json", "200 draws from seed 0 on and 200 draws from seed 9 on"},
      {"a.json", "both hold the draws from seed 0 on"}};
  if (emulated) {
    part("machine.json", kCase, kPolicies, "--machine cpu:warp64");
    part("envelope.json", kCase, kPolicies, "--envelope");
    rows.push_back({"machine.json", "machine cpu:warp32 and machine cpu:warp64"});
    rows.push_back({"envelope.json", "one with and one without the arithmetic envelope"});
  }
  folder.write("kept.json", "kept");
  for (const Row& row : rows) {
    const Ran ran = kvr(merge_arguments(folder, {"a.json", row.other}) +
                        fmt::format(" --json '{}'", folder.path("kept.json")));
    CAPTURE(row.other);
    check_refused(ran, row.says);
    CHECK_THAT(ran.err, ContainsSubstring(fmt::format("--merge {}: these studies do not belong together: ",
                                                      folder.path(row.other))));
    CHECK(read_text(folder.path("kept.json")) == "kept");
  }
}

TEST_CASE("a file that is no study, is cut off or was edited is refused by name, and is left as it is") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  study(folder, "good.json", 100);
  const std::string good = read_text(folder.path("good.json"));
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  struct Row {
    std::string text;
    const char* says;
  };
  const Row rows[] = {
      {good.substr(0, good.size() / 2), "not a study of kvr, or cut off: no JSON from byte "},
      {good.substr(0, good.size() - 3), "not a study of kvr, or cut off: no JSON from byte "},
      {"", "not a study of kvr, or cut off: no JSON from byte 1"},
      {"# a README\n", "not a study of kvr, or cut off: no JSON from byte 1"},
      {"{}", "not a study of kvr"},
      {"[1, 2]", "not a study of kvr"},
      {R"({"schema": "kvr-results", "schema_version": 1})", "not a study of kvr"},
      {edited("\"draws\": \"100\"", "\"draws\": \"900\""), "the checksum does not fit"},
      {edited("atol=0.06", "atol=0.05"), "the checksum does not fit"},
      {edited("\"failing\": \"0\"", "\"failing\": \"1\""), "the checksum does not fit"},
      {edited("\"schema_version\": ", "\"schema_version\": 9"), "this kvr reads version "},
  };
  for (const Row& row : rows) {
    folder.write("bad.json", row.text);
    for (const bool resume : {false, true}) {
      const Ran ran = resume ? kvr(fmt::format("study {} {} --draws 100 --resume --json '{}'", kCase,
                                               kPolicies, folder.path("bad.json")))
                             : kvr(merge_arguments(folder, {"good.json", "bad.json"}));
      CAPTURE(row.says, resume);
      check_refused(ran, row.says);
      CHECK_THAT(ran.err, ContainsSubstring("bad.json: "));
      CHECK(read_text(folder.path("bad.json")) == row.text);
    }
  }
}

TEST_CASE("a study goes on with its own file only") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  study(folder, "s.json", 200, "--shard 0/2");
  const std::string before = read_text(folder.path("s.json"));
  struct Row {
    const char* arguments;
    const char* says;
  };
  const Row rows[] = {
      {"k_norm_rope/public pos=int32 --policy 'atol=0.06 rtol=0' --policy '' --draws 300",
       "300 draws from seed 0 on and 200 draws from seed 0 on"},
      {"k_norm_rope/public pos=int32 --policy 'atol=0.06 rtol=0' --policy '' --draws 200 --seed 1",
       "200 draws from seed 1 on and 200 draws from seed 0 on"},
      {"k_norm_rope/public pos=int32 --policy 'atol=0.05 rtol=0' --policy '' --draws 200",
       "policies 'atol=0.05 rtol=0', 'budget=1' and policies 'atol=0.06 rtol=0', 'budget=1'"},
      {"k_norm_rope/public pos=int64 --policy 'atol=0.06 rtol=0' --policy '' --draws 200",
       "pos=int64' and case '"},
  };
  for (const Row& row : rows) {
    const Ran ran = kvr(fmt::format("study {} --resume --json '{}'", row.arguments, folder.path("s.json")));
    CAPTURE(row.arguments);
    check_refused(ran, row.says);
    CHECK_THAT(ran.err, ContainsSubstring(fmt::format("--resume {}: ", folder.path("s.json"))));
    CHECK(read_text(folder.path("s.json")) == before);
  }
}

TEST_CASE("bad input to a study is one line that names the thing and the value, and exit 2") {
  if (!kvr_has_device()) SKIP("no device");  // where none is here, that is said first
  const BadInput rows[] = {
      {"study", "a study needs a case"},
      {"study k_norm_rope", "a study takes one case; the filter matches "},
      {"study k_norm_rope/pubilc", "no case matches 'k_norm_rope/pubilc'; did you mean k_norm_rope/public"},
      {"study k_norm_rope/public pos=int32 --policy atol=lots",
       "--policy 'atol=lots': atol: 'lots' is not a number"},
      {"study k_norm_rope/public pos=int32 --policy 'atol=1 btol=1'", "unknown key 'btol'"},
      {"study k_norm_rope/public pos=int32 --policy 'atol=1 atol=2'", "atol is given twice"},
      {"study k_norm_rope/public pos=int32 --policy 'atol=-1'", "'-1'"},
      {"study k_norm_rope/public pos=int32 --policy tight",
       "--policy 'tight' is neither a rule (atol=0.06 rtol=0) nor"},
      {"study k_norm_rope/public pos=int32 --policy vllm-residual",
       "policy 'vllm-residual' covers no output of case 'k_norm_rope/public/"},
      {"study k_norm_rope/public pos=int32 --draws 0", "--draws '0' is not a number from 1 to "},
      {"study k_norm_rope/public pos=int32 --draws -3", "--draws '-3' is not a number from 1 to "},
      {"study k_norm_rope/public pos=int32 --draws 1e6", "--draws '1e6' is not a number from 1 to "},
      {"study k_norm_rope/public pos=int32 --draws 18446744073709551616",
       "--draws '18446744073709551616' is not"},
      {"study k_norm_rope/public pos=int32 --draws 18446744073709551615 --seed 1", "would pass 2^64-1"},
      {"study k_norm_rope/public pos=int32 --draws ''", "--draws '' is not"},
      {"study k_norm_rope/public pos=int32 --shard 3/3", "--shard '3/3' is not I/N with 0 <= I < N"},
      {"study k_norm_rope/public pos=int32 --shard -1/3", "--shard '-1/3' is not I/N"},
      {"study k_norm_rope/public pos=int32 --shard 1/0", "--shard '1/0' is not I/N"},
      {"study k_norm_rope/public pos=int32 --shard 0/0", "--shard '0/0' is not I/N"},
      {"study k_norm_rope/public pos=int32 --shard half", "--shard 'half' is not I/N"},
      {"study k_norm_rope/public pos=int32 --shard 1/2/3", "--shard '1/2/3' is not I/N"},
      {"study k_norm_rope/public pos=int32 --shard ''", "--shard '' is not I/N"},
      {"study k_norm_rope/public pos=int32 --seed -1", "--seed '-1' is not a number"},
      {"study k_norm_rope/public pos=int32 --threads -2", "--threads -2 is not a number from 0"},
      {"study k_norm_rope/public pos=int32 --machine cpu:warp48",
       "--machine 'cpu:warp48' is unknown; machines of"},
      {"study k_norm_rope/public pos=int32 --fault no_such_fault", "--fault 'no_such_fault' is unknown"},
      {"study k_norm_rope/public pos=int32 --resume", "--resume needs --json FILE"},
      {"study k_norm_rope/public pos=int32 --policy-file /no/such.toml", "'/no/such.toml': No such file"},
      {"study k_norm_rope/public pos=int32 --json /no/such/s.json",
       "cannot write '/no/such/s.json': No such"},
      {"study k_norm_rope/refused", "a study takes one case"},
      {"study --merge /no/such.json", "cannot read '/no/such.json': No such file or directory"},
      {"study --merge /", "cannot read '/': is a directory"},
      {"study k_norm_rope/public --merge s.json",
       "--merge takes no filter, and 'k_norm_rope/public' was given"},
      {"study --merge s.json --draws 5", "--merge takes no --draws"},
      {"study --merge s.json --policy exact", "--merge takes no --policy"},
      {"study --merge s.json --shard 0/2", "--merge takes no --shard"},
      {"study --merge s.json --envelope", "--merge takes no --envelope"},
  };
  for (const BadInput& row : rows) {
    CAPTURE(row.arguments);
    check_refused(kvr(row.arguments), row.says);
  }
}

TEST_CASE("a case that is refused before launch has nothing to study, and no file is left") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const std::string name = lines_of(kvr("list k_norm_rope/refused").out).at(0);
  check_refused(kvr(fmt::format("study '{}' --json '{}'", name, folder.path("s.json"))),
                "is refused before launch; there is nothing to study");
  CHECK(folder.names().empty());
}

TEST_CASE("the table: rates with intervals, extremes with their places, agreeing with the file") {
  if (!kvr_has_device()) SKIP("no device");
  const Folder folder;
  const std::string text = study(folder, "s.json", 1000);
  const StudyResult result = read_study(folder.path("s.json"));
  CAPTURE(text);
  CHECK_THAT(text, ContainsSubstring(": 1000 draws, seeds 0 to 999\n"));
  CHECK_THAT(text, ContainsSubstring("'out' (bf16): 4736000 elements, largest |reference| "));
  REQUIRE(result.outputs.size() == 1);
  const OutputTally& out = result.outputs[0];
  CHECK_THAT(text,
             ContainsSubstring(fmt::format("  error above half a ULP in {} of 1000 draws ({} elements)\n",
                                           out.over_half_ulp, out.differing)));
  // Worst absolute error: half a ULP of bf16 there is 2^(exponent - 8).
  const Element& worst = out.worst_abs.element;
  CHECK(worst.error == std::fabs(worst.actual - worst.expected));
  CHECK_THAT(text, ContainsSubstring(fmt::format("half a ULP there: {:.6g}",
                                                 std::ldexp(1.0, std::ilogb(worst.expected) - 8))));
  CHECK_THAT(text, ContainsSubstring(fmt::format("row {}, column {}, seed {}", worst.row, worst.column,
                                                 out.worst_abs.seed)));
  // mla 1.13 of the specification: 1.19 % of draws; Wilson's interval by hand for the count that is printed.
  const auto failing = static_cast<double>(out.policies.at(0).failing);
  CHECK(failing > 1000 * 0.0119 - 4 * 3.4);  // 4 standard deviations
  CHECK(failing < 1000 * 0.0119 + 4 * 3.4);
  const double z = 1.959964, n = 1000, p = failing / n;
  const double centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
  CHECK_THAT(text, ContainsSubstring(fmt::format("{:.3g} %  {:.3g} % to {:.3g} %", 100 * p,
                                                 100 * (centre - half), 100 * (centre + half))));
  CHECK_THAT(text, ContainsSubstring("below 0.3 %"));  // 3/1000
  CHECK_THAT(text, ContainsSubstring("first failure under atol=0.06 rtol=0: seed "));
  CHECK_THAT(text, ContainsSubstring(fmt::format("\ndigest {:#018x}\n", result.digest)));
  for (const std::string& line : lines_of(text)) CHECK((line.empty() || line.back() != ' '));
}

TEST_CASE("one draw is said in the singular; the shipped policy alone decides the exit code") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran one = kvr(fmt::format("study {} --draws 1 --seed 29 --policy 'atol=0.06 rtol=0'", kCase));
  CAPTURE(one.out);
  CHECK(one.exit_code == 0);  // seed 29 fails the rule, which nobody ships
  CHECK_THAT(one.out, ContainsSubstring(": 1 draw, seed 29\n") &&
                          ContainsSubstring("error above half a ULP in 0 of 1 draw (0 elements)"));
  const Folder folder;
  folder.write("strict.toml", "[[row]]\nkernel = \"k_norm_rope\"\natol = 0.06\nreason = \"for a test\"\n");
  const Ran shipped =
      kvr(fmt::format("study {} --draws 1 --seed 29 --policy-file '{}'", kCase, folder.path("strict.toml")));
  CAPTURE(shipped.out);
  CHECK(shipped.exit_code == 1);
}

TEST_CASE("--json - leaves standard output to the study") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran = kvr(fmt::format("study {} --draws 10 --json -", kCase));
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.starts_with("{"));
  CHECK(study_from_json(ran.out).draws == 10);
}

TEST_CASE("an alternative that does not cover an output leaves it to the shipped row, and says so") {
  if (!kvr_has_device()) SKIP("no device");
  const Ran ran =
      kvr("study "
          "norm_quant/public_token/n=1/h=64/dtype=bf16/layout=contiguous/res=f32_sum/q=token/out=fp8/std=1/h "
          "--draws 5 --policy vllm-residual");
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("vllm-residual: atol=0.01 rtol=0.01") &&
                          ContainsSubstring("vllm-residual says nothing of 'out'; shipped: budget=1"));
}

TEST_CASE("over the envelope: what differs from the machine's own arithmetic is counted") {
  if (kvr("list --machines").out.find("cpu:warp32") == std::string::npos)
    SKIP("only cpu machines vary their arithmetic");
  const Ran ran = kvr(fmt::format("study {} --draws 200 --envelope", kCase));
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, ContainsSubstring("cpu:warp32, over the arithmetic envelope: 200 draws") &&
                          ContainsSubstring("other than with the machine's own arithmetic in "));
  CHECK(kvr(fmt::format("study {} --draws 200 --envelope --threads 3", kCase)).out == ran.out);
  CHECK_THAT(kvr(fmt::format("study {} --draws 200", kCase)).out, !ContainsSubstring("own arithmetic"));
}

}  // namespace
}  // namespace kvr::test
