// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A "kernel" of y = 2x whose conduct a parameter decides: it computes, computes wrongly, dies, hangs, prints.
// Linked into a kvr command of its own (kvr_conduct), so that what the command makes of each can be seen from
// outside. The kernel is a host function registered for the cpu machines; it launches nothing.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "harness/suite/registry.h"
#include "kernels/common/registry_types.h"

namespace kvr {
namespace {

struct ConductArgs {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t n = 0;
  std::string does;
};

[[noreturn]] void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

LaunchStatus launch_conduct(const ConductArgs& args, Stream) {
  if (args.does == "abort") {
    std::fputs("terminate called: the layout is not supported\n", stderr);
    std::abort();
  }
  if (args.does == "segfault") *reinterpret_cast<volatile int*>(std::uintptr_t{0x1230}) = 1;
  if (args.does == "exit") std::exit(7);
  if (args.does == "hang") hang();
  if (args.does == "throw") throw std::runtime_error("the launcher threw");
  if (args.does == "launch_error") return LaunchStatus::error("1500 threads per block, the limit is 1024");
  if (args.does == "unsupported") return LaunchStatus::unsupported("n: only 1");
  if (args.does == "never_runs") return {};
  if (args.does == "print") std::printf("a line from the kernel\n");
  for (std::int64_t i = 0; i < args.n; ++i) args.y[i] = 2.0F * args.x[i];
  if (args.does == "wrong") args.y[3] += 1.0F;
  return {};
}

LaunchStatus launch_halved(const ConductArgs& args, Stream) {
  for (std::int64_t i = 0; i < args.n; ++i) args.y[i] = 0.5F * args.x[i];
  return {};
}

void describe(CaseBuilder& c) {
  const std::int64_t n = 8;
  const std::string does = c.params().text("does");
  if (does == "undescribed") return;  // declares nothing: an error of the case, not of a kernel
  c.input(TensorSpec::contiguous("x", DType::f32, {1, n}), Fill::normal());
  c.output(TensorSpec::contiguous(does == "no_policy" ? "z" : "y", DType::f32, {1, n}));
  c.bind<ConductArgs>([=](const Bindings& at) {
    return ConductArgs{at("x"), at(does == "no_policy" ? "z" : "y"), n, does};
  });
  c.reference<ConductArgs>([=](const ConductArgs& args, Expectations& expected) {
    Expected& y = expected.at(does == "no_policy" ? "z" : "y");
    for (std::int64_t i = 0; i < args.n; ++i) y.set(i, 2.0 * static_cast<double>(args.x[i]));
  });
}

template <class Function>
bool add(const char* build, const char* fault, Function launch) {
  return register_kernel({"conduct", build, fault, std::type_index(typeid(ConductArgs)),
                          reinterpret_cast<void (*)()>(static_cast<Launcher<ConductArgs>>(launch))});
}

const bool kernels_registered = add("warp32", "", &launch_conduct) && add("warp64", "", &launch_conduct) &&
                                add("warp32", "halved", &launch_halved) &&
                                add("warp64", "halved", &launch_halved);

const bool cases_registered = register_cases(
    "conduct", describe,
    {
        // Bug report A25: case 2 aborts, case 4 gives wrong numbers.
        Group("five", Tier::quick).axis("does", {"right", "abort", "right_too", "wrong", "right_again"}),
        Group("dies", Tier::full)
            .axis("does", {"right", "segfault", "right_too", "hang", "exit", "throw", "right_again"}),
        Group("status", Tier::full).axis("does", {"launch_error", "never_runs"}),
        Group("nothing", Tier::full).axis("does", {"unsupported"}),
        Group("prints", Tier::full).axis("does", {"print"}),
        Group("nonsense", Tier::full).axis("does", {"undescribed", "no_policy", "right"}),
        Group("soak", Tier::soak).axis("does", {"right"}),
    });

}  // namespace
}  // namespace kvr
