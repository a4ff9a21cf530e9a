// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Two gates on the shipped policy table, each shown able to fail:
//  - every output fault and every argument fault of every kernel is killed over the quick cases, on every
//    machine (source faults: source_faults_test.cpp);
//  - every row of the table, alternatives included, is what some output of some case resolves to.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <fstream>
#include <iterator>

#include "harness/suite/fault_matrix.h"
#include "harness/suite/policy_coverage.h"

namespace kvr {
namespace {

std::string shipped_text() {
  std::ifstream stream(KVR_POLICY_FILE, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<const CaseId*> quick_cases(const std::string& kernel) {
  std::vector<const CaseId*> cases;
  for (const CaseId& id : all_cases())
    if (id.kernel == kernel && id.tier == Tier::quick) cases.push_back(&id);
  return cases;
}

FaultMatrix matrix_of(const std::string& kernel, const std::string& machine, const PolicyTable& policies) {
  FaultOptions options;
  options.kinds = {FaultKind::output, FaultKind::argument};
  options.enough = 1;  // a kill per fill says all that the gate asks
  return run_fault_matrix(kernel, quick_cases(kernel), machine, policies, options, nullptr);
}

TEST_CASE("no output or argument fault survives the shipped policies") {
  const PolicyTable policies = PolicyTable::load(KVR_POLICY_FILE);
  int machines = 0;
  for (const MachineInfo& info : list_machines()) {
    if (!info.present || info.properties.strict) continue;
    ++machines;
    for (const std::string& kernel : kernel_names()) {
      const FaultMatrix matrix = matrix_of(kernel, info.properties.name, policies);
      CAPTURE(kernel, info.properties.name);
      std::size_t applied = 0, arguments = 0;
      for (const FaultRow& row : matrix.rows) {
        applied += row.applied() ? 1 : 0;
        arguments += row.applied() && row.kind == FaultKind::argument ? 1 : 0;
      }
      CHECK(applied >= 20);
      CHECK(arguments >= 3);
      for (const FaultRow* row : matrix.survivors(0))
        FAIL_CHECK(fmt::format("{} fault '{}' {} of {} survives on {}", fault_kind_name(row->kind), row->name,
                               row->output, kernel, info.properties.name));
    }
  }
  if (machines == 0) SKIP("no machine is present");
}

TEST_CASE("the gate fails for a policy that lets faults through") {
  for (const MachineInfo& info : list_machines()) {
    if (!info.present || info.properties.strict) continue;
    const PolicyTable loose = PolicyTable::parse(
        "[[row]]\nkernel = \"k_norm_rope\"\nrtol = \"2^-7\"\natol = 1e-3\nreason = \"planted: one ULP\"\n",
        "planted.toml");
    const FaultMatrix matrix = matrix_of("k_norm_rope", info.properties.name, loose);
    const auto alive = matrix.survivors(0);
    REQUIRE(alive.size() == 1);
    CHECK(alive[0]->name == "truncated");  // bf16 cut instead of rounded is always within one ULP
    return;
  }
  SKIP("no machine is present");
}

TEST_CASE("every row of the policy table is exercised by a case") {
  const PolicyTable policies = PolicyTable::load(KVR_POLICY_FILE);
  for (const Policy* row : unused_rows(policies, all_cases()))
    FAIL_CHECK(fmt::format("no output of any case resolves to the row at {}{}", row->place(),
                           row->name.empty() ? "" : fmt::format(" ('{}')", row->name)));
}

TEST_CASE("the gate fails for a row that no case exercises") {
  struct Row {
    const char* planted;
    bool dead;
  };
  const Row rows[] = {
      {"[[row]]\nkernel = \"k_norm_rope\"\noutput = \"scales\"\nbudget = 1\n", true},  // it has no scales
      {"[[row]]\nkernel = \"k_norm_rope\"\noutput = \"out\"\ndtype = \"f32\"\nbudget = 1\n",
       true},  // no case of that dtype
      {"[[row]]\nkernel = \"no_such_kernel\"\nbudget = 1\n", true},
      {"[[alternative]]\nname = \"n\"\nkernel = \"k_norm_rope\"\noutput = \"q\"\nbudget = 1\n", true},
      {"[[alternative]]\nname = \"n\"\nkernel = \"k_norm_rope\"\noutput = \"out\"\nbudget = 1\n", false},
      // Rows of platforms that this build may not be for, as if the cases ran there.
      {"[[row]]\nkernel = \"k_norm_rope\"\noutput = \"out\"\nplatform = \"hip\"\nbudget = 1\n", false},
      {"[[row]]\nkernel = \"k_norm_rope\"\nplatform = \"hip\"\noutput = \"scales\"\nbudget = 1\n", true},
      {"[[row]]\nkernel = \"k_norm_rope\"\nplatform = \"cuda\"\narch = \"sm_120\"\nbudget = 1\n", false},
      // CDNA 3 stores FNUZ codes when asked for fp8, CDNA 4 and NVIDIA do not. (Cases that ask for a format
      // by name store it everywhere: hence residual and scales have no fp8 at all.)
      {"[[row]]\nkernel = \"norm_quant\"\nplatform = \"hip\"\noutput = \"scales\"\ndtype = "
       "\"e4m3fn\"\nbudget = "
       "1\n",
       true},
      {"[[row]]\nkernel = \"concat_and_cache_mla_rope\"\noutput = \"cache\"\nplatform = \"hip\"\narch = "
       "\"gfx942\"\ndtype = \"e4m3fn\"\nbudget = 1\n",
       true},
      {"[[row]]\nkernel = \"concat_and_cache_mla_rope\"\noutput = \"cache\"\nplatform = \"hip\"\narch = "
       "\"gfx942\"\ndtype = \"e4m3fnuz\"\nbudget = 1\n",
       false},
  };
  for (const Row& row : rows) {
    const std::string text =
        shipped_text() + "\n" + row.planted + "reason = \"planted\"\n" +
        (std::string(row.planted).starts_with("[[row]]") ? "evidence = \"none\"\n" : "") +
        (std::string(row.planted).starts_with("[[row]]") ? "expires = 2099-01-01\n" : "");
    CAPTURE(row.planted);
    const PolicyTable policies = PolicyTable::parse(text, "planted.toml");
    const auto unused = unused_rows(policies, all_cases());
    CHECK(unused.size() == (row.dead ? 1 : 0));
  }
}

}  // namespace
}  // namespace kvr
