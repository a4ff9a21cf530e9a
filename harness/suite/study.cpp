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

#include "harness/suite/study_session.h"

namespace kvr {
namespace {

constexpr auto kReportInterval = std::chrono::milliseconds(100);

void require(bool same, const std::string& what) {
  if (!same) throw std::invalid_argument("these studies do not belong together: " + what);
}

std::string seeds_text(const StudyResult& study) {
  return fmt::format("{} draws from seed {} on", study.planned, study.first_seed);
}

std::string policies_text(const OutputTally& output) {
  std::string text;
  for (const PolicyTally& policy : output.policies)
    text += fmt::format("{}'{}'", text.empty() ? "" : ", ", policy.rule);
  return text;
}

void require_same_study(const StudyResult& a, const StudyResult& b) {
  require(a.case_name == b.case_name, fmt::format("case '{}' and case '{}'", a.case_name, b.case_name));
  require(a.machine == b.machine, fmt::format("machine {} and machine {}", a.machine, b.machine));
  require(a.fault == b.fault, fmt::format("fault '{}' and fault '{}'", a.fault, b.fault));
  require(a.envelope == b.envelope, "one with and one without the arithmetic envelope");
  require(a.envelope_gap == b.envelope_gap,
          fmt::format("the envelope of one does not vary '{}', of the other '{}'", a.envelope_gap,
                      b.envelope_gap));
  require(a.contracted_by == b.contracted_by,
          fmt::format("kernels contracted by compiler '{}' and by '{}'", a.contracted_by, b.contracted_by));
  require(a.first_seed == b.first_seed && a.planned == b.planned,
          fmt::format("{} and {}", seeds_text(a), seeds_text(b)));
  require(a.outputs.size() == b.outputs.size(),
          fmt::format("{} and {} outputs", a.outputs.size(), b.outputs.size()));
  for (std::size_t o = 0; o < a.outputs.size(); ++o) {
    const OutputTally& x = a.outputs[o];
    const OutputTally& y = b.outputs[o];
    require(x.output == y.output && x.dtype == y.dtype,
            fmt::format("output '{}' in {} and output '{}' in {}", x.output, dtype_name(x.dtype), y.output,
                        dtype_name(y.dtype)));
    const bool same = std::equal(
        x.policies.begin(), x.policies.end(), y.policies.begin(), y.policies.end(),
        [](const PolicyTally& p, const PolicyTally& q) { return p.policy == q.policy && p.rule == q.rule; });
    require(same, fmt::format("policies {} and policies {} for '{}'", policies_text(x), policies_text(y),
                              x.output));
  }
}

// Adds the totals of `from` to `into`; both are of the same study and share no chunk.
void add(const StudyResult& from, StudyResult& into) {
  into.draws += from.draws;
  into.digest += from.digest;
  into.done_chunks.add(from.done_chunks);
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
    b.moved += a.moved;
    b.moved_draws += a.moved_draws;
    b.worst_moved.merge(a.worst_moved);
    b.worst_tie.merge(a.worst_tie);
    b.worst_budget.merge(a.worst_budget);
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

std::uint64_t chunk_count(std::uint64_t draws) {
  return draws / kStudyChunk + (draws % kStudyChunk != 0 ? 1 : 0);
}

// The first chunk of a shard; of shard `shards`: one behind the last.
std::uint64_t shard_begin(const StudyOptions& options, std::uint64_t shard) {
  const std::uint64_t chunks = chunk_count(options.draws);
  return chunks / options.shards * shard + std::min(shard, chunks % options.shards);
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

std::uint64_t draws_in(const ChunkSet& chunks, std::uint64_t planned) {
  std::uint64_t draws = 0;
  for (const ChunkSet::Run& run : chunks.runs()) {
    const auto first_draw = [planned](std::uint64_t chunk) {
      return chunk > planned / kStudyChunk ? planned : chunk * kStudyChunk;
    };
    draws += first_draw(run.end) - first_draw(run.begin);
  }
  return draws;
}

std::uint64_t draws_to_reach(const StudyOptions& options, const StudyResult* resume) {
  const ChunkSet done = resume != nullptr ? resume->done_chunks : ChunkSet();
  ChunkSet all = done;
  std::uint64_t from = shard_begin(options, options.shard);
  const std::uint64_t end = shard_begin(options, options.shard + 1);
  for (const ChunkSet::Run& run : done.runs()) {
    if (run.end <= from || run.begin >= end) continue;
    if (run.begin > from) all.add({from, run.begin});
    from = run.end;
  }
  if (from < end) all.add({from, end});
  return draws_in(all, options.draws);
}

StudyResult run_study(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
                      const StudyOptions& options, const StudyResult* resume, const StudyProgress& progress) {
  if (options.shards == 0 || options.shard >= options.shards)
    throw std::invalid_argument(fmt::format("shard {}/{} does not exist", options.shard, options.shards));
  if (options.draws == 0) throw std::invalid_argument("a study needs at least one draw");
  StudySession first(id, machine_name, policies, options);
  const StudyResult blank = first.blank();
  StudyResult total = blank;
  if (resume != nullptr) {
    require_same_study(blank, *resume);
    add(*resume, total);
  }

  const ChunkSet done = total.done_chunks;
  const std::uint64_t end_chunk = shard_begin(options, options.shard + 1);
  std::uint64_t next = shard_begin(options, options.shard);
  std::mutex mutex;
  const auto take = [&]() -> std::optional<std::uint64_t> {
    const std::lock_guard lock(mutex);
    while (next < end_chunk && done.contains(next)) ++next;
    return next < end_chunk ? std::optional(next++) : std::nullopt;
  };
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> drawn{total.draws};
  std::exception_ptr failure;
  const auto report = [&] {  // the mutex is held
    if (progress && !progress(total, drawn)) stop = true;
  };
  const auto work = [&](StudySession& session) {
    auto reported = std::chrono::steady_clock::now();
    while (!stop) {
      const auto chunk = take();
      if (!chunk) return;
      StudyResult part = blank;
      const std::uint64_t begin = *chunk * kStudyChunk;
      const std::uint64_t end = begin + std::min(kStudyChunk, options.draws - begin);
      for (std::uint64_t d = begin; d < end && !stop; ++d) {
        session.draw(options.first_seed.value + d, part);
        ++drawn;
        const auto now = std::chrono::steady_clock::now();
        if (now - reported < kReportInterval) continue;
        reported = now;
        const std::lock_guard lock(mutex);
        report();
      }
      if (part.draws != end - begin) return;  // stopped in the middle: this chunk counts as not done
      part.done_chunks.add({*chunk, *chunk + 1});
      const std::lock_guard lock(mutex);
      add(part, total);
    }
  };
  const auto guarded = [&](const auto& task) {
    try {
      task();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  };
  const bool cpu = machine_name.starts_with("cpu:");
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const auto threads = cpu ? (options.threads > 0 ? static_cast<unsigned>(options.threads) : cores) : 1U;
  const std::uint64_t chunks = end_chunk - next;
  {
    std::vector<std::jthread> workers;
    for (unsigned w = 1; w < threads && w < chunks; ++w)
      workers.emplace_back([&] {
        guarded([&] {
          StudySession session(id, machine_name, policies, options);
          work(session);
        });
      });
    guarded([&] { work(first); });
  }
  if (failure) std::rethrow_exception(failure);
  return total;
}

void require_resumable(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
                       const StudyOptions& options, const StudyResult& part) {
  require_same_study(StudySession(id, machine_name, policies, options).blank(), part);
}

StudyResult merge_studies(const std::vector<StudyResult>& shards) {
  if (shards.empty()) throw std::invalid_argument("nothing to merge");
  StudyResult total = shards.front();
  for (std::size_t s = 1; s < shards.size(); ++s) {
    require_same_study(total, shards[s]);
    const auto both = total.done_chunks.first_common(shards[s].done_chunks);
    require(!both,
            both ? fmt::format("both hold the draws from seed {} on", total.first_seed + *both * kStudyChunk)
                 : "");
    add(shards[s], total);
  }
  return total;
}

}  // namespace kvr
