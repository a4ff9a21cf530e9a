// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The traffic of a case's launch against the minimum that the case declares, so that a change which adds a
// pass over memory, or breaks accesses up, is noticed without a GPU.
//
// Bytes moved: 32 for every sector of every access of a warp. Of a tensor declared `cached` (TensorDecl),
// each sector counts once, however often it is read: caches serve the rest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/suite/registry.h"

namespace kvr {

// Bytes moved may exceed the minimum by this factor: what sectors add to rows that are no multiple of 32
// bytes.
inline constexpr double kTrafficLimit = 1.05;
// The groups whose cases have the shapes that servers launch.
inline constexpr std::string_view kServingGroup = "serving";

struct CachedTensor {
  std::string tensor, reason;
};

struct TrafficReport {
  std::string name, kernel, machine;
  std::uint64_t seed = 0;
  bool accepted = false;
  std::string reason;  // of a rejection, or of a limit other than kTrafficLimit
  LaunchTraffic launch;
  std::vector<CachedTensor> cached;
  std::int64_t minimum = 0;
  double limit = kTrafficLimit;

  // Sums over the tensors.
  std::int64_t load_sectors = 0, store_sectors = 0, bytes_requested = 0, unique_bytes = 0;
  std::int64_t moved = 0;  // bytes, as above
  double ratio() const {
    return minimum > 0 ? static_cast<double>(moved) / static_cast<double>(minimum) : 0.0;
  }
  double wide_share() const {
    return launch.accesses > 0
               ? static_cast<double>(launch.wide_accesses) / static_cast<double>(launch.accesses)
               : 0.0;
  }
};

// Launches the case once. `machine` counts traffic (MachineOptions::traffic). A launch that does not succeed
// is a rejection; so is a case that declares no minimum, or one above what was moved.
TrafficReport measure_traffic(const CaseId& id, Machine& machine, Seed seed);

}  // namespace kvr
