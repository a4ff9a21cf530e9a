// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a study measured, as a person reads it: rates with their intervals, extremes with their places.
#pragma once

#include <string>

#include "harness/suite/study.h"

namespace kvr {

std::string study_text(const StudyResult& study);

// "1.2 %", "0.03 %", "3 in a million".
std::string rate_text(double rate);

}  // namespace kvr
