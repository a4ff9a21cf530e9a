// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Every source fault of every kernel (kernels/<name>/faults.txt) is turned red by at least one quick case, on
// every machine. A survivor means the cases or the policies are too weak to notice it, and fails the build.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>

#include "harness/suite/runner.h"

namespace kvr {
namespace {

struct Outcome {
  bool killed = false;
  std::string by;
};

Outcome hunt(const std::string& kernel, const std::string& fault, Machine& machine,
             const PolicyTable& policies) {
  for (const CaseId& id : all_cases()) {
    if (id.kernel != kernel || id.tier != Tier::quick) continue;
    RunOptions options;
    options.fault = fault;
    const CaseReport report = run_case(id, machine, policies, options);
    if (report.verdict == Verdict::fail || report.verdict == Verdict::launch_error)
      return {true, fmt::format("{}: {}", id.name, report.reason)};
  }
  return {};
}

TEST_CASE("every source fault is killed by a quick case on every machine") {
  const PolicyTable policies = PolicyTable::load(KVR_POLICY_FILE);
  std::size_t faults = 0;
  for (const MachineInfo& info : list_machines()) {
    if (!info.present) continue;
    const auto machine = open_machine(info.properties.name);
    for (const std::string& kernel : kernel_names()) {
      for (const std::string& fault : kernel_faults(kernel, info.properties.build)) {
        const Outcome outcome = hunt(kernel, fault, *machine, policies);
        UNSCOPED_INFO(fmt::format("{} {} {}: {}", machine->name(), kernel, fault, outcome.by));
        CHECKED_IF(!outcome.killed) {
          FAIL_CHECK(fmt::format("{}: fault '{}' of {} survives", machine->name(), fault, kernel));
        }
        ++faults;
      }
    }
  }
  if (faults == 0) SKIP("no machine is present, or this build has no source faults");
}

TEST_CASE("a kernel without faults cannot show that its cases notice anything") {
  if (KVR_FAULTS_BUILT == 0) SKIP("this build has no source faults: KVR_BUILD_FAULTS is OFF");
  for (const MachineInfo& info : list_machines()) {
    if (!info.present || info.properties.strict) continue;  // strict machines run the production kernels only
    for (const std::string& kernel : kernel_names()) {
      CAPTURE(info.properties.name, kernel);
      CHECK(kernel_faults(kernel, info.properties.build).size() >= 10);
    }
  }
}

}  // namespace
}  // namespace kvr
