// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Cases of scale_add.
#include "reference/scale_add.h"
#include "harness/suite/registry.h"

namespace {

using scale_add::ScaleAddArgs;

void describe(kvr::CaseBuilder& c) {
  const std::int64_t n = c.params().integer("n");
  c.input(kvr::TensorSpec::contiguous("x", kvr::DType::f32, {n}), kvr::Fill::of(kvr::Fill::Kind::exact_int));
  c.output(kvr::TensorSpec::contiguous("out", kvr::DType::f32, {n})).null_source = "x";
  c.bind<ScaleAddArgs>([n](const kvr::Bindings& at) {
    ScaleAddArgs args;
    args.x = at("x");
    args.out = at("out");
    args.n = n;
    args.scale = 3.0F;
    args.shift = 0.5F;
    return args;
  });
  c.reference<ScaleAddArgs>([](const ScaleAddArgs& args, kvr::Expectations& expected) {
    kvr::Expected& out = expected.at("out");
    for (std::int64_t i = 0; i < args.n; ++i) out.set(i, scale_add::reference(args, i));
  });
}

const bool registered = kvr::register_cases(
    "scale_add", describe, {kvr::Group("sizes", kvr::Tier::quick).axis("n", {"1", "127", "128", "129"})});

}  // namespace
