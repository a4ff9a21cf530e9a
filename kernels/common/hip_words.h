// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// CUDA words that older HIP releases lack: warp collectives with a mask. Included by simt.h on HIP only.
// Before ROCm 7 the _sync names exist only on request; a wavefront runs in lockstep there, so the mask says
// nothing the hardware needs.
#pragma once

#include <hip/hip_runtime.h>

#if HIP_VERSION_MAJOR < 7 && !defined(HIP_ENABLE_WARP_SYNC_BUILTINS)

template <class T>
__device__ __forceinline__ T __shfl_sync(unsigned long long, T value, int lane, int width = warpSize) {
  return __shfl(value, lane, width);
}
template <class T>
__device__ __forceinline__ T __shfl_up_sync(unsigned long long, T value, unsigned delta,
                                            int width = warpSize) {
  return __shfl_up(value, delta, width);
}
template <class T>
__device__ __forceinline__ T __shfl_down_sync(unsigned long long, T value, unsigned delta,
                                              int width = warpSize) {
  return __shfl_down(value, delta, width);
}
template <class T>
__device__ __forceinline__ T __shfl_xor_sync(unsigned long long, T value, int lane_xor,
                                             int width = warpSize) {
  return __shfl_xor(value, lane_xor, width);
}
__device__ __forceinline__ unsigned long long __ballot_sync(unsigned long long mask, int predicate) {
  return __ballot(predicate) & mask;
}
__device__ __forceinline__ int __any_sync(unsigned long long mask, int predicate) {
  return (__ballot(predicate) & mask) != 0;
}
__device__ __forceinline__ int __all_sync(unsigned long long mask, int predicate) {
  return (__ballot(!predicate) & mask) == 0;
}
// Orders memory among the lanes: lockstep makes it a compiler matter.
__device__ __forceinline__ void __syncwarp(unsigned long long = ~0ULL) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

#endif
