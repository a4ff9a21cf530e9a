// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The policy x fault matrix as a table: one line per fault, one column per policy, survivors named with what
// they hid.
#pragma once

#include <string>

#include "harness/suite/fault_matrix.h"

namespace kvr {

std::string fault_matrix_text(const FaultMatrix& matrix);
// JSON: every cell, per fill.
std::string fault_matrices_to_json(const std::vector<FaultMatrix>& matrices);

// The smallest faults each policy sees: a line per output of a case and policy.
std::string sensitivity_text(const std::vector<SensitivityRow>& rows);
// JSON: null where nothing was seen.
std::string sensitivity_to_json(const std::vector<SensitivityRow>& rows);

}  // namespace kvr
