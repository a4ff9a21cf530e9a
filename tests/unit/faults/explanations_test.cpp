// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a failure is said to be likely due to, end to end: a kernel compiled wrong, or launched with a wrong
// argument, and the explanation that its report must give. And none for noise.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>
#include <string_view>

#include "harness/random/random.h"
#include "harness/suite/diagnosis.h"
#include "harness/suite/null_answers.h"
#include "harness/suite/runner.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;

const PolicyTable& policies() {
  static const PolicyTable table = PolicyTable::load(KVR_POLICY_FILE);
  return table;
}

std::vector<MachineInfo> present_machines() {
  std::vector<MachineInfo> machines = list_machines();
  std::erase_if(machines, [](const MachineInfo& m) { return !m.present || m.properties.strict; });
  return machines;
}

const CaseId& first_case(std::string_view filter) {
  const Filter wanted = Filter::parse(filter);
  for (const CaseId& id : all_cases())
    if (wanted.matches(id)) return id;
  FAIL("no case matches " << filter);
  throw std::logic_error("unreachable");
}

// Reason and explanations of a report, as the text of a failure gives them.
std::string said(const CaseReport& report) {
  std::string text = report.reason;
  for (const OutputReport& output : report.outputs)
    if (!output.explanation.empty()) text += fmt::format(" | {}: {}", output.output, output.explanation);
  return text;
}

TEST_CASE("a kernel compiled wrong, and the explanation that fits") {
  struct Row {
    const char* filter;
    const char* fault;
    const char* says;
  };
  const Row rows[] = {
      {"k_norm_rope/shapes n=37 pairing=interleaved", "pairing_swapped", "what 'pairing swapped' would give"},
      {"concat_and_cache_mla_rope/contracts cache=auto", "pairing_swapped", "what 'the other pairing' would"},
      {"k_norm_rope/positions at=inside", "position_off_by_one", "what 'position + 1' would give"},
      {"concat_and_cache_mla_rope/positions at=inside", "position_off_by_one",
       "what 'position - 1' would give"},
      {"concat_and_cache_mla_rope/contracts cache=auto", "slot_off_by_one", ": another slot"},
      {"concat_and_cache_mla_rope/contracts rounding=per_op cache=auto", "rounds_once",
       "what 'the other rounding contract' would give"},
      {"concat_and_cache_mla_rope/contracts rounding=once cache=auto", "rounds_always",
       "what 'the other rounding contract' would give"},
      {"norm_quant/contract dtype=bf16 q=token res=f32_sum out=fp8 h=1024", "sum_always_rounded",
       "what 'the other residual contract' would give"},
      {"norm_quant/eps_dominates q=token std=eps", "eps_x100", "what 'eps x100' would give"},
      {"k_norm_rope/shapes n=37 dtype=bf16", "wrong_eps", "what 'eps x100' would give"},
      {"k_norm_rope/shapes n=37 dtype=bf16", "truncated", "systematic truncation"},
      {"k_norm_rope/shapes n=37 dtype=bf16", "last_row_not_written", "never written, first 'out' row 36"},
      {"concat_and_cache_mla_rope/contracts dtype=bf16 cache=auto", "last_head_missing",
       "head 3 is wrong in 5 tokens"},
  };
  int tried = 0;
  for (const MachineInfo& info : present_machines()) {
    const auto machine = open_machine(info.properties.name);
    for (const Row& row : rows) {
      const CaseId& id = first_case(row.filter);
      const std::vector<std::string> faults = kernel_faults(id.kernel, info.properties.build);
      if (faults.empty()) continue;  // this build has none
      ++tried;
      RunOptions options;
      options.fault = row.fault;
      const CaseReport report = run_case(id, *machine, policies(), options);
      CAPTURE(id.name, row.fault, machine->name());
      CHECK(report.verdict == Verdict::fail);
      CHECK_THAT(said(report), ContainsSubstring(row.says));
    }
  }
  if (tried == 0) SKIP("no machine is present, or no faults were compiled");
}

// What `explain` says of the outputs after this launch; empty when all are accepted.
std::set<std::string> explanations(Execution& execution, const OutputCodes& codes) {
  std::set<std::string> found;
  for (std::size_t t = 0; t < codes.size(); ++t) {
    if (codes[t].empty()) continue;
    std::vector<double> values;
    const Outcome outcome = execution.outcome(t, codes[t], values);
    const MachineProperties& machine = execution.machine().properties();
    const Rule rule = resolve_policy({execution.id().kernel, execution.tensors()[t].decl->spec.name,
                                      outcome.dtype, machine.platform, machine.arch},
                                     policies(), {})
                          .rule;
    if (judge(outcome, rule).accepted) continue;
    found.insert(explain(execution, t, outcome, rule).value_or(""));
  }
  return found;
}

TEST_CASE("a launch with a wrong argument names it") {
  const std::vector<MachineInfo> machines = present_machines();
  if (machines.empty()) SKIP("no machine is present");
  const auto machine = open_machine(machines.front().properties.name);
  // Faults of which no output tells: they leave rows that the reference of the wrong arguments does not
  // write, or write where nobody looks. Memory verification sees them.
  const std::set<std::string> by_memory{"slot + 1", "the last head left out", "out stride packed",
                                        "residual stride packed"};
  std::set<std::string> all, named;
  for (const char* filter :
       {"k_norm_rope/shapes n=37", "k_norm_rope/layouts layout=slice192", "k_norm_rope/positions at=inside",
        "k_norm_rope/fills fill=tiny", "concat_and_cache_mla_rope/contracts cache=auto",
        "concat_and_cache_mla_rope/contracts cache=fp8",
        "concat_and_cache_mla_rope/fills fill=huge cache=fp8",
        "concat_and_cache_mla_rope/layouts layout=slices cache=auto",
        "concat_and_cache_mla_rope/positions at=inside", "norm_quant/contract dtype=bf16 h=1024 q=static",
        "norm_quant/contract dtype=bf16 h=1024 q=token norm=layer res=f32_sum",
        "norm_quant/eps_dominates q=token std=eps", "norm_quant/static_scale scale=3",
        "norm_quant/layouts layout=rows16 q=token res=f32_sum"}) {
    const CaseId& id = first_case(filter);
    Execution execution(id, *machine, Seed{0});
    execution.prepare();
    REQUIRE(execution.launch(0, "").ok());
    execution.compute_reference();
    for (const CaseBuilder::ArgumentFault& fault : execution.builder().argument_faults()) {
      all.insert(fault.name);
      const LaunchStatus status = execution.launch_with(fault.launch, 1, "");
      if (!status.ok()) continue;
      const std::string wanted = fmt::format("the output is what '{}' would give", fault.name);
      for (const std::string& text : explanations(execution, execution.outputs())) {
        if (text == wanted) named.insert(fault.name);
        CAPTURE(id.name, fault.name, text);
        // Another fault may give the same output; a pattern is no wrong claim. But noise it is not.
        CHECK_FALSE(text.starts_with("systematic truncation"));
      }
    }
  }
  for (const std::string& name : all)
    if (!by_memory.contains(name) && !named.contains(name)) FAIL_CHECK("'" << name << "' was never named");
}

TEST_CASE("noise in an output of a real case is given no explanation") {
  const std::vector<MachineInfo> machines = present_machines();
  if (machines.empty()) SKIP("no machine is present");
  const auto machine = open_machine(machines.front().properties.name);
  for (const char* filter : {"k_norm_rope/public", "concat_and_cache_mla_rope/contracts cache=auto",
                             "norm_quant/contract dtype=bf16 h=1024 q=token"}) {
    const CaseId& id = first_case(filter);
    Execution execution(id, *machine, Seed{0});
    execution.prepare();
    REQUIRE(execution.launch(0, "").ok());
    execution.compute_reference();
    const OutputCodes right = execution.outputs();
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
      const RandomStream random(Seed{trial}, "explanations_test", id.name);
      OutputCodes noisy = right;
      std::uint64_t at = 0;
      for (std::size_t t = 0; t < noisy.size(); ++t) {
        const DType dtype = execution.tensors()[t].decl->spec.dtype;
        const std::size_t size = dtype_size(dtype);
        const auto numel = static_cast<double>(noisy[t].size() / size);
        for (int i = 0; i < 30 && numel >= 1000; ++i) {
          const auto element = static_cast<std::size_t>(random.uniform(at++) * numel);
          store_code(noisy[t].data() + element * size, size, encode(dtype, random.normal(at++)));
        }
      }
      const std::set<std::string> texts = explanations(execution, noisy);
      REQUIRE_FALSE(texts.empty());  // it is noticed
      for (const std::string& text : texts) {
        CAPTURE(id.name, trial);
        CHECK(text == "");
      }
    }
  }
}

}  // namespace
}  // namespace kvr
