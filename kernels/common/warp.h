// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reductions and shuffles within groups of W lanes (W = 1, 2, 4, ... 32), and reductions over a block. The
// order of every sum is fixed and the same for warps of 32 and of 64 lanes; all lanes of a group end with the
// same bits (on GPUs, payloads of NaNs aside). This is the only place with lane arithmetic of reductions.
//
// To be called by all lanes of the warp together; the block is a multiple of W threads. Groups are aligned:
// lanes [0, W), [W, 2W), ... of the warp. On a GPU a reduction is a butterfly of shuffles; on the cpu machine
// it is one meeting of the warp.
#pragma once

#include "kernels/common/simt.h"
#include "kernels/common/vec.h"

#ifndef KVR_BUILD
#error "KVR_BUILD names the build a kernel is compiled for; kvr_add_kernel() defines it"
#endif

namespace kvr::KVR_BUILD {

// x + y * dim.x + z * dim.x * dim.y: lanes and warps are counted in this order.
KVR_DEVICE int linear_thread() {
  return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}

struct Sum {
  KVR_DEVICE static float combine(float a, float b) { return a + b; }
};
struct MaxDroppingNan {
  KVR_DEVICE static float combine(float a, float b) {
    if (a != a) return b;
    if (b != b) return a;
    if (a == b) return __float_as_int(a) < 0 ? b : a;  // equal: only zeros can differ, in their sign
    return a > b ? a : b;
  }
};
struct MaxPropagatingNan {
  KVR_DEVICE static float combine(float a, float b) {
    if (a != a || b != b) return __int_as_float(0x7fc00000);
    return MaxDroppingNan::combine(a, b);
  }
};

#if defined(KVR_PLATFORM_cpu)

template <class Combine, int W>
KVR_DEVICE float reduce_group(const char* name, float x, simt::Site site) {
  return simt::group_reduce<Combine, W>(name, x, site);
}
template <int W, class T>
KVR_DEVICE T shuffle_group(const char* name, const T& x, int source, simt::Site site) {
  return simt::group_shuffle<W>(name, x, source, site);
}

#else

template <class Combine, int W>
KVR_DEVICE float reduce_group(const char*, float x) {
#pragma unroll
  for (int offset = W / 2; offset > 0; offset /= 2)
    x = Combine::combine(x, __shfl_xor_sync(kFullMask, x, offset));
  return x;
}
template <int W, class T>
KVR_DEVICE T shuffle_group(const char*, T x, int source) {
  return __shfl_sync(kFullMask, x, source, W);
}
template <int W, class T, int N>
KVR_DEVICE Vec<T, N> shuffle_group(const char*, const Vec<T, N>& x, int source) {
  Vec<T, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) result[i] = __shfl_sync(kFullMask, x[i], source, W);
  return result;
}

#endif

// The xor butterfly with offsets W/2, ..., 2, 1. For W = 4: (x0 + x2) + (x1 + x3).
template <int W>
KVR_DEVICE float group_sum(float x KVR_SITE_PARAM) {
  static_assert(W <= 32, "a warp has 32 lanes on some machines");
  return reduce_group<Sum, W>("group_sum", x KVR_SITE);
}

// A NaN loses against a number, so the result is NaN only when all W are. +0 is above -0.
template <int W>
KVR_DEVICE float group_max_dropping_nan(float x KVR_SITE_PARAM) {
  static_assert(W <= 32, "a warp has 32 lanes on some machines");
  return reduce_group<MaxDroppingNan, W>("group_max_dropping_nan", x KVR_SITE);
}

// NaN (0x7fc00000) when any of the W is.
template <int W>
KVR_DEVICE float group_max_propagating_nan(float x KVR_SITE_PARAM) {
  static_assert(W <= 32, "a warp has 32 lanes on some machines");
  return reduce_group<MaxPropagatingNan, W>("group_max_propagating_nan", x KVR_SITE);
}

// x of the group's lane `source`, 0 <= source < W, which may differ from lane to lane. T: a number of 4 or 8
// bytes, or a Vec of them (still one meeting on the cpu machine).
template <int W, class T>
KVR_DEVICE T group_shfl(const T& x, int source KVR_SITE_PARAM) {
  static_assert(W <= 32, "a warp has 32 lanes on some machines");
  return shuffle_group<W>("group_shfl", x, source KVR_SITE);
}

// x of the lane whose number is this one's ^ lane_xor, 0 <= lane_xor < W.
template <int W, class T>
KVR_DEVICE T group_shfl_xor(const T& x, int lane_xor KVR_SITE_PARAM) {
  static_assert(W <= 32, "a warp has 32 lanes on some machines");
  return shuffle_group<W>("group_shfl_xor", x, (linear_thread() & (W - 1)) ^ lane_xor KVR_SITE);
}

// A reduction over a block of a multiple of 32 threads; every thread gets the result. `scratch`: shared, 32
// floats, free again on return (hence the trailing barrier: without it a fast warp would overwrite what a
// slow one still reads).
//   Order: the 32-lane butterfly over each 32 consecutive threads, then the same over their results, padded
//   to 32 with `neutral`. It depends on the number of threads alone, not on the warp size.
#if defined(KVR_PLATFORM_cpu)
#define KVR_BARRIER() __syncthreads(kvr_site)
#else
#define KVR_BARRIER() __syncthreads()
#endif

template <class Combine>
KVR_DEVICE float block_reduce_by_barriers(const char* name, float x, float* scratch,
                                          float neutral KVR_SITE_PARAM) {
  constexpr int kGroup = 32;
  const int thread = linear_thread();
  const int groups = static_cast<int>(blockDim.x * blockDim.y * blockDim.z) / kGroup;
  const float partial = reduce_group<Combine, kGroup>(name, x KVR_SITE);
  if (thread % kGroup == 0) scratch[thread / kGroup] = partial;
  KVR_BARRIER();
  const float mine = thread % kGroup < groups ? scratch[thread % kGroup] : neutral;
  const float total = reduce_group<Combine, kGroup>(name, mine KVR_SITE);
  KVR_BARRIER();
  return total;
}

#undef KVR_BARRIER

template <class Combine>
KVR_DEVICE float block_reduce(const char* name, float x, float* scratch, float neutral KVR_SITE_PARAM) {
#if defined(KVR_PLATFORM_cpu) && !defined(KVR_SIMT_STRICT)
  // One meeting of the block in place of four, which were half of the time a normalisation takes on this
  // machine. Strict machines run the text above, and find what is wrong with its barriers.
  static_cast<void>(scratch);
  return simt::block_reduce<Combine>(name, x, neutral KVR_SITE);
#else
  return block_reduce_by_barriers<Combine>(name, x, scratch, neutral KVR_SITE);
#endif
}

// A block whose every value is -0 gives +0.
KVR_DEVICE float block_sum(float x, float* scratch KVR_SITE_PARAM) {
  return block_reduce<Sum>("block_sum", x, scratch, 0.0F KVR_SITE);
}

KVR_DEVICE float block_max_dropping_nan(float x, float* scratch KVR_SITE_PARAM) {
  return block_reduce<MaxDroppingNan>("block_max_dropping_nan", x, scratch,
                                      __int_as_float(0x7fc00000) KVR_SITE);
}

// Of magnitudes: a block without a NaN gives at least +0.
KVR_DEVICE float block_amax_propagating_nan(float x, float* scratch KVR_SITE_PARAM) {
  return block_reduce<MaxPropagatingNan>("block_amax_propagating_nan", x, scratch, 0.0F KVR_SITE);
}

}  // namespace kvr::KVR_BUILD
