// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/chunk_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace kvr {
namespace {

// The first run that ends behind `chunk`: the only one that may hold it.
auto run_at(const std::vector<ChunkSet::Run>& runs, std::uint64_t chunk) {
  return std::upper_bound(runs.begin(), runs.end(), chunk,
                          [](std::uint64_t c, const ChunkSet::Run& run) { return c < run.end; });
}

}  // namespace

void ChunkSet::add(const Run& run) {
  if (run.begin >= run.end)
    throw std::invalid_argument(fmt::format("chunks [{}, {}): no such run", run.begin, run.end));
  auto at = runs_.begin() + (run_at(runs_, run.begin) - runs_.begin());
  if (at != runs_.end() && at->begin < run.end)
    throw std::invalid_argument(
        fmt::format("chunks [{}, {}) and [{}, {}) overlap", at->begin, at->end, run.begin, run.end));
  const bool joins_before = at != runs_.begin() && std::prev(at)->end == run.begin;
  const bool joins_behind = at != runs_.end() && at->begin == run.end;
  if (joins_before && joins_behind) {
    std::prev(at)->end = at->end;
    runs_.erase(at);
  } else if (joins_before) {
    std::prev(at)->end = run.end;
  } else if (joins_behind) {
    at->begin = run.begin;
  } else {
    runs_.insert(at, run);
  }
}

bool ChunkSet::contains(std::uint64_t chunk) const {
  const auto at = run_at(runs_, chunk);
  return at != runs_.end() && at->begin <= chunk;
}

std::uint64_t ChunkSet::size() const {
  std::uint64_t count = 0;
  for (const Run& run : runs_) count += run.end - run.begin;
  return count;
}

std::optional<std::uint64_t> ChunkSet::first_common(const ChunkSet& other) const {
  for (const Run& run : runs_) {
    const auto at = run_at(other.runs_, run.begin);
    if (at != other.runs_.end() && at->begin < run.end) return std::max(at->begin, run.begin);
  }
  return std::nullopt;
}

}  // namespace kvr
