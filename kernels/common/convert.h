// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Conversions for kernels: to_float(T), from_float<T>(float) and from_float_saturating<T>(float, max), round
// to nearest even. The device's own instruction where the target has one, convert_portable.h elsewhere, with
// equal results for every input; only NaN payloads may differ.
//
//   to_float                     bf16, fp16, e4m3fn, e4m3fnuz, e5m2, float
//   from_float<T>                bf16, fp16, float: IEEE overflow to infinity, NaN stays NaN
//   from_float_saturating<T>     e4m3fn, e4m3fnuz, e5m2, int8: clamps to +-max (infinities too); NaN gives
//   the format's NaN,
//                                0 in int8; a negative value that rounds to zero gives -0, 0x00 in FNUZ and
//                                int8
//
// | target                | bf16       | fp16   | e4m3fn     | e4m3fnuz   | e5m2       |
// |---|---|---|---|---|---|
// | cpu                   | portable   | portable | portable | portable   | portable   |
// | CUDA sm_75            | portable   | cvt    | portable   | portable   | portable   |
// | CUDA sm_80, sm_86     | cvt        | cvt    | portable   | portable   | portable   |
// | CUDA sm_89 and newer  | cvt        | cvt    | cvt        | portable   | cvt        |
// | HIP gfx90a, gfx10, 11 | portable   | native | portable   | portable   | portable   |
// | HIP gfx94x            | portable   | native | portable   | cvt        | portable   |
// | HIP gfx950, gfx12     | portable   | native | cvt        | portable   | cvt        |
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/convert_portable.h"
#include "kernels/common/simt.h"
#include "kernels/common/types.h"

namespace kvr {

#if !defined(__CUDACC__) && !defined(__HIP__)

using portable::from_float;
using portable::from_float_saturating;
using portable::to_float;

#else

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define KVR_CUDA_FP8 1
#endif
#if defined(__HIP_DEVICE_COMPILE__)
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
#define KVR_HIP_FP8_FNUZ 1  // v_cvt_pk_fp8_f32 and v_cvt_pk_bf8_f32 speak FNUZ here
#elif defined(__gfx950__) || defined(__gfx1200__) || defined(__gfx1201__)
#define KVR_HIP_FP8_OCP 1  // and OCP here
#endif
#endif

namespace device {

template <class T, class U>
inline constexpr bool is = std::is_same_v<T, U>;

#if defined(KVR_CUDA_FP8)
// Both instructions work on pairs; the second element is not used. Every fp8 value is exact in fp16.
template <class T>
KVR_DEVICE float decode_fp8(T value) {
  const std::uint16_t pair = value.bits;
  std::uint32_t halves = 0;
  if constexpr (is<T, e4m3fn>) {
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  } else {
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  }
  float result = 0;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(static_cast<std::uint16_t>(halves)));
  return result;
}

template <class T>
KVR_DEVICE T encode_fp8(float value) {
  std::uint16_t pair = 0;
  if constexpr (is<T, e4m3fn>) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0F), "f"(value));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0F), "f"(value));
  }
  return {static_cast<std::uint8_t>(pair)};
}
#endif

#if defined(KVR_HIP_FP8_FNUZ) || defined(KVR_HIP_FP8_OCP)
template <class T>
KVR_DEVICE float decode_fp8(T value) {
  if constexpr (is<T, e5m2>) {
    return __builtin_amdgcn_cvt_f32_bf8(value.bits, 0);
  } else {
    return __builtin_amdgcn_cvt_f32_fp8(value.bits, 0);
  }
}

template <class T>
KVR_DEVICE T encode_fp8(float value) {
  if constexpr (is<T, e5m2>) {
    return {static_cast<std::uint8_t>(__builtin_amdgcn_cvt_pk_bf8_f32(value, value, 0, false))};
  } else {
    return {static_cast<std::uint8_t>(__builtin_amdgcn_cvt_pk_fp8_f32(value, value, 0, false))};
  }
}
#endif

// Formats whose conversions the target of this compilation has as instructions.
template <class T>
KVR_DEVICE constexpr bool has_fp8() {
#if defined(KVR_CUDA_FP8) || defined(KVR_HIP_FP8_OCP)
  return is<T, e4m3fn> || is<T, e5m2>;
#elif defined(KVR_HIP_FP8_FNUZ)
  return is<T, e4m3fnuz>;
#else
  return false;
#endif
}

}  // namespace device

template <class T>
KVR_DEVICE float to_float(T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, fp16>) {
    float result = 0;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_same_v<T, fp16>) return static_cast<float>(__builtin_bit_cast(_Float16, value.bits));
#endif
#if defined(KVR_CUDA_FP8) || defined(KVR_HIP_FP8_OCP) || defined(KVR_HIP_FP8_FNUZ)
  if constexpr (device::has_fp8<T>()) return device::decode_fp8(value);
#endif
  return portable::to_float(value);
}

template <class T>
KVR_DEVICE T from_float(float value) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, fp16>) {
    fp16 result{};
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, bf16>) {
    bf16 result{};
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
  }
#endif
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_same_v<T, fp16>) {
    return {__builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value))};
  }
#endif
  return portable::from_float<T>(value);
}

template <class T>
KVR_DEVICE T from_float_saturating(float value, float max) {
#if defined(KVR_CUDA_FP8) || defined(KVR_HIP_FP8_OCP) || defined(KVR_HIP_FP8_FNUZ)
  if constexpr (device::has_fp8<T>()) {
    // Clamped here because max may be below the format's own (224 in FNUZ); fmin and fmax would lose a NaN.
    constexpr float kFormatMax = std::is_same_v<T, e4m3fn>     ? 448.0F
                                 : std::is_same_v<T, e4m3fnuz> ? 240.0F
                                                               : 57344.0F;
    const float limit = max < kFormatMax ? max : kFormatMax;
    const float clamped = value > limit ? limit : value < -limit ? -limit : value;
    const T code = device::encode_fp8<T>(clamped);
    if constexpr (std::is_same_v<T, e4m3fnuz>) {
      // Stated here rather than left to the instruction: 0x80 for NaN, and for nothing else.
      if (value != value) return {0x80U};
      return {static_cast<std::uint8_t>(code.bits == 0x80U ? 0U : code.bits)};
    }
    return code;
  }
#endif
  return portable::from_float_saturating<T>(value, max);
}

#endif

}  // namespace kvr
