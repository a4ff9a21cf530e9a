// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Turns declared tensors into bytes: codes in logical order, and guarded host memory laid out as the kernel
// will see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "harness/suite/case.h"
#include "harness/tensor/allocation.h"

namespace kvr {

// One tensor of a case on the host.
struct HostTensor {
  const TensorDecl* decl = nullptr;
  std::vector<std::int64_t> rows;    // rows that exist, ascending
  std::vector<ByteRange> addressed;  // what these rows address, relative to memory.data()
  std::vector<ByteRange> committed;  // what exists: the whole tensor, or the addressed ranges of a large one
  std::vector<std::byte> codes;      // initial contents of these rows in logical order; empty for outputs
  HostAllocation memory;             // the launch's initial contents
  bool reused = false;               // memory was taken over from an earlier draw
};

// Generates the inputs. Rows are independent, so the bytes do not depend on how many threads share the work.
// Memory of `previous` (an earlier draw of the same case) is taken over where the tensor kept its shape.
std::vector<HostTensor> materialise(const CaseBuilder& builder, std::string_view data_id,
                                    std::vector<HostTensor> previous = {});

// Poisons everything with the pattern of `run`, then lays the initial contents out again.
void lay_out(HostTensor& tensor, unsigned run);
// Only the initial contents of the rows that exist; what lies around them stays as it is.
void lay_out_rows(HostTensor& tensor);

// Codes of the given rows in logical order, read from memory laid out as `spec` says.
std::vector<std::byte> gather(const TensorSpec& spec, std::span<const std::int64_t> rows,
                              const HostAllocation& memory);

// 64-bit hash of bytes, the same on every platform (words are read little-endian).
std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t basis);
// Over names, dtypes, shapes and codes of all inputs, in declaration order.
std::uint64_t hash_inputs(const std::vector<HostTensor>& tensors);

}  // namespace kvr
