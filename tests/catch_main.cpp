// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The program of kvr_add_case_tests(), kvr_tests for kvr itself: every case on every machine of this build as
// a Catch2 test. Catch2's own options do what they always do; besides:
//
//   kvr_tests --kvr-ctest FILE --kvr-junit FOLDER   write the ctest tests (ctest_file.h) and end
//   KVR_SEED=N             seed of the inputs (default 0); Catch2's --rng-seed has no say in them
//   KVR_POLICY_FILE=FILE   another policy table
//   KVR_REQUIRE_DEVICE=1   a missing device is a failure, not a skip
//
// Exit 2 for bad input, before any test runs.
#include <fmt/format.h>

#include <catch2/catch_session.hpp>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "harness/cli/exit_code.h"
#include "harness/cli/heap.h"
#include "harness/cli/selection.h"
#include "harness/cli/this_project.h"
#include "tests/catch_cases.h"
#include "tests/ctest_file.h"

namespace {

// KVR_SEED as --seed would be read.
std::uint64_t seed_from_environment() {
  const char* text = std::getenv("KVR_SEED");
  if (text == nullptr) return 0;
  const auto filter = kvr::Filter::parse(std::string("seed=") + text);
  return filter.seed.value_or(0);
}

}  // namespace

int main(int argc, char** argv) {
  kvr::keep_freed_memory();
  try {
    if (argc == 5 && std::string_view(argv[1]) == "--kvr-ctest" &&
        std::string_view(argv[3]) == "--kvr-junit") {
      kvr::write_ctest_file(argv[0], argv[2], argv[4]);
      return kvr::kExitPass;
    }
    kvr::register_catch_cases(seed_from_environment(), kvr::this_project());
    return Catch::Session().run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "kvr_tests: {}\n", error.what());
    return kvr::kExitUsage;
  }
}
