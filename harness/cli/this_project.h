// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What kvr_add_command() compiled into this very program. For files that hold a main() only.
#pragma once

#include "harness/cli/project_files.h"

namespace kvr {

inline ProjectFiles this_project() {
#if defined(KVR_PROJECT_COMMAND)
  return {KVR_PROJECT_COMMAND, KVR_PROJECT_ROOT, KVR_PROJECT_POLICIES, KVR_PROJECT_LEDGER};
#else
  return {};  // a program made without kvr_add_command()
#endif
}

}  // namespace kvr
