// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What launches moved, counted as a GPU would: the lanes of a warp that execute one instruction together form
// one access, which costs a transaction per sector of 32 bytes that it touches. Plain numbers; who counts
// them: harness/strict/traffic.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvr {

inline constexpr std::int64_t kSectorBytes = 32;

struct TensorTraffic {
  std::string tensor;
  std::int64_t load_sectors = 0;         // one for each sector of each access of a warp
  std::int64_t store_sectors = 0;        // atomics count here
  std::int64_t unique_load_sectors = 0;  // each sector once, however often it was loaded
  std::int64_t unique_store_sectors = 0;
  std::int64_t unique_bytes = 0;     // bytes loaded plus bytes stored, each byte once in either
  std::int64_t bytes_requested = 0;  // by lanes, loads and stores
};

struct LaunchTraffic {
  std::vector<TensorTraffic> tensors;  // in the order of first use
  std::int64_t accesses = 0;           // of global memory, by lanes
  std::int64_t wide_accesses = 0;      // those of 16 bytes
  std::int64_t atomics = 0;            // by lanes, global and shared
  std::int64_t bank_conflicts = 0;     // passes beyond the first of each shared access of a warp
  std::int64_t barriers = 0;           // of whole blocks
  std::int64_t collectives = 0;        // of warps or groups of lanes, __syncwarp among them
};

}  // namespace kvr
