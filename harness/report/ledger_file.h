// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The ledger on disk (suite/ledger.h), in a form whose differences can be read: sorted, a family per line.
//
//   {
//    "schema": "kvr-ledger", "schema_version": 1,
//    "families": [
//     {"kernel": "k_norm_rope", "group": "fills", "output": "out", "dtype": "bf16", "platform": "cpu",
//      "arch": "emulated-warp32", "worst_ulp": 1, "outliers": 0, "bias": 0.0123, "ratio": 0.701, "rule":
//      "budget=1"}
//    ]
//   }
//
// A ratio may be the string "inf" (an error excused where the rule allows none).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harness/suite/ledger.h"

namespace kvr {

std::string ledger_to_json(const Ledger& ledger);
// Throws JsonError, one line: not JSON (a file that was cut off), another schema or version, a family without
// or with an unknown key, a number that no run can come to, a rule or dtype that does not parse, a family
// that is there twice.
Ledger ledger_from_json(std::string_view text);
// Throws FileError or JsonError, both naming the file.
Ledger read_ledger(const std::filesystem::path& file);

}  // namespace kvr
