// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Conversions between float and the storage types in 32-bit integer and float operations only: for devices
// whose instruction set lacks a conversion, and for the cpu machine. Independent of harness/numeric's codec,
// which tests compare with it exhaustively. Needs nothing but types.h, so host tests can include it on every
// platform.
//
// All of it is round to nearest, ties to even. No branches: data decide which case it is, so no predictor
// does. Three tricks carry it:
//  - mantissa overflow carries into the exponent, so rounding a normal number is one integer addition;
//  - adding 2^k to a small number makes the float adder round it to the quantum 2^(k - 23): that is how
//  subnormals of
//    the target are rounded (the operands and the sum are normal floats, so flush-to-zero modes change
//    nothing: an fp32 subnormal is far below half the quantum of any target here);
//  - re-biasing an exponent is an integer addition.
#pragma once

#include <cstdint>

#include "kernels/common/types.h"

// Always inlined: kernels are compiled several times with different flags (warp sizes, instrumentation) and
// linked into one program, so an out-of-line copy would be shared between builds that must not share code.
// The attributes are spelled out because HIP's words for them come with a runtime header that is not needed
// here.
#if defined(__CUDACC__) || defined(__HIP__)
#define KVR_PORTABLE_SIDES __attribute__((host)) __attribute__((device))
#else
#define KVR_PORTABLE_SIDES
#endif
#define KVR_PORTABLE KVR_PORTABLE_SIDES __attribute__((always_inline)) inline

namespace kvr::portable {

KVR_PORTABLE std::uint32_t float_bits(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
KVR_PORTABLE float float_from_bits(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

inline constexpr std::uint32_t kFloatSign = 0x80000000U;
inline constexpr std::uint32_t kFloatInfinity = 0x7F800000U;

// `a` where the condition holds, else `b`: both are there already, and compilers that see a `?:` like to turn
// it into a jump around one of them, which no predictor knows and no vector unit has.
KVR_PORTABLE std::uint32_t choose(bool condition, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

KVR_PORTABLE float to_float(bf16 value) {
  return float_from_bits(static_cast<std::uint32_t>(value.bits) << 16);
}

// Exponent field and mantissa moved to their fp32 places give the value times 2^-112 (biases 15 and 127).
// Adding 112 to the exponent repairs normals; subnormals lack the implicit one, so they borrow 2^-14 and give
// it back.
KVR_PORTABLE float to_float(fp16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = static_cast<std::uint32_t>(value.bits & 0x7FFFU) << 13;
  const std::uint32_t exponent = magnitude & kFloatInfinity;
  // Infinity and NaN: 31 + 224 = 255.
  const std::uint32_t normal = magnitude + (112U << 23) + choose(exponent == 31U << 23, 112U << 23, 0);
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude + (113U << 23)) - 0x1p-14F);
  return float_from_bits(sign | choose(exponent == 0, subnormal, normal));
}

// e5m2 is the upper byte of fp16.
KVR_PORTABLE float to_float(e5m2 value) {
  return to_float(fp16{static_cast<std::uint16_t>(static_cast<std::uint32_t>(value.bits) << 8)});
}

// Rebias = 127 - bias, Subnormal = the quantum below the smallest normal. The caller has dealt with NaN.
KVR_PORTABLE float decode_e4m3(std::uint32_t code, std::uint32_t rebias, float subnormal) {
  const std::uint32_t sign = (code & 0x80U) << 24;
  const std::uint32_t magnitude = code & 0x7FU;
  const std::uint32_t bits =
      magnitude < 8 ? float_bits(static_cast<float>(static_cast<std::int32_t>(magnitude)) * subnormal)
                    : (magnitude << 20) + (rebias << 23);
  return float_from_bits(sign | bits);
}

KVR_PORTABLE float to_float(e4m3fn value) {
  if ((value.bits & 0x7FU) == 0x7FU) return float_from_bits(0x7FC00000U);
  return decode_e4m3(value.bits, 120, 0x1p-9F);
}

KVR_PORTABLE float to_float(e4m3fnuz value) {
  if (value.bits == 0x80U) return float_from_bits(0x7FC00000U);
  return decode_e4m3(value.bits, 119, 0x1p-10F);
}

KVR_PORTABLE float to_float(float value) {
  return value;
}

// One definition per storage type.
template <class T>
KVR_PORTABLE_SIDES T from_float(float value);

template <>
KVR_PORTABLE float from_float<float>(float value) {
  return value;
}

template <>
KVR_PORTABLE bf16 from_float<bf16>(float value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  // The addition turns the NaN 0x7FFFFFFF into -0 and 0x7F800001 into infinity.
  const bool nan = (bits & ~kFloatSign) > kFloatInfinity;
  return {static_cast<std::uint16_t>(nan ? (bits >> 16) | 0x0040U : rounded)};
}

template <>
KVR_PORTABLE fp16 from_float<fp16>(float value) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t sign = (bits & kFloatSign) >> 16;
  const std::uint32_t magnitude = bits & ~kFloatSign;
  // [65520, 65536) carries into the exponent and becomes infinity by itself.
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  // Below 2^-14: quantum 2^-24 = ULP of 0.5.
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude) + 0.5F) - 0x3F000000U;
  // 2^16 and above, where no rounding is needed to see the overflow.
  const std::uint32_t special = choose(magnitude > kFloatInfinity, 0x7E00U, 0x7C00U);
  const std::uint32_t finite = choose(magnitude < 0x38800000U, subnormal, normal);
  return {static_cast<std::uint16_t>(sign | choose(magnitude >= 0x47800000U, special, finite))};
}

// Magnitude (not NaN, already clamped to the format's largest value) to a magnitude code.
// Dropped = mantissa bits to drop, Rebias = 127 - bias, magic = 2^(23 + log2 quantum).
template <std::uint32_t Dropped, std::uint32_t Rebias>
KVR_PORTABLE std::uint32_t encode_fp8(std::uint32_t magnitude, float magic) {
  constexpr std::uint32_t kSmallestNormal = (Rebias + 1) << 23;
  constexpr std::uint32_t kBelowHalf = (1U << (Dropped - 1)) - 1;
  const std::uint32_t subnormal = float_bits(float_from_bits(magnitude) + magic) - float_bits(magic);
  const std::uint32_t normal =
      (magnitude - (Rebias << 23) + kBelowHalf + ((magnitude >> Dropped) & 1U)) >> Dropped;
  return magnitude < kSmallestNormal ? subnormal : normal;
}

// Positive floats are ordered like their bits.
KVR_PORTABLE std::uint32_t clamp_magnitude(std::uint32_t magnitude, float max, std::uint32_t format_max) {
  const std::uint32_t asked = float_bits(max);
  const std::uint32_t limit = asked < format_max ? asked : format_max;
  return magnitude < limit ? magnitude : limit;
}

// Clamps to +-max (max > 0; beyond the format's largest value it counts as that), infinities too; NaN gives
// the format's NaN.
template <class T>
KVR_PORTABLE_SIDES T from_float_saturating(float value, float max);

template <>
KVR_PORTABLE e4m3fn from_float_saturating<e4m3fn>(float value, float max) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t sign = (bits & kFloatSign) >> 24;
  const std::uint32_t magnitude = bits & ~kFloatSign;
  const std::uint32_t clamped = clamp_magnitude(magnitude, max, 0x43E00000U);  // 448
  const std::uint32_t code = encode_fp8<20, 120>(clamped, 0x1p14F);
  return {static_cast<std::uint8_t>(sign | (magnitude > kFloatInfinity ? 0x7FU : code))};
}

template <>
KVR_PORTABLE e4m3fnuz from_float_saturating<e4m3fnuz>(float value, float max) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t magnitude = bits & ~kFloatSign;
  const std::uint32_t clamped = clamp_magnitude(magnitude, max, 0x43700000U);  // 240
  const std::uint32_t code = encode_fp8<20, 119>(clamped, 0x1p13F);
  // No -0 in this format: a sign bit on a zero would be its NaN.
  const std::uint32_t sign = code != 0 ? (bits & kFloatSign) >> 24 : 0;
  return {static_cast<std::uint8_t>(magnitude > kFloatInfinity ? 0x80U : sign | code)};
}

template <>
KVR_PORTABLE e5m2 from_float_saturating<e5m2>(float value, float max) {
  const std::uint32_t bits = float_bits(value);
  const std::uint32_t sign = (bits & kFloatSign) >> 24;
  const std::uint32_t magnitude = bits & ~kFloatSign;
  const std::uint32_t clamped = clamp_magnitude(magnitude, max, 0x47600000U);  // 57344
  const std::uint32_t code = encode_fp8<21, 112>(clamped, 0x1p7F);
  return {static_cast<std::uint8_t>(sign | (magnitude > kFloatInfinity ? 0x7EU : code))};
}

// int8 has no NaN: it becomes 0. 1.5 * 2^23 makes the float adder round to integers, negative ones too.
template <>
KVR_PORTABLE std::int8_t from_float_saturating<std::int8_t>(float value, float max) {
  const float limit = max < 127.0F ? max : 127.0F;
  const float number = value == value ? value : 0.0F;
  const float clamped = number > limit ? limit : number < -limit ? -limit : number;
  return static_cast<std::int8_t>(static_cast<std::int32_t>(float_bits(clamped + 0x1.8p23F) - 0x4B400000U));
}

}  // namespace kvr::portable
