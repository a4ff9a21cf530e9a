// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The policy table a command uses, and what --policy makes of it.
#pragma once

#include <optional>
#include <string>

#include "harness/cli/commands.h"
#include "harness/judge/policy.h"

namespace kvr {

struct PolicyChoice {
  PolicyTable table;
  std::string alternative;               // --policy named one
  std::optional<std::string> rule_text;  // --policy was a rule
};

// Reads the table now, so that a bad one stops a command before it starts. Throws PolicyError for the file,
// UsageError for a
// --policy that is neither the name of an alternative nor a rule.
PolicyChoice choose_policy(const PolicyOptions& options);

}  // namespace kvr
