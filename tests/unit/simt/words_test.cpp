// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Every word of the vocabulary does what CUDA's documentation says. Expected values are worked by hand.
#include <atomic>
#include <cmath>
#include <cstring>
#include <set>

#include "run_kernel.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kHalf = kWarpSize / 2;
using Ints = std::vector<int>;

// ---- indices

struct Where {
  uint3 thread, block, dim, grid;
};
__global__ void where(Where* out) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[b * threads + t] = {threadIdx, blockIdx, blockDim, gridDim};
}

TEST_CASE(KVR_NAME("every thread of every block runs once and knows where it is")) {
  TestDevice device;
  std::vector<Where> out(2 * 3 * 4 * 5 * 6 * 7);
  KVR_RUN(device, where, dim3(2, 3, 4), dim3(5, 6, 7), 0, out.data());
  std::size_t i = 0;
  for (unsigned bz = 0; bz < 4; ++bz)
    for (unsigned by = 0; by < 3; ++by)
      for (unsigned bx = 0; bx < 2; ++bx)
        for (unsigned z = 0; z < 7; ++z)
          for (unsigned y = 0; y < 6; ++y)
            for (unsigned x = 0; x < 5; ++x, ++i) {
              const Where& w = out[i];
              const bool right = w.thread.x == x && w.thread.y == y && w.thread.z == z && w.block.x == bx &&
                                 w.block.y == by && w.block.z == bz && w.dim.x == 5 && w.dim.y == 6 &&
                                 w.dim.z == 7 && w.grid.x == 2 && w.grid.y == 3 && w.grid.z == 4;
              if (!right) FAIL("thread " << i);
            }
}

__global__ void lane_numbers(int* out) {
  const int t = static_cast<int>(threadIdx.x + 4 * (threadIdx.y + 8 * threadIdx.z));
  // The lane that sees its own bit in a ballot of one.
  int lane = -1;
  for (int l = 0; l < warpSize; ++l) {
    if (__shfl_sync(kFullMask, t, l) == t) lane = l;
  }
  out[t] = lane;
}

TEST_CASE(KVR_NAME("lanes are numbered x first, then y, then z")) {
  TestDevice device;
  Ints out(128, -2);
  KVR_RUN(device, lane_numbers, 1, dim3(4, 8, 4), 0, out.data());
  for (int t = 0; t < 128; ++t) CHECK(out[static_cast<std::size_t>(t)] == t % kWarpSize);
}

// ---- shuffles

enum class Shuffle { index, up, down, exchange };
__global__ void shuffle(Shuffle kind, int argument, int width, int* out) {
  const int value = static_cast<int>(threadIdx.x) * 10;
  int result = -1;
  if (kind == Shuffle::index) result = __shfl_sync(kFullMask, value, argument, width);
  if (kind == Shuffle::up) result = __shfl_up_sync(kFullMask, value, static_cast<unsigned>(argument), width);
  if (kind == Shuffle::down)
    result = __shfl_down_sync(kFullMask, value, static_cast<unsigned>(argument), width);
  if (kind == Shuffle::exchange) result = __shfl_xor_sync(kFullMask, value, argument, width);
  out[threadIdx.x] = result;
  // HIP's names without a mask do the same in a full warp.
  int plain = -1;
  if (kind == Shuffle::index) plain = __shfl(value, argument, width);
  if (kind == Shuffle::up) plain = __shfl_up(value, static_cast<unsigned>(argument), width);
  if (kind == Shuffle::down) plain = __shfl_down(value, static_cast<unsigned>(argument), width);
  if (kind == Shuffle::exchange) plain = __shfl_xor(value, argument, width);
  if (plain != result) out[threadIdx.x] = -1000;
}

Ints first_eight(Shuffle kind, int argument, int width) {
  TestDevice device;
  Ints out(kWarpSize, -1);
  KVR_RUN(device, shuffle, 1, kWarpSize, 0, kind, argument, width, out.data());
  return {out.begin(), out.begin() + 8};
}

TEST_CASE(KVR_NAME("shuffles within segments of 4 lanes")) {
  CHECK(first_eight(Shuffle::index, 1, 4) == Ints{10, 10, 10, 10, 50, 50, 50, 50});
  CHECK(first_eight(Shuffle::index, 5, 4) == Ints{10, 10, 10, 10, 50, 50, 50, 50});  // modulo the width
  CHECK(first_eight(Shuffle::up, 1, 4) ==
        Ints{0, 0, 10, 20, 40, 40, 50, 60});  // the first lane keeps its own
  CHECK(first_eight(Shuffle::up, 3, 4) == Ints{0, 10, 20, 0, 40, 50, 60, 40});
  CHECK(first_eight(Shuffle::up, 4, 4) == Ints{0, 10, 20, 30, 40, 50, 60, 70});
  CHECK(first_eight(Shuffle::down, 1, 4) == Ints{10, 20, 30, 30, 50, 60, 70, 70});
  CHECK(first_eight(Shuffle::down, 3, 4) == Ints{30, 10, 20, 30, 70, 50, 60, 70});
  CHECK(first_eight(Shuffle::exchange, 1, 4) == Ints{10, 0, 30, 20, 50, 40, 70, 60});
  CHECK(first_eight(Shuffle::exchange, 3, 4) == Ints{30, 20, 10, 0, 70, 60, 50, 40});
  // Lanes of an earlier segment may be read, of a later one not.
  CHECK(first_eight(Shuffle::exchange, 4, 4) == Ints{0, 10, 20, 30, 0, 10, 20, 30});
}

TEST_CASE(KVR_NAME("a shuffle without a width spans the warp")) {
  TestDevice device;
  Ints out(kWarpSize);
  KVR_RUN(device, shuffle, 1, kWarpSize, 0, Shuffle::exchange, kHalf, kWarpSize, out.data());
  for (int i = 0; i < kWarpSize; ++i)
    CHECK(out[static_cast<std::size_t>(i)] == (i < kHalf ? i + kHalf : i - kHalf) * 10);
  KVR_RUN(device, shuffle, 1, kWarpSize, 0, Shuffle::down, kHalf, kWarpSize, out.data());
  for (int i = 0; i < kWarpSize; ++i)
    CHECK(out[static_cast<std::size_t>(i)] == (i < kHalf ? i + kHalf : i) * 10);
}

struct Pair {
  std::uint32_t a, b;
};
__global__ void wide_shuffles(double* d, std::int64_t* l, Pair* p, float* f) {
  const unsigned t = threadIdx.x;
  d[t] = __shfl_xor_sync(kFullMask, 0.5 * t, 1);
  l[t] = __shfl_xor_sync(kFullMask, (std::int64_t{1} << 40) + t, 1);
  p[t] = __shfl_xor_sync(kFullMask, Pair{t, t + 100}, 1);
  f[t] = __shfl_xor_sync(kFullMask, static_cast<float>(t), 1);
}

TEST_CASE(KVR_NAME("shuffles move any type of 4 or 8 bytes")) {
  TestDevice device;
  std::vector<double> d(kWarpSize);
  std::vector<std::int64_t> l(kWarpSize);
  std::vector<Pair> p(kWarpSize);
  std::vector<float> f(kWarpSize);
  KVR_RUN(device, wide_shuffles, 1, kWarpSize, 0, d.data(), l.data(), p.data(), f.data());
  CHECK(d[6] == 3.5);
  CHECK(l[7] == 1099511627776 + 6);
  CHECK((p[4].a == 5 && p[4].b == 105));
  CHECK(f[9] == 8.0F);
}

// Each half of a warp in a branch of its own, with a mask of its own.
__global__ void halves(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  const LaneMask low = kFullMask >> kHalf;
  if (lane < kHalf) {
    out[lane] = __shfl_xor_sync(low, lane, 1) + __popcll(__ballot_sync(low, lane & 1));
  } else {
    out[lane] = __shfl_sync(~low, lane, kWarpSize - 1);
  }
}

TEST_CASE(KVR_NAME("a mask names who meets: half warps in different branches do not wait for each other")) {
  TestDevice device;
  Ints out(kWarpSize);
  KVR_RUN(device, halves, 1, kWarpSize, 0, out.data());
  CHECK(out[0] == 1 + kHalf / 2);
  CHECK(out[1] == 0 + kHalf / 2);
  CHECK(out[kHalf] == kWarpSize - 1);
  CHECK(out[kWarpSize - 1] == kWarpSize - 1);
}

__global__ void from_outside(int* out) {
  out[threadIdx.x] = threadIdx.x < 2 ? __shfl_sync(LaneMask{3}, 7, 2) : 0;
}

TEST_CASE(KVR_NAME("what a shuffle reads from a lane outside the mask is all bits set, not an accident")) {
  TestDevice device;
  Ints out(kWarpSize);
  KVR_RUN(device, from_outside, 1, kWarpSize, 0, out.data());
  CHECK(out[0] == -1);
}

// ---- votes

__global__ void votes(unsigned long long* ballots, int* any_all) {
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  ballots[threadIdx.x] = __ballot_sync(kFullMask, lane % 3 == 0 ? 8 : 0);
  int bits = 0;
  bits |= __any_sync(kFullMask, lane == 5) ? 1 : 0;
  bits |= __any_sync(kFullMask, 0) ? 2 : 0;
  bits |= __all_sync(kFullMask, lane >= 0) ? 4 : 0;
  bits |= __all_sync(kFullMask, lane != 5) ? 8 : 0;
  bits |= __any(lane == 5) ? 16 : 0;
  bits |= __all(lane >= 0) ? 32 : 0;
  bits |= __all(lane != 5) ? 64 : 0;
  bits |= __ballot(lane == 1) == 2 ? 128 : 0;
  any_all[threadIdx.x] = bits;
}

TEST_CASE(KVR_NAME("ballot, any and all")) {
  TestDevice device;
  std::vector<unsigned long long> ballots(2 * kWarpSize);
  Ints any_all(2 * kWarpSize);
  KVR_RUN(device, votes, 1, 2 * kWarpSize, 0, ballots.data(), any_all.data());
  const unsigned long long every_third = 0x9249249249249249ULL;  // bits 0, 3, ..., 63
  for (const unsigned long long b : ballots)
    CHECK(b == (kWarpSize == 32 ? every_third & 0xFFFFFFFF : every_third));
  for (const int bits : any_all) CHECK(bits == 1 + 4 + 16 + 32 + 128);
}

__global__ void partial(int* out) {
  __syncwarp();
  out[threadIdx.x] = __all(1) + 2 * __popcll(__ballot(1));
  __syncthreads();
}

TEST_CASE(KVR_NAME("the mask-less names mean the lanes that a partial warp has")) {
  TestDevice device;
  Ints out(kWarpSize + 5);
  KVR_RUN(device, partial, 1, kWarpSize + 5, 0, out.data());
  CHECK(out[0] == 1 + 2 * kWarpSize);
  CHECK(out[kWarpSize] == 1 + 2 * 5);
}

// ---- barriers and shared memory

__global__ void rotate_through_shared(int* out) {
  __shared__ __align__(16) int kept[256];
  KVR_DYNAMIC_SHARED(int, dynamic);
  const unsigned t = threadIdx.x;
  kept[t] = static_cast<int>(t);
  dynamic[t] = static_cast<int>(1000 + t);
  __syncthreads();
  const int a = kept[(t + 1) % 256];
  const int b = dynamic[(t + 255) % 256];
  __syncthreads();
  kept[t] = a + b;
  __syncthreads();
  out[blockIdx.x * 256 + t] = kept[255 - t];
}

TEST_CASE(KVR_NAME("barriers order shared memory, static and dynamic")) {
  TestDevice device(2);
  Ints out(20 * 256);
  KVR_RUN(device, rotate_through_shared, 20, 256, 256 * sizeof(int), out.data());
  // Thread t ends with what thread s = 255 - t made: (s + 1) % 256 + 1000 + (s + 255) % 256.
  CHECK(out[0] == 0 + 1254);
  CHECK(out[255] == 1 + 1255);
  CHECK(out[19 * 256 + 55] == 201 + 1199);
}

__global__ void counting_barriers(int* out) {
  const int t = static_cast<int>(threadIdx.x);
  const int count = __syncthreads_count(t % 3 == 0);
  const int none = __syncthreads_or(t > 99);
  const int some = __syncthreads_or(t == 99);
  const int all = __syncthreads_and(t < 100);
  const int not_all = __syncthreads_and(t != 50);
  out[t] = count * 10000 + none * 1000 + some * 100 + all * 10 + not_all;
}

TEST_CASE(KVR_NAME("barriers that count")) {
  TestDevice device;
  Ints out(100);
  KVR_RUN(device, counting_barriers, 1, 100, 0, out.data());
  for (const int v : out) CHECK(v == 340110);  // 0, 3, ..., 99: 34
}

__global__ void read_unwritten(float* out) {
  KVR_DYNAMIC_SHARED(float, scratch);
  out[2 * blockIdx.x] = scratch[0];
  out[2 * blockIdx.x + 1] = scratch[15];
  __syncthreads();
  if (threadIdx.x < 16) scratch[threadIdx.x] = 1.0F;
}

TEST_CASE(KVR_NAME("dynamic shared memory begins each block as NaN, whatever the block before left there")) {
  TestDevice device;
  std::vector<float> out(6, 0.0F);
  KVR_RUN(device, read_unwritten, 3, 16, 16 * sizeof(float), out.data());
  for (const float v : out) CHECK(std::isnan(v));
}

TEST_CASE(KVR_NAME("dynamic shared memory is 16-byte aligned")) {
  struct Kernel {
    static __global__ void run(int* out) {
      KVR_DYNAMIC_SHARED(char, scratch);
      *out = static_cast<int>(reinterpret_cast<std::uintptr_t>(scratch) % 16);
    }
  };
  TestDevice device;
  int out = -1;
  KVR_RUN(device, Kernel::run, 1, 1, 100, &out);
  CHECK(out == 0);
}

// ---- atomics

struct Counters {
  int sum, least, greatest, swapped;
  unsigned bits, kept, sum_u;
  unsigned long long sum_l, greatest_l;
  float sum_f;
  int tickets[2048];
};
__global__ void atomics(Counters* c) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  c->tickets[atomicAdd(&c->sum, 1)] = i;
  atomicMin(&c->least, -i);
  atomicMax(&c->greatest, i);
  atomicOr(&c->bits, 1U << i % 32);
  atomicAnd(&c->kept, ~(1U << i % 16));
  atomicAdd(&c->sum_u, 3U);
  atomicAdd(&c->sum_l, 1ULL << 33);
  atomicMax(&c->greatest_l, (1ULL << 40) + static_cast<unsigned>(i));
  atomicAdd(&c->sum_f, 0.5F);      // exact in any order
  for (int seen = c->swapped;;) {  // a sum by compare and swap
    const int before = atomicCAS(&c->swapped, seen, seen + 2);
    if (before == seen) break;
    seen = before;
  }
  __threadfence();
}

TEST_CASE(KVR_NAME("atomics count every thread once, on several host threads")) {
  TestDevice device(4);
  Counters c{};
  c.kept = 0xFFFFFFFF;
  KVR_RUN(device, atomics, 16, 128, 0, &c);
  CHECK(c.sum == 2048);
  CHECK(c.least == -2047);
  CHECK(c.greatest == 2047);
  CHECK(c.swapped == 4096);
  CHECK(c.bits == 0xFFFFFFFF);
  CHECK(c.kept == 0xFFFF0000);
  CHECK(c.sum_u == 6144);
  CHECK(c.sum_l == 2048ULL << 33);
  CHECK(c.greatest_l == (1ULL << 40) + 2047);
  CHECK(c.sum_f == 1024.0F);
  CHECK(std::set<int>(std::begin(c.tickets), std::end(c.tickets)).size() == 2048);
}

__global__ void old_values(int* out, float* f) {
  int x = 5;
  out[0] = atomicAdd(&x, 2);
  out[1] = atomicExch(&x, 40);
  out[2] = atomicCAS(&x, 1, 99);
  out[3] = atomicCAS(&x, 40, 41);
  out[4] = atomicMax(&x, 3);
  out[5] = atomicMin(&x, 3);
  out[6] = atomicSub(&x, 1);
  out[7] = atomicOr(&x, 8);
  out[8] = atomicAnd(&x, 3);
  out[9] = atomicXor(&x, 7);
  out[10] = x;
  float y = 1.5F;
  f[0] = atomicAdd(&y, 2.0F);
  f[1] = atomicExch(&y, 9.0F);
  f[2] = y;
}

TEST_CASE(KVR_NAME("atomics return the old value")) {
  TestDevice device;
  Ints out(11);
  float f[3] = {};
  KVR_RUN(device, old_values, 1, 1, 0, out.data(), f);
  CHECK(out == Ints{5, 7, 40, 40, 41, 41, 3, 2, 10, 2, 5});
  CHECK(f[0] == 1.5F);
  CHECK(f[1] == 3.5F);
  CHECK(f[2] == 9.0F);
}

// ---- launch

template <class T, int N>
__global__ void templated(T* out, int n) {
  out[0] = static_cast<T>(n * N);
}

TEST_CASE(KVR_NAME("kernels may be templates, and grids integers, dim3 or extents")) {
  TestDevice device;
  float out = 0.0F;
  KVR_RUN(device, (templated<float, 3>), 1, dim3(1), 0, &out, 5);
  CHECK(out == 15.0F);
  KVR_RUN(device, (templated<float, 4>), Extent(1, 1, 1), 1U, 0, &out, 5);
  CHECK(out == 20.0F);
}

}  // namespace
}  // namespace kvr::KVR_BUILD
