// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr bench --traffic from outside.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/cli/run_program.h"

namespace kvr::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Ran bench(const std::string& arguments) {
  return run_program(KVR_PROGRAM, "bench " + arguments);
}

void complains(const std::string& arguments, int exit_code, const char* text) {
  const Ran ran = bench(arguments);
  CAPTURE(arguments, ran.out, ran.err);
  CHECK(ran.exit_code == exit_code);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, ContainsSubstring(text));
}

TEST_CASE("bench: requests that make no sense") {
  complains("", 2, "--traffic");
  complains("k_norm_rope", 2, "--traffic");
  complains("--traffic no_such_kernel", 2, "no case matches 'no_such_kernel'");
  complains("--traffic k_norm_rope/public", 3, "no case of a 'serving' group matches");
  complains("--traffic --seed x", 2, "--seed 'x'");
  complains("--traffic k_norm_rope --json /nowhere/t.json", KVR_HAS_STRICT ? 2 : 3, "");
#if defined(KVR_PLATFORM_cpu)
  complains("--traffic --machine cpu:warp32", 2, "cpu:warp32 counts no traffic");
  complains("--traffic --machine cpu:warp48", 2, "--machine 'cpu:warp48' is unknown");
#endif
}

#if KVR_HAS_STRICT
TEST_CASE("bench: a line per case, and every count of every tensor in the file") {
  const Folder folder;
  const Ran ran =
      bench("--traffic k_norm_rope/serving pairing=interleaved --machine cpu:warp64+strict --json '" +
            folder.path("t.json") + "'");
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 0);
  // 4096 tokens of 772 bytes, and weight and bias of 512 bytes each (indexer_qsa.md 1.9).
  CHECK_THAT(ran.out, ContainsSubstring("cpu:warp64+strict  k_norm_rope/serving\n") &&
                          ContainsSubstring("3163136") && ContainsSubstring("'weight': ") &&
                          ContainsSubstring("1 launches, 0 rejected"));
  const std::string json = read_text(folder.path("t.json"));
  CHECK_THAT(json, ContainsSubstring("\"schema\": \"kvr-traffic\"") &&
                       ContainsSubstring("\"minimum_bytes\": 3163136") &&
                       ContainsSubstring("\"tensor\": \"cos_sin\""));
  CHECK(folder.names() == std::vector<std::string>{"t.json"});
}
#else
TEST_CASE("bench: without strict machines nothing runs, and it says why") {
  complains("--traffic k_norm_rope", 3, "counts traffic");
}
#endif

}  // namespace
}  // namespace kvr::test
