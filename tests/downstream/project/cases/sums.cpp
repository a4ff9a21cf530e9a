// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Cases of warp_sum.
#include "harness/suite/registry.h"
#include "vendor_sum.h"

namespace {

using vendor::SumArgs;

void describe(kvr::CaseBuilder& c) {
  const std::int64_t n = c.params().integer("n");
  c.input(kvr::TensorSpec::contiguous("x", kvr::DType::f32, {n, 32}),
          kvr::Fill::of(kvr::Fill::Kind::exact_int));
  c.output(kvr::TensorSpec::contiguous("out", kvr::DType::f32, {n}));
  c.bind<SumArgs>([n](const kvr::Bindings& at) {
    SumArgs args;
    args.x = at("x");
    args.out = at("out");
    args.n = n;
    return args;
  });
  c.reference<SumArgs>([](const SumArgs& args, kvr::Expectations& expected) {
    kvr::Expected& out = expected.at("out");
    for (std::int64_t row = 0; row < args.n; ++row) {
      float sum = 0.0F;
      for (std::int64_t i = 0; i < 32; ++i) sum += args.x[row * 32 + i];
      out.set(row, sum);
    }
  });
}

const bool registered = kvr::register_cases(
    "warp_sum", describe, {kvr::Group("rows", kvr::Tier::quick).axis("n", {"1", "3", "100"})});

}  // namespace
