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

}  // namespace kvr::test
