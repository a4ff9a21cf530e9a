// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Results as JSON. What is written reads back equal, whatever the numbers are.
//
//   {
//     "schema": "kvr-results", "schema_version": 1,
//     "kvr_version": "0.1.0", "platform": "cpu", "tier": "quick", "seed": "0", "threads": 0, "planned": 2,
//     "machines": [{"name": "cpu:warp32", "present": true, "why": "", "arch": ..., "warp_size": 32, ...}],
//     "cases": [{
//       "name": "k_norm_rope/public/n=37/...", "kernel": ..., "group": ..., "machine": "cpu:warp32", "seed":
//       "0", "fault": "", "verdict": "pass", "reason": ..., "seconds": 0.003, "input_hash":
//       "0x0123456789abcdef", "replay": "kvr replay ...", "outputs": [{
//         "output": "out", "dtype": "bf16", "output_hash": "0x...",
//         "policy": {"rule": "budget=1", "reason": ..., "place": "tests/tolerances.toml:8", ...},
//         "comparison": {"accepted": true, "numel": 4736, "failing": 0, "worst_ratio": 0.4, "worst":
//         {element},
//                        "histogram": {"0": 4730, "1": 6, ...}, "examples": [{element}, ...], ...}
//       }]
//     }]
//   }
//
// 64-bit seeds are decimal strings and hashes and codes are hex strings, because many readers keep numbers in
// a double. A number that is not finite is one of the strings "nan", "inf", "-inf"; a code distance to or
// from NaN is "nan". schema_version goes up when a reader of the old version would misread the new one; added
// keys do not count.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/report/results.h"

namespace kvr {

inline constexpr int kResultsSchemaVersion = 1;

// Text that is not what it should be: one line naming the key and what is wrong.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::string results_to_json(const Results& results);  // a line per case, with a final newline
Results results_from_json(std::string_view text);

// One record, on one line without a newline: what a worker process sends.
std::string case_to_json(const CaseReport& report);
CaseReport case_from_json(std::string_view text);

// Lists for other programs: ["a", "b"], indented; strings that are not UTF-8 have their bad bytes replaced.
std::string names_to_json(std::string_view schema, const std::vector<std::string>& names);
std::string machines_to_json(const std::vector<MachineInfo>& machines);

}  // namespace kvr
