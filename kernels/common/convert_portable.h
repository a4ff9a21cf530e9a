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
#include <type_traits>

#include "kernels/common/types.h"
#include "kernels/common/words.h"

namespace kvr::portable {

// The formulas are written once, for a word or for as many words as a vector register holds (words.h): W is a
// type of words, a code lies in the low bits of a word. The storage type in front says which format.

inline constexpr std::uint32_t kFloatSign = 0x80000000U;
inline constexpr std::uint32_t kFloatInfinity = 0x7F800000U;

template <class W>
KVR_PORTABLE FloatsOf<W> decode(bf16, W code) {
  return as_floats(code << 16);
}

// Exponent field and mantissa moved to their fp32 places give the value times 2^-112 (biases 15 and 127).
// Adding 112 to the exponent repairs normals; subnormals lack the implicit one, so they borrow 2^-14 and give
// it back.
template <class W>
KVR_PORTABLE FloatsOf<W> decode(fp16, W code) {
  const W sign = (code & 0x8000U) << 16;
  const W magnitude = (code & 0x7FFFU) << 13;
  const W exponent = magnitude & kFloatInfinity;
  // Infinity and NaN: 31 + 224 = 255.
  const W normal = magnitude + (112U << 23) + choose(exponent == (31U << 23), all<W>(112U << 23), all<W>(0U));
  const W subnormal = as_words(as_floats(magnitude + (113U << 23)) - 0x1p-14F);
  return as_floats(sign | choose(exponent == 0U, subnormal, normal));
}

KVR_PORTABLE float to_float(bf16 value) {
  return decode(bf16{}, static_cast<std::uint32_t>(value.bits));
}
KVR_PORTABLE float to_float(fp16 value) {
  return decode(fp16{}, static_cast<std::uint32_t>(value.bits));
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
      magnitude < 8 ? as_words(static_cast<float>(static_cast<std::int32_t>(magnitude)) * subnormal)
                    : (magnitude << 20) + (rebias << 23);
  return as_floats(sign | bits);
}

KVR_PORTABLE float to_float(e4m3fn value) {
  if ((value.bits & 0x7FU) == 0x7FU) return as_floats(0x7FC00000U);
  return decode_e4m3(value.bits, 120, 0x1p-9F);
}

KVR_PORTABLE float to_float(e4m3fnuz value) {
  if (value.bits == 0x80U) return as_floats(0x7FC00000U);
  return decode_e4m3(value.bits, 119, 0x1p-10F);
}

KVR_PORTABLE float to_float(float value) {
  return value;
}

template <class W>
KVR_PORTABLE W encode(bf16, FloatsOf<W> value) {
  const W bits = as_words(value);
  const W rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  // The addition turns the NaN 0x7FFFFFFF into -0 and 0x7F800001 into infinity.
  const auto nan = below(all<W>(kFloatInfinity), bits & ~kFloatSign);
  return choose(nan, (bits >> 16) | 0x0040U, rounded);
}

template <class W>
KVR_PORTABLE W encode(fp16, FloatsOf<W> value) {
  const W bits = as_words(value);
  const W sign = (bits & kFloatSign) >> 16;
  const W magnitude = bits & ~kFloatSign;
  // [65520, 65536) carries into the exponent and becomes infinity by itself.
  const W normal = (magnitude - (112U << 23) + 0xFFFU + ((magnitude >> 13) & 1U)) >> 13;
  // Below 2^-14: quantum 2^-24 = ULP of 0.5.
  const W subnormal = as_words(as_floats(magnitude) + 0.5F) - 0x3F000000U;
  const W finite = choose(below(magnitude, all<W>(0x38800000U)), subnormal, normal);
  // 2^16 and above, where no rounding is needed to see the overflow.
  const W special = choose(below(all<W>(kFloatInfinity), magnitude), all<W>(0x7E00U), all<W>(0x7C00U));
  return sign | choose(below(magnitude, all<W>(0x47800000U)), finite, special);
}

// The value of the code that `value` is rounded to, without the detour: adding 1.5 * 2^13 times the power of
// two below it (2^-14 at least) leaves no bit below fp16's quantum.
template <class W>
KVR_PORTABLE FloatsOf<W> rounded(fp16, FloatsOf<W> value) {
  const W bits = as_words(value);
  const W magnitude = bits & ~kFloatSign;
  const W exponent = magnitude & kFloatInfinity;
  const W least = all<W>(113U << 23);
  const FloatsOf<W> magic = as_floats(choose(below(exponent, least), least, exponent)) * 0x1.8p13F;
  const W finite = as_words((as_floats(magnitude) + magic) - magic);
  const W special =
      choose(below(all<W>(kFloatInfinity), magnitude), all<W>(0x7FC00000U), all<W>(kFloatInfinity));
  // From 65520 on, halfway to what would be the next number, it is infinity.
  const W result = choose(below(magnitude, all<W>(0x477FF000U)), finite, special);
  return as_floats((bits & kFloatSign) | result);
}
template <class W>
KVR_PORTABLE FloatsOf<W> rounded(bf16, FloatsOf<W> value) {
  return decode(bf16{}, encode<W>(bf16{}, value));
}

// Magnitude (not NaN, already clamped to the format's largest value) to a magnitude code.
// Dropped = mantissa bits to drop, Rebias = 127 - bias, magic = 2^(23 + log2 quantum).
template <std::uint32_t Dropped, std::uint32_t Rebias, class W>
KVR_PORTABLE W encode_fp8(W magnitude, float magic) {
  constexpr std::uint32_t kSmallestNormal = (Rebias + 1) << 23;
  constexpr std::uint32_t kBelowHalf = (1U << (Dropped - 1)) - 1;
  const W subnormal = as_words(as_floats(magnitude) + magic) - as_words(magic);
  const W normal = (magnitude - (Rebias << 23) + kBelowHalf + ((magnitude >> Dropped) & 1U)) >> Dropped;
  return choose(below(magnitude, all<W>(kSmallestNormal)), subnormal, normal);
}

// Positive floats are ordered like their bits.
template <class W>
KVR_PORTABLE W clamp_magnitude(W magnitude, float max, std::uint32_t format_max) {
  const std::uint32_t asked = as_words(max);
  const W limit = all<W>(asked < format_max ? asked : format_max);
  return choose(below(magnitude, limit), magnitude, limit);
}

// A format with a sign bit that zero and NaN have too: e4m3fn, e5m2. format_max: the bits of its largest
// value.
template <std::uint32_t Dropped, std::uint32_t Rebias, class W>
KVR_PORTABLE W encode_signed_fp8(W bits, float max, std::uint32_t format_max, float magic,
                                 std::uint32_t nan) {
  const W sign = (bits & kFloatSign) >> 24;
  const W magnitude = bits & ~kFloatSign;
  const W code = encode_fp8<Dropped, Rebias>(clamp_magnitude(magnitude, max, format_max), magic);
  return sign | choose(below(all<W>(kFloatInfinity), magnitude), all<W>(nan), code);
}

// Clamps to +-max (max > 0; beyond the format's largest value it counts as that), infinities too; NaN gives
// the format's NaN.
template <class W>
KVR_PORTABLE W encode_saturating(e4m3fn, FloatsOf<W> value, float max) {
  return encode_signed_fp8<20, 120>(as_words(value), max, 0x43E00000U, 0x1p14F, 0x7FU);  // 448
}
template <class W>
KVR_PORTABLE W encode_saturating(e5m2, FloatsOf<W> value, float max) {
  return encode_signed_fp8<21, 112>(as_words(value), max, 0x47600000U, 0x1p7F, 0x7EU);  // 57344
}

template <class W>
KVR_PORTABLE W encode_saturating(e4m3fnuz, FloatsOf<W> value, float max) {
  const W bits = as_words(value);
  const W magnitude = bits & ~kFloatSign;
  const W code = encode_fp8<20, 119>(clamp_magnitude(magnitude, max, 0x43700000U), 0x1p13F);  // 240
  // No -0 in this format: a sign bit on a zero would be its NaN.
  const W sign = choose(code == 0U, all<W>(0U), (bits & kFloatSign) >> 24);
  return choose(below(all<W>(kFloatInfinity), magnitude), all<W>(0x80U), sign | code);
}

// int8 has no NaN: it becomes 0. 1.5 * 2^23 makes the float adder round to integers, negative ones too.
template <class W>
KVR_PORTABLE W encode_saturating(std::int8_t, FloatsOf<W> value, float max) {
  const FloatsOf<W> limit = as_floats(all<W>(as_words(max < 127.0F ? max : 127.0F)));
  const W number = choose(value == value, as_words(value), all<W>(0U));
  const W low = choose(as_floats(number) > limit, as_words(limit), number);
  const W clamped = choose(as_floats(low) < -limit, as_words(-limit), low);
  return as_words(as_floats(clamped) + 0x1.8p23F) - 0x4B400000U;
}

template <class T>
KVR_PORTABLE T from_float(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    return {static_cast<std::uint16_t>(encode<std::uint32_t>(T{}, value))};
  }
}

template <class T>
KVR_PORTABLE T from_float_saturating(float value, float max) {
  const std::uint32_t code = encode_saturating<std::uint32_t>(T{}, value, max);
  return __builtin_bit_cast(T, static_cast<std::uint8_t>(code));
}

}  // namespace kvr::portable
