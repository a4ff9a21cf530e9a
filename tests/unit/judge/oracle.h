// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A second judge, as plain as can be: one scalar loop per number, no segments taken fast, no threads. It
// knows the codec and the text of the headers, nothing of the judge's files.
#pragma once

#include "harness/judge/comparison.h"

namespace kvr::test {

// Everything but `reason`, which is empty when accepted and "refused" otherwise.
Comparison plain_judge(const Outcome& outcome, const Rule& rule);

// One element, whatever the rule: distance in codes from RN(expected), and its error.
struct PlainElement {
  std::int64_t distance = 0;
  bool finite = true;
  double ulps = 0.0, error = 0.0;
};
PlainElement plain_element(const Outcome& outcome, std::int64_t index);

}  // namespace kvr::test
