// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What bad input must come to: exit 2, one clear line on standard error, nothing on standard output.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "tests/cli/run_program.h"

namespace kvr::test {

struct BadInput {
  const char* arguments;
  const char* says;
};

inline void check_refused(const Ran& ran, const std::string& says) {
  CAPTURE(ran.out, ran.err);
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Catch::Matchers::ContainsSubstring(says));
  CHECK_THAT(ran.err, Catch::Matchers::StartsWith("kvr: "));
  CHECK(lines_of(ran.err).size() == 1);
  CHECK(ran.out.empty());
}

}  // namespace kvr::test
