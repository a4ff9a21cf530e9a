// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The one place that knows Random123.
#include "harness/random/philox.h"

#include <Random123/philox.h>

namespace kvr {
namespace {

std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t counter_lo, std::uint64_t counter_hi, std::uint64_t key) {
  std::array<std::uint32_t, 4> words{};
  philox(counter_lo, counter_hi, key, words.data(), 1);
  return words;
}

void philox(std::uint64_t first, std::uint64_t counter_hi, std::uint64_t key, std::uint32_t* out,
            std::size_t blocks) {
  const philox4x32_key_t rounds_key{{low(key), high(key)}};
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::uint64_t counter = first + block;
    const philox4x32_ctr_t words =
        philox4x32_R(10, {{low(counter), high(counter), low(counter_hi), high(counter_hi)}}, rounds_key);
    for (std::size_t i = 0; i < 4; ++i) out[4 * block + i] = words.v[i];
  }
}

}  // namespace kvr
