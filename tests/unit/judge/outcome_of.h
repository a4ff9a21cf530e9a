// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Small outputs, written down as values. A test names codes where the value alone would not do (NaN payloads,
// -0).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "harness/judge/comparison.h"

namespace kvr::test {

// Owns what an Outcome points to.
struct Sample {
  Outcome outcome;
  std::vector<std::byte> bytes;
  std::vector<double> expected;
  std::vector<float> expected_single;
  std::vector<double> budget, magnitude;
  std::vector<std::int64_t> row_ids;

  void set_code(std::int64_t index, std::uint64_t code) {
    const std::size_t size = dtype_size(outcome.dtype);
    std::memcpy(bytes.data() + static_cast<std::size_t>(index) * size, &code, size);  // little-endian
  }
  std::uint64_t code(std::int64_t index) const {
    const std::size_t size = dtype_size(outcome.dtype);
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(index) * size, size);
    return value;
  }
  // Points the outcome at the vectors; call last.
  const Outcome& view(bool single = false) {
    outcome.actual = bytes;
    if (single) {
      expected_single.assign(expected.begin(), expected.end());
      outcome.expected = std::span<const float>(expected_single);
    } else {
      outcome.expected = std::span<const double>(expected);
    }
    outcome.budget = budget;
    outcome.magnitude = magnitude;
    outcome.row_ids = row_ids;
    return outcome;
  }
};

inline Sample sample_of(DType dtype, std::int64_t rows, std::int64_t row_len, std::vector<double> expected,
                        const std::vector<std::uint64_t>& codes) {
  Sample sample;
  sample.outcome.dtype = dtype;
  sample.outcome.rows = rows;
  sample.outcome.row_len = row_len;
  sample.expected = std::move(expected);
  sample.bytes.resize(codes.size() * dtype_size(dtype));
  for (std::size_t i = 0; i < codes.size(); ++i) sample.set_code(static_cast<std::int64_t>(i), codes[i]);
  return sample;
}

// One row whose codes are those of `actual`.
inline Sample row_of(DType dtype, std::vector<double> expected, const std::vector<double>& actual) {
  std::vector<std::uint64_t> codes;
  for (const double value : actual) codes.push_back(encode(dtype, value));
  const auto width = static_cast<std::int64_t>(codes.size());
  return sample_of(dtype, 1, width, std::move(expected), codes);
}

}  // namespace kvr::test
