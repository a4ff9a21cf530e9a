// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A word of 32 bits and a float, or as many of them as a vector register of the host holds, under the same
// names: what convert_portable.h is written in. Vectors are those of GCC and clang; nvcc and hipcc see the
// single word alone. Needs no runtime header.
#pragma once

#include <cstdint>

// Always inlined: kernels are compiled several times with different flags (warp sizes, instrumentation) and
// linked into one program, so an out-of-line copy would be shared between builds that must not share code.
// The attributes are spelled out because HIP's words for them come with a runtime header that is not needed
// here.
#if defined(__CUDACC__) || defined(__HIP__)
#define KVR_PORTABLE_SIDES __attribute__((host)) __attribute__((device))
#else
#define KVR_PORTABLE_SIDES
#define KVR_HAS_WORD_VECTORS 1
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#endif
#define KVR_PORTABLE KVR_PORTABLE_SIDES __attribute__((always_inline)) inline

namespace kvr::portable {

KVR_PORTABLE std::uint32_t as_words(float value) {
  return __builtin_bit_cast(std::uint32_t, value);
}
KVR_PORTABLE float as_floats(std::uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}
// a < b, both below 2^31.
KVR_PORTABLE bool below(std::uint32_t a, std::uint32_t b) {
  return a < b;
}
// `a` where the condition holds, else `b`.
KVR_PORTABLE std::uint32_t choose(bool condition, std::uint32_t a, std::uint32_t b) {
  return condition ? a : b;
}

template <class W>
struct FloatsOfWords {
  using type = float;
};

#if defined(KVR_HAS_WORD_VECTORS)

// 16 bytes: the register that every host of these two compilers has.
inline constexpr int kVectorWords = 4;
typedef std::uint32_t WordVector __attribute__((vector_size(16)));
typedef std::int32_t IntVector __attribute__((vector_size(16)));
typedef float FloatVector __attribute__((vector_size(16)));

KVR_PORTABLE WordVector as_words(FloatVector value) {
  return __builtin_bit_cast(WordVector, value);
}
KVR_PORTABLE FloatVector as_floats(WordVector bits) {
  return __builtin_bit_cast(FloatVector, bits);
}
// As signed numbers, because instruction sets compare those. A comparison's result: all bits set, or none.
KVR_PORTABLE IntVector below(WordVector a, WordVector b) {
  return __builtin_bit_cast(IntVector, a) < __builtin_bit_cast(IntVector, b);
}
KVR_PORTABLE WordVector choose(IntVector condition, WordVector a, WordVector b) {
  const WordVector mask = __builtin_bit_cast(WordVector, condition);
  return (a & mask) | (b & ~mask);
}

template <>
struct FloatsOfWords<WordVector> {
  using type = FloatVector;
};

// Eight codes of 16 bits, or of 8, in the low bits of words, and back. Compilers take vectors apart for this
// unless the instruction is named.
struct WordPair {
  WordVector low, high;
};
#if defined(__SSE2__)
KVR_PORTABLE WordPair unpack_16(const void* codes) {
  const __m128i all = _mm_loadu_si128(static_cast<const __m128i*>(codes));
  const __m128i zero = _mm_setzero_si128();
  return {__builtin_bit_cast(WordVector, _mm_unpacklo_epi16(all, zero)),
          __builtin_bit_cast(WordVector, _mm_unpackhi_epi16(all, zero))};
}
// The instruction saturates signed numbers, so each code is made one: its 16 bits, sign-extended.
KVR_PORTABLE void pack_16(const WordPair& words, void* codes) {
  const auto extended = [](WordVector w) __attribute__((always_inline)) {
    return _mm_srai_epi32(_mm_slli_epi32(__builtin_bit_cast(__m128i, w), 16), 16);
  };
  _mm_storeu_si128(static_cast<__m128i*>(codes), _mm_packs_epi32(extended(words.low), extended(words.high)));
}
KVR_PORTABLE void pack_8(const WordPair& words, void* codes) {
  const __m128i mask = _mm_set1_epi32(0xFF);
  const __m128i halves = _mm_packs_epi32(_mm_and_si128(__builtin_bit_cast(__m128i, words.low), mask),
                                         _mm_and_si128(__builtin_bit_cast(__m128i, words.high), mask));
  _mm_storel_epi64(static_cast<__m128i*>(codes), _mm_packus_epi16(halves, halves));
}
#else
KVR_PORTABLE WordPair unpack_16(const void* codes) {
  WordPair words;
  for (int i = 0; i < 2 * kVectorWords; ++i) {
    std::uint16_t code;
    __builtin_memcpy(&code, static_cast<const char*>(codes) + 2 * i, 2);
    (i < kVectorWords ? words.low : words.high)[i % kVectorWords] = code;
  }
  return words;
}
template <class Code>
KVR_PORTABLE void pack_as(const WordPair& words, void* codes) {
  for (int i = 0; i < 2 * kVectorWords; ++i) {
    const auto code = static_cast<Code>((i < kVectorWords ? words.low : words.high)[i % kVectorWords]);
    __builtin_memcpy(static_cast<char*>(codes) + sizeof(Code) * i, &code, sizeof(Code));
  }
}
KVR_PORTABLE void pack_16(const WordPair& words, void* codes) {
  pack_as<std::uint16_t>(words, codes);
}
KVR_PORTABLE void pack_8(const WordPair& words, void* codes) {
  pack_as<std::uint8_t>(words, codes);
}
#endif

#endif

template <class W>
using FloatsOf = typename FloatsOfWords<W>::type;

// `word`, in every place.
template <class W>
KVR_PORTABLE W all(std::uint32_t word) {
  return W{} + word;
}

}  // namespace kvr::portable
