// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/crash_note.h"

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace kvr {
namespace {

// Async-signal-safe: no allocation, no stdio. Returning runs the faulting instruction again, now with the
// default action.
void note(int number, siginfo_t* info, void* /*context*/) {
  std::array<char, 64> line{};
  std::size_t length = 0;
  const auto append = [&](const char* text) {
    const std::size_t size = std::strlen(text);
    std::memcpy(line.data() + length, text, size);
    length += size;
  };
  append(number == SIGBUS ? "SIGBUS" : "SIGSEGV");
  append(" at address 0x");
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (int shift = 60; shift >= 0; shift -= 4) {
    const auto digit = static_cast<std::size_t>(address >> shift) & 0xF;
    line[length++] = "0123456789abcdef"[digit];
  }
  append("\n");
  const ssize_t ignored = ::write(STDERR_FILENO, line.data(), length);
  static_cast<void>(ignored);
}

}  // namespace

void note_crashes() {
  // Of the main thread; a thread that overflows its own stack dies without a note.
  static std::array<std::byte, 65536> stack;
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  ::sigaltstack(&alternate, nullptr);
  for (const int number : {SIGSEGV, SIGBUS}) {
    struct sigaction present {};
    ::sigaction(number, nullptr, &present);
    if (present.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, nullptr);
  }
}

}  // namespace kvr
