// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The public matrices for norm_quant, in the full tier: every distinct combination of vLLM's
// test_fused_quant_layernorm (test A: dynamic per token and per group) and of test_layernorm's fused quant
// test (test B: static). Inputs are drawn as they are there, N(0, 1) / H and N(0, 1) / 2H with weights N(1,
// 0.1), with these differences:
//  - scale_ub is a quantile of the row amax, not the mean of the values (A18);
//  - a bound at width 1 is tested on inputs of standard deviation sqrt(eps), because every other row of one
//  element
//    normalises to +-1; a single row of one element with a bound (8 of test A's 672) has no case: the bound
//    can only saturate all of it;
//  - scale layouts: column-major as there, and padded to 4 rows for one token (N = 2048 and 4096 need no
//  padding).
#include "harness/suite/registry.h"
#include "tests/cases/norm_quant.h"

namespace kvr {
namespace {

// The 19 shapes of test A.
bool public_shape(const Params& p) {
  const std::int64_t n = p.integer("n");
  const std::int64_t h = p.integer("h");
  if (n == 2048) return h != 128 && h != 5120;
  if (n == 4096) return h == 1 || h == 64 || h == 5137;
  return true;
}
bool groups_divide(const Params& p) {
  return p.integer("h") % (p.text("q") == "g64" ? 64 : 128) == 0;
}

Group full(std::string name) {
  return {std::move(name), Tier::full};
}
Group& with_shapes(Group& group) {
  return group.axis("n", {"1", "2048", "4096"})
      .axis("h", {"1", "64", "128", "1024", "1025", "1027", "1029", "5120", "5137"})
      .axis("dtype", {"bf16", "f32"})
      .variant("layout", {"contiguous", "strided"})
      .variant("res", {"none", "f32_sum"});
}

std::vector<Group> groups() {
  Group token = full("public_token");
  with_shapes(token)
      .variant("q", {"token"})
      .variant("out", {"fp8", "int8"})
      .axis("std", {"1/h"})
      .where(public_shape);
  Group bound = full("public_token_bound");
  with_shapes(bound)
      .variant("q", {"token"})
      .variant("ub", {"q75"})
      .axis("std", {"1/h", "eps"})
      .where([](const Params& p) {
        const bool one_column = p.integer("h") == 1;
        return public_shape(p) && one_column == (p.text("std") == "eps") &&
               !(one_column && p.integer("n") == 1);
      });
  Group group = full("public_group");
  with_shapes(group)
      .variant("q", {"g64", "g128"})
      .variant("out", {"fp8", "int8"})
      .variant("scales", {"col", "col4"})
      .axis("std", {"1/h"})
      .where([](const Params& p) {
        const bool padded = p.text("scales") == "col4";
        return public_shape(p) && groups_divide(p) &&
               (!padded || (p.text("out") == "fp8" && p.integer("n") == 1));
      });
  Group fixed = full("public_static");
  fixed.axis("n", {"7", "83", "4096"})
      .axis("h", {"8", "768", "769", "5120", "5125", "8192"})
      .axis("dtype", {"fp16", "bf16", "f32"})
      .variant("layout", {"contiguous", "strided"})
      .variant("res", {"none", "f32_sum"})
      .variant("q", {"static"})
      .variant("scale", {"0.01", "1", "10"})
      .axis("std", {"1/2h"});
  // What the quick tier is too short for.
  Group batch = full("batch_4096");
  batch.axis("h", {"4096"})
      .axis("dtype", {"f32", "bf16"})
      .axis("q", {"token"})
      .axis("fill", {"a10"})
      .axis("layout", {"broadcast"})
      .presentation("n", {"1", "4096"});
  Group unit = full("unit_scale");
  unit.axis("n", {"257"})
      .axis("h", {"1024", "5120"})
      .axis("dtype", {"fp16", "bf16", "f32"})
      .axis("q", {"static", "token", "g128"})
      .axis("out", {"fp8", "int8"})
      .axis("norm", {"rms", "layer"});
  // What servers launch; kvr bench counts its traffic.
  Group serving("serving", Tier::soak);
  serving.axis("n", {"1024"})
      .axis("h", {"2048", "4096", "5120", "8192"})
      .axis("dtype", {"bf16"})
      .axis("q", {"static", "token", "g128"})
      .axis("res", {"none", "f32_sum"});
  return {token, bound, group, fixed, batch, unit, serving};
}

const bool registered = register_cases("norm_quant", norm_quant_cases::describe, groups());

}  // namespace
}  // namespace kvr
