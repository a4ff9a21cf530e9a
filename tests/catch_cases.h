// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Cases as Catch2 tests: "<machine> <case>", tagged [kernel] [group] [machine] [tier].
#pragma once

#include <cstdint>
#include <string>

#include "harness/suite/registry.h"

namespace kvr {

std::string catch_name(const std::string& machine, const CaseId& id);

// Before Catch::Session runs. Throws PolicyError.
void register_catch_cases(std::uint64_t seed);

}  // namespace kvr
