// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "tests/catch_cases.h"

#include <fmt/format.h>

#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/interfaces/catch_interfaces_registry_hub.hpp>
#include <catch2/interfaces/catch_interfaces_test_invoker.hpp>
#include <cstdlib>
#include <memory>

#include "harness/cli/executor.h"
#include "harness/cli/machine_choice.h"
#include "harness/cli/policy_choice.h"
#include "harness/report/console.h"
#include "harness/report/failure_text.h"

namespace kvr {
namespace {

// What all tests of one machine share: it is opened by the first of them.
struct Shared {
  MachineInfo machine;
  std::shared_ptr<const PolicyChoice> policy;
  ProjectFiles project;
  std::uint64_t seed = 0;
  std::unique_ptr<Machine> open;
  Workspace workspace;
};

class CaseInvoker final : public Catch::ITestInvoker {
 public:
  CaseInvoker(const CaseId& id, std::shared_ptr<Shared> shared) : id_(id), shared_(std::move(shared)) {}

  void invoke() const override {
    if (!shared_->machine.present) {
      std::string reason;
      if (verdict_without_device(shared_->machine, reason) == Verdict::skipped) SKIP(reason);
      FAIL(reason);
    }
    if (!shared_->open) shared_->open = open_machine(shared_->machine.properties.name);
    RunOptions options;
    options.seed.value = shared_->seed;
    CaseReport report =
        run_and_report(id_, *shared_->open, shared_->policy->table, options, shared_->workspace);
    name_command(report, shared_->project);
    if (report.verdict == Verdict::pass) {
      SUCCEED(case_line(report));
    } else if (is_failure(report.verdict)) {
      FAIL(verdict_name(report.verdict) << ": " << printed_name(report) << '\n' << describe_case(report));
    } else {
      SKIP(verdict_name(report.verdict) << ": " << report.reason);
    }
  }

 private:
  const CaseId& id_;
  std::shared_ptr<Shared> shared_;
};

// "cuda:0" in the list of tests is the device that ctest hands out, when it does (RESOURCE_GROUPS,
// ctest_file.cpp).
MachineInfo assigned_machine(const MachineInfo& listed) {
  const char* assigned = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");  // "id:1,slots:1"
  if (assigned == nullptr || listed.properties.platform == "cpu") return listed;
  const std::string text(assigned);
  const std::string name =
      fmt::format("{}:{}", listed.properties.platform, text.substr(3, text.find(',') - 3));
  return choose_machines({name}).front();
}

}  // namespace

std::string catch_name(const std::string& machine, const CaseId& id) {
  return fmt::format("{} {}", machine, id.name);
}

void register_catch_cases(std::uint64_t seed, const ProjectFiles& project) {
  PolicyOptions options;
  options.project = project;
  const auto policy = std::make_shared<const PolicyChoice>(choose_policy(options));
  for (const MachineInfo& machine : list_machines()) {
    if (machine.properties.strict && !machine.present) continue;  // not built
    const auto shared = std::make_shared<Shared>();
    shared->machine = assigned_machine(machine);
    shared->policy = policy;
    shared->project = project;
    shared->seed = seed;
    for (const CaseId& id : all_cases()) {
      if (machine.properties.strict && id.tier != Tier::quick) continue;
      const std::string name = catch_name(machine.properties.name, id);
      const std::string tags =
          fmt::format("[{}][{}][{}][{}]", id.kernel, id.group, machine.properties.name, tier_name(id.tier));
      Catch::getMutableRegistryHub().registerTest(
          Catch::makeTestCaseInfo("", Catch::NameAndTags{name, tags},
                                  Catch::SourceLineInfo(__FILE__, __LINE__)),
          Catch::Detail::make_unique<CaseInvoker>(id, shared));
    }
  }
}

}  // namespace kvr
