// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Which accesses of a block come before which, whatever the schedule: the happens-before order of one block.
//
// Each thread counts the points at which it was ordered with others: its step. A barrier orders all threads;
// __syncwarp orders the lanes of its mask (a vector clock per lane). Shuffles, votes and reductions order
// nothing: "these intrinsics do not imply a memory barrier" (CUDA C++ Programming Guide, "Warp Vote" and
// "Warp Shuffle Functions"). Threads of different blocks are never ordered.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "harness/simt/state.h"

namespace kvr::strict {

// Who accessed a byte last, when and where in the program.
struct Mark {
  std::uint32_t block = 0;  // its number + 1; 0: nobody
  std::uint32_t step = 0;
  std::uint32_t place = 0;  // offset of the return address within the program
  std::uint16_t thread = 0;
  std::uint16_t atomic = 0;
};

class Order {
 public:
  void begin_block(std::uint32_t block, int threads, int warp_size) {
    block_ = block;
    warp_size_ = static_cast<unsigned>(warp_size);
    const auto count = static_cast<std::size_t>(threads);
    step_.assign(count, 1);
    at_barrier_.assign(count, 0);
    known_.resize(count);
    synced_.fill(false);
  }

  void at_barrier() {
    for (std::size_t t = 0; t < step_.size(); ++t) at_barrier_[t] = step_[t]++;
  }

  // The lanes of `mask` of warp `warp` met at a __syncwarp.
  void at_syncwarp(std::uint32_t warp, std::uint64_t mask) {
    const std::size_t first = std::size_t{warp} * warp_size_;
    if (!synced_[warp]) {
      for (std::size_t t = first; t < std::min(first + warp_size_, known_.size()); ++t) known_[t].fill(0);
      synced_[warp] = true;
    }
    std::array<std::uint32_t, simt::kMaxWarpSize> joint{};
    for (std::uint64_t m = mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      for (std::size_t i = 0; i < warp_size_; ++i) joint[i] = std::max(joint[i], known_[first + lane][i]);
      joint[lane] = std::max(joint[lane], step_[first + lane]);
    }
    for (std::uint64_t m = mask; m != 0; m &= m - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(m));
      known_[first + lane] = joint;
      ++step_[first + lane];
    }
  }

  Mark mark(std::uint16_t thread, std::uint32_t place, bool atomic) const {
    return {block_, step_[thread], place, thread, static_cast<std::uint16_t>(atomic ? 1 : 0)};
  }
  std::uint32_t block() const { return block_; }

  // Did `earlier` happen before whatever `thread` of the running block does now?
  bool before(const Mark& earlier, std::uint16_t thread) const {
    if (earlier.block == 0) return true;
    if (earlier.block != block_) return false;
    if (earlier.thread == thread || earlier.step <= at_barrier_[earlier.thread]) return true;
    const std::uint32_t warp = thread / warp_size_;
    return warp == earlier.thread / warp_size_ && synced_[warp] &&
           earlier.step <= known_[thread][earlier.thread % warp_size_];
  }
  bool same_warp(const Mark& a, const Mark& b) const {
    return a.block == b.block && a.thread / warp_size_ == b.thread / warp_size_;
  }

 private:
  std::uint32_t block_ = 0;
  unsigned warp_size_ = 32;
  std::vector<std::uint32_t> step_;
  std::vector<std::uint32_t> at_barrier_;  // each thread's step at the last barrier
  // Of each thread: up to which step it knows the lanes of its warp. Valid where synced_.
  std::vector<std::array<std::uint32_t, simt::kMaxWarpSize>> known_;
  std::array<bool, simt::kMaxWarps> synced_{};
};

}  // namespace kvr::strict
