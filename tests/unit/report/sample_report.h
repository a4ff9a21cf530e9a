// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A failed case written out by hand: every field holds something that would be missed.
#pragma once

#include "harness/suite/verdict.h"

namespace kvr::test {

CaseReport sample_report();

}  // namespace kvr::test
