// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Byte-for-byte verification of what a launch was not allowed to touch: guards, gaps between rows, inputs,
// and output elements the reference never set.
#pragma once

#include <optional>
#include <string>

#include "harness/suite/materialise.h"

namespace kvr {

// The bytes of `tensor` that a correct launch may change: none for an input (expected == nullptr), the
// elements that the reference set otherwise. Ascending, disjoint.
std::vector<ByteRange> writable_ranges(const HostTensor& tensor, const Expected* expected);

// Compares `after` with the initial contents outside `writable`. The first difference is described with the
// tensor's name: "guard behind 'out': byte 3 after the end was written", "input 'k' was modified at row 4,
// column 7".
std::optional<std::string> find_stray_write(const HostTensor& tensor, const HostAllocation& after,
                                            const std::vector<ByteRange>& writable);

// Where a byte of the tensor's allocation lies, in words: "row 4, column 7", "gap behind row 4", "guard in
// front (byte -3)".
std::string describe_byte(const HostTensor& tensor, std::int64_t byte);

// Element `element` of the rows that the reference touched, in words: "'out' row 4, column 7".
std::string element_place(const HostTensor& tensor, const Expected& want, std::size_t element);

}  // namespace kvr
