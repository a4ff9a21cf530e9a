// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The static __shared__ variables of this program's kernels. On the cpu machine they are thread-local, and
// the program's symbol table knows name, place and size of each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvr::strict {

struct SharedVariable {
  std::uintptr_t begin = 0;  // in this host thread
  std::uintptr_t end = 0;
  std::string name;     // "scratch"
  bool shared = false;  // false: a thread-local variable of the harness itself
};

// The program's thread-local memory as this host thread sees it.
class SharedVariables {
 public:
  // Throws std::runtime_error when the program has no symbol table.
  SharedVariables();

  bool contains(std::uintptr_t address) const { return address - begin_ < end_ - begin_; }
  std::uintptr_t begin() const { return begin_; }
  // The variable that holds the address, or null: padding between variables.
  const SharedVariable* find(std::uintptr_t address);
  // The last one that begins at or below the address.
  const SharedVariable* below(std::uintptr_t address) const;

 private:
  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;
  std::vector<SharedVariable> variables_;  // by address
  const SharedVariable* recent_ = nullptr;
};

}  // namespace kvr::strict
