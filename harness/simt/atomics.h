// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// CUDA's atomics for kernels on the cpu machine: relaxed, device-wide, returning the old value. Blocks run on
// several host threads, so they are real atomics; the order of float sums across blocks is the kernel's own
// problem, as on a GPU.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace kvr::simt {

template <class T>
concept AtomicInteger = std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
    std::is_same_v<T, unsigned long long> || std::is_same_v<T, long long>;

template <class T>
inline T load_relaxed(const T* address) {
  T value;
  __atomic_load(address, &value, __ATOMIC_RELAXED);
  return value;
}

// Replaces *address by next(*address); returns the old value.
template <class T, class Next>
inline T atomic_update(T* address, Next next) {
  T old = load_relaxed(address);
  for (;;) {
    T desired = next(old);
    if (__atomic_compare_exchange(address, &old, &desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return old;
  }
}

}  // namespace kvr::simt

template <::kvr::simt::AtomicInteger T>
inline T atomicAdd(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
inline float atomicAdd(float* address, float value) {
  return ::kvr::simt::atomic_update(address, [value](float old) { return old + value; });
}
inline double atomicAdd(double* address, double value) {
  return ::kvr::simt::atomic_update(address, [value](double old) { return old + value; });
}
template <::kvr::simt::AtomicInteger T>
inline T atomicSub(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
template <::kvr::simt::AtomicInteger T>
inline T atomicMax(T* address, std::type_identity_t<T> value) {
  return ::kvr::simt::atomic_update(address, [value](T old) { return old < value ? value : old; });
}
template <::kvr::simt::AtomicInteger T>
inline T atomicMin(T* address, std::type_identity_t<T> value) {
  return ::kvr::simt::atomic_update(address, [value](T old) { return value < old ? value : old; });
}
template <::kvr::simt::AtomicInteger T>
inline T atomicOr(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <::kvr::simt::AtomicInteger T>
inline T atomicAnd(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}
template <::kvr::simt::AtomicInteger T>
inline T atomicXor(T* address, std::type_identity_t<T> value) {
  return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
template <class T>
requires(::kvr::simt::AtomicInteger<T> || std::is_same_v<T, float>) inline T
    atomicExch(T* address, std::type_identity_t<T> value) {
  T old;
  __atomic_exchange(address, &value, &old, __ATOMIC_RELAXED);
  return old;
}
template <::kvr::simt::AtomicInteger T>
inline T atomicCAS(T* address, std::type_identity_t<T> compare, std::type_identity_t<T> value) {
  T old = compare;
  __atomic_compare_exchange(address, &old, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return old;
}

inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
