// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/study_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "harness/suite/null_answers.h"

namespace kvr {
namespace {

constexpr const char* kShipped = "shipped";

Rule absolute_error() {  // over 1: the largest absolute error
  Rule rule;
  rule.atol = 1.0;
  rule.rtol = 0.0;
  return rule;
}
Rule relative_error() {  // over |expected|: the largest relative error
  Rule rule;
  rule.atol = 0.0;
  rule.rtol = 1.0;
  return rule;
}

Rule tie_distance() {  // over 1 ULP
  Rule rule;
  rule.tie_window = 1.0;
  return rule;
}
Rule derived_budget() {  // over the reference's
  Rule rule;
  rule.budget = 1.0;
  return rule;
}

// A chain of xor-shift-multiply steps (SplitMix64's finaliser): every bit of the input reaches every bit of
// the result.
std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::vector<std::string> given_policies(const StudyOptions& options) {
  return options.policies.empty() ? std::vector<std::string>{""} : options.policies;
}

}  // namespace

StudySession::StudySession(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
                           const StudyOptions& options)
    : id_(id), options_(options) {
  MachineOptions machine_options;
  machine_options.threads = 1;
  machine_options.envelope = options.envelope;
  machine_ = open_machine(machine_name, machine_options);
  execution_.emplace(id_, *machine_, options.first_seed);
  const CaseBuilder& builder = execution_->builder();
  if (builder.unsupported())
    throw std::invalid_argument(
        fmt::format("case '{}' is unsupported on {}: {}", id.name, machine_name, *builder.unsupported()));
  if (builder.refusal())
    throw std::invalid_argument(
        fmt::format("case '{}' is refused before launch; there is nothing to study", id.name));
  describe(policies);
}

void StudySession::describe(const PolicyTable& policies) {
  const MachineProperties& machine = machine_->properties();
  std::set<std::string> covered;
  const auto& tensors = execution_->builder().tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (tensors[t].role == Role::input) continue;
    Output output;
    output.tensor = t;
    output.name = tensors[t].spec.name;
    output.dtype = tensors[t].spec.dtype;
    const PolicyKey key{id_.kernel, output.name, output.dtype, machine.platform, machine.arch};
    for (const std::string& text : given_policies(options_)) {
      RunOptions choice;
      choose_policy(choice, text);
      const Policy policy = resolve_policy(key, policies, choice);
      const bool own = choice.alternative.empty() || !policy.name.empty();
      if (own) covered.insert(text);
      output.rules.push_back(policy.rule);
      PolicyTally& tally = output.tallies.emplace_back();
      tally.policy = text.empty() ? kShipped : text;
      tally.shipped = text.empty() || !own;
      tally.rule = policy.rule.text();
    }
    outputs_.push_back(std::move(output));
  }
  for (const std::string& text : given_policies(options_))
    if (!covered.contains(text))
      throw std::invalid_argument(
          fmt::format("policy '{}' covers no output of case '{}' on {}", text, id_.name, machine.name));
}

StudyResult StudySession::blank() const {
  StudyResult result;
  result.case_name = id_.name;
  result.machine = machine_->name();
  result.fault = options_.fault;
  result.envelope = options_.envelope;
  if (options_.envelope) result.envelope_gap = machine_->envelope_gap(id_.kernel, options_.fault);
  if (options_.envelope && result.envelope_gap.empty()) result.contracted_by = __VERSION__;
  result.first_seed = options_.first_seed.value;
  result.planned = options_.draws;
  for (const Output& output : outputs_) {
    OutputTally& tally = result.outputs.emplace_back();
    tally.output = output.name;
    tally.dtype = output.dtype;
    tally.policies = output.tallies;
  }
  return result;
}

void StudySession::launch(std::uint64_t seed) {
  const LaunchStatus status = execution_->launch_quickly(options_.fault);
  if (!status.ok()) throw std::invalid_argument(fmt::format("seed {}: {}", seed, status.what));
}

void StudySession::draw(std::uint64_t seed, StudyResult& into) {
  if (prepared_ || seed != options_.first_seed.value)
    execution_->redraw(Seed{seed});
  else
    execution_->prepare();
  prepared_ = true;
  machine_->set_envelope(std::nullopt);
  launch(seed);
  execution_->compute_reference();
  OutputCodes codes = execution_->outputs();
  OutputCodes own;
  if (options_.envelope) {
    machine_->set_envelope(seed);
    launch(seed);
    own = std::exchange(codes, execution_->outputs());
  }

  std::uint64_t hash = scramble(seed) ^ execution_->input_hash();
  for (std::size_t o = 0; o < outputs_.size(); ++o) {
    const std::size_t t = outputs_[o].tensor;
    const Expected* want = execution_->expected(t);
    if (want == nullptr || want->set_count() == 0) continue;
    hash = scramble(hash ^ hash_bytes(codes[t], 0));
    judge_output(outputs_[o], codes[t], seed, into.outputs[o]);
    if (options_.envelope) compare_arithmetic(outputs_[o], own[t], codes[t], seed, into.outputs[o]);
  }
  into.digest += scramble(hash);
  ++into.draws;
}

void StudySession::judge_output(const Output& output, const std::vector<std::byte>& codes, std::uint64_t seed,
                                OutputTally& tally) const {
  std::vector<double> values;
  const Outcome outcome = execution_->outcome(output.tensor, codes, values);
  tally.elements += static_cast<std::uint64_t>(outcome.rows * outcome.row_len);

  const Comparison absolute = judge(outcome, absolute_error());
  tally.differing += static_cast<std::uint64_t>(absolute.differing);
  tally.over_half_ulp += absolute.differing > 0 ? 1 : 0;
  tally.max_abs_expected = std::max(tally.max_abs_expected, absolute.max_abs_expected);
  tally.worst_abs.consider(absolute.worst_ratio, seed, absolute.worst);
  tally.worst_ulp.consider(static_cast<double>(absolute.worst_ulp.ulp), seed, absolute.worst_ulp);
  tally.worst_bias = std::max(tally.worst_bias, std::fabs(absolute.mean_signed_ulp));
  tally.worst_row_l2 = std::max(tally.worst_row_l2, absolute.worst_row_l2);
  const Comparison relative = judge(outcome, relative_error());
  tally.worst_rel.consider(relative.worst_ratio, seed, relative.worst);

  if (options_.every_kind) {
    const Comparison tie = judge(outcome, tie_distance());
    tally.worst_tie.consider(tie.worst_ratio, seed, tie.worst);
    if (!outcome.budget.empty()) {
      const Comparison budget = judge(outcome, derived_budget());
      tally.worst_budget.consider(budget.worst_ratio, seed, budget.worst);
    }
  }

  for (std::size_t p = 0; p < tally.policies.size(); ++p) {
    const Comparison comparison = judge(outcome, output.rules[p]);
    PolicyTally& policy = tally.policies[p];
    policy.worst_ratio.consider(comparison.worst_ratio, seed, comparison.worst);
    if (comparison.accepted) continue;
    ++policy.failing;
    if (seed < policy.first_failing_seed) {
      policy.first_failing_seed = seed;
      policy.first_failure = comparison.reason;
    }
  }
}

void StudySession::compare_arithmetic(const Output& output, const std::vector<std::byte>& own,
                                      const std::vector<std::byte>& varied, std::uint64_t seed,
                                      OutputTally& tally) const {
  if (own == varied) return;
  std::vector<double> unused;
  Outcome outcome = execution_->outcome(output.tensor, varied, unused);
  const std::size_t size = dtype_size(output.dtype);
  std::vector<double> values(own.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = decode(output.dtype, load_code(own.data() + i * size, size));
  outcome.expected = std::span<const double>(values);
  const Comparison comparison = judge(outcome, relative_error());
  tally.moved += static_cast<std::uint64_t>(comparison.differing);
  tally.moved_draws += comparison.differing > 0 ? 1 : 0;
  tally.worst_moved.consider(comparison.worst_ratio, seed, comparison.worst);
}

}  // namespace kvr
