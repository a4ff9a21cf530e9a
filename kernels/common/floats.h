// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The floats that one lane computes with: a Vec of a storage type, converted. On a GPU an array in registers;
// on the cpu machine vector registers, since compilers leave most loops over a handful of elements scalar
// there. Arithmetic is element by element, each operation rounded as written.
//
//   Floats<8> x = to_floats(load_vec<16, 8>(row + column));
//   store_vec<16>(out + column, from_floats<bf16>(x * r));
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/common/convert.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"

namespace kvr {

#if defined(KVR_HAS_WORD_VECTORS)

template <int N>
struct Floats {
  static_assert(N % (2 * portable::kVectorWords) == 0, "codes are packed eight at a time");
  static constexpr int kParts = N / portable::kVectorWords;
  portable::FloatVector v[kParts];

  KVR_DEVICE static Floats from(const float (&values)[N]) {
    Floats x;
    __builtin_memcpy(x.v, values, sizeof values);
    return x;
  }
  KVR_DEVICE void to(float (&values)[N]) const { __builtin_memcpy(values, v, sizeof values); }
};

// The first `count` elements, and +0 behind them.
template <int N>
KVR_DEVICE Floats<N> first(int count, Floats<N> x) {
  for (int i = 0; i < Floats<N>::kParts; ++i) {
    const portable::IntVector index = portable::IntVector{0, 1, 2, 3} + i * portable::kVectorWords;
    x.v[i] = portable::as_floats(
        portable::choose(index < count, portable::as_words(x.v[i]), portable::WordVector{}));
  }
  return x;
}

// Element i joins element i + N/2, then i + N/4, ... For N = 4: (x0 + x2) + (x1 + x3).
template <int N>
KVR_DEVICE float tree_sum(const Floats<N>& x) {
  Floats<N> sum = x;
  for (int half = Floats<N>::kParts / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) sum.v[i] += sum.v[i + half];
  return (sum.v[0][0] + sum.v[0][2]) + (sum.v[0][1] + sum.v[0][3]);
}

// The largest |x|; NaN when any is.
template <int N>
KVR_DEVICE float largest_magnitude(const Floats<N>& x) {
  portable::WordVector most{};
  for (int i = 0; i < Floats<N>::kParts; ++i) {
    const portable::WordVector magnitude = portable::as_words(x.v[i]) & 0x7fffffffU;
    most = portable::choose(portable::below(most, magnitude), magnitude, most);
  }
  const unsigned a = most[0] > most[1] ? most[0] : most[1];
  const unsigned b = most[2] > most[3] ? most[2] : most[3];
  return __uint_as_float(a > b ? a : b);
}

// T: bf16, fp16, float.
template <class T, int N>
KVR_DEVICE Floats<N> to_floats(const Vec<T, N>& codes) {
  if constexpr (std::is_same_v<T, float>) {
    return Floats<N>::from(codes.v);
  } else {
    Floats<N> x;
    for (int i = 0; i < Floats<N>::kParts; i += 2) {
      const portable::WordPair words = portable::unpack_16(codes.v + i * portable::kVectorWords);
      x.v[i] = portable::decode(T{}, words.low);
      x.v[i + 1] = portable::decode(T{}, words.high);
    }
    return x;
  }
}
template <class T, int N>
KVR_DEVICE Vec<T, N> from_floats(const Floats<N>& x) {
  Vec<T, N> codes;
  if constexpr (std::is_same_v<T, float>) {
    x.to(codes.v);
  } else {
    using portable::WordVector;
    for (int i = 0; i < Floats<N>::kParts; i += 2)
      portable::pack_16(
          {portable::encode<WordVector>(T{}, x.v[i]), portable::encode<WordVector>(T{}, x.v[i + 1])},
          codes.v + i * portable::kVectorWords);
  }
  return codes;
}

// Rounded to T.
template <class T, int N>
KVR_DEVICE Floats<N> round_to(Floats<N> x) {
  if constexpr (!std::is_same_v<T, float>)
    for (int i = 0; i < Floats<N>::kParts; ++i) x.v[i] = portable::rounded<portable::WordVector>(T{}, x.v[i]);
  return x;
}

// The codes of from_float_saturating<Code>.
template <class Code, int N>
KVR_DEVICE Vec<std::uint8_t, N> saturating_codes(const Floats<N>& x, float max) {
  Vec<std::uint8_t, N> codes;
  using portable::WordVector;
  for (int i = 0; i < Floats<N>::kParts; i += 2)
    portable::pack_8({portable::encode_saturating<WordVector>(Code{}, x.v[i], max),
                      portable::encode_saturating<WordVector>(Code{}, x.v[i + 1], max)},
                     codes.v + i * portable::kVectorWords);
  return codes;
}

#else

template <int N>
struct Floats {
  static constexpr int kParts = N;
  float v[kParts];

  KVR_DEVICE static Floats from(const float (&values)[N]) {
    Floats x;
#pragma unroll
    for (int e = 0; e < N; ++e) x.v[e] = values[e];
    return x;
  }
  KVR_DEVICE void to(float (&values)[N]) const {
#pragma unroll
    for (int e = 0; e < N; ++e) values[e] = v[e];
  }
};

template <int N>
KVR_DEVICE Floats<N> first(int count, Floats<N> x) {
#pragma unroll
  for (int e = 0; e < N; ++e)
    if (e >= count) x.v[e] = 0.0F;
  return x;
}

template <int N>
KVR_DEVICE float tree_sum(const Floats<N>& x) {
  Floats<N> sum = x;
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
#pragma unroll
    for (int e = 0; e < half; ++e) sum.v[e] += sum.v[e + half];
  }
  return sum.v[0];
}

template <int N>
KVR_DEVICE float largest_magnitude(const Floats<N>& x) {
  unsigned most = 0;
#pragma unroll
  for (int e = 0; e < N; ++e) {
    const unsigned magnitude = __float_as_uint(x.v[e]) & 0x7fffffffU;
    most = magnitude > most ? magnitude : most;
  }
  return __uint_as_float(most);
}

template <class T, int N>
KVR_DEVICE Floats<N> to_floats(const Vec<T, N>& codes) {
  Floats<N> x;
#pragma unroll
  for (int e = 0; e < N; ++e) x.v[e] = to_float(codes[e]);
  return x;
}
template <class T, int N>
KVR_DEVICE Vec<T, N> from_floats(const Floats<N>& x) {
  Vec<T, N> codes;
#pragma unroll
  for (int e = 0; e < N; ++e) codes[e] = from_float<T>(x.v[e]);
  return codes;
}

template <class T, int N>
KVR_DEVICE Floats<N> round_to(Floats<N> x) {
#pragma unroll
  for (int e = 0; e < N; ++e) x.v[e] = to_float(from_float<T>(x.v[e]));
  return x;
}

template <class Code, int N>
KVR_DEVICE Vec<std::uint8_t, N> saturating_codes(const Floats<N>& x, float max) {
  Vec<std::uint8_t, N> codes;
#pragma unroll
  for (int e = 0; e < N; ++e)
    codes[e] = __builtin_bit_cast(std::uint8_t, from_float_saturating<Code>(x.v[e], max));
  return codes;
}

#endif

#define KVR_FLOATS_OPERATOR(op)                                                              \
  template <int N>                                                                           \
  KVR_DEVICE Floats<N> operator op(const Floats<N>& a, const Floats<N>& b) {                 \
    Floats<N> x;                                                                             \
    _Pragma("unroll") for (int i = 0; i < Floats<N>::kParts; ++i) x.v[i] = a.v[i] op b.v[i]; \
    return x;                                                                                \
  }                                                                                          \
  template <int N>                                                                           \
  KVR_DEVICE Floats<N> operator op(const Floats<N>& a, float b) {                            \
    Floats<N> x;                                                                             \
    _Pragma("unroll") for (int i = 0; i < Floats<N>::kParts; ++i) x.v[i] = a.v[i] op b;      \
    return x;                                                                                \
  }
KVR_FLOATS_OPERATOR(+)
KVR_FLOATS_OPERATOR(-)
KVR_FLOATS_OPERATOR(*)
KVR_FLOATS_OPERATOR(/)
#undef KVR_FLOATS_OPERATOR

// |a| or |b|, whichever is larger; NaN when one is. Bits of non-negative floats are ordered as the numbers
// are, and every NaN lies above infinity.
template <int N>
KVR_DEVICE Floats<N> larger_magnitude(const Floats<N>& a, const Floats<N>& b) {
  Floats<N> most;
#pragma unroll
  for (int i = 0; i < Floats<N>::kParts; ++i) {
    const auto x = portable::as_words(a.v[i]) & 0x7fffffffU;
    const auto y = portable::as_words(b.v[i]) & 0x7fffffffU;
    most.v[i] = portable::as_floats(portable::choose(portable::below(x, y), y, x));
  }
  return most;
}

}  // namespace kvr
