// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// bf16 and fp16 have a loop of their own that compilers vectorise: it rounds the bits of the double where the
// value is normal in the target, and lets the adder round it where it is below, and notes whether one was
// beyond; encode() then redoes the chunk's exceptions.
#include "harness/random/narrow.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "harness/numeric/codec.h"
#include "harness/numeric/vector_clones.h"

namespace kvr {
namespace {

constexpr std::size_t kChunk = 256;

Overflow overflow_of(DType dtype) {
  const bool fp8 = dtype == DType::e4m3fn || dtype == DType::e4m3fnuz || dtype == DType::e5m2;
  return fp8 ? Overflow::saturate : Overflow::ieee;
}

template <class Code>
void store(Code code, std::size_t index, std::byte* out) {
  std::memcpy(out + index * sizeof(Code), &code, sizeof(Code));
}

template <class Code>
void narrow_plain(DType dtype, const double* values, std::size_t count, std::byte* out) {
  const Overflow overflow = overflow_of(dtype);
  for (std::size_t i = 0; i < count; ++i)
    store(static_cast<Code>(encode(dtype, values[i], overflow)), i, out);
}

template <int MantissaBits, int Bias, DType kType>
[[gnu::always_inline]] inline void narrow_half(const double* values, std::size_t count, std::byte* out) {
  constexpr int kDropped = 52 - MantissaBits;
  constexpr std::uint64_t kBelowHalf = (std::uint64_t{1} << (kDropped - 1)) - 1;
  constexpr std::uint64_t kRebias = static_cast<std::uint64_t>(1023 - Bias) << MantissaBits;
  const FloatFormat& format = float_format(kType);
  const double smallest = format.min_normal;
  const double largest = format.max_finite;
  // 2^52 quanta of the target's subnormals: a sum with it has no bit below the quantum.
  const double magic = smallest * static_cast<double>(std::uint64_t{1} << kDropped);
  const std::uint64_t magic_bits = std::bit_cast<std::uint64_t>(magic);
  std::uint16_t codes[kChunk];
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t part = std::min(kChunk, count - begin);
    int exceptions = 0;
    for (std::size_t i = 0; i < part; ++i) {
      const double value = values[begin + i];
      const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
      const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
      const std::uint64_t rounded = (magnitude + kBelowHalf + ((magnitude >> kDropped) & 1)) >> kDropped;
      const double size = std::bit_cast<double>(magnitude);
      const std::uint64_t quanta = std::bit_cast<std::uint64_t>(size + magic) - magic_bits;
      const std::uint64_t code = size < smallest ? quanta : rounded - kRebias;
      codes[i] = static_cast<std::uint16_t>(code | (bits >> 63 << 15));
      exceptions += !(size <= largest);
    }
    if (exceptions != 0) {
      for (std::size_t i = 0; i < part; ++i) {
        const double size = values[begin + i] < 0 ? -values[begin + i] : values[begin + i];
        if (size <= largest) continue;
        codes[i] = static_cast<std::uint16_t>(encode(kType, values[begin + i]));
      }
    }
    std::memcpy(out + begin * sizeof(std::uint16_t), codes, part * sizeof(std::uint16_t));
  }
}

// Clones of templates are not known to every compiler.
KVR_VECTOR_CLONES void narrow_bf16(const double* values, std::size_t count, std::byte* out) {
  narrow_half<7, 127, DType::bf16>(values, count, out);
}
KVR_VECTOR_CLONES void narrow_fp16(const double* values, std::size_t count, std::byte* out) {
  narrow_half<10, 15, DType::fp16>(values, count, out);
}

// The cast is round to nearest even in the default environment, and the only inexact operation.
KVR_VECTOR_CLONES void narrow_f32(const double* values, std::size_t count, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) store(static_cast<float>(values[i]), i, out);
}

}  // namespace

void narrow(DType dtype, const double* values, std::size_t count, std::byte* out) {
  switch (dtype) {
    case DType::f32:
      return narrow_f32(values, count, out);
    case DType::bf16:
      return narrow_bf16(values, count, out);
    case DType::fp16:
      return narrow_fp16(values, count, out);
    default:
      break;
  }
  switch (dtype_size(dtype)) {
    case 1:
      return narrow_plain<std::uint8_t>(dtype, values, count, out);
    case 4:
      return narrow_plain<std::uint32_t>(dtype, values, count, out);
    default:
      return narrow_plain<std::uint64_t>(dtype, values, count, out);
  }
}

void narrow(DType dtype, const float* values, double scale, double shift, std::size_t count, std::byte* out) {
  double wide[kChunk];
  for (std::size_t begin = 0; begin < count; begin += kChunk) {
    const std::size_t part = std::min(kChunk, count - begin);
    for (std::size_t i = 0; i < part; ++i) wide[i] = static_cast<double>(values[begin + i]) * scale + shift;
    narrow(dtype, wide, part, out + begin * dtype_size(dtype));
  }
}

}  // namespace kvr
