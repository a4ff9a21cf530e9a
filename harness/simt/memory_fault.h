// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A kernel's wild access is an error of that launch, as "an illegal memory access was encountered" is on a
// GPU: it names kernel, block, thread and the nearest tensor, and the process lives on. While a launch runs,
// the signals that such an access raises take the faulting lane back to where its fiber began; raised
// anywhere else they go to whoever handled them before.
#pragma once

#include <csetjmp>
#include <cstdint>

namespace kvr::simt {

// Where a fiber takes up again after the lane it ran has faulted. Set by the executor.
using Escape = ::sigjmp_buf;

enum class FaultAccess : std::uint8_t { unknown, read, write, division };

// The fault of this host thread that was escaped from last.
struct MemoryFault {
  FaultAccess access = FaultAccess::unknown;
  std::uintptr_t address = 0;
};
MemoryFault last_fault();

// Handles the signals as long as at least one of these exists, on any thread. Cheap enough for every launch.
class FaultGuard {
 public:
  FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
  ~FaultGuard();
};

// A stack of its own for this thread's signal handler: a lane may have overrun the one it was on. Idempotent.
void prepare_thread_for_faults();

}  // namespace kvr::simt
