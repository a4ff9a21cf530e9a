// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Normal numbers by inversion: one 32-bit word gives one value, monotonically, so the stream needs no
// rejection.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kvr {

// Quantile of the standard normal distribution, 0 < p < 1: Wichura's PPND16 (Algorithm AS 241, Applied
// Statistics 37, 1988), relative accuracy about 1e-16, with portable_log in the tails.
double normal_quantile(double p);

// A word is a sign (bit 31) and 31 bits m. The tail probability is p = (2 m + 1) / 2^33, in (0, 1/2), and the
// value is
// -+quantile(p), taken from a table of cubics and rounded to float: within 5e-9 plus half an ULP of float of
// the true quantile. The largest magnitude is 6.34 (m = 0), the smallest 2.9e-10; no zero.
float normal_from_word(std::uint32_t word);
void normal_from_words(const std::uint32_t* words, float* out, std::size_t count);

}  // namespace kvr
