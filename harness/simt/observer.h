// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Somebody who watches a launch from inside: told when blocks begin and where lanes become ordered, and able
// to stop a lane. Strict mode is one (harness/strict). A launch that is observed runs on the launching
// thread, block after block.
#pragma once

#include <cstdint>
#include <string>

#include "harness/simt/state.h"

namespace kvr::simt {

struct LaunchRequest;

struct BlockView {
  std::int64_t number = 0;  // x + y * grid.x + z * grid.x * grid.y
  int threads = 0;
  int warps = 0;
  int warp_size = 0;
  const std::byte* dynamic_shared = nullptr;
  std::int64_t dynamic_bytes = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin_launch(const LaunchRequest& request) = 0;
  virtual void end_launch() = 0;
  virtual void begin_block(const BlockView& block) = 0;
  // `completed`: every lane returned, and no error ended the block.
  virtual void end_block(bool completed) = 0;
  // All threads of the block have arrived; none has gone on yet.
  virtual void at_barrier() = 0;
  // The lanes of call.mask have met; none has gone on yet.
  virtual void at_meeting(const Warp& warp, const Call& call) = 0;
  // Why the lane was stopped (stop_lane()), as "race: k: block (0,0,0), thread ..."; empty: it was not.
  virtual std::string complaint(const std::string& lane) = 0;
};

// Ends the block at the current lane, whose Observer::complaint() says why.
[[noreturn]] void stop_lane();
// Memory of the machine itself: executor state and lanes' stacks. Sets the bounds when it is.
bool is_machine_memory(std::uintptr_t address, std::uintptr_t& begin, std::uintptr_t& end);

}  // namespace kvr::simt
