// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Who of several takers runs which case of a list.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "harness/cli/selection.h"

namespace kvr {

// Neighbours with the same inputs (data and seed) go to the same taker, which keeps them in memory. Once no
// run of neighbours is left that nobody has begun, cases come from the end of the longest remainder, so that
// all takers stay busy to the end. Every case is handed out once. May be called from any thread.
class HandOut {
 public:
  // What a taker is at; one for each.
  struct Taker {
    std::optional<std::size_t> stretch;
  };
  explicit HandOut(const std::vector<SelectedCase>& cases);
  // The next case's place in the list; none when all are taken.
  std::optional<std::size_t> next(Taker& taker);

 private:
  struct Stretch {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
  };

  std::mutex mutex_;
  std::vector<Stretch> stretches_;  // what is left of them
  std::size_t begun_ = 0;           // how many have been begun
};

}  // namespace kvr
