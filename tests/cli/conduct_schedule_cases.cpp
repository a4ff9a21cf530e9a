// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Cases of conduct_schedule.cu. Inputs are multiples of 64, so that everything is exact.
#include "harness/suite/registry.h"
#include "tests/cli/conduct_schedule.h"

namespace kvr {
namespace {

void describe(CaseBuilder& c) {
  const bool barrier = c.params().text("barrier") == "yes";
  std::vector<double> x;
  for (int i = 0; i < 64; ++i) x.push_back(64.0 * (i % 7));
  c.input(TensorSpec::contiguous("x", DType::f32, {1, 64}), Fill::list(x));
  c.output(TensorSpec::contiguous("y", DType::f32, {1, 64}));
  c.bind<ConductScheduleArgs>([=](const Bindings& at) {
    return ConductScheduleArgs{at("x"), at("y"), barrier};
  });
  c.reference<ConductScheduleArgs>([](const ConductScheduleArgs& args, Expectations& expected) {
    double mean = 0.0;
    for (int i = 0; i < 64; ++i) mean += static_cast<double>(args.x[i]) / 64.0;
    double squares = 0.0;
    for (int i = 0; i < 32; ++i)
      squares += (static_cast<double>(args.x[i]) - mean) * (static_cast<double>(args.x[i]) - mean);
    for (int i = 0; i < 64; ++i) expected.at("y").set(i, (static_cast<double>(args.x[i]) - mean) * squares);
  });
}

const bool registered =
    register_cases("conduct_schedule", describe, {Group("soak", Tier::soak).axis("barrier", {"yes", "no"})});

}  // namespace
}  // namespace kvr
