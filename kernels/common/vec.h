// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// N neighbouring elements, loaded and stored in accesses of a given number of bytes (16, 8, 4, 2, 1), and the
// test that tells a launcher how many the addresses allow. Each access is one instruction, on the cpu machine
// too: a misaligned one of 16 bytes faults there as on a GPU.
//
//   Vec<bf16, 8> x = load_vec<16, 8>(row + column);
//   store_vec<16>(out + column, x);
#pragma once

#include <cstdint>

#include "kernels/common/simt.h"

namespace kvr {

template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vec {
  static_assert((sizeof(T) * N & (sizeof(T) * N - 1)) == 0, "a power of two of bytes");
  T v[N];
  KVR_HOST_DEVICE T& operator[](int i) { return v[i]; }
  KVR_HOST_DEVICE const T& operator[](int i) const { return v[i]; }
};

// What one access of a size moves. Copying a struct instead would be split into its members by some
// compilers, and so would an integer of 8 bytes.
template <int Bytes>
struct Word;
#if !defined(KVR_PLATFORM_cuda)  // HIP's uint4 has constructors: no bit_cast to it
template <>
struct Word<16> {
  typedef unsigned type __attribute__((vector_size(16), may_alias));
};
template <>
struct Word<8> {
  typedef unsigned type __attribute__((vector_size(8), may_alias));
};
#else
template <>
struct Word<16> {
  using type = uint4;
};
template <>
struct Word<8> {
  using type = uint2;
};
#endif
template <>
struct Word<4> {
  typedef std::uint32_t type __attribute__((may_alias));
};
template <>
struct Word<2> {
  typedef std::uint16_t type __attribute__((may_alias));
};
template <>
struct Word<1> {
  typedef std::uint8_t type __attribute__((may_alias));
};

// Element by element asks nothing of the address, and nor does a copy of the whole on the cpu machine. Strict
// machines look at each access.
#if defined(KVR_PLATFORM_cpu) && !defined(KVR_SIMT_STRICT)
#define KVR_VEC_JOINS_ELEMENTS 1
#endif

// N elements in accesses of Bytes bytes each; `from` must be a multiple of Bytes.
template <int Bytes, int N, class T>
KVR_DEVICE Vec<T, N> load_vec(const T* from) {
  constexpr int kPerAccess = Bytes / static_cast<int>(sizeof(T));
  static_assert(kPerAccess >= 1 && N % kPerAccess == 0);
  using W = typename Word<Bytes>::type;
  Vec<T, N> result;
#if defined(KVR_VEC_JOINS_ELEMENTS)
  if constexpr (kPerAccess == 1) {
    __builtin_memcpy(&result, from, sizeof result);
    return result;
  }
#endif
#pragma unroll
  for (int i = 0; i < N / kPerAccess; ++i) {
    const W word = reinterpret_cast<const W*>(from)[i];  // a value of its own, for the same reason
    if constexpr (kPerAccess == N) {
      result = __builtin_bit_cast(Vec<T, N>, word);
    } else {
      const auto part = __builtin_bit_cast(Vec<T, kPerAccess>, word);
#pragma unroll
      for (int j = 0; j < kPerAccess; ++j) result[i * kPerAccess + j] = part[j];
    }
  }
  return result;
}

template <int Bytes, class T, int N>
KVR_DEVICE void store_vec(T* to, const Vec<T, N>& values) {
  constexpr int kPerAccess = Bytes / static_cast<int>(sizeof(T));
  static_assert(kPerAccess >= 1 && N % kPerAccess == 0);
  using W = typename Word<Bytes>::type;
#if defined(KVR_VEC_JOINS_ELEMENTS)
  if constexpr (kPerAccess == 1) {
    __builtin_memcpy(to, &values, sizeof values);
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < N / kPerAccess; ++i) {
    if constexpr (kPerAccess == N) {
      reinterpret_cast<W*>(to)[i] = __builtin_bit_cast(W, values);
    } else {
      Vec<T, kPerAccess> part;
#pragma unroll
      for (int j = 0; j < kPerAccess; ++j) part[j] = values[i * kPerAccess + j];
      reinterpret_cast<W*>(to)[i] = __builtin_bit_cast(W, part);
    }
  }
}

// For launchers: are base, base + stride_bytes, base + 2 * stride_bytes, ... all multiples of `bytes` (a
// power of two)?
inline bool is_aligned(const void* base, std::int64_t bytes, std::int64_t stride_bytes = 0) {
  return reinterpret_cast<std::uintptr_t>(base) % static_cast<std::uintptr_t>(bytes) == 0 &&
         stride_bytes % bytes == 0;
}

}  // namespace kvr
