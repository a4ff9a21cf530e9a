// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The kvr command: list, check, replay, policy. main() of every program that is a kvr command is one call of
// this.
#pragma once

#include "harness/cli/project_files.h"

namespace kvr {

// `project`: where policy table and ledger are when neither options nor KVR_POLICY_FILE and KVR_LEDGER_FILE
// say. Returns the exit code (exit_code.h); throws nothing.
int run_command_line(int argc, const char* const* argv, const ProjectFiles& project);

}  // namespace kvr
