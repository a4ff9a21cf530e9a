// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Geometry: a warp of 32 lanes owns a row, a lane one element of it.
#include <string>

#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "lanes.h"
#include "vendor_sum.h"

namespace kvr::KVR_BUILD {
namespace {

KVR_GLOBAL void warp_sum_kernel(const vendor::SumArgs args) {
  const std::int64_t row = blockIdx.x;
  float sum = args.x[row * WARP_SUM_LANES + threadIdx.x];
  for (int step = WARP_SUM_LANES / 2; step > 0; step /= 2) sum += from_lane_above(sum, step);
  if (threadIdx.x == 0) args.out[row] = sum;
}

LaunchStatus launch_warp_sum(const vendor::SumArgs& args, Stream stream) {
  if (args.n < 0) return LaunchStatus::refused("n = " + std::to_string(args.n) + " " WARP_SUM_UNIT);
  if (args.n == 0) return {};
  return KVR_LAUNCH(warp_sum_kernel, args.n, WARP_SUM_LANES, 0, stream, args);
}

}  // namespace

KVR_REGISTER_KERNEL(warp_sum, vendor::SumArgs)

}  // namespace kvr::KVR_BUILD
