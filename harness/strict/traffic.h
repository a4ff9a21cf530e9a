// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a launch moves, counted as a GPU would: the lanes of a warp that execute the same instruction for the
// same time form one access, which costs one transaction per 32-byte sector it touches; in shared memory, one
// pass per word of the fullest of 32 banks of 4 bytes.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

namespace kvr::strict {

struct TrafficEvent {
  std::uintptr_t address;
  std::uint32_t bytes;
  std::uint32_t place;
  std::uint16_t thread;
  bool write;
  bool atomic;
  bool shared;
};

class Traffic {
 public:
  std::int64_t load_sectors = 0;
  std::int64_t store_sectors = 0;
  std::int64_t bytes_requested = 0;  // by lanes, loads and stores
  std::int64_t accesses = 0;         // of global memory, by lanes
  std::int64_t wide_accesses = 0;    // those of 16 bytes
  std::int64_t atomics = 0;
  std::int64_t bank_conflicts = 0;  // passes beyond the first of each shared access of a warp
  std::int64_t barriers = 0;
  std::int64_t collectives = 0;

  // Bytes of distinct sectors loaded and stored: what must cross the memory bus when every cache works.
  std::int64_t unique_bytes() const {
    return static_cast<std::int64_t>(loaded_.size() + stored_.size()) * kSectorBytes;
  }

  void begin_block() { events_.clear(); }
  void note(const TrafficEvent& event) { events_.push_back(event); }
  void end_block(int warp_size);

  static constexpr std::int64_t kSectorBytes = 32;

 private:
  void count_instruction(const TrafficEvent* const* lanes, std::size_t count);

  std::vector<TrafficEvent> events_;
  std::unordered_set<std::uintptr_t> loaded_, stored_;  // sector numbers
};

}  // namespace kvr::strict
