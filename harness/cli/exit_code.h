// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Exit codes of every command, and the exceptions that lead to two of them.
#pragma once

#include <stdexcept>

namespace kvr {

inline constexpr int kExitPass = 0;
inline constexpr int kExitFail = 1;
inline constexpr int kExitUsage = 2;       // bad input; nothing was run
inline constexpr int kExitNothingRan = 3;  // nothing selected, or everything skipped or unsupported

// The message is what the person at the terminal reads: the thing and its value.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class NothingSelected : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kvr
