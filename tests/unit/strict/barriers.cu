// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A layer norm's statistics by kernels/common/warp.h, whose barriers are the only ones our kernels have.
// Compiled as it stands and once for each barrier without it (CMakeLists.txt).
#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/warp.h"
#include "tests/unit/strict/controls.h"

namespace kvr::KVR_BUILD {
namespace {

KVR_GLOBAL void layer_norm(const ControlArgs a) {
  __shared__ float scratch[32];
  const float x = a.in[blockIdx.x * a.pitch + threadIdx.x % a.width];
  const float n = static_cast<float>(blockDim.x);
  const float mean = block_sum(x, scratch) / n;
  const float variance = block_sum((x - mean) * (x - mean), scratch) / n;
  if (threadIdx.x < a.width) a.out[blockIdx.x * a.pitch + threadIdx.x] = (x - mean) * rsqrtf(variance + 1.0F);
}

LaunchStatus launch_strict_barriers(const ControlArgs& a, Stream stream) {
  return KVR_LAUNCH(layer_norm, a.rows, 256, 0, stream, a);
}

}  // namespace

KVR_REGISTER_KERNEL(strict_barriers, ControlArgs)

}  // namespace kvr::KVR_BUILD
