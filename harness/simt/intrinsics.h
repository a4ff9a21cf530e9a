// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// CUDA's arithmetic words for kernels on the cpu machine. Names with a rounding mode (__fmaf_rn, ...) and
// fmaf, sqrtf are correctly rounded, as on a GPU. What vendors leave open (rsqrtf, __expf, __fdividef) goes
// through one seam, kvr::simt::approximate, which is given the exact value and the documented bound. It
// returns the nearest float, or another legal one while the arithmetic envelope is on (state.h).
#pragma once

#include <math.h>  // the words fmaf, sqrtf, fabsf, ... live in the global namespace, as in CUDA

#include <bit>
#include <cstdint>

#include "harness/simt/state.h"

namespace kvr::simt {

// The names with a rounding mode are never part of a fused multiply-add, whatever is around them (CUDA C++
// Programming Guide, "Floating-Point Intrinsics"). Where kernels are compiled with contraction (the envelope)
// the compiler must not see that a value is a product; elsewhere there is nothing to hide.
inline float unfused(float x) {
#if defined(KVR_SIMT_CONTRACTED)
  asm("" : "+rm"(x));
#endif
  return x;
}

// `exact` is accurate to far more than a float; `max_ulp` is what the vendor documents (CUDA C++ Programming
// Guide, "Mathematical Functions"): any float within it is a legal answer. The nearest one is off by at most
// half a ULP, so up to floor(max_ulp - 1/2) steps from it are legal; which is taken depends on the seed and
// on the value alone, since an instruction gives the same answer to the same question. The documents name the
// results for zeros, infinities and NaN, so an exact 0, an infinity and a NaN are what they are.
inline float approximate(double exact, double max_ulp) {
  const float nearest = static_cast<float>(exact);
  if (envelope_seed == 0) [[likely]]
    return nearest;
  if (exact == 0.0 || !__builtin_isfinite(exact)) return nearest;
  const auto steps = static_cast<std::int64_t>(max_ulp - 0.5);
  const std::uint64_t draw = envelope_draw(std::bit_cast<std::uint64_t>(exact));
  float value = nearest;
  std::int64_t offset = static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(2 * steps + 1)) - steps;
  for (; offset > 0; --offset) value = __builtin_nextafterf(value, __builtin_inff());
  for (; offset < 0; ++offset) value = __builtin_nextafterf(value, -__builtin_inff());
  return __builtin_isfinite(value) ? value : nearest;
}

// Nearest for every float: 1/sqrt(double) is off by at most 1.5 double ULP, and no float's reciprocal root
// lies that close to a midpoint between floats (tests/unit/simt shows it for all mantissas).
inline float reciprocal_sqrt(float x) {
  return approximate(1.0 / __builtin_sqrt(static_cast<double>(x)), 2.0);
}

}  // namespace kvr::simt

// A macro, because newer C libraries declare a function of this name. <math.h> has been read by now.
#define rsqrtf(x) ::kvr::simt::reciprocal_sqrt(x)

inline float __fmaf_rn(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline float __fadd_rn(float a, float b) {
  return ::kvr::simt::unfused(a) + ::kvr::simt::unfused(b);
}
inline float __fsub_rn(float a, float b) {
  return ::kvr::simt::unfused(a) - ::kvr::simt::unfused(b);
}
inline float __fmul_rn(float a, float b) {
  return ::kvr::simt::unfused(a * b);
}
inline float __fdiv_rn(float a, float b) {
  return a / b;
}
inline float __frcp_rn(float a) {
  return 1.0F / a;
}
inline float __fsqrt_rn(float a) {
  return __builtin_sqrtf(a);
}
inline float __frsqrt_rn(float a) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
}
inline float __expf(float x) {
  return ::kvr::simt::approximate(__builtin_exp(static_cast<double>(x)),
                                  2.0 + __builtin_floor(__builtin_fabs(1.173 * x)));
}
inline float __fdividef(float a, float b) {
  return ::kvr::simt::approximate(static_cast<double>(a) / static_cast<double>(b), 2.0);
}
inline float __saturatef(float x) {
  return x > 0.0F ? (x < 1.0F ? x : 1.0F) : 0.0F;
}  // NaN gives 0

inline int __float_as_int(float x) {
  return std::bit_cast<int>(x);
}
inline unsigned __float_as_uint(float x) {
  return std::bit_cast<unsigned>(x);
}
inline float __int_as_float(int x) {
  return std::bit_cast<float>(x);
}
inline float __uint_as_float(unsigned x) {
  return std::bit_cast<float>(x);
}
inline long long __double_as_longlong(double x) {
  return std::bit_cast<long long>(x);
}
inline double __longlong_as_double(long long x) {
  return std::bit_cast<double>(x);
}

inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
  return static_cast<float>(x);
}
// Nearest even, saturating, NaN gives 0: PTX cvt.rni.s32.f32.
inline int __float2int_rn(float x) {
  if (x != x) return 0;
  if (x >= 0x1p31F) return INT32_MAX;
  if (x < -0x1p31F) return INT32_MIN;
  return static_cast<int>(__builtin_nearbyintf(x));
}

inline int __popc(unsigned x) {
  return std::popcount(x);
}
inline int __popcll(unsigned long long x) {
  return std::popcount(x);
}
inline int __clz(int x) {
  return std::countl_zero(static_cast<unsigned>(x));
}
inline int __clzll(long long x) {
  return std::countl_zero(static_cast<unsigned long long>(x));
}
inline int __ffs(int x) {
  return __builtin_ffs(x);
}
inline int __ffsll(long long x) {
  return __builtin_ffsll(x);
}

template <class T>
inline T __ldg(const T* p) {
  return *p;
}

inline int min(int a, int b) {
  return b < a ? b : a;
}
inline int max(int a, int b) {
  return a < b ? b : a;
}
inline unsigned min(unsigned a, unsigned b) {
  return b < a ? b : a;
}
inline unsigned max(unsigned a, unsigned b) {
  return a < b ? b : a;
}
inline long min(long a, long b) {
  return b < a ? b : a;
}
inline long max(long a, long b) {
  return a < b ? b : a;
}
inline unsigned long min(unsigned long a, unsigned long b) {
  return b < a ? b : a;
}
inline unsigned long max(unsigned long a, unsigned long b) {
  return a < b ? b : a;
}
inline long long min(long long a, long long b) {
  return b < a ? b : a;
}
inline long long max(long long a, long long b) {
  return a < b ? b : a;
}
inline unsigned long long min(unsigned long long a, unsigned long long b) {
  return b < a ? b : a;
}
inline unsigned long long max(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
// CUDA's float overloads are fminf and fmaxf: a NaN loses against a number.
inline float min(float a, float b) {
  return __builtin_fminf(a, b);
}
inline float max(float a, float b) {
  return __builtin_fmaxf(a, b);
}
inline double min(double a, double b) {
  return __builtin_fmin(a, b);
}
inline double max(double a, double b) {
  return __builtin_fmax(a, b);
}
