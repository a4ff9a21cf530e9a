// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Numbers as typed on the command line.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "harness/cli/exit_code.h"

namespace kvr {

inline std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

inline constexpr int kMaxThreads = 4096;  // of a host; more than any has is a typing error

// Host threads. Throws UsageError.
inline void check_threads(int threads) {
  if (threads < 0 || threads > kMaxThreads)
    throw UsageError(
        fmt::format("--threads {} is not a number from 0 (all cores) to {}", threads, kMaxThreads));
}

// Throws UsageError naming the option and the value.
inline std::uint64_t positive_number(std::string_view option, std::string_view text) {
  const auto value = parse_unsigned(text);
  if (!value || *value == 0)
    throw UsageError(
        fmt::format("{} '{}' is not a number from 1 to 18446744073709551615 (2^64-1)", option, text));
  return *value;
}

}  // namespace kvr
