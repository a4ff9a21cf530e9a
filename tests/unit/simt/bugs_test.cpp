// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Public bug reports that the machine itself must show. The wrong kernels are written here as they were
// reported.
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

#include "kernels/common/warp.h"
#include "run_kernel.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kHidden = 256;

// vllm#3321: the reduction begins at offset 16 whatever the warp size, so on 64 lanes half of them are left
// out.
__global__ void rms_norm_for_32_lanes(const float* in, float* out) {
  __shared__ float scratch[32];
  const int t = static_cast<int>(threadIdx.x);
  float sum = in[t] * in[t];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(kFullMask, sum, static_cast<unsigned>(offset));
  if (t % warpSize == 0) scratch[t / warpSize] = sum;
  __syncthreads();
  float total = 0.0F;
  for (int w = 0; w < kHidden / warpSize; ++w) total += scratch[w];
  out[t] = in[t] * rsqrtf(total / kHidden);
}

__global__ void rms_norm(const float* in, float* out) {
  __shared__ float scratch[32];
  const int t = static_cast<int>(threadIdx.x);
  out[t] = in[t] * rsqrtf(block_sum(in[t] * in[t], scratch) / kHidden);
}

TEST_CASE(KVR_NAME("A11: a reduction written for 32 lanes is right on 32 and gives 1.4142 on 64")) {
  TestDevice device;
  const std::vector<float> ones(kHidden, 1.0F);
  std::vector<float> out(kHidden);
  KVR_RUN(device, rms_norm_for_32_lanes, 1, kHidden, 0, ones.data(), out.data());
  for (const float v : out)
    CHECK_THAT(v, Catch::Matchers::WithinAbs(kWarpSize == 32 ? 1.0 : 1.41421356, 1e-6));
  KVR_RUN(device, rms_norm, 1, kHidden, 0, ones.data(), out.data());
  for (const float v : out) CHECK(v == 1.0F);
}

// flashinfer#3607: the scratch of the mean is written for the variance while slow warps still read it.
__global__ void variance_without_barrier(const float* in, float* out) {
  __shared__ float scratch[32];
  const int t = static_cast<int>(threadIdx.x);
  const auto sum_over_block = [&](float x) {
    const float partial = group_sum<32>(x);
    if (t % 32 == 0) scratch[t / 32] = partial;
    __syncthreads();
    float total = 0.0F;
    for (int w = 0; w < kHidden / 32; ++w) total += scratch[w];
    return total;  // no barrier: the next call writes scratch again
  };
  const float mean = sum_over_block(in[t]) / kHidden;
  const float d = in[t] - mean;
  out[t] = sum_over_block(d * d) / kHidden;
}

__global__ void variance(const float* in, float* out) {
  __shared__ float scratch[32];
  const int t = static_cast<int>(threadIdx.x);
  const float d = in[t] - block_sum(in[t], scratch) / kHidden;
  out[t] = block_sum(d * d, scratch) / kHidden;
}

TEST_CASE(KVR_NAME("A9: the missing barrier between two block sums changes the result under some schedule")) {
  std::vector<float> in(kHidden), wrong(kHidden), right(kHidden);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  // 0 ... 255: mean 127.5, variance (256^2 - 1) / 12 = 5461.25, exact in float.
  bool shown = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TestDevice device(1, {simt::Schedule::Kind::random, seed});
    KVR_RUN(device, variance, 1, kHidden, 0, in.data(), right.data());
    for (const float v : right) REQUIRE(v == 5461.25F);
    KVR_RUN(device, variance_without_barrier, 1, kHidden, 0, in.data(), wrong.data());
    for (const float v : wrong) shown = shown || v != 5461.25F;
  }
  CHECK(shown);
}

__global__ void fill(float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1.0F;
}

TEST_CASE(KVR_NAME("A24: a launch that exceeds a limit says so and runs nothing")) {
  TestDevice device;
  std::vector<float> out(2000, 0.0F);
  const LaunchStatus threads = KVR_LAUNCH(fill, 1, 1500, 0, &device, out.data());
  CHECK(threads.kind == LaunchStatus::Kind::error);
  CHECK(threads.what == "fill: block of 1500 threads exceeds 1024");
  const LaunchStatus shared = KVR_LAUNCH(fill, 1, 32, 1 << 20, &device, out.data());
  CHECK(shared.kind == LaunchStatus::Kind::error);
  CHECK(shared.what ==
        "fill: shared memory of 1048576 bytes exceeds " + std::to_string(kWarpSize == 32 ? 49152 : 65536));
  CHECK(out == std::vector<float>(2000, 0.0F));
  CHECK(device.synchronize().ok());
}

}  // namespace
}  // namespace kvr::KVR_BUILD
