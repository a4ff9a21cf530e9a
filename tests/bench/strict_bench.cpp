// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What strict mode costs: the same case on the fast machine and on the strict one, in turn, one host thread
// each. Counters: milliseconds of each and their ratio, for the launch alone
// and for the whole case as kvr check runs it (inputs, launches, reference, judge). The
// limit is 30.
#include <benchmark/benchmark.h>
#include <tbb/global_control.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "harness/cli/policy_choice.h"
#include "harness/cli/this_project.h"
#include "harness/machine/machine.h"
#include "harness/suite/execution.h"
#include "harness/suite/runner.h"

namespace kvr {
namespace {

template <class Work>
double seconds_of(Work work) {
  const std::clock_t start = std::clock();  // of the processor: one thread works, and others may disturb it
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void compare(benchmark::State& state, const std::string& case_name, const std::string& fast_name) {
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  MachineOptions options;
  options.threads = 1;
  const std::unique_ptr<Machine> fast = open_machine(fast_name, options);
  const std::unique_ptr<Machine> strict = open_machine(fast_name + "+strict", options);
  const CaseId* const id = find_case(case_name);
  if (id == nullptr) return state.SkipWithError("no such case");
  Execution fast_execution(*id, *fast, Seed{});
  Execution strict_execution(*id, *strict, Seed{});
  fast_execution.prepare();
  strict_execution.prepare();
  const PolicyChoice policy = choose_policy({{}, {}, this_project()});
  const auto launch = [&state](Execution& execution) {
    double seconds = 0.0;
    const LaunchStatus status = execution.launch_with(
        [&](Machine& machine, std::string_view kernel, std::string_view fault, const Bindings& at) {
          LaunchStatus launched;
          seconds = seconds_of([&] { launched = execution.builder().launch()(machine, kernel, fault, at); });
          return launched;
        },
        0, "");
    if (!status.ok()) state.SkipWithError(status.what.c_str());
    return seconds;
  };
  const auto check = [&](Machine& machine) {
    const CaseReport report = run_case(*id, machine, policy.table, {});
    if (report.verdict != Verdict::pass) state.SkipWithError(report.reason.c_str());
  };
  double fast_launch = 0.0, strict_launch = 0.0, fast_case = 0.0, strict_case = 0.0;
  for (auto _ : state) {
    fast_launch += launch(fast_execution);
    strict_launch += launch(strict_execution);
    fast_case += seconds_of([&] { check(*fast); });
    strict_case += seconds_of([&] { check(*strict); });
  }
  const auto milliseconds = [&](double seconds) {
    return 1e3 * seconds / static_cast<double>(state.iterations());
  };
  state.counters["launch_ms"] = milliseconds(fast_launch);
  state.counters["launch_strict_ms"] = milliseconds(strict_launch);
  state.counters["launch_ratio"] = strict_launch / fast_launch;
  state.counters["case_ms"] = milliseconds(fast_case);
  state.counters["case_strict_ms"] = milliseconds(strict_case);
  state.counters["case_ratio"] = strict_case / fast_case;
}

void register_all() {
  for (const CaseId& id : all_cases()) {
    if (id.group != "serving") continue;
    for (const char* machine : {"cpu:warp32", "cpu:warp64"})
      benchmark::RegisterBenchmark((id.name + " on " + machine).c_str(), [name = id.name,
                                                                          machine](benchmark::State& state) {
        compare(state, name, machine);
      })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace kvr

int main(int argc, char** argv) {
  kvr::register_all();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
