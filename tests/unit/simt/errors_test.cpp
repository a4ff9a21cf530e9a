// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a kernel does wrong at a collective or barrier becomes an error that names kernel, block, thread, mask
// and call; never a hang.
#include <sys/mman.h>

#include <atomic>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <stdexcept>

#include "kernels/common/warp.h"
#include "run_kernel.h"

namespace kvr::KVR_BUILD {
namespace {

using Catch::Matchers::ContainsSubstring;

constexpr int kHalf = kWarpSize / 2;

std::string at(int line) {
  return "errors_test.cpp:" + std::to_string(line);
}

// Launches `kernel` with one block of 2 warps per grid element and returns what synchronisation reports.
#define KVR_ERROR_OF(kernel, grid, block, ...)                                                            \
  [&] {                                                                                                   \
    TestDevice device;                                                                                    \
    const LaunchStatus launched = KVR_LAUNCH(kernel, grid, block, 0, &device __VA_OPT__(, ) __VA_ARGS__); \
    REQUIRE(launched.ok());                                                                               \
    const LaunchStatus finished = device.synchronize();                                                   \
    REQUIRE(finished.kind == LaunchStatus::Kind::error);                                                  \
    REQUIRE(device.synchronize().ok());                                                                   \
    return finished.what;                                                                                 \
  }()

constexpr int kExitedLine = __LINE__ + 3;
__global__ void lane_exited(int* out) {
  if (blockIdx.y == 2 && threadIdx.x == 5) return;
  *out = __shfl_xor_sync(kFullMask, 1, 1);
}

TEST_CASE(KVR_NAME("a mask that names a lane which has returned")) {
  int out = 0;
  const std::string what = KVR_ERROR_OF(lane_exited, dim3(1, 4, 1), kWarpSize, &out);
  CHECK(what == "lane_exited: block (0,2,0), thread (0,0,0) (warp 0, lane 0): __shfl_xor_sync(mask " +
                    mask_text(kFullMask) + ") at " + at(kExitedLine) +
                    " is never reached by lane 5, thread (5,0,0), which has returned from the kernel");
}

constexpr int kBranchLine = __LINE__ + 4;
__global__ void shuffle_in_branch(float* out) {  // bug report A5: partial rotary dimension
  float x = 1.0F;
  if (static_cast<int>(threadIdx.x) % kWarpSize < kHalf) {
    x += __shfl_xor_sync(kFullMask, x, 1);
  }
  __syncthreads();
  out[threadIdx.x] = x;
}

TEST_CASE(KVR_NAME("A5: a shuffle inside a branch names lanes that do not enter it")) {
  std::vector<float> out(2 * kWarpSize);
  const std::string what = KVR_ERROR_OF(shuffle_in_branch, 1, dim3(kWarpSize, 2), out.data());
  CHECK(what == "shuffle_in_branch: block (0,0,0), thread (0,0,0) (warp 0, lane 0): __shfl_xor_sync(mask " +
                    mask_text(kFullMask) + ") at " + at(kBranchLine) + " is never reached by lane " +
                    std::to_string(kHalf) + ", thread (" + std::to_string(kHalf) +
                    ",0,0), which waits in __syncthreads() at " + at(kBranchLine + 2));
}

__global__ void not_in_mask(int* out) {
  *out = __shfl_sync(static_cast<LaneMask>(1), 1, 0);
}

TEST_CASE(KVR_NAME("a mask without the calling lane")) {
  int out = 0;
  const std::string what = KVR_ERROR_OF(not_in_mask, 1, 4, &out);
  CHECK_THAT(what,
             ContainsSubstring("thread (1,0,0) (warp 0, lane 1): __shfl_sync(mask " + mask_text(1) + ")"));
  CHECK_THAT(what, ContainsSubstring("does not name the calling lane itself"));
}

__global__ void beyond_block(int* out) {
  *out = __any_sync(kFullMask, 1);
}

TEST_CASE(KVR_NAME("a mask that names lanes the block does not have")) {
  int out = 0;
  const std::string what = KVR_ERROR_OF(beyond_block, 1, kWarpSize + 3, &out);
  CHECK_THAT(what, ContainsSubstring("thread (" + std::to_string(kWarpSize) +
                                     ",0,0) (warp 1, lane 0): __any_sync(mask"));
  CHECK_THAT(what, ContainsSubstring("names lanes that the block does not have"));
}

__global__ void different_masks(int* out) {
  const LaneMask mask = threadIdx.x == 0 ? LaneMask{3} : LaneMask{7};
  *out = static_cast<int>(__ballot_sync(mask, 1));
}

TEST_CASE(KVR_NAME("lanes that name each other in different masks")) {
  int out = 0;
  const std::string what = KVR_ERROR_OF(different_masks, 1, 3, &out);
  CHECK_THAT(what,
             ContainsSubstring("thread (0,0,0) (warp 0, lane 0): __ballot_sync(mask " + mask_text(3) + ")"));
  CHECK_THAT(what,
             ContainsSubstring("never reached by lane 1, thread (1,0,0), which waits in __ballot_sync(mask " +
                               mask_text(7) + ")"));
}

constexpr int kTwoCallsLine = __LINE__ + 3;
__global__ void two_calls(int* out) {
  if (threadIdx.x % 2 == 0) {
    *out = __shfl_sync(kFullMask, 1, 0);
  } else {
    *out = __shfl_sync(kFullMask, 2, 0);
  }
}

TEST_CASE(KVR_NAME("the same collective in two branches is two collectives")) {
  int out = 0;
  const std::string what = KVR_ERROR_OF(two_calls, 1, kWarpSize, &out);
  CHECK_THAT(what, ContainsSubstring("at " + at(kTwoCallsLine) + " is never reached by lane 1"));
  CHECK_THAT(what, ContainsSubstring("which waits in __shfl_sync(mask " + mask_text(kFullMask) + ") at " +
                                     at(kTwoCallsLine + 2)));
}

constexpr int kBarrierLine = __LINE__ + 3;
__global__ void barrier_after_return() {
  if (threadIdx.y == 1 && threadIdx.x == 3) return;
  __syncthreads();
}

TEST_CASE(KVR_NAME("a barrier that one thread never reaches because it has returned")) {
  const std::string what = KVR_ERROR_OF(barrier_after_return, 1, dim3(kWarpSize, 3));
  CHECK(what == "barrier_after_return: block (0,0,0), thread (0,0,0) (warp 0, lane 0): __syncthreads() at " +
                    at(kBarrierLine) +
                    " is never reached by thread (3,1,0), which has returned from the kernel");
}

constexpr int kTwoBarriersLine = __LINE__ + 3;
__global__ void two_barriers() {
  if (threadIdx.x < 40) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST_CASE(KVR_NAME("a barrier in two branches is two barriers")) {
  const std::string what = KVR_ERROR_OF(two_barriers, 1, 128);
  CHECK_THAT(what,
             ContainsSubstring("__syncthreads() at " + at(kTwoBarriersLine) +
                               " is never reached by thread (40,0,0), which waits in __syncthreads() at " +
                               at(kTwoBarriersLine + 2)));
}

__global__ void barrier_against_warp() {
  if (threadIdx.x >= kWarpSize) {
    if (threadIdx.x % 2 == 0) __syncwarp(kFullMask);
  }
  __syncthreads();
}

TEST_CASE(KVR_NAME("threads at a barrier while others wait at a collective that cannot complete")) {
  const std::string what = KVR_ERROR_OF(barrier_against_warp, 1, 2 * kWarpSize);
  CHECK_THAT(what, ContainsSubstring("thread (0,0,0) (warp 0, lane 0): __syncthreads()"));
  CHECK_THAT(what, ContainsSubstring("never reached by thread (" + std::to_string(kWarpSize) +
                                     ",0,0), which waits in __syncwarp(mask"));
}

__global__ void bad_width(int width) {
  __shfl_sync(kFullMask, 1, 0, width);
}

TEST_CASE(KVR_NAME("a shuffle width that is no power of two, or wider than the warp")) {
  for (const int width : {0, 3, 2 * kWarpSize, -4}) {
    const std::string what = KVR_ERROR_OF(bad_width, 1, kWarpSize, width);
    CHECK_THAT(what, ContainsSubstring("__shfl_sync(mask " + mask_text(kFullMask) + ") at errors_test.cpp:"));
    CHECK_THAT(what, ContainsSubstring("has a width that is not a power of two within the warp"));
  }
}

constexpr int kGroupLine = __LINE__ + 2;
__global__ void broken_group(float* out) {
  *out = group_sum<16>(1.0F);
}

TEST_CASE(KVR_NAME("a group reduction whose group the block cuts, named at the kernel's line")) {
  float out = 0.0F;
  const std::string what = KVR_ERROR_OF(broken_group, 1, 24, &out);
  CHECK_THAT(what, ContainsSubstring("thread (16,0,0) (warp 0, lane 16): group_sum(mask"));
  CHECK_THAT(what, ContainsSubstring(at(kGroupLine) + " needs whole groups of lanes"));
}

constexpr int kHelperLine = __LINE__ + 4;
__global__ void helper_in_branch(float* out) {
  __shared__ float scratch[32];
  if (threadIdx.x < 32) {
    *out = block_sum(1.0F, scratch);
  }
}

TEST_CASE(KVR_NAME("a block reduction in a branch is named at the kernel's line")) {
  float out = 0.0F;
  const std::string what = KVR_ERROR_OF(helper_in_branch, 1, 128, &out);
  CHECK_THAT(what, ContainsSubstring("block_sum() at " + at(kHelperLine) +
                                     " is never reached by thread (32,0,0), which has returned"));
}

__global__ void throws() {
  if (threadIdx.x == 2) throw std::runtime_error("out of ideas");
  __syncthreads();
}

TEST_CASE(KVR_NAME("a kernel that throws")) {
  const std::string what = KVR_ERROR_OF(throws, 1, 8);
  CHECK(what == "throws: block (0,0,0), thread (2,0,0) (warp 0, lane 2): the kernel threw: out of ideas");
}

template <int A, int B>
__global__ void template_kernel() {
  if (threadIdx.x != 0) __syncthreads();
}

TEST_CASE(KVR_NAME("a kernel template is named as it was launched, without the parentheses")) {
  CHECK_THAT(KVR_ERROR_OF((template_kernel<1, 2>), 1, 2),
             Catch::Matchers::StartsWith("template_kernel<1, 2>: block (0,0,0)"));
}

std::atomic<int> alive = 0;
struct Alive {
  Alive() { ++alive; }
  ~Alive() { --alive; }
};
__global__ void holds_objects() {
  const Alive here;
  if (threadIdx.x == 100) return;
  __syncthreads();
}

TEST_CASE(KVR_NAME("lanes of a failed block are unwound")) {
  alive = 0;
  (void)KVR_ERROR_OF(holds_objects, 5, 128);
  CHECK(alive == 0);
}

__global__ void some_blocks_fail(int* ran) {
  if (threadIdx.x == 0) atomicAdd(ran + blockIdx.x, 1);
  if (blockIdx.x % 10 == 7 && threadIdx.x == 1) return;
  __syncthreads();
}

TEST_CASE(KVR_NAME(
    "the error of the lowest block is reported, whatever the number of host threads and the schedule")) {
  using Kind = simt::Schedule::Kind;
  for (const int threads : {1, 2, 8}) {
    for (const Kind kind : {Kind::forward, Kind::reverse, Kind::random}) {
      TestDevice device(threads, {kind, 3});
      std::vector<int> ran(1000, 0);
      REQUIRE(KVR_LAUNCH(some_blocks_fail, 1000, 64, 0, &device, ran.data()).ok());
      CHECK_THAT(device.synchronize().what,
                 ContainsSubstring("some_blocks_fail: block (7,0,0), thread (0,0,0)"));
      for (std::size_t b = 0; b < 8; ++b) CHECK(ran[b] == 1);  // everything up to the error has run
    }
  }
}

// ---- wild accesses

__global__ void writes_at(float* base, std::int64_t element) {
  if (blockIdx.x == 1 && threadIdx.x == 3) base[element] = 1.0F;
  __syncthreads();  // the others wait here for a lane that never comes
}

__global__ void reads_at(const float* base, std::int64_t element, float* out) {
  *out = base[element];
}

// What UBSan would stop at is what the machine must report.
__attribute__((no_sanitize("integer-divide-by-zero"))) __global__ void divides(int* out, int by) {
  *out = 7 / by;
}

__attribute__((noinline)) int deep(int n) {
  volatile char frame[512] = {};
  frame[n % 512] = 1;
  return n == 0 ? frame[0] : deep(n - 1) + frame[n % 512];
}
__global__ void overflows_the_stack(int* out) {
  *out = deep(100000);
}

// 256 bytes with 8 MiB around them that nobody may touch.
class Island {
 public:
  Island()
      : sea_(::mmap(nullptr, 2 * kSea, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        land_(static_cast<std::byte*>(sea_) + kSea) {
    REQUIRE(sea_ != MAP_FAILED);
    REQUIRE(::mprotect(land_, 4096, PROT_READ | PROT_WRITE) == 0);
  }
  ~Island() { ::munmap(sea_, 2 * kSea); }
  Island(const Island&) = delete;
  Island& operator=(const Island&) = delete;
  float* floats() const { return reinterpret_cast<float*>(land_); }

 private:
  static constexpr std::size_t kSea = std::size_t{8} << 20;
  void* sea_;
  std::byte* land_;
};

TEST_CASE(KVR_NAME("a wild write names thread, tensor and offset, and the device lives on")) {
  const Island island;
  float* const x = island.floats();
  TestDevice device;
  device.memory().add(x, 256, "x");
  for (int again = 0; again < 3; ++again) {
    REQUIRE(KVR_LAUNCH(writes_at, 4, 2 * kWarpSize, 0, &device, x, std::int64_t{1} << 20).ok());
    CHECK(device.synchronize().what ==
          "writes_at: block (1,0,0), thread (3,0,0) (warp 0, lane 3): illegal write to 'x' + 4194304 bytes "
          "(it has 256)");
    REQUIRE(KVR_LAUNCH(writes_at, 4, 2 * kWarpSize, 0, &device, x, std::int64_t{5}).ok());
    CHECK(device.synchronize().ok());
    CHECK(x[5] == 1.0F);
  }
}

TEST_CASE(
    KVR_NAME("a wild read in front of a tensor, by every thread of every block, on several host threads")) {
  const Island island;
  const float* const x = island.floats();
  float out = 0.0F;
  TestDevice device(4);
  device.memory().add(x, 256, "x");
  REQUIRE(KVR_LAUNCH(reads_at, 16, 64, 0, &device, x, std::int64_t{-2048}, &out).ok());
  CHECK(device.synchronize().what ==
        "reads_at: block (0,0,0), thread (0,0,0) (warp 0, lane 0): illegal read of 'x' - 8192 bytes (it has "
        "256)");
}

TEST_CASE(KVR_NAME("an integer division by zero and a stack overflow are errors too")) {
  int out = 0;
  CHECK_THAT(KVR_ERROR_OF(divides, 1, 32, &out, 0),
             ContainsSubstring("thread (0,0,0)") && ContainsSubstring("integer division by zero"));
  CHECK_THAT(KVR_ERROR_OF(overflows_the_stack, 1, 1, &out), ContainsSubstring("illegal write"));
}

}  // namespace
}  // namespace kvr::KVR_BUILD
