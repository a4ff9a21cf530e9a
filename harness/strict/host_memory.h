// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Memory that is no device memory and that a kernel may touch all the same, because of how the cpu machine
// runs it: the program's constants and variables, the launching thread's stack (where the arguments lie), the
// machine's own state and lanes' stacks. Everything else that is not device memory is out of bounds.
#pragma once

#include <cstdint>
#include <vector>

namespace kvr::strict {

class HostMemory {
 public:
  // The calling thread is the one that launches.
  HostMemory();
  // In the stack that `frame` lies in, or in the state of the machine.
  bool is_hot(std::uintptr_t address, std::uintptr_t frame) {
    if (frame - stack_.begin >= stack_.end - stack_.begin) find_stack(frame);
    return address - stack_.begin < stack_.end - stack_.begin ||
           address - machine_.begin < machine_.end - machine_.begin;
  }
  bool contains(std::uintptr_t address) {
    if (address - recent_.begin < recent_.end - recent_.begin) return true;
    return search(address);
  }

 private:
  struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  };
  bool search(std::uintptr_t address);
  void find_stack(std::uintptr_t frame);

  std::vector<Range> ranges_;
  Range recent_;
  Range stack_;    // of the lane that ran last
  Range machine_;  // lanes, warps, blocks
};

}  // namespace kvr::strict
