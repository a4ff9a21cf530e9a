// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Collects the differences of an exhaustive comparison: millions of checks, one assertion, the first few
// shown.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace kvr::test {

class Mismatches {
 public:
  void check(bool equal, const char* what, double input, std::uint64_t actual, std::uint64_t expected) {
    ++checked_;
    if (equal) return;
    if (++count_ > 5) return;
    char line[160];
    std::snprintf(line, sizeof line, "%s of %a: 0x%llX, expected 0x%llX\n", what, input,
                  static_cast<unsigned long long>(actual), static_cast<unsigned long long>(expected));
    shown_ += line;
  }
  std::uint64_t count() const { return count_; }
  std::uint64_t checked() const { return checked_; }
  const std::string& shown() const { return shown_; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t checked_ = 0;
  std::string shown_;
};

}  // namespace kvr::test
