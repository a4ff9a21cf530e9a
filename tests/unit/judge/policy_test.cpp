// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The policy table: which row wins, and every complaint with its file and line.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>

#include "harness/judge/policy.h"

using namespace kvr;

namespace {

std::string complaints(std::string_view text) {
  try {
    PolicyTable::parse(text, "t.toml");
  } catch (const PolicyError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("policy: the most specific row wins, wherever it stands") {
  const PolicyTable table = PolicyTable::parse(R"([[row]]
kernel = "k"
platform = "hip"
output = "out"
dtype = "fp16"
exact = true
reason = "four"
[[row]]
kernel = "k"
max_ulp = 9
reason = "one"
[[row]]
kernel = "k"
dtype = ["bf16", "fp16"]
output = "out"
max_ulp = 2
reason = "three, two dtypes"
[[row]]
kernel = "k"
dtype = "bf16"
output = "out"
max_ulp = 1
reason = "three, one dtype"
[[row]]
kernel = "k"
output = "out"
max_ulp = 3
reason = "two"
[[row]]
kernel = "k"
output = "scale"
dtype = "f32"
arch = "gfx942"
exact = true
reason = "four by arch"
)",
                                               "t.toml");
  struct Row {
    PolicyKey key;
    const char* reason;
  };
  const Row expected[] = {
      {{"k", "out", DType::fp16, "hip", "gfx942"}, "four"},
      {{"k", "out", DType::fp16, "cuda", "sm_90"}, "three, two dtypes"},
      {{"k", "out", DType::bf16, "hip", "gfx942"}, "three, one dtype"},
      {{"k", "out", DType::f32, "hip", "gfx942"}, "two"},
      {{"k", "scale", DType::f32, "hip", "gfx942"}, "four by arch"},
      {{"k", "scale", DType::f32, "hip", "gfx90a"}, "one"},
      {{"k", "other", DType::int8, "cpu", "warp32"}, "one"},
  };
  for (const Row& row : expected) {
    INFO(row.reason);
    const Policy* policy = table.resolve(row.key);
    REQUIRE(policy != nullptr);
    CHECK(policy->reason == row.reason);
  }
  CHECK(table.resolve({"other", "out", DType::bf16, "cpu", "warp32"}) == nullptr);
  CHECK(table.resolve(expected[2].key)->place() == "t.toml:18");
  CHECK(table.resolve(expected[2].key)->rule == parse_rule("max_ulp=1", DType::bf16));
}

TEST_CASE("policy: numbers, dates and outliers as a table writes them") {
  const PolicyTable table = PolicyTable::parse(R"([[row]]
kernel = "k"
dtype = "bf16"
atol = 1e-3
rtol = "2ulp"
tie_window = "2^-4"
budget = 2
bias = 0.02
row_l2 = "1e-2"
max_ulp = 3
outliers = { count = "numel/100000 + 8", max_ulp = 1 }
reason = "all of it"
evidence = "runs"
expires = 2027-06-01
)",
                                               "t.toml");
  const Policy& row = table.rows().at(0);
  CHECK(row.rule ==
        parse_rule("atol=0.001 rtol=2^-6 max_ulp=3 tie_window=2^-4 budget=2 bias=0.02 row_l2=0.01 "
                   "outliers.count='numel/100000 + 8' outliers.max_ulp=1",
                   DType::bf16));
  CHECK(row.expires == "2027-06-01");
  CHECK(row.evidence == "runs");
}

TEST_CASE("policy: alternatives go by name") {
  const PolicyTable table = PolicyTable::parse(R"([[row]]
kernel = "k"
exact = true
reason = "ships"
[[alternative]]
name = "torch"
kernel = "k"
dtype = "bf16"
rtol = 1.6e-2
reason = "bf16"
[[alternative]]
name = "torch"
kernel = "k"
dtype = "fp16"
rtol = 1e-3
reason = "fp16"
[[alternative]]
name = "sglang"
kernel = "k"
atol = 0.06
reason = "old"
)",
                                               "t.toml");
  CHECK(table.alternative("torch", {"k", "out", DType::fp16, "cpu", ""})->reason == "fp16");
  CHECK(table.alternative("torch", {"k", "out", DType::f32, "cpu", ""}) == nullptr);
  CHECK(table.alternative("none", {"k", "out", DType::fp16, "cpu", ""}) == nullptr);
  CHECK(table.resolve({"k", "out", DType::fp16, "cpu", ""})->reason == "ships");
  CHECK(table.alternative_names() == std::vector<std::string>{"sglang", "torch"});
}

TEST_CASE("policy: one complaint, with file and line") {
  const std::pair<const char*, const char*> table[] = {
      {"[[row]]\nkernel = \"k\"\nexact = true\n", "t.toml:1: row without 'reason'"},
      {"[[row]]\nexact = true\nreason = \"r\"\n", "t.toml:1: row without 'kernel'"},
      {"[[row]]\nkernel = \"k\"\nreason = \"r\"\n",
       "t.toml:1: row without a rule (exact, atol, rtol, max_ulp, tie_window, budget, bias, row_l2)"},
      {"[[row]]\nkernel = \"k\"\nexact = true\nreason = \"\"\n", "t.toml:4: 'reason' is empty"},
      {"[[row]]\nkernel = \"k\"\nexact = true\nreason = 3\n", "t.toml:4: 'reason' is not a string"},
      {"[[row]]\nkernel = \"k\"\nrtoll = 1\nexact = true\nreason = \"r\"\n",
       "t.toml:3: unknown key 'rtoll'; did you mean 'rtol'?"},
      {"[[rows]]\nkernel = \"k\"\n",
       "t.toml:1: unknown key 'rows': the table holds [[row]] and [[alternative]]"},
      {"\n\n[[row]]\nkernel = \"k\"\nname = \"n\"\nexact = true\nreason = \"r\"\n",
       "t.toml:5: a row has no 'name'; an alternative has"},
      {"[[row]]\nkernel = \"k\"\ndtype = \"bf61\"\nexact = true\nreason = \"r\"\n",
       "t.toml:3: unknown dtype 'bf61'; did you mean 'bf16'? (f32, fp16, bf16, e4m3fn, e4m3fnuz, e5m2, int8, "
       "uint8, int32, int64)"},
      {"[[row]]\nkernel = \"k\"\ndtype = [\"bf16\",\n\"bf16\"]\nexact = true\nreason = \"r\"\n",
       "t.toml:4: dtype 'bf16' is listed twice"},
      {"[[row]]\nkernel = \"k\"\ndtype = []\nexact = true\nreason = \"r\"\n",
       "t.toml:3: 'dtype' is an empty list"},
      {"[[row]]\nkernel = \"k\"\nplatform = \"rocm\"\nexact = true\nreason = \"r\"\n",
       "t.toml:3: unknown platform 'rocm' (cpu, cuda or hip)"},
      {"[[row]]\nkernel = \"k\"\natol = -1\nreason = \"r\"\n",
       "t.toml:3: atol: not a number >= 0 (0.06, 1e-3, \"2^-7\", \"2ulp\")"},
      {"[[row]]\nkernel = \"k\"\natol = nan\nreason = \"r\"\n",
       "t.toml:3: atol: not a number >= 0 (0.06, 1e-3, \"2^-7\", \"2ulp\")"},
      {"[[row]]\nkernel = \"k\"\natol = true\nreason = \"r\"\n",
       "t.toml:3: atol: not a number >= 0 (0.06, 1e-3, \"2^-7\", \"2ulp\")"},
      {"[[row]]\nkernel = \"k\"\nrtol = \"2^-x\"\nreason = \"r\"\n",
       "t.toml:3: rtol: '2^-x' is not a number (0.06, 1e-3, 2^-7, 2ulp)"},
      {"[[row]]\nkernel = \"k\"\nrtol = \"2ulp\"\nreason = \"r\"\n",
       "t.toml:3: rtol: '2ulp' means something only with exactly one dtype"},
      {"[[row]]\nkernel = \"k\"\nmax_ulp = 1.0\nreason = \"r\"\n",
       "t.toml:3: max_ulp: not a whole number >= 0"},
      {"[[row]]\nkernel = \"k\"\nexact = false\nreason = \"r\"\n",
       "t.toml:3: exact: only 'true' says something; leave the key out otherwise"},
      {"[[row]]\nkernel = \"k\"\nexact = true\noutliers = 3\nreason = \"r\"\n",
       "t.toml:4: 'outliers' is not a table (outliers = {count = \"8\", max_ulp = 1})"},
      {"[[row]]\nkernel = \"k\"\nexact = true\noutliers = {count = \"8\"}\nreason = \"r\"\n",
       "t.toml:4: outliers without 'max_ulp' or 'max_magnitude'"},
      {"[[row]]\nkernel = \"k\"\nexact = true\noutliers = {count = \"8 +\", max_ulp = 1}\nreason = \"r\"\n",
       "t.toml:4: outliers.count '8 +': a number or a name is missing at position 4"},
      {"[[row]]\nkernel = \"k\"\nexact = true\noutliers = {count = 8, max_ulp = 1, max = 2}\nreason = "
       "\"r\"\n",
       "t.toml:4: unknown key 'outliers.max' (count, max_ulp, max_magnitude, anywhere)"},
      {"[[row]]\nkernel = \"k\"\nexact = true\noutliers = {count = 8, max_ulp = 1, anywhere = true}\nreason "
       "= "
       "\"r\"\n",
       "t.toml:4: outliers.anywhere is for alternatives: what ships must not forgive a whole row"},
      {"[[row]]\nkernel = \"k\"\nexact = true\noutliers = {count = 8, max_ulp = 1, anywhere = 1}\nreason = "
       "\"r\"\n",
       "t.toml:4: outliers.anywhere: leave the key out, or write true"},
      {"[[row]]\nkernel = \"k\"\nbias = 1\noutliers = {count = 8, max_ulp = 1}\nreason = \"r\"\n",
       "t.toml:1: outliers without a key that elements could miss"},
      {"[[row]]\nkernel = \"k\"\nexact = true\nexpires = \"2027-06-01\"\nreason = \"r\"\n",
       "t.toml:4: 'expires' is not a date (expires = 2027-06-01, without quotes)"},
      {"row = 3\n", "t.toml:1: 'row' is not a list of tables: write [[row]]"},
      {"", "t.toml:1: holds no [[row]]"},
  };
  for (const auto& [text, complaint] : table) {
    INFO(text);
    CHECK(complaints(text) == complaint);
  }
  CHECK(complaints("[[row]]\nkernel = \"k\nexact = true\n").starts_with("t.toml:2: "));
}

TEST_CASE("policy: rows against each other") {
  const std::string head = "[[row]]\nkernel = \"k\"\nmax_ulp = 1\nreason = \"r\"\n";  // lines 1-4
  CHECK(complaints(head + head) == "t.toml:5: no key reaches this row: same selectors as line 1");
  CHECK(complaints(
            head +
            "output = \"o\"\n[[row]]\nkernel = \"k\"\ndtype = \"bf16\"\nexact = true\nreason = \"r\"\n") ==
        "t.toml:6: overlaps the row in line 1, and neither is more specific");
  CHECK(complaints(head + "dtype = [\"bf16\", \"fp16\"]\n" + head + "dtype = [\"bf16\", \"f32\"]\n") ==
        "t.toml:6: overlaps the row in line 1, and neither is more specific");
  // Lists in another order are the same selectors.
  CHECK(complaints(head + "dtype = [\"bf16\", \"fp16\"]\n" + head + "dtype = [\"fp16\", \"bf16\"]\n") ==
        "t.toml:6: no key reaches this row: same selectors as line 1");
  // Both dtypes of the first row are taken by rows of their own.
  CHECK(complaints(head + "dtype = [\"bf16\", \"fp16\"]\n" + head + "dtype = \"bf16\"\n" + head +
                   "dtype = \"fp16\"\n") ==
        "t.toml:1: no key reaches this row: more specific rows take every dtype and platform of it");
  // All platforms taken.
  CHECK(complaints(head + head + "platform = \"cpu\"\n" + head + "platform = \"cuda\"\n" + head +
                   "platform = \"hip\"\n") ==
        "t.toml:1: no key reaches this row: more specific rows take every dtype and platform of it");
  // Different outputs do not meet.
  CHECK(complaints(head + "output = \"a\"\n" + head + "output = \"b\"\n").empty());
  // Nor do the rows of different alternatives.
  const std::string alternative = "[[alternative]]\nkernel = \"k\"\nmax_ulp = 1\nreason = \"r\"\n";
  CHECK(complaints(head + alternative + "name = \"a\"\n" + alternative + "name = \"b\"\n").empty());
  CHECK(complaints(head + alternative + "name = \"a\"\n" + alternative + "name = \"a\"\n") ==
        "t.toml:10: no key reaches this row: same selectors as line 5");
}

TEST_CASE("policy: a looser platform row needs evidence and an end") {
  const std::string neutral =
      "[[row]]\nkernel = \"k\"\nreason = \"r\"\nrtol = 1e-2\nbias = 0.1\n";  // lines 1-5
  const std::string hip = "[[row]]\nkernel = \"k\"\nplatform = \"hip\"\nreason = \"r\"\n";
  const std::string loose = "t.toml:6: looser for f32 than the platform-neutral row in line 1, without ";
  CHECK(complaints(neutral + hip + "rtol = 1e-2\nbias = 0.1\n").empty());
  CHECK(complaints(neutral + hip + "rtol = 1e-3\nbias = 0.1\nmax_ulp = 4\n").empty());
  CHECK(complaints(neutral + hip + "exact = true\n").empty());
  CHECK(complaints(neutral + hip + "rtol = 2e-2\nbias = 0.1\n") == loose + "'evidence' and 'expires'");
  CHECK(complaints(neutral + hip + "rtol = 1e-2\natol = 1e-9\nbias = 0.1\n") ==
        loose + "'evidence' and 'expires'");
  CHECK(complaints(neutral + hip + "rtol = 1e-2\n") == loose + "'evidence' and 'expires'");  // no bias
  CHECK(complaints(neutral + hip + "max_ulp = 1\nbias = 0.1\n") == loose + "'evidence' and 'expires'");
  CHECK(complaints(neutral + hip + "exact = true\noutliers = {count = 8, max_ulp = 1}\n") ==
        loose + "'evidence' and 'expires'");
  CHECK(complaints(neutral + hip + "rtol = 2e-2\nevidence = \"e\"\n") == loose + "'expires'");
  CHECK(complaints(neutral + hip + "rtol = 2e-2\nexpires = 2027-01-01\n") == loose + "'evidence'");
  CHECK(complaints(neutral + hip + "rtol = 2e-2\nevidence = \"e\"\nexpires = 2027-01-01\n").empty());
  // By arch alone, and against the sibling of the same output rather than the general one.
  const std::string arch = "[[row]]\nkernel = \"k\"\narch = \"gfx942\"\nreason = \"r\"\nrtol = 1\n";
  CHECK(complaints(neutral + arch) == loose + "'evidence' and 'expires'");
  const std::string other = "[[row]]\nkernel = \"j\"\nplatform = \"hip\"\nreason = \"r\"\nrtol = 1\n";
  CHECK(complaints(neutral + other).empty());
}

TEST_CASE("policy: everything wrong is said at once, in order of lines") {
  CHECK(complaints("[[row]]\nkernel = \"k\"\nplatform = \"x\"\nexact = true\n[[row]]\nkernel = \"j\"\nexact "
                   "= true\nreason = "
                   "\"r\"\n[[row]]\nkernel = \"j\"\nexact = true\nreason = \"r\"\n") ==
        "t.toml:1: row without 'reason'\nt.toml:3: unknown platform 'x' (cpu, cuda or hip)\nt.toml:9: no key "
        "reaches this "
        "row: same selectors as line 5");
}

TEST_CASE("policy: files") {
  const auto folder = std::filesystem::temp_directory_path();
  const auto file = folder / "kvr_policy_test.toml";
  CHECK_THROWS_AS(PolicyTable::load(folder / "kvr_no_such_file.toml"), PolicyError);
  CHECK_THROWS_AS(PolicyTable::load(folder), PolicyError);
  std::ofstream(file) << "[[row]]\nkernel = \"k\"\nexact = true\nreason = \"r\"\n";
  CHECK(PolicyTable::load(file).rows().at(0).place() == file.string() + ":1");
  std::ofstream(file) << "[[row]]\nkernel = \"k\"\nexact = true\n";
  try {
    PolicyTable::load(file);
    FAIL("accepted a row without reason");
  } catch (const PolicyError& error) {
    CHECK(error.what() == file.string() + ":1: row without 'reason'");
  }
  std::filesystem::remove(file);
}
