// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Cases as Catch2 tests: "<machine> <case>", tagged [kernel] [group] [machine] [tier].
#pragma once

#include <cstdint>
#include <string>

#include "harness/cli/project_files.h"
#include "harness/suite/registry.h"

namespace kvr {

std::string catch_name(const std::string& machine, const CaseId& id);

// Before Catch::Session runs. `project` has the policy table. Throws PolicyError.
void register_catch_cases(std::uint64_t seed, const ProjectFiles& project);

}  // namespace kvr
