// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// CUDA's vector types with CUDA's sizes and alignments (CUDA C++ Programming Guide, "Built-in Vector Types"),
// for kernels on the cpu machine.
#pragma once

#include <cstdint>

// NAME2, NAME4 are aligned to their whole size (at most 16 bytes), NAME1 and NAME3 to one element.
#define KVR_SIMT_VECTOR_TYPES(name, T)                              \
  struct name##1 {                                                  \
    T x;                                                            \
  };                                                                \
  struct alignas(2 * sizeof(T)) name##2 {                           \
    T x, y;                                                         \
  };                                                                \
  struct name##3 {                                                  \
    T x, y, z;                                                      \
  };                                                                \
  struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) name##4 { \
    T x, y, z, w;                                                   \
  };                                                                \
  constexpr name##1 make_##name##1(T x) {                           \
    return {x};                                                     \
  }                                                                 \
  constexpr name##2 make_##name##2(T x, T y) {                      \
    return {x, y};                                                  \
  }                                                                 \
  constexpr name##3 make_##name##3(T x, T y, T z) {                 \
    return {x, y, z};                                               \
  }                                                                 \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) {            \
    return {x, y, z, w};                                            \
  }

KVR_SIMT_VECTOR_TYPES(char, signed char)
KVR_SIMT_VECTOR_TYPES(uchar, unsigned char)
KVR_SIMT_VECTOR_TYPES(short, short)
KVR_SIMT_VECTOR_TYPES(ushort, unsigned short)
KVR_SIMT_VECTOR_TYPES(int, int)
KVR_SIMT_VECTOR_TYPES(uint, unsigned)
KVR_SIMT_VECTOR_TYPES(longlong, long long)
KVR_SIMT_VECTOR_TYPES(ulonglong, unsigned long long)
KVR_SIMT_VECTOR_TYPES(float, float)
KVR_SIMT_VECTOR_TYPES(double, double)
#undef KVR_SIMT_VECTOR_TYPES

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
