// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Counter-based random numbers: the value of element i of tensor t of case c under seed s is a pure function
// of (s, c, t, i). Philox4x32-10 (Salmon et al., SC'11; the Random123 library) supplies the bits; everything
// after it is integer arithmetic and correctly rounded +, -, *, /, sqrt in a fixed order, so values have the
// same bits on every compiler, platform and thread count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kvr {

// A strong type: seeds and hashes are both 64-bit numbers, and mixing them up compiles.
struct Seed {
  std::uint64_t value = 0;
  friend bool operator==(const Seed&, const Seed&) = default;
};

// 64-bit FNV-1a; `basis` chains several strings into one hash.
std::uint64_t hash_text(std::string_view text, std::uint64_t basis = 0xcbf29ce484222325ULL);

// The stream of one tensor of one case.
class RandomStream {
 public:
  RandomStream(Seed seed, std::string_view case_id, std::string_view tensor);

  std::uint32_t bits(std::uint64_t index) const;  // word `index` of the stream
  void bits(std::uint64_t first, std::uint32_t* out,
            std::size_t count) const;         // words [first, first + count)
  double uniform(std::uint64_t index) const;  // (bits + 1/2) / 2^32: open interval (0, 1)
  double normal(std::uint64_t index) const;   // standard normal, |z| <= 6.34
  // [first, first + count), the same values as the single-element call, faster.
  void normal(std::uint64_t first, float* out, std::size_t count) const;

 private:
  std::uint64_t key_;         // Philox key: the seed
  std::uint64_t counter_hi_;  // hash of case id and tensor name
};

}  // namespace kvr
