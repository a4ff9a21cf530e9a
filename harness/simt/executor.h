// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Runs blocks on one host thread, one after the other. A lane runs until it waits or returns; then the fiber
// it ran on switches straight to the next ready lane. A lane that has not begun needs no fiber of its own
// yet: a fiber whose lane has returned goes on with the next unstarted lane as a plain call, so a kernel that
// never waits runs without a single switch.
//
// When no lane is ready and not all have returned, nothing can ever make progress: the block ends with an
// error, the waiting lanes are resumed and unwound, and the executor is as good as new.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "harness/simt/device.h"
#include "harness/simt/fiber.h"
#include "harness/simt/observer.h"
#include "harness/simt/stack.h"
#include "harness/simt/state.h"

namespace kvr::simt {

// What the threads that run one launch share: the request, and the error of the lowest block.
class LaunchRun {
 public:
  LaunchRun(const LaunchRequest& request, const Schedule& schedule, const MemoryMap& memory,
            Observer* observer);
  Observer* observer() const { return observer_; }  // none: null
  const LaunchRequest& request() const { return request_; }
  const Schedule& schedule() const { return schedule_; }
  std::int64_t blocks() const { return blocks_; }
  uint3 block_index(std::int64_t block) const;
  // Once a block has failed, blocks above it need not run.
  bool wanted(std::int64_t block) const { return block < first_error_.load(std::memory_order_relaxed); }
  void report(std::int64_t block, std::string text);
  std::string describe_address(std::uintptr_t address) const { return memory_.describe(address); }
  const std::string& error() const { return error_; }

 private:
  const LaunchRequest& request_;
  const Schedule& schedule_;
  const MemoryMap& memory_;
  Observer* observer_;
  std::int64_t blocks_;
  std::atomic<std::int64_t> first_error_{INT64_MAX};
  std::mutex mutex_;
  std::string error_;
};

// Lanes that call this way meet.
inline bool same_call(const Call& a, const Call& b) {
  return a.mask == b.mask && a.complete == b.complete && a.site.line == b.site.line &&
         a.parameter == b.parameter && a.complete_block == b.complete_block && a.site.file == b.site.file &&
         a.name == b.name;
}

class Executor {
 public:
  // This host thread's.
  static Executor& local();
  // Runs the blocks in [begin, end).
  void run(LaunchRun& run, std::int64_t begin, std::int64_t end);

  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  ~Executor();

  // For lanes (state.h).
  void meet(const Call& call);
  int meet_block(const Call& call, bool predicate);
  [[noreturn]] void fail(const Call& call, const char* what);
  bool owns(std::uintptr_t address, std::uintptr_t& begin, std::uintptr_t& end) const;

 private:
  struct Unwind {};  // thrown in a lane whose block has ended with an error

  void shape_block();
  void begin_block();
  bool begin_next_block();
  void wait(Lane& lane);
  void give_way(Lane& lane);
  bool is_unstarted(const Lane& lane) const { return (lane.warp->unstarted >> lane.index & 1) != 0; }
  // The lane to run next, taken out of its ready set; null when all have returned. Ends the block when
  // nothing is ready.
  Lane* next(Warp& here);
  Lane* next_elsewhere(const Warp& here);
  Lane* take(Warp& warp, int index);
  Lane* take_scheduled(const Warp& last);
  void run_lane(Lane& lane);
  void finish(Lane& lane);
  void end_with_fault(const Lane& lane);
  void run_lanes(Escape& escape, bool faulted);
  // Switches to `target`, which becomes empty; returns when somebody comes back. Who left is stored in
  // `save`.
  void leave(Fiber& save, Fiber& target);
  Fiber& idle_fiber();
  void arrive(boost::context::fiber&& from);
  void stall();
  void end_block(std::string text);
  std::string describe(const Lane& lane) const;
  std::string explain_stall() const;
  // An observed launch names the class of what went wrong first.
  std::string classified(const char* name, std::string text) const;

  // The block being run.
  Block block_;
  LaunchRun* run_ = nullptr;
  Observer* observer_ = nullptr;
  bool forward_ = true;
  std::int64_t block_number_ = 0;
  std::int64_t block_begin_ = 0;
  std::int64_t block_end_ = 0;
  std::uint64_t ready_warps_ = 0;  // bit w: warp w has ready lanes
  int unfinished_ = 0;
  bool ended_ = false;  // with an error
  std::mt19937_64 draw_;

  // The barrier: at most one is open.
  const Call* barrier_ = nullptr;
  int at_barrier_ = 0;
  int predicates_ = 0;
  int barrier_result_ = 0;

  // Shape of the blocks: kept from launch to launch.
  Extents shape_ = {0, 0, 0};
  int warp_size_ = 0;
  int threads_ = 0;
  int warps_ = 0;
  std::vector<std::byte> dynamic_shared_;
  Warp warp_[kMaxWarps];
  Lane lane_[kMaxThreads];

  StackRanges stacks_;  // outlives the fibers below

  // Fibers: a waiting lane's, those without a lane, and the host thread's own stack.
  Fiber waiting_[kMaxThreads];
  Fiber idle_[kMaxThreads];
  int idle_count_ = 0;
  std::size_t fibers_ = 0;
  Fiber host_;
  Fiber* left_ = nullptr;                   // where the fiber that was just left belongs
  [[no_unique_address]] Stack running_;     // of the fiber that runs
  [[no_unique_address]] Stack left_stack_;  // of the one that was just left
  bool quit_ = false;
};

}  // namespace kvr::simt
