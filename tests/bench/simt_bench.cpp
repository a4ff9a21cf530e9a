// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Speed of the cpu machine: the registered k_norm_rope in elements per second, then what single things cost.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "harness/machine/machine.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"
#include "kernels/common/warp.h"
#include "kernels/k_norm_rope/k_norm_rope.h"

namespace kvr::KVR_BUILD {
namespace {

// k_norm_rope as the headline has it: 4096 rows of 128 in bf16, rotary 64, interleaved. Argument: host
// threads.
void KNormRope(benchmark::State& state) {
  constexpr std::int64_t kRows = 4096;
  constexpr std::int64_t kWidth = 128;
  constexpr std::int64_t kRotary = 64;
  const std::unique_ptr<Machine> machine = open_machine(kWarpSize == 32 ? "cpu:warp32" : "cpu:warp64",
                                                        {.threads = static_cast<int>(state.range(0))});
  // Sixteen-byte units, so that the 16-byte load path is taken.
  std::vector<Vec<bf16, 8>> k(kRows * kWidth / 8), out(k.size());
  for (std::size_t i = 0; i < k.size(); ++i) {
    for (int e = 0; e < 8; ++e) {
      const float x = std::sin(static_cast<float>(i * 8) + static_cast<float>(e));
      k[i][e] = {static_cast<std::uint16_t>(__float_as_uint(x) >> 16)};
    }
  }
  std::vector<float4> weight(kWidth / 4, make_float4(1.5F, 1.25F, 1.0F, 0.75F)),
      bias(kWidth / 4, make_float4(0, 1, 0, 1));
  std::vector<float4> cos_sin(kRows * kRotary / 4, make_float4(0.6F, 0.8F, -0.6F, -0.8F));
  std::vector<int> positions(kRows);
  std::iota(positions.begin(), positions.end(), 0);
  KNormRopeArgs args;
  args.k = k.data();
  args.out = out.data();
  args.weight = &weight[0].x;
  args.bias = &bias[0].x;
  args.cos_sin = &cos_sin[0].x;
  args.positions = positions.data();
  args.tokens = args.max_position = kRows;
  for (auto _ : state) {
    const LaunchStatus status = machine->launch("k_norm_rope", args);
    if (!status.ok()) state.SkipWithError(status.what.c_str());
  }
  state.SetItemsProcessed(state.iterations() * kRows * kWidth);
}
BENCHMARK(KNormRope)->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();

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
