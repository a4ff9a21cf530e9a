// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Ways to copy a row of floats that differ in what they move, and in nothing else.
#pragma once

#include <cstdint>

namespace kvr {

enum class Copy : int {
  once,        // 16 bytes per thread
  again,       // a pass over the input before: a maximum that nobody needs
  scattered,   // 4 bytes per thread, 32 apart: a sector for each lane
  narrow,      // 2 bytes per thread, in a row
  transposed,  // through shared memory, column by column of 32 words: one bank
  exchanged,   // over the lanes of a warp, with a barrier and an atomic per thread
  half,        // half of it
};

struct CopyArgs {
  Copy copy = Copy::once;
  std::int64_t count = 0;  // floats, a multiple of 1024
  const float* in = nullptr;
  float* out = nullptr;
  unsigned* arrivals = nullptr;  // one
};

}  // namespace kvr
