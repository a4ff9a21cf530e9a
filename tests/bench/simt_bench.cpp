// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Speed of the cpu machine. KNormRopeLike has the shape of k_norm_rope: bf16 rows of 128, 16 lanes of 8
// elements per row, 16-byte loads and stores, two sums over 16 lanes, rotation of the first 64 elements by
// pairs. The argument is the number of host threads. The other benchmarks isolate one cost each.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/simt/device.h"
#include "kernels/common/registry_types.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"
#include "kernels/common/warp.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kD = 128;
constexpr int kPerLane = 8;
constexpr int kGroup = kD / kPerLane;
constexpr int kThreads = 128;
constexpr int kRotary = 64;

KVR_DEVICE float widen(bf16 x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}
KVR_DEVICE bf16 narrow(float x) {  // nearest even; the data holds no NaN
  const unsigned bits = __float_as_uint(x);
  return {static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

__global__ void k_norm_rope_like(const bf16* k, bf16* out, const float* weight, const float* bias,
                                 const float* cos_sin, const int* positions, std::int64_t rows) {
  const int lane = static_cast<int>(threadIdx.x) % kGroup;
  std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * (kThreads / kGroup) + static_cast<int>(threadIdx.x) / kGroup;
  const bool mine = row < rows;
  if (!mine) row = rows - 1;
  const Vec<bf16, kPerLane> in = load_vec<16, kPerLane>(k + row * kD + lane * kPerLane);
  float x[kPerLane];
  float sum = 0.0F;
  for (int i = 0; i < kPerLane; ++i) sum += x[i] = widen(in[i]);
  const float mean = group_sum<kGroup>(sum) / kD;
  float squares = 0.0F;
  for (int i = 0; i < kPerLane; ++i) {
    x[i] -= mean;
    squares += x[i] * x[i];
  }
  const float r = rsqrtf(group_sum<kGroup>(squares) / kD + 1e-6F);
  const float* w = weight + lane * kPerLane;
  const float* b = bias + lane * kPerLane;
  for (int i = 0; i < kPerLane; ++i) x[i] = x[i] * r * w[i] + b[i];
  if (lane * kPerLane < kRotary) {
    const float* c = cos_sin + static_cast<std::int64_t>(positions[row]) * kRotary + lane * (kPerLane / 2);
    const float* s = c + kRotary / 2;
    for (int i = 0; i < kPerLane / 2; ++i) {
      const float a = x[2 * i];
      const float d = x[2 * i + 1];
      x[2 * i] = a * c[i] - d * s[i];
      x[2 * i + 1] = a * s[i] + d * c[i];
    }
  }
  Vec<bf16, kPerLane> result;
  for (int i = 0; i < kPerLane; ++i) result[i] = narrow(x[i]);
  if (mine) store_vec<16>(out + row * kD + lane * kPerLane, result);
}

void KNormRopeLike(benchmark::State& state) {
  constexpr std::int64_t kRows = 4096;
  simt::Device device(simt::Limits::warp32(), static_cast<int>(state.range(0)), {});
  std::vector<Vec<bf16, 8>> k(kRows * kD / 8), out(kRows * kD / 8);
  for (std::size_t i = 0; i < k.size(); ++i) {
    for (int j = 0; j < 8; ++j) k[i][j] = narrow(std::sin(static_cast<float>(i * 8) + static_cast<float>(j)));
  }
  std::vector<float> weight(kD, 1.5F), bias(kD, 0.25F), cos_sin(kRows * kRotary);
  std::vector<int> positions(kRows);
  for (std::size_t p = 0; p < positions.size(); ++p) {
    positions[p] = static_cast<int>(p);
    for (std::size_t i = 0; i < kRotary / 2; ++i) {
      cos_sin[p * kRotary + i] = std::cos(static_cast<float>(p * i));
      cos_sin[p * kRotary + kRotary / 2 + i] = std::sin(static_cast<float>(p * i));
    }
  }
  for (auto _ : state) {
    const LaunchStatus status =
        KVR_LAUNCH(k_norm_rope_like, kRows / (kThreads / kGroup), kThreads, 0, &device, &k[0].v[0],
                   &out[0].v[0], weight.data(), bias.data(), cos_sin.data(), positions.data(), kRows);
    if (!status.ok() || !device.synchronize().ok()) state.SkipWithError("the launch failed");
  }
  state.SetItemsProcessed(state.iterations() * kRows * kD);
}
BENCHMARK(KNormRopeLike)->Arg(1)->Arg(2)->UseRealTime();

// Time per thread of a kernel that does nothing: what a lane costs.
__global__ void nothing() {}
void EmptyThread(benchmark::State& state) {
  simt::Device device(simt::Limits::warp32(), 1, {});
  for (auto _ : state) benchmark::DoNotOptimize(KVR_LAUNCH(nothing, 512, 128, 0, &device));
  state.SetItemsProcessed(state.iterations() * 512 * 128);
}
BENCHMARK(EmptyThread);

__global__ void barriers(int count) {
  for (int i = 0; i < count; ++i) __syncthreads();
}
// Items: barrier passages per thread.
void Barrier(benchmark::State& state) {
  simt::Device device(simt::Limits::warp32(), 1, {});
  const std::int64_t threads = state.range(0);
  for (auto _ : state) benchmark::DoNotOptimize(KVR_LAUNCH(barriers, 8, threads, 0, &device, 100));
  state.SetItemsProcessed(state.iterations() * 8 * threads * 100);
}
BENCHMARK(Barrier)->Arg(32)->Arg(128)->Arg(1024);

__global__ void sums(int count, float* out) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < count; ++i) x = group_sum<32>(x) * 0x1p-5F;
  if (threadIdx.x == 0) *out = x;
}
// Items: group sums per lane.
void GroupSum(benchmark::State& state) {
  simt::Device device(simt::Limits::warp32(), 1, {});
  float out = 0.0F;
  for (auto _ : state) benchmark::DoNotOptimize(KVR_LAUNCH(sums, 1, 128, 0, &device, 1000, &out));
  state.SetItemsProcessed(state.iterations() * 128 * 1000);
}
BENCHMARK(GroupSum);

}  // namespace
}  // namespace kvr::KVR_BUILD
