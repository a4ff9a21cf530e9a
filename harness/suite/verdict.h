// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What became of a case, always with a reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/comparison.h"
#include "harness/judge/policy.h"
#include "harness/suite/error_spread.h"

namespace kvr {

enum class Verdict : std::uint8_t {
  pass,
  fail,
  unsupported,   // the kernel says it does not implement this
  skipped,       // not run: no device, not enough memory
  launch_error,  // the launch or the device reported an error
  crash,         // the process died in this case
  timeout,       // the case ran past its time limit
  no_power,      // the policy would accept a null answer: this case can prove nothing
};
std::string_view verdict_name(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view name);
// Does a run with this verdict count as failed? pass, unsupported and skipped do not.
bool is_failure(Verdict verdict);

struct OutputReport {
  std::string output;
  DType dtype = DType::f32;
  Policy policy;
  Comparison comparison;
  ErrorSpread spread;             // of an accepted output
  std::uint64_t output_hash = 0;  // of the codes, logical order
  std::string
      explanation;  // of a rejected output, when one fits: "the output is what 'pairing swapped' would give"
};

struct CaseReport {
  std::string name;  // without seed
  std::string kernel, group;
  std::string machine;
  std::uint64_t seed = 0;
  std::string fault;  // source fault that was launched; empty: the production kernel
  Verdict verdict = Verdict::pass;
  std::string reason;            // one line
  std::uint64_t input_hash = 0;  // of the generated input codes, logical order: equal on every platform
  std::vector<OutputReport> outputs;
  double seconds = 0.0;
  std::string replay;  // "kvr replay 'NAME/seed=0' --machine cpu:warp32"
};

}  // namespace kvr
