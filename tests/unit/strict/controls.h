// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Small kernels, each with one known mistake and a correct twin: what strict mode must report, and what it
// must not. Several are mistakes that were made in public (the number is the bug report's).
#pragma once

#include <cstdint>

namespace kvr {

enum class Control : int {
  // bounds
  tail_store,          // A8: a vector store at a row's end reaches into the gap before the next row
  negative_slot,       // A13: a padding token has slot -1, and is written all the same
  shared_end,          // one element behind a static shared array
  dynamic_shared_end,  // one element behind the dynamic shared memory
  strided_rows,        // a column in front of a row that lies 2^31 elements behind the one before
  wrapped,             // the last bytes of the address space: address + width wraps
  host_heap,           // memory of the host that no tensor owns
  // misaligned
  global_vector,  // 16 bytes from an address that is a multiple of 8
  shared_vector,  // a float4 region behind one float per warp: aligned for a multiple of 4 warps only
  // uninitialised read
  shared_unwritten,  // static shared memory is taken to begin as zeros
  masked_maximum,    // lanes beyond the row's end write nothing, and the maximum is taken over all
  output_read,       // adds to an output
  // race
  scratch_reused,    // A9: scratch for the variance is written while slow warps read the mean
  missing_syncwarp,  // lanes of a warp exchange through shared memory
  two_writers,       // the rotated part of a row is written twice, with equal values
  next_row,          // A8 without a gap: the tail store hits the first element of another block's row
  read_other_block,  // reads what another block writes
  // divergence
  branch_shuffle,  // A5: a shuffle of the whole warp in a branch that half of it enters
  branch_barrier,  // a barrier that half of the block returns before
  narrow_mask,     // A11: 0xffffffff on a machine with 64 lanes
  rows_of_32,      // block (32, n): each row reduces by itself, with a shuffle over "the warp"
  // launch limit
  grid_y,         // one block per token along y
  block_threads,  // a block of 1056 threads
  shared_size,    // more shared memory than a block can have
  // None: what a kernel compiled for a CPU touches besides device memory, and must be silent
  host_memory,  // its stack, constants, arguments captured by value, the machine's state
};

struct ControlArgs {
  Control control = Control::tail_store;
  bool faulty = false;
  std::int64_t rows = 2;
  std::int64_t width = 40;
  std::int64_t pitch = 48;
  const float* in = nullptr;            // rows x width, pitch
  float* out = nullptr;                 // the same
  const std::int64_t* slots = nullptr;  // rows
  const float* heap = nullptr;          // of the host; 4 elements
  float captured[8] = {1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace kvr
