// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Counts what launches move (harness/machine/traffic.h). In shared memory an access of a warp takes one pass
// per word of the fullest of 32 banks of 4 bytes. Costs memory for what is touched: two bits per byte of
// global memory, and the accesses of one block.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "harness/machine/traffic.h"

namespace kvr::strict {

struct TrafficEvent {
  static constexpr std::uint32_t kShared = UINT32_MAX;
  std::uintptr_t address;
  std::uint32_t bytes;
  std::uint32_t place;   // of the instruction
  std::uint32_t memory;  // which tensor (Traffic::memory()), or kShared
  std::uint16_t thread;
  bool write;
  bool atomic;
};

class Traffic {
 public:
  // The number of the tensor of this name.
  std::uint32_t memory(const std::string& tensor);

  void begin_block() { events_.clear(); }
  void note(const TrafficEvent& event) { events_.push_back(event); }
  void end_block(int warp_size);
  void note_barrier() { ++counts_.barriers; }
  void note_collective() { ++counts_.collectives; }

  // Everything since the last call, and begins anew.
  LaunchTraffic take();

 private:
  // Bit b of word w: byte 64 w + b of the page was loaded, stored.
  static constexpr std::uintptr_t kPageBytes = 4096;
  struct Page {
    std::array<std::uint64_t, kPageBytes / 64> loaded{}, stored{};
  };
  struct Touched {
    std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages;
    std::uintptr_t recent_index = UINTPTR_MAX;
    Page* recent = nullptr;
    void mark(std::uintptr_t address, std::uint64_t bytes, bool write);
  };

  void count_instruction(const TrafficEvent* const* lanes, std::size_t count);
  void count_shared(const TrafficEvent* const* lanes, std::size_t count);
  void count_global(const TrafficEvent* const* lanes, std::size_t count);

  std::vector<TrafficEvent> events_;  // of the block that runs
  LaunchTraffic counts_;
  std::vector<Touched> touched_;  // of counts_.tensors
};

}  // namespace kvr::strict
