// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The one place where a kernel meets its platform. A kernel source includes this file, is written in plain
// CUDA words
// (__global__, __shared__, threadIdx, __syncthreads, __shfl_xor_sync, ...), and compiles unmodified for CUDA,
// for HIP and for the cpu machine. What differs between the platforms is named here:
//
//   KVR_DEVICE          a device function (on cpu an ordinary inline function, callable from tests)
//   KVR_HOST_DEVICE     a function for both sides
//   KVR_GLOBAL          a kernel; the same as __global__
//   KVR_DYNAMIC_SHARED  the block's dynamic shared memory, 16-byte aligned: KVR_DYNAMIC_SHARED(float,
//   scratch); KVR_LAUNCH          launches a kernel and reads the launch status KVR_SITE_PARAM, KVR_SITE
//   where a collective was called, for helpers that wrap one LaneMask, kFullMask, warp_size(), kWarpSize
//   (where it is a compile-time constant: not on HIP)
//
// Two rules that CUDA does not have: alignment of a shared array is written __align__(16) (not alignas, which
// C++ does not allow there), and a mask may only name lanes that the block has.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/common/types.h"

#if defined(KVR_PLATFORM_cuda)
#include <cuda_runtime.h>
#elif defined(KVR_PLATFORM_hip)
#include <hip/hip_runtime.h>

#include "kernels/common/hip_words.h"
#elif defined(KVR_PLATFORM_cpu)
#include "harness/simt/vocabulary.h"
#else
#error "KVR_PLATFORM_cpu, KVR_PLATFORM_cuda or KVR_PLATFORM_hip must be defined; link kvr_options"
#endif

#if defined(KVR_PLATFORM_cpu)
#define KVR_DEVICE inline __attribute__((always_inline))
#define KVR_HOST_DEVICE inline __attribute__((always_inline))
#define KVR_DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(::kvr::simt::dynamic_shared())
#define KVR_SITE_PARAM , ::kvr::simt::Site kvr_site = ::kvr::simt::Site::here()
#define KVR_SITE , kvr_site
#else
#define KVR_DEVICE __device__ __forceinline__
#define KVR_HOST_DEVICE __host__ __device__ __forceinline__
#define KVR_DYNAMIC_SHARED(type, name)                                \
  extern __shared__ __align__(16) unsigned char kvr_dynamic_shared[]; \
  type* const name = reinterpret_cast<type*>(kvr_dynamic_shared)
#define KVR_SITE_PARAM
#define KVR_SITE
#endif
#define KVR_GLOBAL __global__

namespace kvr {

#if defined(KVR_PLATFORM_cpu)
inline namespace KVR_SIMT_WARP_NAMESPACE {  // one name per warp size: both are linked into one program
using LaneMask = ::KVR_SIMT_WARP_NAMESPACE::LaneMask;
inline constexpr int kWarpSize = KVR_SIMT_WARP_SIZE;
inline constexpr LaneMask kFullMask = static_cast<LaneMask>(~0ULL);
KVR_DEVICE constexpr int warp_size() {
  return kWarpSize;
}
}  // namespace KVR_SIMT_WARP_NAMESPACE
#elif defined(KVR_PLATFORM_cuda)
using LaneMask = unsigned;
inline constexpr int kWarpSize = 32;
inline constexpr LaneMask kFullMask = ~0U;
KVR_DEVICE constexpr int warp_size() {
  return kWarpSize;
}
#else
// 64 bits on every AMD target; a wavefront has 32 or 64 lanes, known on the device only.
using LaneMask = unsigned long long;
inline constexpr LaneMask kFullMask = ~0ULL;
KVR_DEVICE int warp_size() {
  return warpSize;
}
#endif

// Blocks of a grid or threads of a block, in 64 bits so that a launcher need not narrow before the check.
struct Extent {
  std::int64_t x = 1, y = 1, z = 1;
  constexpr Extent(std::int64_t x_, std::int64_t y_ = 1, std::int64_t z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr Extent(const dim3& d) : x(d.x), y(d.y), z(d.z) {}
};

}  // namespace kvr

// KVR_LAUNCH(kernel, grid, block, shared_bytes, stream, args...): a LaunchStatus. `grid` and `block` are
// integers, dim3 or kvr::Extent; a kernel with several template arguments is put in parentheses:
// KVR_LAUNCH((k<T, 8>), ...). The status is that of this launch alone: an error left behind by somebody else
// is cleared first.
#define KVR_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  ::kvr::launch_kernel(#kernel, kernel, grid, block, shared_bytes, stream __VA_OPT__(, ) __VA_ARGS__)

#include "kernels/common/launch.h"
