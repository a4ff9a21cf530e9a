// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Philox4x32-10 with a 128-bit counter in two halves and a 64-bit key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kvr {

// The four words of counter {low word of lo, high word of lo, low word of hi, high word of hi}.
std::array<std::uint32_t, 4> philox(std::uint64_t counter_lo, std::uint64_t counter_hi, std::uint64_t key);

// Counters [first, first + blocks) of the low half, 4 words each, in order.
void philox(std::uint64_t first, std::uint64_t counter_hi, std::uint64_t key, std::uint32_t* out,
            std::size_t blocks);

}  // namespace kvr
