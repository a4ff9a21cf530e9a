// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a running kernel sees of the machine that runs it: its lane, its warp, its block, and the two ways to
// wait. The vocabulary (collectives.h, vocabulary.h) is written on top of this; the executor (executor.h)
// stands behind it.
#pragma once

#include <cstdint>

#include "harness/simt/memory_fault.h"
#include "harness/simt/vector_types.h"

namespace kvr::simt {

inline constexpr int kMaxWarpSize = 64;
inline constexpr int kMaxThreads = 1024;  // of a block, on every device we know
inline constexpr int kMaxWarps = kMaxThreads / 32;

// Where a collective is called. here() as a default argument names the caller's line, through any number of
// default arguments.
struct Site {
  const char* file;
  int line;
  static constexpr Site here(const char* file_ = __builtin_FILE(), int line_ = __builtin_LINE()) {
    return {file_, line_};
  }
};

struct Warp;
struct Lane;

// A collective or barrier as one lane calls it. Lanes meet when all of this is equal, except that a barrier
// has no mask.
struct Call {
  const char* name;  // "__shfl_xor_sync"
  Site site;
  std::uint64_t mask;       // the lanes that must meet
  std::uint32_t parameter;  // a shuffle's width
  void (*complete)(
      Warp&, std::uint64_t mask);  // run by the last lane to arrive, for all of them; a barrier has none
  // A barrier at which the block computes something: run by the last thread to arrive, before any goes on.
  // What it returns every thread gets.
  int (*complete_block)(const Call&, Warp* warps, int count) = nullptr;
};

// Lanes that have arrived at one collective and wait for the rest.
struct Meeting {
  const Call* call;  // the first arrival's; it lies on that lane's stack
  std::uint64_t arrived;
};

struct Lane {
  uint3 thread;          // threadIdx
  std::uint32_t linear;  // x + y * dim.x + z * dim.x * dim.y
  std::uint32_t index;   // within the warp
  Warp* warp;
  const Call* call;  // where it waits
  Escape* escape;    // where its fiber takes up when it faults
};

// Lane sets are bit masks. A lane is in at most one of ready, waiting and finished; in none while it runs.
struct Warp {
  std::uint64_t exist = 0;      // the lanes the block has: all but in a last, partial warp
  std::uint64_t ready = 0;      // can be resumed
  std::uint64_t unstarted = 0;  // part of ready: has no stack yet
  std::uint64_t waiting = 0;    // at a meeting or a barrier
  std::uint64_t finished = 0;   // has returned from the kernel
  Lane* first_lane = nullptr;
  std::uint32_t index = 0;
  std::uint32_t meetings = 0;
  Meeting meeting[kMaxWarpSize] = {};

  // What lanes bring to a meeting and take from it, one element each. Each lane writes and reads its own;
  // only `complete`, which runs while all of them wait, reads across.
  alignas(64) float f32[kMaxWarpSize] = {};
  alignas(64) std::uint64_t value[kMaxWarpSize] = {};
  std::uint8_t source[kMaxWarpSize] = {};
  const void* from[kMaxWarpSize] = {};
  void* to[kMaxWarpSize] = {};
};

struct Block {
  uint3 index{};  // blockIdx
  uint3 dim{};    // blockDim
  uint3 grid{};   // gridDim
  void* dynamic_shared = nullptr;
};

// What this host thread is running. A block stays on one host thread, and so do its stacks.
struct Current {
  Lane* lane;
  Block* block;
};
extern constinit thread_local Current current [[gnu::tls_model("initial-exec")]];

// The arithmetic envelope: 0 is off; any other value picks one of the results that vendors' documents allow,
// for approximate intrinsics and for the order in which a group's values are combined. (Contraction is a
// matter of how a kernel is compiled: the machine chooses the build.)
extern constinit thread_local std::uint64_t envelope_seed [[gnu::tls_model("initial-exec")]];
// A number that depends on the seed and on `about` in all its bits (SplitMix64's finaliser).
inline std::uint64_t envelope_draw(std::uint64_t seed, std::uint64_t about) {
  std::uint64_t x = about + seed * 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}
inline std::uint64_t envelope_draw(std::uint64_t about) {
  return envelope_draw(envelope_seed, about);
}

// Waits until every lane in call.mask has made this call. The payload must have been written before.
void meet(const Call& call);
// Waits until every thread of the block has made this call. Returns for how many of them `predicate` was set,
// or what call.complete_block does.
int meet_block(const Call& call, bool predicate);
// Ends the block with an error at this lane: "kernel: block (..), thread (..) ...: " + what.
[[noreturn]] void fail(const Call& call, const char* what);

inline void* dynamic_shared() {
  return current.block->dynamic_shared;
}

}  // namespace kvr::simt
