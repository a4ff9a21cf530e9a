// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a compiler calls when it instruments for the thread sanitizer, defined here instead of by libtsan:
// kernels are compiled with -fsanitize=thread and linked without it. Every function reports its access to the
// active checker and then does what the instruction would have done.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/strict/checker.h"

namespace {

using kvr::strict::Access;
using kvr::strict::Checker;

inline void report(const void* address, std::uint64_t bytes, bool write, bool natural, void* caller) {
  if (Checker* const checker = Checker::active()) [[likely]] {
    checker->check({reinterpret_cast<std::uintptr_t>(address), bytes, write, !write, false, natural,
                    reinterpret_cast<std::uintptr_t>(caller)});
  }
}

inline void report_range(const void* address, std::size_t bytes, bool write, void* caller) {
  if (bytes > 0) report(address, bytes, write, false, caller);
}

inline void report_atomic(const volatile void* address, std::uint64_t bytes, bool read, bool write,
                          void* caller) {
  if (Checker* const checker = Checker::active()) [[likely]] {
    checker->check({reinterpret_cast<std::uintptr_t>(address), bytes, write, read, true, true,
                    reinterpret_cast<std::uintptr_t>(caller)});
  }
}

}  // namespace

#define KVR_CALLER __builtin_return_address(0)

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler chose the names

#define KVR_ACCESS(size)                            \
  void __tsan_read##size(void* a) {                 \
    report(a, size, false, true, KVR_CALLER);       \
  }                                                 \
  void __tsan_write##size(void* a) {                \
    report(a, size, true, true, KVR_CALLER);        \
  }                                                 \
  void __tsan_unaligned_read##size(void* a) {       \
    report(a, size, false, false, KVR_CALLER);      \
  }                                                 \
  void __tsan_unaligned_write##size(void* a) {      \
    report(a, size, true, false, KVR_CALLER);       \
  }                                                 \
  void __tsan_read_write##size(void* a) {           \
    report(a, size, false, true, KVR_CALLER);       \
    report(a, size, true, true, KVR_CALLER);        \
  }                                                 \
  void __tsan_unaligned_read_write##size(void* a) { \
    report(a, size, false, false, KVR_CALLER);      \
    report(a, size, true, false, KVR_CALLER);       \
  }
KVR_ACCESS(1)
KVR_ACCESS(2)
KVR_ACCESS(4)
KVR_ACCESS(8)
KVR_ACCESS(16)
#undef KVR_ACCESS

void __tsan_read_range(void* a, unsigned long n) {
  report_range(a, n, false, KVR_CALLER);
}
void __tsan_write_range(void* a, unsigned long n) {
  report_range(a, n, true, KVR_CALLER);
}
void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  report_range(from, n, false, KVR_CALLER);
  report_range(to, n, true, KVR_CALLER);
  return std::memcpy(to, from, n);
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  report_range(from, n, false, KVR_CALLER);
  report_range(to, n, true, KVR_CALLER);
  return std::memmove(to, from, n);
}
void* __tsan_memset(void* to, int value, std::size_t n) {
  report_range(to, n, true, KVR_CALLER);
  return std::memset(to, value, n);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// The memory order an atomic asks for is not modelled: atomics never race with each other and order nothing.
void __tsan_atomic_thread_fence(int) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
}
void __tsan_atomic_signal_fence(int) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

#define KVR_UPDATE(bits, T, name)                           \
  T __tsan_atomic##bits##_##name(volatile T* a, T v, int) { \
    report_atomic(a, sizeof(T), true, true, KVR_CALLER);    \
    return __atomic_##name(a, v, __ATOMIC_SEQ_CST);         \
  }
#define KVR_ATOMICS(bits, T)                                                                        \
  T __tsan_atomic##bits##_load(const volatile T* a, int) {                                          \
    report_atomic(a, sizeof(T), true, false, KVR_CALLER);                                           \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                 \
  void __tsan_atomic##bits##_store(volatile T* a, T v, int) {                                       \
    report_atomic(a, sizeof(T), false, true, KVR_CALLER);                                           \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                 \
  T __tsan_atomic##bits##_exchange(volatile T* a, T v, int) {                                       \
    report_atomic(a, sizeof(T), true, true, KVR_CALLER);                                            \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                 \
  KVR_UPDATE(bits, T, fetch_add)                                                                    \
  KVR_UPDATE(bits, T, fetch_sub)                                                                    \
  KVR_UPDATE(bits, T, fetch_and)                                                                    \
  KVR_UPDATE(bits, T, fetch_or)                                                                     \
  KVR_UPDATE(bits, T, fetch_xor)                                                                    \
  KVR_UPDATE(bits, T, fetch_nand)                                                                   \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* a, T* c, T v, int, int) {           \
    report_atomic(a, sizeof(T), true, true, KVR_CALLER);                                            \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 1 : 0; \
  }                                                                                                 \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* a, T* c, T v, int, int) {             \
    report_atomic(a, sizeof(T), true, true, KVR_CALLER);                                            \
    return __atomic_compare_exchange_n(a, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ? 1 : 0; \
  }                                                                                                 \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* a, T c, T v, int, int) {                 \
    report_atomic(a, sizeof(T), true, true, KVR_CALLER);                                            \
    __atomic_compare_exchange_n(a, &c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
    return c;                                                                                       \
  }
KVR_ATOMICS(8, std::uint8_t)
KVR_ATOMICS(16, std::uint16_t)
KVR_ATOMICS(32, std::uint32_t)
KVR_ATOMICS(64, std::uint64_t)
#undef KVR_ATOMICS
#undef KVR_UPDATE

// NOLINTEND(bugprone-reserved-identifier)
}
