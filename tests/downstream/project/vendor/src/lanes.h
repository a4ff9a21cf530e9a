// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Beside sum.cu, which finds it without being told where.
#pragma once

#include "kernels/common/simt.h"

namespace kvr::KVR_BUILD {

// What lane + step holds, in a warp of 32 lanes: the mask has no bits for more.
KVR_DEVICE float from_lane_above(float value, int step) {
  static_assert(WARP_SUM_LANES == 32);
  return __shfl_down_sync(0xffffffffU, value, static_cast<unsigned>(step));
}

}  // namespace kvr::KVR_BUILD
