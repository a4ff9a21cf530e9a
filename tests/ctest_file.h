// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The ctest tests of this program, one per kernel, machine and group, as a script that ctest includes.
#pragma once

#include <string>

namespace kvr {

// Tests of the full and soak tiers are there for `ctest -C Full` and `ctest -C Soak` only. Throws FileError.
void write_ctest_file(const std::string& program, const std::string& file, const std::string& junit_folder);

}  // namespace kvr
