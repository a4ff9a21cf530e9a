// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Output faults: a right output made wrong in one known way. They need no rebuild and work on any platform; a
// policy that lets one through would let the same mistake of a kernel through.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/comparison.h"

namespace kvr {

struct OutputFault {
  const char* name;
  const char* description;
  // The faulty codes, from a right output in `outcome.actual`; nothing when the fault does not apply (one
  // head only) or changes no code.
  std::optional<std::vector<std::byte>> (*apply)(const Outcome& outcome);
};

const std::vector<OutputFault>& output_faults();

// Building blocks, also used to measure the smallest fault a policy sees. Codes are in the outcome's order.
// Element `index` moved `steps` representable values up the number line (away from zero when negative steps
// would cross it); stops at the largest finite value.
std::uint64_t step_code(DType dtype, std::uint64_t code, std::int64_t steps);
std::vector<std::byte> with_gain(const Outcome& outcome, double gain);
std::vector<std::byte> with_element_moved(const Outcome& outcome, std::int64_t index, std::int64_t steps);
std::vector<std::byte> with_rows_zeroed(const Outcome& outcome, std::int64_t count);

}  // namespace kvr
