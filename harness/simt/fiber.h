// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A suspended fiber and the stack it runs on. AddressSanitizer must be told of every switch of stacks, or it
// takes one stack's frames for another's; without it the functions below are nothing.
#pragma once

#include <pthread.h>

#include <boost/context/fiber.hpp>
#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define KVR_SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KVR_SIMT_ASAN 1
#endif
#endif
#if defined(KVR_SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace kvr::simt {

#if defined(KVR_SIMT_ASAN)

struct Stack {
  const void* bottom = nullptr;
  std::size_t size = 0;
};
inline Stack stack_of(const boost::context::stack_context& context) {
  return {static_cast<const std::byte*>(context.sp) - context.size, context.size};
}
// The calling thread's own.
inline Stack stack_of_thread() {
  Stack stack;
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return stack;
  void* bottom = nullptr;
  if (::pthread_attr_getstack(&attributes, &bottom, &stack.size) == 0) stack.bottom = bottom;
  ::pthread_attr_destroy(&attributes);
  return stack;
}
// Around a switch: `fake` belongs to the stack that is left, and is null when that is never resumed.
inline void before_switch(void** fake, const Stack& to) {
  __sanitizer_start_switch_fiber(fake, to.bottom, to.size);
}
inline void after_switch(void* fake) {
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
// After a jump out of a signal handler, for which it cleans up the thread's stack and not the fiber's.
inline void forget_frames(const Stack& stack) {
  __asan_unpoison_memory_region(stack.bottom, stack.size);
}
inline constexpr std::size_t kStackFactor = 4;  // its frames are that much larger

#else

struct Stack {};
inline Stack stack_of(const boost::context::stack_context&) {
  return {};
}
inline Stack stack_of_thread() {
  return {};
}
inline void before_switch(void**, const Stack&) {}
inline void after_switch(void*) {}
inline void forget_frames(const Stack&) {}
inline constexpr std::size_t kStackFactor = 1;

#endif

struct Fiber {
  boost::context::fiber context;
  [[no_unique_address]] Stack stack;
};

}  // namespace kvr::simt
