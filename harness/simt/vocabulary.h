// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Everything a kernel source finds in the global namespace when it is compiled for the cpu machine, included
// through kernels/common/simt.h and by nobody else. Compiled once per KVR_SIMT_WARP_SIZE (32 or 64); what
// depends on it lives in an inline namespace named after it, so that both builds link into one program.
#pragma once

#include "harness/simt/atomics.h"
#include "harness/simt/collectives.h"
#include "harness/simt/device.h"
#include "harness/simt/intrinsics.h"
#include "harness/simt/state.h"
#include "harness/simt/vector_types.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// A block runs on one host thread from beginning to end, and one block at a time.
#if defined(KVR_SIMT_STRICT)
// With a gap in front, so that an access beyond a variable's end is no access to the next one. "used":
// otherwise what a kernel never writes is known to be zero, and its reads are gone before anybody sees them.
#define KVR_SIMT_JOIN(a, b) a##b
#define KVR_SIMT_GAP(n) KVR_SIMT_JOIN(kvr_shared_gap_, n)
#define __shared__                                                            \
  [[maybe_unused]] static thread_local                                        \
      __attribute__((used, aligned(16))) char KVR_SIMT_GAP(__COUNTER__)[256]; \
  [[maybe_unused]] static thread_local __attribute__((used))
#else
#define __shared__ static thread_local
#endif

namespace kvr::simt {

// threadIdx.x and its kin: an unsigned read through the current lane each time.
template <class Read>
struct Triple {
  template <unsigned uint3::*Member>
  struct Coordinate {
    operator unsigned() const { return Read::read().*Member; }
  };
  [[no_unique_address]] Coordinate<&uint3::x> x;
  [[no_unique_address]] Coordinate<&uint3::y> y;
  [[no_unique_address]] Coordinate<&uint3::z> z;
  operator uint3() const { return Read::read(); }
  operator dim3() const { return Read::read(); }
};
struct ReadThread {
  static const uint3& read() { return current.lane->thread; }
};
struct ReadBlock {
  static const uint3& read() { return current.block->index; }
};
struct ReadBlockDim {
  static const uint3& read() { return current.block->dim; }
};
struct ReadGridDim {
  static const uint3& read() { return current.block->grid; }
};

}  // namespace kvr::simt

inline constexpr ::kvr::simt::Triple<::kvr::simt::ReadThread> threadIdx{};
inline constexpr ::kvr::simt::Triple<::kvr::simt::ReadBlock> blockIdx{};
inline constexpr ::kvr::simt::Triple<::kvr::simt::ReadBlockDim> blockDim{};
inline constexpr ::kvr::simt::Triple<::kvr::simt::ReadGridDim> gridDim{};
