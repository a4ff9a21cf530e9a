// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Word i of a stream is word i mod 4 of the Philox block with counter (i / 4, hash of case and tensor) and
// key seed.
#include "harness/random/random.h"

#include <algorithm>

#include "harness/random/normal.h"
#include "harness/random/philox.h"

namespace kvr {

std::uint64_t hash_text(std::string_view text, std::uint64_t basis) {
  std::uint64_t hash = basis;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

// The zero byte keeps ("ab", "c") and ("a", "bc") apart; no name contains one.
RandomStream::RandomStream(Seed seed, std::string_view case_id, std::string_view tensor)
    : key_(seed.value),
      counter_hi_(hash_text(tensor, hash_text(std::string_view("\0", 1), hash_text(case_id)))) {}

std::uint32_t RandomStream::bits(std::uint64_t index) const {
  return philox(index / 4, counter_hi_, key_)[index % 4];
}

void RandomStream::bits(std::uint64_t first, std::uint32_t* out, std::size_t count) const {
  while (count > 0 && first % 4 != 0) {
    *out++ = bits(first++);
    --count;
  }
  philox(first / 4, counter_hi_, key_, out, count / 4);
  for (std::size_t i = count / 4 * 4; i < count; ++i) out[i] = bits(first + i);
}

double RandomStream::uniform(std::uint64_t index) const {
  return (bits(index) + 0.5) * 0x1p-32;
}

double RandomStream::normal(std::uint64_t index) const {
  return static_cast<double>(normal_from_word(bits(index)));
}

void RandomStream::normal(std::uint64_t first, float* out, std::size_t count) const {
  constexpr std::size_t kChunk = 256;  // words stay in the first-level cache between the two steps
  std::uint32_t words[kChunk];
  while (count > 0) {
    const std::size_t part = std::min(count, kChunk);
    bits(first, words, part);
    normal_from_words(words, out, part);
    first += part;
    out += part;
    count -= part;
  }
}

}  // namespace kvr
