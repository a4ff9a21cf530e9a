// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What one worker of a study does: draw after draw of one case on a machine and in memory of its own, judged
// under every policy.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/suite/execution.h"
#include "harness/suite/study.h"

namespace kvr {

class StudySession {
 public:
  // The arguments must outlive the session. Throws std::invalid_argument for a case that does not launch here
  // and for a policy that covers no output of it.
  StudySession(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
               const StudyOptions& options);

  // A result without draws: every output with its policies.
  StudyResult blank() const;
  // Adds one draw to a result that started as blank(). Throws std::invalid_argument when the launch fails.
  void draw(std::uint64_t seed, StudyResult& into);

 private:
  // One output: its policies' rules, and two of our own that only measure.
  struct Output {
    std::size_t tensor = 0;
    std::string name;
    DType dtype = DType::f32;
    std::vector<PolicyTally> tallies;  // without draws
    std::vector<Rule> rules;
  };
  void describe(const PolicyTable& policies);
  void judge_output(const Output& output, const std::vector<std::byte>& codes, std::uint64_t seed,
                    OutputTally& tally) const;
  void compare_arithmetic(const Output& output, const std::vector<std::byte>& own,
                          const std::vector<std::byte>& varied, std::uint64_t seed, OutputTally& tally) const;
  void launch(std::uint64_t seed);

  const CaseId& id_;
  const StudyOptions& options_;
  std::unique_ptr<Machine> machine_;
  std::optional<Execution> execution_;
  bool prepared_ = false;
  std::vector<Output> outputs_;
};

}  // namespace kvr
