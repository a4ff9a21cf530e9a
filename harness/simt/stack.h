// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Stacks for the fibers that lanes run on: committed by the kernel page by page as they are touched, with a
// guard page below, so that a kernel that overruns its stack faults instead of writing into another lane's.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>

#include "harness/simt/fiber.h"

namespace kvr::simt {

// First byte to the byte behind the last.
using StackRanges = std::map<std::uintptr_t, std::uintptr_t>;

class LaneStackAllocator {
 public:
  // `number` counts a thread's stacks. Tops of equally aligned stacks would fall into the same few cache sets
  // and evict each other, so each stack begins a little lower than the one before.
  // `ranges` takes note of where it lies, for as long as it exists.
  LaneStackAllocator(std::size_t number, StackRanges& ranges)
      : offset_((number % kColours) * kColourBytes), ranges_(&ranges) {}

  boost::context::stack_context allocate() const {
    void* base = ::mmap(nullptr, kReserved, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    if (::mprotect(base, kGuard, PROT_NONE) != 0) {
      ::munmap(base, kReserved);
      throw std::bad_alloc();
    }
    const auto address = reinterpret_cast<std::uintptr_t>(base);
    (*ranges_)[address] = address + kReserved;
    boost::context::stack_context stack;
    stack.size = kReserved - offset_;
    stack.sp = static_cast<std::byte*>(base) + stack.size;
    return stack;
  }

  void deallocate(boost::context::stack_context& stack) const noexcept {
    void* const base = static_cast<std::byte*>(stack.sp) - stack.size;
    ranges_->erase(reinterpret_cast<std::uintptr_t>(base));
    // The next to get this memory, a thread's stack perhaps, must not trip over frames that were left here.
    forget_frames(stack_of(stack));
    ::munmap(base, kReserved);
  }

 private:
  static constexpr std::size_t kGuard = 4096;
  static constexpr std::size_t kUsable = 65536 * kStackFactor;
  static constexpr std::size_t kColours = 32;
  static constexpr std::size_t kColourBytes =
      576;  // a lane's hot frames; a multiple of the cache line, not of its powers of two
  static constexpr std::size_t kReserved =
      kGuard + kUsable + 20480;  // the usable part, and room for every colour
  static_assert(kColours * kColourBytes <= 20480);

  std::size_t offset_;
  StackRanges* ranges_;
};

}  // namespace kvr::simt
