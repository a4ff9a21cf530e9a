// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the name of a GPU's architecture ("sm_90", "gfx942") says about it.
#pragma once

#include <string_view>

#include "harness/numeric/codec.h"
#include "kernels/common/types.h"

namespace kvr {

// CDNA 3 multiplies FNUZ codes, and 224 is what quantisers store there; every other device uses OCP.
inline Fp8Format fp8_of_arch(std::string_view arch) {
  return arch.starts_with("gfx94") ? kE4m3fnuz224 : kE4m3fn;
}

// gfx9xx are GCN and CDNA with 64 lanes, later ones RDNA with 32, like every CUDA device.
inline int warp_size_of_arch(std::string_view arch) {
  return arch.starts_with("gfx9") ? 64 : 32;
}

}  // namespace kvr
