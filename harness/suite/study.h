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
  std::vector<PolicyTally> policies;
};

struct StudyResult {
  std::string case_name;  // without seed
  std::string machine;
  std::string fault;
  bool envelope = false;
  std::uint64_t first_seed = 0;
  std::uint64_t planned =
      0;                     // draws of the whole study, all shards: seeds [first_seed, first_seed + planned)
  std::uint64_t draws = 0;   // done so far, in this result
  std::uint64_t digest = 0;  // over (seed, input hash, output hash) of every draw, independent of order
  std::vector<std::uint64_t>
      done_chunks;  // ascending; chunk c is draws [c * kStudyChunk, (c + 1) * kStudyChunk)
  std::vector<OutputTally> outputs;
};

inline constexpr std::uint64_t kStudyChunk = 1000;

struct StudyOptions {
  std::uint64_t draws = 1000;
  Seed first_seed;
  std::vector<std::string> policies;    // empty: the shipped one
  int threads = 0;                      // 0: all cores (cpu machines); GPUs are driven by one thread
  std::uint64_t shard = 0, shards = 1;  // this result holds the chunks c with c % shards == shard
  bool envelope = false;
  std::string fault;
};

// What a rate over n draws is worth: 95 % Wilson interval; with no failures the upper end is the "rule of
// three", 3/n.
struct Interval {
  double low, high;
};
Interval rate_interval(std::uint64_t failures, std::uint64_t draws);

// `resume` holds chunks already done (an interrupted run); it must belong to the same study
// (std::invalid_argument otherwise). `progress` is called from time to time with a consistent snapshot, never
// concurrently; returning false stops after the chunks in flight. Throws std::invalid_argument for a policy
// that does not parse or covers no output, a case that does not launch here.
StudyResult run_study(const CaseId& id, const std::string& machine_name, const PolicyTable& policies,
                      const StudyOptions& options, const StudyResult* resume,
                      const std::function<bool(const StudyResult&)>& progress);

// Throws std::invalid_argument naming what differs: another case, machine, seeds, policies; or chunks that
// both hold.
StudyResult merge_studies(const std::vector<StudyResult>& shards);

}  // namespace kvr
