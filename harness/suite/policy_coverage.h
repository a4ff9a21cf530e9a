// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Which rows of a policy table decide anything. A row that no case resolves to is dead: nobody would notice
// what it says.
//
// Cases are registered whatever the platform, so rows of every platform can be looked at in any build: a row
// of platform hip is looked up as if the cases ran on hip. Archs are those the table names, and for a row
// that names none the usual ones of its platform (sm_90; gfx942 with FNUZ codes, gfx950 with OCP codes; the
// two emulated ones).
#pragma once

#include <vector>

#include "harness/judge/policy.h"
#include "harness/machine/machine.h"
#include "harness/suite/registry.h"

namespace kvr {

// The machines that rows of `policies` could mean.
std::vector<MachineProperties> machines_of_table(const PolicyTable& policies);

// Rows and alternatives that no output of any of `cases` resolves to, in the order of the table. An
// alternative counts as used when asking for its name leads to it.
std::vector<const Policy*> unused_rows(const PolicyTable& policies, const std::vector<CaseId>& cases);

// The outputs of a case, as its description declares them for `machine`; nothing is run.
std::vector<PolicyKey> policy_keys(const CaseId& id, const MachineProperties& machine);

}  // namespace kvr
