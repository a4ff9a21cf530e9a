// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "harness/suite/execution.h"

namespace kvr {
namespace {

std::string policy_label(const std::string& given) {
  return given.empty() ? "shipped" : given;
}

// A chain of xor-shift-multiply steps (SplitMix64's finaliser): every bit of the input reaches every bit of
// the result.
std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// The resolved rules of one output, and two of our own that only measure.
struct Rules {
  std::vector<Rule> policies;
  Rule absolute;  // error over 1: the largest absolute error
  Rule relative;  // error over |expected|: the largest relative error
};

Rules resolve_rules(const Execution& execution, std::size_t t, const PolicyTable& policies,
                    const StudyOptions& options, std::vector<PolicyTally>& tallies) {
  Rules rules;
  const TensorDecl& decl = *execution.tensors()[t].decl;
  const MachineProperties& machine = execution.machine().properties();
  const PolicyKey key{execution.id().kernel, decl.spec.name, decl.spec.dtype, machine.platform, machine.arch};
  const std::vector<std::string> given =
      options.policies.empty() ? std::vector<std::string>{""} : options.policies;
  for (const std::string& text : given) {
    RunOptions choice;
    choose_policy(choice, text);
    rules.policies.push_back(resolve_policy(key, policies, choice).rule);
    PolicyTally tally;
    tally.policy = policy_label(text);
    tally.rule = rules.policies.back().text();
    tallies.push_back(std::move(tally));
  }
  rules.absolute.atol = 1.0;
  rules.absolute.rtol = 0.0;
  rules.relative.atol = 0.0;
  rules.relative.rtol = 1.0;
  return rules;
}

// One worker: a machine and memory of its own, reused from draw to draw.
class Session {
 public:
  Session(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
          const StudyOptions& options)
      : id_(id), policies_(policies), options_(options) {
    MachineOptions machine_options;
    machine_options.threads = 1;
    machine_options.envelope = options.envelope;
    machine_ = open_machine(machine_name, machine_options);
  }

  void draw(std::uint64_t seed, StudyResult& into);

 private:
  void prepare(std::uint64_t seed);
  void judge_all(std::uint64_t seed, StudyResult& into);

  const CaseId& id_;
  const PolicyTable& policies_;
  const StudyOptions& options_;
  std::unique_ptr<Machine> machine_;
  std::optional<Execution> execution_;
  std::vector<std::optional<Rules>> rules_;  // per tensor; outputs only
};

void Session::prepare(std::uint64_t seed) {
  if (execution_) {
    execution_->redraw(Seed{seed});
    return;
  }
  execution_.emplace(id_, *machine_, Seed{seed});
  if (execution_->builder().unsupported()) throw std::invalid_argument(*execution_->builder().unsupported());
  if (execution_->builder().refusal())
    throw std::invalid_argument(
        fmt::format("case '{}' is refused before launch; there is nothing to study", id_.name));
  execution_->prepare();
}

void Session::draw(std::uint64_t seed, StudyResult& into) {
  prepare(seed);
  machine_->set_envelope_seed(seed);
  const LaunchStatus status = execution_->launch_quickly(options_.fault);
  if (!status.ok()) throw std::invalid_argument(fmt::format("seed {}: {}", seed, status.what));
  execution_->compute_reference();
  judge_all(seed, into);
  ++into.draws;
}

void Session::judge_all(std::uint64_t seed, StudyResult& into) {
  const OutputCodes codes = execution_->outputs();
  rules_.resize(codes.size());
  std::uint64_t hash = scramble(seed) ^ execution_->input_hash();
  std::size_t out = 0;
  for (std::size_t t = 0; t < codes.size(); ++t) {
    const Expected* want = execution_->expected(t);
    if (want == nullptr || want->set_count() == 0) continue;
    std::vector<double> values;
    const Outcome outcome = execution_->outcome(t, codes[t], values);
    const std::string& name = execution_->tensors()[t].decl->spec.name;
    if (into.outputs.size() <= out) {
      OutputTally& tally = into.outputs.emplace_back();
      tally.output = name;
      tally.dtype = outcome.dtype;
      rules_[t] = resolve_rules(*execution_, t, policies_, options_, tally.policies);
    } else if (!rules_[t]) {
      std::vector<PolicyTally> known;
      rules_[t] = resolve_rules(*execution_, t, policies_, options_, known);
    }
    OutputTally& tally = into.outputs[out++];
    hash = scramble(hash ^ hash_bytes(codes[t], 0));
    tally.elements += static_cast<std::uint64_t>(outcome.rows * outcome.row_len);

    const Comparison absolute = judge(outcome, rules_[t]->absolute);
    tally.differing += static_cast<std::uint64_t>(absolute.differing);
    tally.over_half_ulp += absolute.differing > 0 ? 1 : 0;
    tally.max_abs_expected = std::max(tally.max_abs_expected, absolute.max_abs_expected);
    tally.worst_abs.consider(absolute.worst_ratio, seed, absolute.worst);
    tally.worst_ulp.consider(static_cast<double>(absolute.worst_ulp.ulp), seed, absolute.worst_ulp);
    tally.worst_bias = std::max(tally.worst_bias, std::fabs(absolute.mean_signed_ulp));
    tally.worst_row_l2 = std::max(tally.worst_row_l2, absolute.worst_row_l2);
    const Comparison relative = judge(outcome, rules_[t]->relative);
    tally.worst_rel.consider(relative.worst_ratio, seed, relative.worst);
    for (std::size_t p = 0; p < tally.policies.size(); ++p) {
      const Comparison comparison = judge(outcome, rules_[t]->policies[p]);
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
  into.digest += scramble(hash);
}

void require(bool same, const std::string& what) {
  if (!same) throw std::invalid_argument("these studies do not belong together: " + what);
}

void require_same_study(const StudyResult& a, const StudyResult& b) {
  require(a.case_name == b.case_name, fmt::format("case '{}' and case '{}'", a.case_name, b.case_name));
  require(a.machine == b.machine, fmt::format("machine {} and machine {}", a.machine, b.machine));
  require(a.fault == b.fault, fmt::format("fault '{}' and fault '{}'", a.fault, b.fault));
  require(a.envelope == b.envelope, "one with and one without the arithmetic envelope");
  require(a.first_seed == b.first_seed && a.planned == b.planned,
          fmt::format("seeds {}+{} and {}+{}", a.first_seed, a.planned, b.first_seed, b.planned));
  if (a.outputs.empty() || b.outputs.empty()) return;
  require(a.outputs.size() == b.outputs.size(), "different numbers of outputs");
  for (std::size_t o = 0; o < a.outputs.size(); ++o) {
    require(a.outputs[o].output == b.outputs[o].output,
            fmt::format("output '{}' and output '{}'", a.outputs[o].output, b.outputs[o].output));
    require(a.outputs[o].policies.size() == b.outputs[o].policies.size(), "different numbers of policies");
    for (std::size_t p = 0; p < a.outputs[o].policies.size(); ++p)
      require(a.outputs[o].policies[p].rule == b.outputs[o].policies[p].rule,
              fmt::format("rule '{}' and rule '{}'", a.outputs[o].policies[p].rule,
                          b.outputs[o].policies[p].rule));
  }
}

// Adds the totals of `from` to `into`; both are of the same study and share no chunk.
void add(const StudyResult& from, StudyResult& into) {
  into.draws += from.draws;
  into.digest += from.digest;
  std::vector<std::uint64_t> chunks;
  std::merge(into.done_chunks.begin(), into.done_chunks.end(), from.done_chunks.begin(),
             from.done_chunks.end(), std::back_inserter(chunks));
  into.done_chunks = std::move(chunks);
  if (into.outputs.empty()) {
    into.outputs = from.outputs;
    return;
  }
  for (std::size_t o = 0; o < from.outputs.size(); ++o) {
    const OutputTally& a = from.outputs[o];
    OutputTally& b = into.outputs[o];
    b.elements += a.elements;
    b.over_half_ulp += a.over_half_ulp;
    b.differing += a.differing;
    b.worst_abs.merge(a.worst_abs);
    b.worst_rel.merge(a.worst_rel);
    b.worst_ulp.merge(a.worst_ulp);
    b.worst_bias = std::max(b.worst_bias, a.worst_bias);
    b.worst_row_l2 = std::max(b.worst_row_l2, a.worst_row_l2);
    b.max_abs_expected = std::max(b.max_abs_expected, a.max_abs_expected);
    for (std::size_t p = 0; p < a.policies.size(); ++p) {
      const PolicyTally& from_policy = a.policies[p];
      PolicyTally& policy = b.policies[p];
      policy.failing += from_policy.failing;
      policy.worst_ratio.merge(from_policy.worst_ratio);
      if (from_policy.first_failing_seed < policy.first_failing_seed) {
        policy.first_failing_seed = from_policy.first_failing_seed;
        policy.first_failure = from_policy.first_failure;
      }
    }
  }
}

StudyResult empty_result(const CaseId& id, const std::string& machine, const StudyOptions& options) {
  StudyResult result;
  result.case_name = id.name;
  result.machine = machine;
  result.fault = options.fault;
  result.envelope = options.envelope;
  result.first_seed = options.first_seed.value;
  result.planned = options.draws;
  return result;
}

}  // namespace

void Extreme::consider(double candidate, std::uint64_t at_seed, const Element& at) {
  if (candidate < value || (candidate == value && at_seed >= seed)) return;
  value = candidate;
  seed = at_seed;
  element = at;
}

void Extreme::merge(const Extreme& other) {
  if (other.value >= 0.0) consider(other.value, other.seed, other.element);
}

Interval rate_interval(std::uint64_t failures, std::uint64_t draws) {
  if (draws == 0) return {0.0, 1.0};
  const auto n = static_cast<double>(draws);
  if (failures == 0) return {0.0, std::min(1.0, 3.0 / n)};
  constexpr double z = 1.959964;  // two-sided 95 %
  const double p = static_cast<double>(failures) / n;
  const double centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
  const double half = z / (1.0 + z * z / n) * std::sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

StudyResult run_study(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
                      const StudyOptions& options, const StudyResult* resume,
                      const std::function<bool(const StudyResult&)>& progress) {
  if (options.shards == 0 || options.shard >= options.shards)
    throw std::invalid_argument(fmt::format("shard {}/{} does not exist", options.shard, options.shards));
  if (options.draws == 0) throw std::invalid_argument("a study needs at least one draw");
  StudyResult total = empty_result(id, machine_name, options);
  if (resume != nullptr) {
    require_same_study(total, *resume);
    add(*resume, total);
  }

  std::vector<std::uint64_t> todo;
  const std::uint64_t chunks = (options.draws + kStudyChunk - 1) / kStudyChunk;
  for (std::uint64_t c = options.shard; c < chunks; c += options.shards)
    if (!std::binary_search(total.done_chunks.begin(), total.done_chunks.end(), c)) todo.push_back(c);

  std::mutex mutex;
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      Session session(id, machine_name, policies, options);
      for (std::size_t at = next++; at < todo.size() && !stop; at = next++) {
        StudyResult part = empty_result(id, machine_name, options);
        const std::uint64_t begin = todo[at] * kStudyChunk;
        const std::uint64_t end = std::min(begin + kStudyChunk, options.draws);
        for (std::uint64_t d = begin; d < end && !stop; ++d) session.draw(options.first_seed.value + d, part);
        if (part.draws != end - begin) return;  // stopped in the middle: this chunk counts as not done
        part.done_chunks = {todo[at]};
        const std::lock_guard lock(mutex);
        if (!total.outputs.empty()) require_same_study(total, part);
        add(part, total);
        if (progress && !progress(total)) stop = true;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  };
  const bool cpu = machine_name.starts_with("cpu:");
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto threads = cpu ? (options.threads > 0 ? static_cast<unsigned>(options.threads) : cores) : 1U;
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 1; w < threads; ++w) workers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  return total;
}

StudyResult merge_studies(const std::vector<StudyResult>& shards) {
  if (shards.empty()) throw std::invalid_argument("nothing to merge");
  StudyResult total = shards.front();
  for (std::size_t s = 1; s < shards.size(); ++s) {
    require_same_study(total, shards[s]);
    std::vector<std::uint64_t> both;
    std::set_intersection(total.done_chunks.begin(), total.done_chunks.end(), shards[s].done_chunks.begin(),
                          shards[s].done_chunks.end(), std::back_inserter(both));
    require(both.empty(), both.empty() ? ""
                                       : fmt::format("both hold chunk {} (draws {} and on)", both.front(),
                                                     both.front() * kStudyChunk));
    add(shards[s], total);
  }
  return total;
}

}  // namespace kvr
