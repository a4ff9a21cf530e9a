// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/command_line.h"
#include "harness/cli/this_project.h"

int main(int argc, char** argv) {
  return kvr::run_command_line(argc, argv, kvr::this_project());
}
