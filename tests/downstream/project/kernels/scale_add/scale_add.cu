// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Geometry: a thread owns one element, a block 128 of them.
#include "kernels/scale_add/scale_add.h"

#include "kernels/common/registry.h"
#include "kernels/common/simt.h"

namespace kvr::KVR_BUILD {
namespace {

using scale_add::ScaleAddArgs;

constexpr int kBlockThreads = 128;

KVR_GLOBAL void scale_add_kernel(const ScaleAddArgs args) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlockThreads + threadIdx.x;
  if (i < args.n) args.out[i] = args.scale * args.x[i] + args.shift;
}

LaunchStatus launch_scale_add(const ScaleAddArgs& args, Stream stream) {
  if (args.n < 0) return LaunchStatus::refused("n = " + std::to_string(args.n) + ": must not be negative");
  if (args.n == 0) return {};
  return KVR_LAUNCH(scale_add_kernel, (args.n + kBlockThreads - 1) / kBlockThreads, kBlockThreads, 0, stream,
                    args);
}

}  // namespace

KVR_REGISTER_KERNEL(scale_add, ScaleAddArgs)

}  // namespace kvr::KVR_BUILD
