// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Answers that need no kernel: zeros, a constant, the input passed through, rows shifted by one, memory left
// as it was. A policy that accepts one of them on a case proves nothing there; the verdict is no_power.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "harness/judge/comparison.h"

namespace kvr {

struct NullAnswer {
  std::string name;  // "zeros", "constant 0.5", "input 'k' passed through", "rows shifted by one"
  std::function<std::uint64_t(std::int64_t)> code;  // of element `index`, in the outcome's dtype and order
  // Made from the expected values: where it equals them all (one element, equal rows) it is the answer
  // itself.
  bool from_expected = false;
};

// `source`: value of an element of an input in the outcome's order (empty: none). `initial`: codes the memory
// held before (in/out tensors; empty: none). All must outlive what is returned.
std::vector<NullAnswer> null_answers(const Outcome& outcome, const std::string& source_name,
                                     const std::function<double(std::int64_t)>& source,
                                     const std::vector<std::byte>& initial);

// Does the rule accept this null answer in place of the kernel's? False for one that is the answer itself.
bool accepts_null(const Outcome& outcome, const Rule& rule, const NullAnswer& answer);

// The expected value of an element, whichever precision the reference has.
double expected_at(const Outcome& outcome, std::int64_t index);
// Of the finite ones; 0 when there are none.
double mean_expected(const Outcome& outcome);
// RN_T(value) of the outcome's dtype and overflow rule.
std::uint64_t round_to(const Outcome& outcome, double value);
void store_code(std::byte* at, std::size_t size, std::uint64_t code);
std::uint64_t load_code(const std::byte* at, std::size_t size);

}  // namespace kvr
