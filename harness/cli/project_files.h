// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The files that a project gives its command: kvr_add_command(check_mine POLICIES tolerances.toml LEDGER
// ledger.json). kvr's own command is one such project's. Nothing else is ever read by default: a command of
// an installed kvr knows nothing of the tree that kvr was built in.
#pragma once

#include <filesystem>
#include <string>

namespace kvr {

struct ProjectFiles {
  std::string command = "kvr";  // the program's name: replay lines are for it
  std::string root;             // the project's source folder, an absolute path
  // Below `root`, or absolute; empty: the project gave none. Reports call a file by this name, as it is found
  // in the project wherever that was built.
  std::string policies, ledger;

  std::string path(const std::string& name) const { return (std::filesystem::path(root) / name).string(); }
};

}  // namespace kvr
