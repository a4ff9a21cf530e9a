// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/simt/executor.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

namespace kvr::simt {

constinit thread_local Current current [[gnu::tls_model("initial-exec")]] = {nullptr, nullptr};
constinit thread_local std::uint64_t envelope_seed [[gnu::tls_model("initial-exec")]] = 0;

namespace {

thread_local Executor* local_executor [[gnu::tls_model("initial-exec")]] = nullptr;

constexpr std::uint64_t first_lanes(int count) {
  return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

LaunchRun::LaunchRun(const LaunchRequest& request, const Schedule& schedule, const MemoryMap& memory,
                     Observer* observer)
    : request_(request),
      schedule_(schedule),
      memory_(memory),
      observer_(observer),
      blocks_(request.grid[0] * request.grid[1] * request.grid[2]) {}

uint3 LaunchRun::block_index(std::int64_t block) const {
  const std::int64_t x = request_.grid[0];
  const std::int64_t y = request_.grid[1];
  return {static_cast<unsigned>(block % x), static_cast<unsigned>(block / x % y),
          static_cast<unsigned>(block / x / y)};
}

void LaunchRun::report(std::int64_t block, std::string text) {
  const std::lock_guard lock(mutex_);
  if (block >= first_error_.load(std::memory_order_relaxed)) return;
  first_error_.store(block, std::memory_order_relaxed);
  error_ = std::move(text);
}

Executor& Executor::local() {
  thread_local const std::unique_ptr<Executor> executor = std::make_unique<Executor>();
  local_executor = executor.get();
  return *executor;
}

// What depends on the launch alone. threadIdx of every lane is computed once per shape, not per block.
void Executor::shape_block() {
  const LaunchRequest& request = run_->request();
  const auto to_uint3 = [](const Extents& e) {
    return uint3{static_cast<unsigned>(e[0]), static_cast<unsigned>(e[1]), static_cast<unsigned>(e[2])};
  };
  block_.dim = to_uint3(request.block);
  block_.grid = to_uint3(request.grid);
  dynamic_shared_.resize(static_cast<std::size_t>(request.shared_bytes) + 16);
  const auto address = reinterpret_cast<std::uintptr_t>(dynamic_shared_.data());
  block_.dynamic_shared = dynamic_shared_.data() + (16 - address % 16) % 16;
  if (shape_ == request.block && warp_size_ == request.warp_size) return;

  shape_ = request.block;
  warp_size_ = request.warp_size;
  threads_ = static_cast<int>(shape_[0] * shape_[1] * shape_[2]);
  warps_ = (threads_ + warp_size_ - 1) / warp_size_;
  for (int i = 0; i < threads_; ++i) {
    const unsigned linear = static_cast<unsigned>(i);
    Lane& lane = lane_[i];
    lane.thread = {linear % block_.dim.x, linear / block_.dim.x % block_.dim.y,
                   linear / block_.dim.x / block_.dim.y};
    lane.linear = linear;
    lane.index = linear % static_cast<unsigned>(warp_size_);
    lane.warp = &warp_[i / warp_size_];
    lane.call = nullptr;
    lane.escape = nullptr;
  }
  for (int w = 0; w < warps_; ++w) {
    warp_[w].first_lane = &lane_[w * warp_size_];
    warp_[w].index = static_cast<std::uint32_t>(w);
    warp_[w].exist = first_lanes(std::min(warp_size_, threads_ - w * warp_size_));
  }
}

bool Executor::begin_next_block() {
  if (observer_ != nullptr && block_number_ >= block_begin_) observer_->end_block(!ended_);
  do {
    if (++block_number_ >= block_end_) return false;
  } while (!run_->wanted(block_number_));
  begin_block();
  return true;
}

void Executor::begin_block() {
  for (int w = 0; w < warps_; ++w) {
    Warp& warp = warp_[w];
    warp.ready = warp.unstarted = warp.exist;
    warp.waiting = warp.finished = 0;
    warp.meetings = 0;
  }
  ready_warps_ = first_lanes(warps_);
  unfinished_ = threads_;
  ended_ = false;
  barrier_ = nullptr;
  at_barrier_ = predicates_ = 0;
  block_.index = run_->block_index(block_number_);
  const std::int64_t shared = run_->request().shared_bytes;
  // All bits set: a NaN for every float that is read before it is written.
  if (shared > 0) std::memset(block_.dynamic_shared, 0xFF, static_cast<std::size_t>(shared));
  const Schedule& schedule = run_->schedule();
  if (schedule.kind == Schedule::Kind::random) {
    draw_.seed(schedule.seed * 0x9E3779B97F4A7C15U +
               static_cast<std::uint64_t>(block_number_));  // odd: distinct per seed
  }
  current.block = &block_;
  if (observer_ != nullptr) {
    observer_->begin_block({block_number_, threads_, warps_, warp_size_,
                            static_cast<const std::byte*>(block_.dynamic_shared), shared});
  }
}

// ---- choosing

inline Lane* Executor::take(Warp& warp, int index) {
  warp.ready &= ~(std::uint64_t{1} << index);
  if (warp.ready == 0) ready_warps_ &= ~(std::uint64_t{1} << warp.index);
  return &warp.first_lane[index];
}

[[gnu::always_inline]] inline Lane* Executor::next(Warp& here) {
  if (forward_ && here.ready != 0) [[likely]]
    return take(here, std::countr_zero(here.ready));
  return next_elsewhere(here);
}

[[gnu::noinline]] Lane* Executor::next_elsewhere(const Warp& here) {
  if (ready_warps_ == 0) {
    if (unfinished_ == 0) return nullptr;
    stall();
    if (unfinished_ == 0) return nullptr;
  }
  if (!forward_) return take_scheduled(here);
  Warp& warp = warp_[std::countr_zero(ready_warps_)];
  return take(warp, std::countr_zero(warp.ready));
}

Lane* Executor::take_scheduled(const Warp& last) {
  const auto highest = [](std::uint64_t set) { return 63 - std::countl_zero(set); };
  const auto lowest_of = [this](int w) { return take(warp_[w], std::countr_zero(warp_[w].ready)); };
  const Schedule& schedule = run_->schedule();
  const std::uint64_t favoured = std::uint64_t{1} << (schedule.seed % static_cast<std::uint64_t>(warps_));
  switch (schedule.kind) {
    case Schedule::Kind::forward:
      return lowest_of(std::countr_zero(ready_warps_));
    case Schedule::Kind::reverse: {
      Warp& warp = warp_[highest(ready_warps_)];
      return take(warp, highest(warp.ready));
    }
    case Schedule::Kind::round_robin: {
      const std::uint64_t above = ready_warps_ & ~first_lanes(static_cast<int>(last.index) + 1);
      return lowest_of(std::countr_zero(above != 0 ? above : ready_warps_));
    }
    case Schedule::Kind::ahead: {
      const std::uint64_t first = ready_warps_ & favoured;
      return lowest_of(std::countr_zero(first != 0 ? first : ready_warps_));
    }
    case Schedule::Kind::last: {
      const std::uint64_t others = ready_warps_ & ~favoured;
      return lowest_of(std::countr_zero(others != 0 ? others : ready_warps_));
    }
    case Schedule::Kind::random:
      break;
  }
  // Uniform over the ready lanes, so that warps and lanes overtake each other in every way.
  int count = 0;
  for (int w = 0; w < warps_; ++w) count += std::popcount(warp_[w].ready);
  int chosen = static_cast<int>(draw_() % static_cast<std::uint64_t>(count));
  for (int w = 0;; ++w) {
    const int here = std::popcount(warp_[w].ready);
    if (chosen >= here) {
      chosen -= here;
      continue;
    }
    std::uint64_t ready = warp_[w].ready;
    while (chosen-- > 0) ready &= ready - 1;
    return take(warp_[w], std::countr_zero(ready));
  }
}

// ---- waiting

// The three functions below are one: every frame between a kernel and the switch is stack to keep in cache,
// times the lanes of a warp.
[[gnu::always_inline]] inline void Executor::leave(Fiber& save, Fiber& target) {
  left_ = &save;
  const Stack here = left_stack_ = running_;
  running_ = target.stack;
  void* fake = nullptr;
  before_switch(&fake, target.stack);
  boost::context::fiber from = std::move(target.context).resume();
  after_switch(fake);
  running_ = here;
  arrive(std::move(from));
}

[[gnu::always_inline]] inline void Executor::arrive(boost::context::fiber&& from) {
  left_->context = std::move(from);
  left_->stack = left_stack_;
}

[[gnu::always_inline]] inline void Executor::wait(Lane& lane) {
  Lane* other = next(*lane.warp);
  if (other != &lane) {
    current.lane = other;
    Fiber* target = &waiting_[other->linear];
    if (is_unstarted(*other)) target = &idle_fiber();
    leave(waiting_[lane.linear], *target);
  }
  if (ended_) [[unlikely]]
    throw Unwind{};
}

// Who arrives last need not go on first: that is the schedule's to say.
void Executor::give_way(Lane& lane) {
  lane.warp->ready |= std::uint64_t{1} << lane.index;
  ready_warps_ |= std::uint64_t{1} << lane.warp->index;
  wait(lane);
}

[[gnu::always_inline]] inline void Executor::meet(const Call& call) {
  Lane& lane = *current.lane;
  Warp& warp = *lane.warp;
  const std::uint64_t self = std::uint64_t{1} << lane.index;
  if ((call.mask & self) == 0) [[unlikely]]
    fail(call, "does not name the calling lane itself");
  if ((call.mask & ~warp.exist) != 0) [[unlikely]]
    fail(call, "names lanes that the block does not have");

  std::uint32_t m = 0;
  while (m < warp.meetings && !same_call(*warp.meeting[m].call, call)) ++m;
  if (m == warp.meetings) {
    warp.meeting[m] = {&call, 0};
    ++warp.meetings;
  }
  const std::uint64_t arrived = warp.meeting[m].arrived |= self;
  if (arrived != call.mask) {
    warp.waiting |= self;
    lane.call = &call;
    wait(lane);
    return;
  }
  call.complete(warp, call.mask);
  if (observer_ != nullptr) [[unlikely]]
    observer_->at_meeting(warp, call);
  warp.meeting[m] = warp.meeting[--warp.meetings];
  const std::uint64_t others = call.mask & ~self;
  if (others == 0) return;
  warp.waiting &= ~others;
  warp.ready |= others;
  ready_warps_ |= std::uint64_t{1} << warp.index;
  if (!forward_) give_way(lane);
}

[[gnu::always_inline]] inline int Executor::meet_block(const Call& call, bool predicate) {
  Lane& lane = *current.lane;
  if (barrier_ == nullptr) barrier_ = &call;
  // A lane at another barrier is not counted, so that neither can complete: the block ends when nothing else
  // can run.
  if (same_call(*barrier_, call)) {
    predicates_ += predicate ? 1 : 0;
    ++at_barrier_;
  }
  if (at_barrier_ != threads_) {
    lane.warp->waiting |= std::uint64_t{1} << lane.index;
    lane.call = &call;
    wait(lane);
    return barrier_result_;
  }
  if (observer_ != nullptr) [[unlikely]]
    observer_->at_barrier();
  for (int w = 0; w < warps_; ++w) {
    warp_[w].ready = warp_[w].exist;
    warp_[w].waiting = 0;
  }
  ready_warps_ = first_lanes(warps_);
  take(*lane.warp, static_cast<int>(lane.index));  // goes on at once
  barrier_ = nullptr;
  at_barrier_ = 0;
  barrier_result_ = std::exchange(predicates_, 0);
  if (call.complete_block != nullptr) barrier_result_ = call.complete_block(call, warp_, warps_);
  if (!forward_) give_way(lane);
  return barrier_result_;
}

void meet(const Call& call) {
  local_executor->meet(call);
}
int meet_block(const Call& call, bool predicate) {
  return local_executor->meet_block(call, predicate);
}
void fail(const Call& call, const char* what) {
  local_executor->fail(call, what);
}

void stop_lane() {
  siglongjmp(*current.lane->escape, 1);
}
bool is_machine_memory(std::uintptr_t address, std::uintptr_t& begin, std::uintptr_t& end) {
  return local_executor->owns(address, begin, end);
}

bool Executor::owns(std::uintptr_t address, std::uintptr_t& begin, std::uintptr_t& end) const {
  begin = reinterpret_cast<std::uintptr_t>(this);
  end = begin + sizeof *this;
  if (address >= begin && address < end) return true;
  const auto above = stacks_.upper_bound(address);
  if (above == stacks_.begin()) return false;
  begin = std::prev(above)->first;
  end = std::prev(above)->second;
  return address < end;
}

// ---- fibers

// Idle fibers are told to return, which frees their stacks.
Executor::~Executor() {
  quit_ = true;
  running_ = stack_of_thread();
  while (idle_count_ > 0) {
    leave(host_, idle_[--idle_count_]);
  }
}

void Executor::run(LaunchRun& run, std::int64_t begin, std::int64_t end) {
  prepare_thread_for_faults();
  run_ = &run;
  forward_ = run.schedule().kind == Schedule::Kind::forward;
  observer_ = run.observer();
  block_begin_ = begin;
  block_number_ = begin - 1;
  block_end_ = end;
  shape_block();
  envelope_seed = run.request().envelope_seed;
  if (!begin_next_block()) return;
  current.lane = next(warp_[0]);
  running_ = stack_of_thread();
  leave(host_, idle_fiber());
  current = {nullptr, nullptr};
}

// One without a lane; it will run current.lane.
[[gnu::noinline]] Fiber& Executor::idle_fiber() {
  if (idle_count_ > 0) return idle_[--idle_count_];
  // fibers_ counts from 0 and none is idle, so slot 0 is free until the new fiber has been entered.
  const auto body = [this](boost::context::fiber&& from) {
    after_switch(nullptr);
    arrive(std::move(from));
    Escape escape;
    // Comes back a second time when a lane that runs here makes a wild access; it is current.lane then.
    const bool faulted = sigsetjmp(escape, 0) != 0;
    if (faulted) forget_frames(running_);
    run_lanes(escape, faulted);
    before_switch(nullptr, host_.stack);
    return std::move(host_.context);
  };
  const LaneStackAllocator allocator(fibers_++, stacks_);
  const boost::context::stack_context stack = allocator.allocate();
  idle_[0].stack = stack_of(stack);
  idle_[0].context = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), allocator, body);
  return idle_[0];
}

[[gnu::always_inline]] inline void Executor::run_lane(Lane& lane) {
  current.lane = &lane;
  lane.warp->unstarted &= ~(std::uint64_t{1} << lane.index);
  try {
    run_->request().thread_main(run_->request().thread_data);
  } catch (const Unwind&) {
  } catch (const std::exception& e) {
    end_block(describe(lane) + ": the kernel threw: " + e.what());
  }
}

[[gnu::always_inline]] inline void Executor::finish(Lane& lane) {
  lane.warp->finished |= std::uint64_t{1} << lane.index;
  --unfinished_;
}

// Runs current.lane and other unstarted lanes; rests while the block needs another fiber's lane, or the host
// thread, to go on. Returns when the executor quits. Nothing is returned from on the way: a processor
// predicts returns from the calls it has seen last, and those were other fibers'.
void Executor::run_lanes(Escape& escape, bool faulted) {
  for (Lane* lane = current.lane;; faulted = false) {
    if (faulted) [[unlikely]] {
      end_with_fault(*lane);
    } else {
      lane->escape = &escape;
      run_lane(*lane);
    }
    finish(*lane);
    Lane* following = next(*lane->warp);
    if (following == nullptr && begin_next_block()) following = next(warp_[0]);
    if (following != nullptr && is_unstarted(*following)) {
      lane = following;
      continue;
    }
    Fiber& idle = idle_[idle_count_++];
    if (following != nullptr) current.lane = following;
    leave(idle, following != nullptr ? waiting_[following->linear] : host_);
    if (quit_) return;
    lane = current.lane;
  }
}

}  // namespace kvr::simt
