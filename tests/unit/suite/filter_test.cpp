// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>

#include "harness/suite/registry.h"

namespace kvr {
namespace {

CaseId make_id() {
  CaseId id;
  id.name = "k_norm_rope/public/n=37/dtype=bf16";
  id.params.set("n", "37");
  id.params.set("dtype", "bf16");
  return id;
}

TEST_CASE("filters: whole parts, globs and key=value; all terms must hold") {
  struct Row {
    const char* filter;
    bool matches;
  };
  const Row rows[] = {
      {"", true},
      {"k_norm_rope", true},
      {"k_norm_rope/", true},
      {"k_norm", false},  // half a part is a typo, not a filter
      {"k_norm*", true},
      {"k_norm_rope/public", true},
      {"k_norm_rope/pub", false},
      {"k_norm_rope/public/n=37/dtype=bf16", true},
      {"k_norm_rope/public/n=37/dtype=bf16/seed=9", true},
      {"dtype=bf16", true},
      {"dtype=bf1", false},
      {"n=37 dtype=bf16", true},
      {"n=38 dtype=bf16", false},
      {"*n=3?*", true},
      {"*/dtype=fp16", false},
  };
  for (const Row& row : rows) {
    CAPTURE(row.filter);
    CHECK(Filter::parse(row.filter).matches(make_id()) == row.matches);
  }
}

TEST_CASE("a trailing seed sets the seed") {
  CHECK(Filter::parse("k/public/seed=18446744073709551615").seed == 18446744073709551615ULL);
  CHECK_FALSE(Filter::parse("k/public").seed.has_value());
  for (const char* bad : {"k/seed=", "k/seed=-1", "k/seed=1x", "k/seed=18446744073709551616"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(Filter::parse(bad), std::invalid_argument);
  }
}

}  // namespace
}  // namespace kvr
