// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Bad input: exit 2 (or 3 when it selects nothing), one clear line on standard error, nothing on standard
// output, no file.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/cli/refused.h"
#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran kvr(const std::string& arguments, const std::string& environment = "") {
  return run_program(KVR_PROGRAM, arguments, environment);
}

TEST_CASE("bad input is one line that names the thing and the value, and exit 2") {
  const BadInput rows[] = {
      {"", "subcommand is required"},
      {"chekc", "did you mean check?"},
      {"check --no-such-option", "--no-such-option"},
      {"check k_norm_rop", "no case matches 'k_norm_rop'; did you mean k_norm_rope"},
      {"list k_norm_rope/pubilc", "no case matches 'k_norm_rope/pubilc'; did you mean k_norm_rope/public"},
      {"check 'k_norm_rope dtype=bf61'", "no case matches 'dtype=bf61'; did you mean dtype=bf16"},
      {"check n=4096 at=table_ends", "no case matches all of 'n=4096' and 'at=table_ends'"},
      {"check 'nothing_like_it_*'", "no case matches 'nothing_like_it_*'"},
      {"check k_norm_rope or", "'or' stands between two filters"},
      {"check k_norm_rope/public --machine cpu:warp48",
       "--machine 'cpu:warp48' is unknown; machines of this build: "},
      {"check k_norm_rope/public --tier fast", "--tier 'fast' is none of quick, full, soak"},
      {"check k_norm_rope/public --seed -1", "--seed '-1' is not a number from 0 to 18446744073709551615"},
      {"check k_norm_rope/public --seed 18446744073709551616", "--seed '18446744073709551616' is not"},
      {"check k_norm_rope/public --seed 1e3", "--seed '1e3' is not"},
      {"check k_norm_rope/public --seed ''", "--seed '' is not"},
      {"check k_norm_rope/public/seed=18446744073709551616", "seed '18446744073709551616' is not a number"},
      {"check k_norm_rope/public/seed=2 --seed 3",
       "--seed 3 and 'k_norm_rope/public/seed=2' ask for different seeds"},
      {"check k_norm_rope/public --threads -2", "--threads -2 is not"},
      {"check k_norm_rope/public --threads many", "--threads"},
      {"check k_norm_rope/public --jobs -1", "--jobs -1 is not"},
      {"check k_norm_rope/public --jobs 5000", "--jobs 5000 is not"},
      {"check k_norm_rope/public --jobs two", "--jobs"},
      {"check k_norm_rope/public --jobs 2 --no-isolation", "--jobs 2 and --no-isolation exclude each other"},
      {"check k_norm_rope/public --timeout 0", "--timeout 0 is not"},
      {"check k_norm_rope/public --timeout nan", "--timeout nan is not"},
      {"check k_norm_rope/public --quiet --verbose", "--quiet and --verbose exclude each other"},
      {"check k_norm_rope/public --policy-file /no/such.toml", "'/no/such.toml': No such file or directory"},
      {"check k_norm_rope/public --policy-file /", "policy file '/': "},
      {"policy --policy-file /no/such.toml", "'/no/such.toml': No such file or directory"},
      {"check k_norm_rope/public --policy tight",
       "--policy 'tight' is neither a rule (atol=0.06 rtol=0) nor an alternative"},
      {"check k_norm_rope/public --policy atol=lots", "--policy 'atol=lots': "},
      {"check k_norm_rope/public --policy 'btol=1'", "btol"},
      {"check k_norm_rope/public --fault no_such_fault",
       "--fault 'no_such_fault' is unknown for k_norm_rope"},
      {"check k_norm_rope/public --json /no/such/folder/r.json",
       "cannot write '/no/such/folder/r.json': No such file or directory"},
      {"check k_norm_rope/public --json /", "cannot write '/': is a directory"},
      {"check k_norm_rope/public --json /dev/null", "cannot write '/dev/null': not a regular file"},
      {"replay k_norm_rope/public", "'k_norm_rope/public' is not the name of one case"},
      {"replay", "NAME is required"},
      {"list --machines --faults", "--machines and --faults"},
      {"list --machines k_norm_rope", "'k_norm_rope'"},
  };
  for (const BadInput& row : rows) {
    CAPTURE(row.arguments);
    check_refused(kvr(row.arguments), row.says);
  }
}

TEST_CASE("a policy file is read before anything runs, and its problems name file and line") {
  const Folder folder;
  struct Row {
    const char* text;
    const char* says;
  };
  const Row rows[] = {
      {"[[row]\n", "bad.toml:1"},
      {"[[row]]\nkernel = \"k_norm_rope\"\nexact = true\n", "reason"},
      {"[[row]]\nkernel = \"k_norm_rope\"\nexact = true\ndtype = \"bf61\"\nreason = \"r\"\n", "bf61"},
      {"[[row]]\nkernel = \"k_norm_rope\"\natoll = 1\nreason = \"r\"\n", "atoll"},
  };
  for (const Row& row : rows) {
    folder.write("bad.toml", row.text);
    for (const bool from_environment : {false, true}) {
      const std::string file = folder.path("bad.toml");
      const Ran ran = from_environment ? kvr("check k_norm_rope/public", "KVR_POLICY_FILE='" + file + "'")
                                       : kvr("check k_norm_rope/public --policy-file '" + file + "'");
      CAPTURE(row.text, ran.out, ran.err);
      CHECK(ran.exit_code == 2);
      CHECK_THAT(ran.err, ContainsSubstring("bad.toml:"));
      CHECK_THAT(ran.err, ContainsSubstring(row.says));
      CHECK(ran.out.empty());
    }
  }
}

TEST_CASE("a results file that cannot be written stops a run before it starts and leaves nothing") {
  const Folder folder;
  folder.write("file", "old");
  const Ran ran = kvr("check k_norm_rope/public --json '" + folder.path("file/r.json") + "'");
  CHECK(ran.exit_code == 2);
  CHECK(ran.out.empty());
  CHECK(folder.names() == std::vector<std::string>{"file"});
  CHECK(read_text(folder.path("file")) == "old");
}

TEST_CASE("bad input after --json leaves no file behind") {
  const Folder folder;
  CHECK(kvr("check no_such_kernel --json '" + folder.path("r.json") + "'").exit_code == 2);
  CHECK(kvr("check k_norm_rope/public --policy tight --json '" + folder.path("r.json") + "'").exit_code == 2);
  CHECK(folder.names().empty());
}

TEST_CASE("a filter that matches cases of other tiers only is exit 3, not a pass") {
  const Ran ran = kvr("check k_norm_rope/full --tier quick");
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 3);
  CHECK_THAT(ran.err, ContainsSubstring("none in tier quick (--tier full has some)"));
  CHECK(ran.out.empty());
  CHECK(kvr("list k_norm_rope/full --tier quick").exit_code == 3);
}

TEST_CASE("every help text has examples and the exit codes") {
  for (const char* command :
       {"", "list", "check", "replay", "policy", "study", "faults", "tighten", "bench"}) {
    const Ran ran = kvr(std::string(command) + " --help");
    CAPTURE(command, ran.out);
    CHECK(ran.exit_code == 0);
    CHECK(ran.err.empty());
    CHECK_THAT(ran.out, ContainsSubstring("Examples:"));
    CHECK_THAT(ran.out, ContainsSubstring("Exit codes: 0 pass; 1 "));
    CHECK_THAT(ran.out, !ContainsSubstring("worker") || ContainsSubstring("worker process"));
  }
}

}  // namespace
}  // namespace kvr::test
