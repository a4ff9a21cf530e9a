// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/hand_out.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <deque>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace kvr {
namespace {

// One case per letter; equal letters have equal inputs.
struct Cases {
  explicit Cases(const std::string& data) {
    for (const char letter : data) {
      CaseId& id = ids.emplace_back();
      id.kernel = "k";
      id.data_id = std::string(1, letter);
      list.push_back({&id, 0});
    }
  }
  std::deque<CaseId> ids;
  std::vector<SelectedCase> list;
};

TEST_CASE("hand-out: neighbours with the same inputs stay with one taker") {
  const Cases cases("aaabbcdd");
  HandOut hand_out(cases.list);
  HandOut::Taker one, other;
  CHECK(hand_out.next(one) == 0);    // a
  CHECK(hand_out.next(other) == 3);  // b
  CHECK(hand_out.next(one) == 1);
  CHECK(hand_out.next(other) == 4);
  CHECK(hand_out.next(other) == 5);  // c
  CHECK(hand_out.next(other) == 6);  // d
  CHECK(hand_out.next(one) == 2);
  CHECK(hand_out.next(one) == 7);  // nothing fresh: the other's last
  CHECK(hand_out.next(other) == std::nullopt);
  CHECK(hand_out.next(one) == std::nullopt);
}

TEST_CASE("hand-out: what is left of the longest run goes to who has nothing to do, from its end") {
  const Cases cases("aaaaaab");
  HandOut hand_out(cases.list);
  HandOut::Taker one, other;
  CHECK(hand_out.next(one) == 0);
  CHECK(hand_out.next(other) == 6);
  CHECK(hand_out.next(other) == 5);
  CHECK(hand_out.next(other) == 4);
  CHECK(hand_out.next(one) == 1);
  CHECK(hand_out.next(other) == 3);
  CHECK(hand_out.next(one) == 2);
  CHECK(hand_out.next(one) == std::nullopt);
}

TEST_CASE("hand-out: another seed is other data, and no cases are none") {
  Cases cases("aa");
  cases.list[1].seed = 1;
  HandOut hand_out(cases.list);
  HandOut::Taker one, other;
  CHECK(hand_out.next(one) == 0);
  CHECK(hand_out.next(other) == 1);
  HandOut nothing({});
  HandOut::Taker nobody;
  CHECK(nothing.next(nobody) == std::nullopt);
}

TEST_CASE("hand-out: every case once, whoever asks") {
  std::string data;
  for (int i = 0; i < 3000; ++i) data += static_cast<char>('a' + i / 7 % 26);
  const Cases cases(data);
  HandOut hand_out(cases.list);
  std::vector<std::vector<std::size_t>> taken(4);
  std::vector<std::thread> takers;
  for (auto& mine : taken)
    takers.emplace_back([&hand_out, &mine] {
      HandOut::Taker taker;
      while (const auto i = hand_out.next(taker)) mine.push_back(*i);
    });
  for (std::thread& taker : takers) taker.join();
  std::vector<std::size_t> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> expected(cases.list.size());
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(all == expected);
}

}  // namespace
}  // namespace kvr
