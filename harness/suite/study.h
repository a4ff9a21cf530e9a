// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A study: the same case over many seeds, judged under several policies at once. It measures the
// false-failure side of a tolerance. Totals are sums and maxima with the lowest seed breaking ties, so they
// are equal for any number of threads, any split into shards, and any order; shards merge exactly. Memory
// does not grow with the number of draws.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/suite/chunk_set.h"
#include "harness/suite/runner.h"

namespace kvr {

// The largest value of some measure over all draws, and where it occurred.
struct Extreme {
  double value = -1.0;  // below 0: nothing seen yet
  std::uint64_t seed = 0;
  Element element;
  void consider(double candidate, std::uint64_t at_seed, const Element& at);
  void merge(const Extreme& other);
};

// One output under one policy.
struct PolicyTally {
  std::string policy;         // as given: a rule, an alternative's name, or "shipped"
  bool shipped = false;       // the table's row decides: asked for, or the alternative covers not this output
  std::string rule;           // what it resolved to
  std::uint64_t failing = 0;  // draws the policy rejects
  std::uint64_t first_failing_seed = UINT64_MAX;
  std::string first_failure;  // the judge's reason for it
  Extreme worst_ratio;        // error over allowed
};

struct OutputTally {
  std::string output;
  DType dtype = DType::f32;
  std::uint64_t elements = 0;  // over all draws
  std::uint64_t over_half_ulp =
      0;  // draws in which some code is not the rounding of the reference: an error above half a ULP
  std::uint64_t differing = 0;  // elements of which that is true
  Extreme worst_abs;            // largest |actual - expected|
  Extreme worst_rel;            // largest |actual - expected| / |expected|
  Extreme worst_ulp;            // largest code distance to the rounded reference
  double worst_bias = 0.0;      // largest |mean signed error| of a draw, in ULP
  double worst_row_l2 = 0.0;    // largest relative L2 error of a row
  double max_abs_expected = 0.0;
  // With the arithmetic envelope: what differs in its code from the machine's own arithmetic on the same
  // draw, as one vendor's output does from another's.
  std::uint64_t moved = 0;        // elements
  std::uint64_t moved_draws = 0;  // draws with such elements
  Extreme worst_moved;            // largest relative difference; `expected` is what the own arithmetic gives
  // With StudyOptions::every_kind; not kept in files.
  Extreme worst_tie;     // the tie_window that the worst element needs; infinite when none would do
  Extreme worst_budget;  // likewise its budget; nothing seen where the reference gives none
  std::vector<PolicyTally> policies;
};

// What is done, or lost by an interruption, as a whole. Small enough that slow cases lose little.
inline constexpr std::uint64_t kStudyChunk = 100;

struct StudyResult {
  std::string case_name;  // without seed
  std::string machine;
  std::string fault;
  bool envelope = false;
  std::string envelope_gap;  // Machine::envelope_gap
  // With an envelope that varies contraction: the compiler's version. Which operations it fuses is its own
  // affair, so digests over the envelope differ between compilers (and only those).
  std::string contracted_by;
  std::uint64_t first_seed = 0;
  std::uint64_t planned =
      0;                     // draws of the whole study, all shards: seeds [first_seed, first_seed + planned)
  std::uint64_t draws = 0;   // done so far, in this result
  std::uint64_t digest = 0;  // over (seed, input hash, output hash) of every draw, independent of order
  ChunkSet done_chunks;      // chunk c is draws [c * kStudyChunk, (c + 1) * kStudyChunk)
  std::vector<OutputTally> outputs;  // every output the case declares, in that order
};

struct StudyOptions {
  std::uint64_t draws = 1000;
  Seed first_seed;
  std::vector<std::string> policies;    // empty: the shipped one
  int threads = 0;                      // 0: all cores (cpu machines); GPUs are driven by one thread
  std::uint64_t shard = 0, shards = 1;  // this result holds part `shard` of the chunks, in order
  bool envelope = false;
  bool every_kind = false;  // measure what each kind of rule would need
  std::string fault;
};

// What a rate over n draws is worth: 95 % Wilson interval; with no failures the upper end is the "rule of
// three", 3/n.
struct Interval {
  double low, high;
};
Interval rate_interval(std::uint64_t failures, std::uint64_t draws);

// Draws that are done when the run is: those of the shard, and those in `resume` (may be null).
std::uint64_t draws_to_reach(const StudyOptions& options, const StudyResult* resume);
// Draws in these chunks of a study.
std::uint64_t draws_in(const ChunkSet& chunks, std::uint64_t planned);

// Called from time to time, never concurrently, with the whole chunks so far and the draws so far, which
// include those of chunks in flight. Returning false stops the study: chunks in flight are given up.
using StudyProgress = std::function<bool(const StudyResult& so_far, std::uint64_t draws)>;

// `resume` holds chunks already done (an interrupted run); it must belong to the same study
// (std::invalid_argument otherwise). Throws std::invalid_argument for a policy
// that does not parse or covers no output, a case that does not launch here: before the first draw.
StudyResult run_study(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
                      const StudyOptions& options, const StudyResult* resume, const StudyProgress& progress);

// Throws std::invalid_argument naming what differs if this is not a part of that study.
void require_resumable(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
                       const StudyOptions& options, const StudyResult& part);

// Throws std::invalid_argument naming what differs: another case, machine, seeds, policies; or chunks that
// both hold.
StudyResult merge_studies(const std::vector<StudyResult>& shards);

}  // namespace kvr
