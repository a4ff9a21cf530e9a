// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/chunk_set.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <random>
#include <set>
#include <stdexcept>

namespace kvr {
namespace {

using Run = ChunkSet::Run;

TEST_CASE("chunks are kept as runs that join their neighbours") {
  ChunkSet set;
  set.add({3, 4});
  set.add({5, 6});
  CHECK(set.runs() == std::vector<Run>{{3, 4}, {5, 6}});
  set.add({4, 5});
  CHECK(set.runs() == std::vector<Run>{{3, 6}});
  set.add({6, 9});
  set.add({0, 3});
  CHECK(set.runs() == std::vector<Run>{{0, 9}});
  CHECK(set.size() == 9);
}

TEST_CASE("a chunk is held once") {
  const ChunkSet set{{2, 5}, {8, 9}};
  for (const Run& run : {Run{2, 5}, Run{4, 6}, Run{0, 3}, Run{3, 4}, Run{0, 100}, Run{8, 10}}) {
    ChunkSet other = set;
    CAPTURE(run.begin, run.end);
    CHECK_THROWS_AS(other.add(run), std::invalid_argument);
    CHECK(other == set);
  }
  ChunkSet other = set;
  CHECK_THROWS_AS(other.add({7, 7}), std::invalid_argument);
  CHECK_THROWS_AS(other.add({7, 6}), std::invalid_argument);
}

TEST_CASE("what two sets have in common") {
  const ChunkSet set{{2, 5}, {8, 9}};
  CHECK_FALSE(set.first_common({}));
  CHECK_FALSE(set.first_common({{0, 2}, {5, 8}, {9, 20}}));
  CHECK(set.first_common({{4, 6}}) == 4);
  CHECK(set.first_common({{0, 100}}) == 2);
  CHECK(set.first_common({{8, 9}}) == 8);
}

TEST_CASE("the same chunks in any order are the same set, and as std::set has them") {
  std::mt19937 random(5);
  std::set<std::uint64_t> chunks;
  while (chunks.size() < 60) chunks.insert(random() % 100);
  std::vector<std::uint64_t> order(chunks.begin(), chunks.end());
  ChunkSet forward, shuffled;
  for (const std::uint64_t c : order) forward.add({c, c + 1});
  std::shuffle(order.begin(), order.end(), random);
  for (const std::uint64_t c : order) shuffled.add({c, c + 1});
  CHECK(forward == shuffled);
  CHECK(forward.size() == 60);
  for (std::uint64_t c = 0; c < 101; ++c) CHECK(forward.contains(c) == chunks.contains(c));
}

}  // namespace
}  // namespace kvr
