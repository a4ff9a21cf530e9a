// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/study.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace kvr {
namespace {

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

StudyResult shard(std::vector<std::uint64_t> chunks) {
  StudyResult s;
  s.case_name = "k/g/n=1";
  s.machine = "cpu:warp32";
  s.planned = 4000;
  s.draws = chunks.size() * kStudyChunk;
  s.done_chunks = std::move(chunks);
  OutputTally& output = s.outputs.emplace_back();
  output.output = "out";
  output.over_half_ulp = s.draws / 10;
  PolicyTally& policy = output.policies.emplace_back();
  policy.rule = "atol=1";
  policy.failing = s.done_chunks.front();
  policy.worst_ratio =
      extreme(static_cast<double>(s.done_chunks.front()), s.done_chunks.front() * kStudyChunk);
  return s;
}

TEST_CASE("shards add up, whatever their order") {
  const StudyResult ab = merge_studies({shard({0, 2}), shard({1, 3})});
  const StudyResult ba = merge_studies({shard({1, 3}), shard({0, 2})});
  CHECK(ab.draws == 4000);
  CHECK(ab.done_chunks == std::vector<std::uint64_t>{0, 1, 2, 3});
  CHECK(ba.done_chunks == ab.done_chunks);
  CHECK(ab.outputs[0].policies[0].failing == 1);
  CHECK(ab.outputs[0].over_half_ulp == 400);
  CHECK(ab.outputs[0].policies[0].worst_ratio.seed == 1000);
  CHECK(ba.outputs[0].policies[0].worst_ratio.seed == 1000);
}

TEST_CASE("what does not belong together does not merge") {
  CHECK_THROWS_AS(merge_studies({}), std::invalid_argument);
  CHECK_THROWS_AS(merge_studies({shard({0}), shard({0, 1})}), std::invalid_argument);  // the same draws twice
  StudyResult other_case = shard({1});
  other_case.case_name = "k/g/n=2";
  CHECK_THROWS_AS(merge_studies({shard({0}), other_case}), std::invalid_argument);
  StudyResult other_rule = shard({1});
  other_rule.outputs[0].policies[0].rule = "atol=2";
  CHECK_THROWS_AS(merge_studies({shard({0}), other_rule}), std::invalid_argument);
  StudyResult other_seeds = shard({1});
  other_seeds.first_seed = 5;
  CHECK_THROWS_AS(merge_studies({shard({0}), other_seeds}), std::invalid_argument);
}

}  // namespace
}  // namespace kvr
