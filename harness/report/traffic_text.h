// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Traffic reports as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "harness/suite/traffic.h"

namespace kvr {

// A line per case, machine by machine; then what was rejected and why, and what limits and cached tensors
// were declared for which reason.
std::string traffic_text(const std::vector<TrafficReport>& reports);

// {"schema": "kvr-traffic", "schema_version": 1, "kvr_version": ..., "cases": [{"name": ..., "machine": ...,
//  "accepted": true, "reason": "", "seed": "0", "minimum_bytes": 1, "moved_bytes": 1, "ratio": 1.0,
//  "limit": 1.05, "load_sectors": ..., "store_sectors": ..., "bytes_requested": ..., "unique_bytes": ...,
//  "accesses": ..., "wide_accesses": ..., "bank_conflicts": ..., "barriers": ..., "collectives": ...,
//  "atomics": ..., "tensors": [{"tensor": "k", "cached": "", "load_sectors": ..., ...}]}]}
std::string traffic_to_json(const std::vector<TrafficReport>& reports);

}  // namespace kvr
