// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Turns declared tensors into bytes: codes in logical order, and guarded host memory laid out as the kernel
// will see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/suite/case.h"
#include "harness/tensor/allocation.h"

namespace kvr {

// What the contents of an input depend on besides its name, dtype, shape and rows.
struct Source {
  Seed seed;
  std::string data_id;
  Fill fill;
  friend bool operator==(const Source&, const Source&) = default;
};

// One tensor of a case on the host.
struct HostTensor {
  const TensorDecl* decl = nullptr;
  std::vector<std::int64_t> rows;    // rows that exist, ascending
  std::vector<ByteRange> addressed;  // what these rows address, relative to memory.data()
  std::vector<ByteRange> committed;  // what exists: the whole tensor, or the addressed ranges of a large one
  std::vector<ByteRange> around;     // accessible, and not addressed: guards and gaps
  std::vector<std::byte> codes;      // initial contents of these rows in logical order; empty for outputs
  // hash_bytes(codes, basis) as it was asked for last: inputs that stay from case to case are hashed once.
  struct Hashed {
    std::uint64_t basis, hash;
  };
  mutable std::optional<Hashed> hashed;
  HostAllocation memory;  // the launch's initial contents
  // What outlives the declaration, for a later case that may go on with this tensor.
  TensorSpec spec;
  Placement placement = Placement::guarded;
  std::optional<Source> source;           // of the codes; none for outputs and for lists of values
  std::optional<std::size_t> taken_from;  // the memory is that of this tensor of `previous`
};

// Generates the inputs. Rows are independent, so the bytes do not depend on how many threads share the work.
// From `previous` (an earlier draw, or another case) come the memory of tensors that lie there in the same
// way, and the codes of inputs that have the same source.
std::vector<HostTensor> materialise(const CaseBuilder& builder, std::string_view data_id,
                                    std::vector<HostTensor> previous = {},
                                    const std::shared_ptr<MappingPool>& pool = nullptr);

// Poisons everything with the pattern of `run`, then lays the initial contents out again.
void lay_out(HostTensor& tensor, unsigned run);
// Poisons guards and gaps with the pattern of `run`; what is addressed stays as it is.
void poison_around(HostTensor& tensor, unsigned run);
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
