// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Launches: recovery after an error, independence from the number of host threads and from the schedule,
// blocks of any shape one after the other.
#include <numeric>

#include "kernels/common/warp.h"
#include "run_kernel.h"

namespace kvr::KVR_BUILD {
namespace {

using Kind = simt::Schedule::Kind;

__global__ void fails() {
  if (threadIdx.x == 0) __syncthreads();
}
__global__ void count_threads(int* out) {
  atomicAdd(out, 1);
}
__global__ void count_with_barrier(int* out) {
  const int n = __syncthreads_count(1);
  if (threadIdx.x == 0) atomicAdd(out, n);
}

TEST_CASE(KVR_NAME("after an error the device is as good as new")) {
  TestDevice device(2);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(KVR_LAUNCH(fails, 50, 256, 0, &device).ok());
    CHECK_FALSE(device.synchronize().ok());
    int out = 0;
    KVR_RUN(device, count_with_barrier, 50, 256, 0, &out);
    CHECK(out == 12800);
  }
}

TEST_CASE(KVR_NAME("the first error of several launches is kept until it is read")) {
  TestDevice device;
  int out = 0;
  REQUIRE(KVR_LAUNCH(fails, 1, 32, 0, &device).ok());
  REQUIRE(KVR_LAUNCH(count_threads, 1, 32, 0, &device, &out).ok());
  CHECK(out == 32);
  CHECK(device.synchronize().what.starts_with("fails: block (0,0,0)"));
  CHECK(device.synchronize().ok());
}

TEST_CASE(KVR_NAME("blocks of every size, large after small and small after large")) {
  TestDevice device;
  for (const int threads : {1, 1024, 31, 32, 33, 63, 64, 65, 7, 1000, 128, 1}) {
    int out = 0;
    KVR_RUN(device, count_with_barrier, 3, threads, 0, &out);
    CHECK(out == 3 * threads);
  }
}

// Sums in an order of its own, rounded at every step: any other order would show.
__global__ void mixed(const float* in, float* out) {
  __shared__ float scratch[32];
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float x = in[i];
  for (int round = 0; round < 4; ++round) {
    x += group_sum<8>(x) * 0.37F;
    x -= block_sum(x, scratch) * 0.01F;
    x = __shfl_down_sync(kFullMask, x, 3) * 1.1F + x;
  }
  out[i] = x;
}

TEST_CASE(KVR_NAME("results depend neither on the number of host threads nor on the schedule")) {
  std::vector<float> in(300 * 128), expected(in.size()), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i * 2654435761U % 1000003U) * 0x1p-10F;
  TestDevice one;
  KVR_RUN(one, mixed, 300, 128, 0, in.data(), expected.data());
  for (const int threads : {1, 2, 8}) {
    for (const Kind kind :
         {Kind::forward, Kind::reverse, Kind::round_robin, Kind::ahead, Kind::last, Kind::random}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        std::fill(out.begin(), out.end(), 0.0F);
        TestDevice device(threads, {kind, seed});
        KVR_RUN(device, mixed, 300, 128, 0, in.data(), out.data());
        CHECK(out == expected);
      }
    }
  }
}

// In which order the lanes of a block come by: before a barrier, and after it.
__global__ void order_of_arrival(int* next, int* before, int* after) {
  before[(*next)++] = static_cast<int>(threadIdx.x);
  __syncthreads();
  after[(*next)++ - blockDim.x] = static_cast<int>(threadIdx.x);
}

struct Arrivals {
  std::vector<int> before, after;
  friend bool operator==(const Arrivals&, const Arrivals&) = default;
};
// Of a block of three warps.
Arrivals arrival(const simt::Schedule& schedule) {
  TestDevice device(1, schedule);
  int next = 0;
  Arrivals order{std::vector<int>(3 * kWarpSize), std::vector<int>(3 * kWarpSize)};
  KVR_RUN(device, order_of_arrival, 1, 3 * kWarpSize, 0, &next, order.before.data(), order.after.data());
  return order;
}

// The lanes of the warps, one warp after the other.
std::vector<int> lanes_of(std::initializer_list<int> warps) {
  std::vector<int> lanes;
  for (const int warp : warps)
    for (int lane = 0; lane < kWarpSize; ++lane) lanes.push_back(warp * kWarpSize + lane);
  return lanes;
}

TEST_CASE(KVR_NAME("schedules: who runs first, before a barrier and after it")) {
  const std::vector<int> in_order = lanes_of({0, 1, 2});
  CHECK(arrival({Kind::forward, 0}).before == in_order);
  const std::vector<int> backwards(in_order.rbegin(), in_order.rend());
  CHECK(arrival({Kind::reverse, 0}) == Arrivals{backwards, backwards});
  CHECK(arrival({Kind::ahead, 1}) == Arrivals{lanes_of({1, 0, 2}), lanes_of({1, 0, 2})});
  CHECK(arrival({Kind::ahead, 5}) == arrival({Kind::ahead, 2}));  // of three
  CHECK(arrival({Kind::last, 0}) == Arrivals{lanes_of({1, 2, 0}), lanes_of({1, 2, 0})});
  CHECK(arrival({Kind::last, 2}) == Arrivals{in_order, in_order});
}

TEST_CASE(KVR_NAME("schedules: round robin takes a lane of each warp in turn")) {
  const Arrivals order = arrival({Kind::round_robin, 0});
  for (const std::vector<int>& lanes : {order.before, order.after}) {
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      INFO(i);
      CHECK(lanes[i] / kWarpSize == (lanes[i - 1] / kWarpSize + 1) % 3);
    }
  }
}

TEST_CASE(KVR_NAME("schedules: random by seed")) {
  const Arrivals random = arrival({Kind::random, 1});
  CHECK(random.before != lanes_of({0, 1, 2}));
  CHECK(random.after != random.before);
  CHECK(random == arrival({Kind::random, 1}));
  CHECK(random.before != arrival({Kind::random, 2}).before);
}

// Wrong without a barrier between the two writes: the schedules must be able to show it.
__global__ void racy(int* out) {
  __shared__ int shared;
  if (threadIdx.x == 0) shared = 1;
  __syncthreads();
  const int seen = shared;
  if (threadIdx.x == blockDim.x - 1) shared = 2;  // while others may still read
  out[threadIdx.x] = seen;
}

TEST_CASE(KVR_NAME("a missing barrier shows under another schedule")) {
  const auto seen = [](const simt::Schedule& schedule) {
    std::vector<int> out(128);
    TestDevice device(1, schedule);
    KVR_RUN(device, racy, 1, 128, 0, out.data());
    return out;
  };
  CHECK(seen({Kind::ahead, 0}) == std::vector<int>(128, 1));
  CHECK(seen({Kind::ahead, 128 / kWarpSize - 1}) != std::vector<int>(128, 1));
  CHECK(seen({Kind::reverse, 0}) != std::vector<int>(128, 1));
  CHECK(seen({Kind::last, 128 / kWarpSize - 1}) == std::vector<int>(128, 1));
}

TEST_CASE(KVR_NAME("the most warps a block had")) {
  TestDevice device;
  CHECK(device.most_warps() == 0);
  int out = 0;
  KVR_RUN(device, count_threads, 1, 3 * kWarpSize - 1, 0, &out);
  KVR_RUN(device, count_threads, 1, 1, 0, &out);
  CHECK(device.most_warps() == 3);
}

TEST_CASE(KVR_NAME("a kernel of one warp size is refused by a device of another")) {
  simt::Device other(kWarpSize == 32 ? simt::Limits::warp64() : simt::Limits::warp32(), 1, {});
  int out = 0;
  const LaunchStatus status = KVR_LAUNCH(count_threads, 1, 1, 0, &other, &out);
  CHECK(status.kind == LaunchStatus::Kind::error);
  CHECK(status.what == (kWarpSize == 32
                            ? "count_threads: built for warps of 32, launched on a device with warps of 64"
                            : "count_threads: built for warps of 64, launched on a device with warps of 32"));
  CHECK(out == 0);
}

TEST_CASE(KVR_NAME("a launch without a device")) {
  int out = 0;
  const LaunchStatus status = KVR_LAUNCH(count_threads, 1, 1, 0, nullptr, &out);
  CHECK(status.what == "count_threads: no device to launch on");
  CHECK(out == 0);
}

}  // namespace
}  // namespace kvr::KVR_BUILD
