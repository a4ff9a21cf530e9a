// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "tests/unit/strict/traffic_controls.h"

#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"
#include "kernels/common/warp.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kThreads = 256;
constexpr int kBlockFloats = 1024;

// What a compiler does not see through: the pass that computes it must stay.
KVR_DEVICE bool never(float most) {
  return most == 12345.0F;
}

KVR_GLOBAL void copy_kernel(const CopyArgs a) {
  __shared__ float tile[kBlockFloats];
  const int t = static_cast<int>(threadIdx.x);
  const float* const in = a.in + static_cast<std::int64_t>(blockIdx.x) * kBlockFloats;
  float* const out = a.out + static_cast<std::int64_t>(blockIdx.x) * kBlockFloats;
  switch (a.copy) {
    case Copy::again: {
      const auto x = load_vec<16, 4>(in + 4 * (t ^ 1));  // of its neighbour, so that it is a load of its own
      float most = x[0];
      for (int e = 1; e < 4; ++e) most = x[e] > most ? x[e] : most;
      if (never(most)) return;
      store_vec<16>(out + 4 * t, load_vec<16, 4>(in + 4 * t));
      return;
    }
    case Copy::scattered:
      for (int i = 0; i < 4; ++i) {
        const int at = t % 128 * 8 + t / 128 * 4 + i;
        out[at] = in[at];
      }
      return;
    case Copy::narrow: {
      const auto* const from = reinterpret_cast<const std::uint16_t*>(in);
      auto* const to = reinterpret_cast<std::uint16_t*>(out);
      for (int i = t; i < 2 * kBlockFloats; i += kThreads) to[i] = from[i];
      return;
    }
    case Copy::transposed:
      for (int i = t; i < kBlockFloats; i += kThreads) tile[i % 32 * 32 + i / 32] = in[i];
      __syncthreads();
      for (int i = t; i < kBlockFloats; i += kThreads) out[i] = tile[i % 32 * 32 + i / 32];
      return;
    case Copy::exchanged: {
      const auto x = load_vec<16, 4>(in + 4 * t);
      const auto other = group_shfl<32>(x, t ^ 1);
      const auto mine = group_shfl<32>(other, t ^ 1);
      __syncthreads();
      atomicAdd(a.arrivals, 1U);
      store_vec<16>(out + 4 * t, mine);
      return;
    }
    case Copy::once:
    case Copy::half:
      if (a.copy == Copy::half && t >= kThreads / 2) return;
      store_vec<16>(out + 4 * t, load_vec<16, 4>(in + 4 * t));
      return;
  }
}

LaunchStatus launch_strict_copy(const CopyArgs& a, Stream stream) {
  return KVR_LAUNCH(copy_kernel, a.count / kBlockFloats, kThreads, 0, stream, a);
}

}  // namespace

KVR_REGISTER_KERNEL(strict_copy, CopyArgs)

}  // namespace kvr::KVR_BUILD
