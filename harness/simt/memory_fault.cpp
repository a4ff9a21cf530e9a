// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/simt/memory_fault.h"

#include <signal.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

#include "harness/simt/state.h"

namespace kvr::simt {
namespace {

constexpr std::array<int, 3> kSignals{SIGSEGV, SIGBUS, SIGFPE};

constinit thread_local MemoryFault fault [[gnu::tls_model("initial-exec")]] = {};

// Who handled the signals before the first guard. Written under the mutex; read by the handler while a guard
// exists.
struct Handlers {
  std::mutex mutex;
  int guards = 0;
  std::array<struct sigaction, kSignals.size()> previous{};
};
Handlers& handlers() {
  static Handlers state;
  return state;
}

FaultAccess access_of(int signal, const void* context) {
  if (signal == SIGFPE) return FaultAccess::division;
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;  // bit 1 of the page-fault error code (Intel SDM vol. 3, 4.7)
  return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0
             ? FaultAccess::write
             : FaultAccess::read;
#else
  (void)context;
  return FaultAccess::unknown;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (current.lane == nullptr || current.lane->escape == nullptr) {
    // Not a kernel's: give the signal back and let the instruction fault again.
    for (std::size_t s = 0; s < kSignals.size(); ++s)
      if (kSignals[s] == signal) ::sigaction(signal, &handlers().previous[s], nullptr);
    return;
  }
  fault = {access_of(signal, context), reinterpret_cast<std::uintptr_t>(info->si_addr)};
  siglongjmp(*current.lane->escape, 1);
}

class SignalStack {
 public:
  SignalStack() {
    stack_t stack{};
    stack.ss_sp = memory_.get();
    stack.ss_size = kBytes;
    ::sigaltstack(&stack, &previous_);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack() {
    if (previous_.ss_sp == nullptr) previous_.ss_flags = SS_DISABLE;
    ::sigaltstack(&previous_, nullptr);
  }

 private:
  static constexpr std::size_t kBytes =
      65536;  // MINSIGSTKSZ grows with the vector registers that a signal saves
  std::unique_ptr<std::byte[]> memory_ = std::make_unique<std::byte[]>(kBytes);
  stack_t previous_{};
};

}  // namespace

MemoryFault last_fault() {
  return fault;
}

FaultGuard::FaultGuard() {
  Handlers& state = handlers();
  const std::lock_guard lock(state.mutex);
  if (state.guards++ > 0) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  // Not blocked while handled, since the handler does not return; on a stack of its own.
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t s = 0; s < kSignals.size(); ++s) ::sigaction(kSignals[s], &action, &state.previous[s]);
}

FaultGuard::~FaultGuard() {
  Handlers& state = handlers();
  const std::lock_guard lock(state.mutex);
  if (--state.guards > 0) return;
  for (std::size_t s = 0; s < kSignals.size(); ++s) ::sigaction(kSignals[s], &state.previous[s], nullptr);
}

void prepare_thread_for_faults() {
  thread_local const SignalStack stack;
}

}  // namespace kvr::simt
