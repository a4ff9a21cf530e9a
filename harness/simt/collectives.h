// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Warp collectives and barriers for kernels on the cpu machine: CUDA's names, HIP's mask-less names (all
// lanes of the warp), and the group operations that kernels/common/warp.h is built on. Each is one meeting:
// lanes leave their contribution, the last to arrive computes for all. A shuffle from a lane outside the
// mask, undefined on a GPU, gives all bits set (a NaN).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "harness/simt/state.h"

#ifndef KVR_SIMT_WARP_SIZE
#define KVR_SIMT_WARP_SIZE \
  32  // host code that includes a kernel header for its conversions; it calls no collective
#endif
#if KVR_SIMT_WARP_SIZE == 32
#define KVR_SIMT_WARP_NAMESPACE kvr_warp32
#elif KVR_SIMT_WARP_SIZE == 64
#define KVR_SIMT_WARP_NAMESPACE kvr_warp64
#else
#error "KVR_SIMT_WARP_SIZE must be 32 or 64"
#endif

namespace kvr::simt {

template <class F>
inline void for_each_lane(std::uint64_t mask, F f) {
  for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
}

// value[i] = value[source[i]]
inline void complete_shuffle(Warp& warp, std::uint64_t mask) {
  std::uint64_t result[kMaxWarpSize];
  for_each_lane(mask, [&](int i) {
    const std::uint8_t source = warp.source[i];
    result[i] = (mask >> source & 1) != 0 ? warp.value[source] : ~std::uint64_t{0};
  });
  for_each_lane(mask, [&](int i) { warp.value[i] = result[i]; });
}

// value[i] = the set of lanes whose value is not 0
inline void complete_ballot(Warp& warp, std::uint64_t mask) {
  std::uint64_t ballot = 0;
  for_each_lane(mask, [&](int i) { ballot |= std::uint64_t{warp.value[i] != 0} << i; });
  for_each_lane(mask, [&](int i) { warp.value[i] = ballot; });
}

inline void complete_nothing(Warp&, std::uint64_t) {}

// f32[i] = the butterfly (offsets W/2 .. 1, or 1 .. W/2 at half of the points of the arithmetic envelope) of
// Combine over i's group of W lanes. It is computed as lane 0 of
// the group sees it and given to all, so that even the payload of a NaN is the same in every lane.
template <class Combine, int W>
inline float combine_group(float* v) {
  if (envelope_seed != 0 && (envelope_draw(W) & 1) != 0) {
    // Neighbours first: as good a tree, and one that a compiler or a vendor's reduction may use.
    for (int offset = 1; offset < W; offset *= 2) {
      for (int i = 0; i < W; i += 2 * offset) v[i] = Combine::combine(v[i], v[i + offset]);
    }
  } else {
    for (int offset = W / 2; offset > 0; offset /= 2) {
      for (int i = 0; i < offset; ++i) v[i] = Combine::combine(v[i], v[i + offset]);
    }
  }
  return v[0];
}
template <class Combine, int W>
inline void complete_group(Warp& warp, std::uint64_t mask) {
  for (int base = 0; base < kMaxWarpSize && (mask >> base) != 0; base += W) {
    float* v = warp.f32 + base;
    const float all = combine_group<Combine, W>(v);
    for (int i = 1; i < W; ++i) v[i] = all;
  }
}

// The group reduction over each 32 consecutive threads, and over their results, padded to 32 with
// call.parameter.
template <class Combine>
inline int complete_block_reduce(const Call& call, Warp* warps, int count) {
  constexpr int kGroup = 32;
  float partial[kGroup];
  int groups = 0;
  for (int w = 0; w < count; ++w)
    for (int base = 0; base < kMaxWarpSize && (warps[w].exist >> base) != 0; base += kGroup)
      partial[groups++] = combine_group<Combine, kGroup>(warps[w].f32 + base);
  while (groups < kGroup) partial[groups++] = std::bit_cast<float>(call.parameter);
  return std::bit_cast<int>(combine_group<Combine, kGroup>(partial));
}

// *to[i] = *from[source[i]], Bytes each
template <int Bytes>
inline void complete_copy(Warp& warp, std::uint64_t mask) {
  for_each_lane(mask, [&](int i) { std::memcpy(warp.to[i], warp.from[warp.source[i]], Bytes); });
}

// The lanes of a warp that exist are its first ones, so a lane's group is whole when its last lane exists.
inline void check_whole_group(const Call& call, const Lane& lane, unsigned width) {
  if ((lane.warp->exist >> (lane.index | (width - 1)) & 1) == 0) {
    fail(call, "needs whole groups of lanes, but the block's last group has lanes missing");
  }
}

template <class Combine, int W>
inline float group_reduce(const char* name, float value, Site site) {
  static_assert(W == 1 || W == 2 || W == 4 || W == 8 || W == 16 || W == 32 || W == 64);
  const Lane& lane = *current.lane;
  Warp& warp = *lane.warp;
  const Call call{name, site, warp.exist, W, complete_group<Combine, W>};
  check_whole_group(call, lane, W);
  warp.f32[lane.index] = value;
  meet(call);
  return warp.f32[lane.index];
}

// One meeting of a block of a multiple of 32 threads, at most 1024; every thread gets the same bits.
template <class Combine>
inline float block_reduce(const char* name, float value, float neutral, Site site) {
  const Lane& lane = *current.lane;
  // No mask: a last warp may be half as wide as the others, and meets them all the same.
  const Call call{
      name, site, 0, std::bit_cast<std::uint32_t>(neutral), nullptr, complete_block_reduce<Combine>};
  check_whole_group(call, lane, 32);
  lane.warp->f32[lane.index] = value;
  return std::bit_cast<float>(meet_block(call, false));
}

// The value of the lane `source` (counted within the group of W lanes, and wrapping there): any trivially
// copyable type, in one meeting.
template <int W, class T>
inline T group_shuffle(const char* name, const T& value, int source, Site site) {
  static_assert(std::is_trivially_copyable_v<T>);
  const Lane& lane = *current.lane;
  Warp& warp = *lane.warp;
  const Call call{name, site, warp.exist, W, complete_copy<sizeof(T)>};
  check_whole_group(call, lane, W);
  T result;
  warp.source[lane.index] =
      static_cast<std::uint8_t>((lane.index & ~(W - 1U)) | (static_cast<unsigned>(source) & (W - 1U)));
  warp.from[lane.index] = &value;
  warp.to[lane.index] = &result;
  meet(call);
  return result;
}

template <class T>
inline T shuffle(const Call& call, T value, unsigned source) {
  static_assert((sizeof(T) == 4 || sizeof(T) == 8) && std::is_trivially_copyable_v<T>,
                "a shuffle moves 4 or 8 bytes");
  const Lane& lane = *current.lane;
  Warp& warp = *lane.warp;
  warp.source[lane.index] = static_cast<std::uint8_t>(source);
  std::memcpy(&warp.value[lane.index], &value, sizeof value);
  meet(call);
  std::memcpy(&value, &warp.value[lane.index], sizeof value);
  return value;
}

// First lane of this lane's segment; a width that is no power of two or exceeds the warp is an error.
inline unsigned segment_begin(const Call& call, unsigned lane, unsigned warp_size) {
  if (!std::has_single_bit(call.parameter) || call.parameter > warp_size) {
    fail(call, "has a width that is not a power of two within the warp");
  }
  return lane & ~(call.parameter - 1);
}

template <class T>
inline T shuffle_index(const Call& call, unsigned warp_size, T value, int source) {
  const unsigned begin = segment_begin(call, current.lane->index, warp_size);
  return shuffle(call, value, begin | (static_cast<unsigned>(source) & (call.parameter - 1)));
}
template <class T>
inline T shuffle_up(const Call& call, unsigned warp_size, T value, unsigned delta) {
  const unsigned lane = current.lane->index;
  const unsigned begin = segment_begin(call, lane, warp_size);
  return shuffle(call, value, lane - begin >= delta ? lane - delta : lane);
}
template <class T>
inline T shuffle_down(const Call& call, unsigned warp_size, T value, unsigned delta) {
  const unsigned lane = current.lane->index;
  const unsigned room = segment_begin(call, lane, warp_size) + call.parameter - 1 - lane;
  return shuffle(call, value, delta <= room ? lane + delta : lane);
}
// An earlier segment may be read, a later one may not: PTX shfl.bfly, and HIP alike.
template <class T>
inline T shuffle_xor(const Call& call, unsigned warp_size, T value, int lane_xor) {
  const unsigned lane = current.lane->index;
  const unsigned end = segment_begin(call, lane, warp_size) + call.parameter;
  const unsigned source = lane ^ static_cast<unsigned>(lane_xor);
  return shuffle(call, value, source < end ? source : lane);
}

inline std::uint64_t vote(const Call& call, bool predicate) {
  const Lane& lane = *current.lane;
  Warp& warp = *lane.warp;
  warp.value[lane.index] = predicate ? 1 : 0;
  meet(call);
  return warp.value[lane.index];
}

inline std::uint64_t all_lanes() {
  return current.lane->warp->exist;
}

}  // namespace kvr::simt

inline namespace KVR_SIMT_WARP_NAMESPACE {

#if KVR_SIMT_WARP_SIZE == 32
using LaneMask = unsigned;
#else
using LaneMask = unsigned long long;
#endif
inline constexpr int warpSize = KVR_SIMT_WARP_SIZE;

#define KVR_SIMT_SITE ::kvr::simt::Site site = ::kvr::simt::Site::here()
#define KVR_SIMT_SHUFFLE(name, Argument, function)                                                       \
  template <class T>                                                                                     \
  inline T name##_sync(LaneMask mask, T value, Argument argument, int width = warpSize, KVR_SIMT_SITE) { \
    const ::kvr::simt::Call call{#name "_sync", site, mask, static_cast<unsigned>(width),                \
                                 ::kvr::simt::complete_shuffle};                                         \
    return ::kvr::simt::function(call, warpSize, value, argument);                                       \
  }                                                                                                      \
  template <class T>                                                                                     \
  inline T name(T value, Argument argument, int width = warpSize, KVR_SIMT_SITE) {                       \
    const ::kvr::simt::Call call{#name, site, ::kvr::simt::all_lanes(), static_cast<unsigned>(width),    \
                                 ::kvr::simt::complete_shuffle};                                         \
    return ::kvr::simt::function(call, warpSize, value, argument);                                       \
  }
KVR_SIMT_SHUFFLE(__shfl, int, shuffle_index)
KVR_SIMT_SHUFFLE(__shfl_up, unsigned, shuffle_up)
KVR_SIMT_SHUFFLE(__shfl_down, unsigned, shuffle_down)
KVR_SIMT_SHUFFLE(__shfl_xor, int, shuffle_xor)
#undef KVR_SIMT_SHUFFLE

inline LaneMask __ballot_sync(LaneMask mask, int predicate, KVR_SIMT_SITE) {
  return static_cast<LaneMask>(
      ::kvr::simt::vote({"__ballot_sync", site, mask, 0, ::kvr::simt::complete_ballot}, predicate != 0));
}
inline int __any_sync(LaneMask mask, int predicate, KVR_SIMT_SITE) {
  return ::kvr::simt::vote({"__any_sync", site, mask, 0, ::kvr::simt::complete_ballot}, predicate != 0) != 0;
}
inline int __all_sync(LaneMask mask, int predicate, KVR_SIMT_SITE) {
  return ::kvr::simt::vote({"__all_sync", site, mask, 0, ::kvr::simt::complete_ballot}, predicate != 0) ==
         mask;
}
// HIP's ballot has 64 bits whatever the wavefront.
inline unsigned long long __ballot(int predicate, KVR_SIMT_SITE) {
  return ::kvr::simt::vote({"__ballot", site, ::kvr::simt::all_lanes(), 0, ::kvr::simt::complete_ballot},
                           predicate != 0);
}
inline int __any(int predicate, KVR_SIMT_SITE) {
  return ::kvr::simt::vote({"__any", site, ::kvr::simt::all_lanes(), 0, ::kvr::simt::complete_ballot},
                           predicate != 0) != 0;
}
inline int __all(int predicate, KVR_SIMT_SITE) {
  const std::uint64_t lanes = ::kvr::simt::all_lanes();
  return ::kvr::simt::vote({"__all", site, lanes, 0, ::kvr::simt::complete_ballot}, predicate != 0) == lanes;
}
inline void __syncwarp(LaneMask mask, KVR_SIMT_SITE) {
  ::kvr::simt::meet({"__syncwarp", site, mask, 0, ::kvr::simt::complete_nothing});
}
// Without a mask: every lane the block has, so that a partial warp may say it too.
inline void __syncwarp(KVR_SIMT_SITE) {
  ::kvr::simt::meet({"__syncwarp", site, ::kvr::simt::all_lanes(), 0, ::kvr::simt::complete_nothing});
}

}  // namespace KVR_SIMT_WARP_NAMESPACE

inline void __syncthreads(KVR_SIMT_SITE) {
  ::kvr::simt::meet_block({"__syncthreads", site, 0, 0, nullptr}, false);
}
inline int __syncthreads_count(int predicate, KVR_SIMT_SITE) {
  return ::kvr::simt::meet_block({"__syncthreads_count", site, 0, 0, nullptr}, predicate != 0);
}
inline int __syncthreads_or(int predicate, KVR_SIMT_SITE) {
  return ::kvr::simt::meet_block({"__syncthreads_or", site, 0, 0, nullptr}, predicate != 0) != 0;
}
inline int __syncthreads_and(int predicate, KVR_SIMT_SITE) {
  // Nobody objects.
  return ::kvr::simt::meet_block({"__syncthreads_and", site, 0, 0, nullptr}, predicate == 0) == 0;
}
#undef KVR_SIMT_SITE
