// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/hand_out.h"

#include <algorithm>

namespace kvr {

HandOut::HandOut(const std::vector<SelectedCase>& cases) {
  const auto same_inputs = [](const SelectedCase& a, const SelectedCase& b) {
    return a.seed == b.seed && a.id->kernel == b.id->kernel && a.id->data_id == b.id->data_id;
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (i == 0 || !same_inputs(cases[i - 1], cases[i])) stretches_.push_back({i, i});
    stretches_.back().end = i + 1;
  }
}

std::optional<std::size_t> HandOut::next(Taker& taker) {
  const std::lock_guard lock(mutex_);
  if (!taker.stretch || stretches_[*taker.stretch].size() == 0) {
    if (begun_ == stretches_.size()) {
      const auto longest =
          std::max_element(stretches_.begin(), stretches_.end(),
                           [](const Stretch& a, const Stretch& b) { return a.size() < b.size(); });
      if (longest == stretches_.end() || longest->size() == 0) return std::nullopt;
      return --longest->end;
    }
    taker.stretch = begun_++;
  }
  return stretches_[*taker.stretch].begin++;
}

}  // namespace kvr
