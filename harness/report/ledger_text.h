// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the ledger made of a run, for people: one line when there is nothing to say.
#pragma once

#include <string>

#include "harness/report/results.h"

namespace kvr {

// Every line ends in a newline.
std::string ledger_text(const LedgerReport& report);

}  // namespace kvr
