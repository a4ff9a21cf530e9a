// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The description of a tensor in memory, and the bytes it addresses. No memory is owned here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/numeric/dtype.h"

namespace kvr {

// Half-open range of bytes, relative to the first byte of the tensor's allocation.
struct ByteRange {
  std::int64_t begin;
  std::int64_t end;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;    // may contain 0
  std::vector<std::int64_t> strides;  // elements, >= 0; same length as shape
  std::int64_t offset = 0;            // elements between the allocation's first byte and element (0, ..., 0)

  static TensorSpec contiguous(std::string name, DType dtype, std::vector<std::int64_t> shape);
  // Rows (the last dimension) `row_stride` elements apart; outer dimensions packed over them.
  TensorSpec with_row_stride(std::int64_t row_stride) const;
  TensorSpec with_strides(std::vector<std::int64_t> strides) const;
  TensorSpec with_offset(std::int64_t elements) const;

  std::int64_t numel() const;
  std::int64_t row_len() const;  // last dimension; 1 for a scalar (rank 0)
  std::int64_t rows() const;     // numel / row_len; 0 when empty
  // Element offset, within the allocation, of the first element of row `row` (row-major over the outer
  // dimensions).
  std::int64_t row_start(std::int64_t row) const;
  std::int64_t inner_stride() const;
  std::int64_t bytes() const;  // of the whole allocation: offset to last addressed element
  // What the given rows (all when empty) address: ascending, disjoint, adjacent ranges merged.
  std::vector<ByteRange> addressed(const std::vector<std::int64_t>& rows = {}) const;
  // Two elements share an address.
  bool overlaps() const;
  // Throws std::invalid_argument naming the tensor and the value: negative extents or strides, rank mismatch,
  // 64-bit overflow of the byte size.
  void validate() const;
  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

}  // namespace kvr
