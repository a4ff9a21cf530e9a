// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/study.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinAbs;

TEST_CASE("rates come with an interval") {
  // Wilson, 95 %: 10 of 1000 is 0.00544 to 0.01831 (worked out with z = 1.96); no failures in a million: at
  // most 3 in a million.
  CHECK_THAT(rate_interval(10, 1000).low, WithinAbs(0.00544, 5e-5));
  CHECK_THAT(rate_interval(10, 1000).high, WithinAbs(0.01831, 5e-5));
  CHECK(rate_interval(0, 1000000).low == 0.0);
  CHECK_THAT(rate_interval(0, 1000000).high, WithinAbs(3e-6, 1e-12));
  CHECK(rate_interval(0, 1).high == 1.0);
}

Extreme extreme(double value, std::uint64_t seed) {
  Extreme e;
  e.consider(value, seed, {});
  return e;
}

TEST_CASE("extremes: the largest value, then the lowest seed, in any order") {
  Extreme a = extreme(2.0, 7);
  a.merge(extreme(2.0, 3));
  CHECK(a.seed == 3);
  a.merge(extreme(2.0, 9));
  CHECK(a.seed == 3);
  a.merge(extreme(2.5, 11));
  CHECK(a.value == 2.5);
  a.merge(Extreme{});  // nothing seen
  CHECK(a.seed == 11);
}

// Of a study of four chunks; the number of its lowest chunk stands for whatever differs from shard to shard.
StudyResult shard(const ChunkSet& chunks) {
  StudyResult s;
  s.case_name = "k/g/n=1";
  s.machine = "cpu:warp32";
  s.planned = 4 * kStudyChunk;
  s.draws = chunks.size() * kStudyChunk;
  s.done_chunks = chunks;
  const std::uint64_t lowest = chunks.runs().front().begin;
  OutputTally& output = s.outputs.emplace_back();
  output.output = "out";
  output.over_half_ulp = s.draws / 10;
  PolicyTally& policy = output.policies.emplace_back();
  policy.rule = "atol=1";
  policy.failing = lowest;
  policy.worst_ratio = extreme(static_cast<double>(lowest), lowest * kStudyChunk);
  return s;
}

TEST_CASE("shards add up, whatever their order") {
  const ChunkSet even{{0, 1}, {2, 3}}, odd{{1, 2}, {3, 4}};
  const StudyResult ab = merge_studies({shard(even), shard(odd)});
  const StudyResult ba = merge_studies({shard(odd), shard(even)});
  CHECK(ab.draws == 4 * kStudyChunk);
  CHECK(ab.done_chunks == ChunkSet{{0, 4}});
  CHECK(ba.done_chunks == ab.done_chunks);
  CHECK(ab.outputs[0].policies[0].failing == 1);
  CHECK(ab.outputs[0].over_half_ulp == 4 * kStudyChunk / 10);
  CHECK(ab.outputs[0].policies[0].worst_ratio.seed == kStudyChunk);
  CHECK(ba.outputs[0].policies[0].worst_ratio.seed == kStudyChunk);
}

// What merge_studies() says of them; empty when it merges.
std::string complaint(const std::vector<StudyResult>& shards) {
  try {
    merge_studies(shards);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("what does not belong together does not merge, and the message says what differs") {
  CHECK(complaint({}) == "nothing to merge");
  CHECK_THAT(complaint({shard({{0, 2}}), shard({{1, 3}})}),
             ContainsSubstring(fmt::format("both hold the draws from seed {} on", kStudyChunk)));
  struct Row {
    void (*change)(StudyResult&);
    const char* says;
  };
  const Row rows[] = {
      {[](StudyResult& s) { s.case_name = "k/g/n=2"; }, "case 'k/g/n=1' and case 'k/g/n=2'"},
      {[](StudyResult& s) { s.machine = "cpu:warp64"; }, "machine cpu:warp32 and machine cpu:warp64"},
      {[](StudyResult& s) { s.fault = "truncated"; }, "fault '' and fault 'truncated'"},
      {[](StudyResult& s) { s.envelope = true; }, "one with and one without the arithmetic envelope"},
      {[](StudyResult& s) { s.envelope_gap = "contraction: old CPU"; },
       "the envelope of one does not vary '', of the other 'contraction: old CPU'"},
      {[](StudyResult& s) { s.contracted_by = "12.2.0"; },
       "kernels contracted by compiler '' and by '12.2.0'"},
      {[](StudyResult& s) { s.first_seed = 5; }, "400 draws from seed 0 on and 400 draws from seed 5 on"},
      {[](StudyResult& s) { s.planned = 500; }, "400 draws from seed 0 on and 500 draws from seed 0 on"},
      {[](StudyResult& s) { s.outputs[0].output = "other"; },
       "output 'out' in f32 and output 'other' in f32"},
      {[](StudyResult& s) { s.outputs[0].dtype = DType::bf16; },
       "output 'out' in f32 and output 'out' in bf16"},
      {[](StudyResult& s) { s.outputs.emplace_back(); }, "1 and 2 outputs"},
      {[](StudyResult& s) { s.outputs[0].policies[0].rule = "atol=2"; },
       "policies 'atol=1' and policies 'atol=2' for 'out'"},
      {[](StudyResult& s) { s.outputs[0].policies.emplace_back().rule = "exact"; },
       "policies 'atol=1' and policies 'atol=1', 'exact' for 'out'"},
  };
  CHECK(complaint({shard({{0, 1}}), shard({{1, 2}})}).empty());
  for (const Row& row : rows) {
    StudyResult other = shard({{1, 2}});
    row.change(other);
    CHECK_THAT(complaint({shard({{0, 1}}), other}), ContainsSubstring(row.says));
  }
}

TEST_CASE("how many draws a shard comes to, alone and with what is there already") {
  StudyOptions options;
  options.draws = 1050;  // 11 chunks, the last of 50 draws
  options.shards = 4;    // 3, 3, 3 and 2 chunks
  const std::uint64_t alone[] = {300, 300, 300, 150};
  for (options.shard = 0; options.shard < 4; ++options.shard)
    CHECK(draws_to_reach(options, nullptr) == alone[options.shard]);
  options.shard = 1;  // chunks 3, 4, 5
  StudyResult done;
  done.done_chunks = {{0, 1}, {4, 5}, {10, 11}};
  CHECK(draws_in(done.done_chunks, options.draws) == 250);
  CHECK(draws_to_reach(options, &done) == 450);
  options.shards = 20;  // more than there are chunks: the last ones are empty
  options.shard = 19;
  CHECK(draws_to_reach(options, nullptr) == 0);
}

}  // namespace
}  // namespace kvr
