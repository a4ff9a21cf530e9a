// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A set of chunk numbers, kept as runs, so that its size does not grow with the number of chunks while they
// are done roughly in order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace kvr {

class ChunkSet {
 public:
  struct Run {
    std::uint64_t begin = 0, end = 0;  // [begin, end)
    friend bool operator==(const Run&, const Run&) = default;
  };

  ChunkSet() = default;
  ChunkSet(std::initializer_list<Run> runs) {
    for (const Run& run : runs) add(run);
  }
  // Throws std::invalid_argument for an empty run and for one that shares a chunk with the set.
  void add(const Run& run);
  void add(const ChunkSet& other) {
    for (const Run& run : other.runs_) add(run);
  }
  bool contains(std::uint64_t chunk) const;
  std::uint64_t size() const;
  // The lowest chunk that both hold.
  std::optional<std::uint64_t> first_common(const ChunkSet& other) const;
  // Ascending, with a gap between neighbours.
  const std::vector<Run>& runs() const { return runs_; }
  friend bool operator==(const ChunkSet&, const ChunkSet&) = default;

 private:
  std::vector<Run> runs_;
};

}  // namespace kvr
