// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Launch limits, as NVIDIA's (compute capability 7.5 to 12: "Technical Specifications per Compute
// Capability") and AMD's devices have them.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <string>

#include "harness/simt/device.h"

namespace kvr::simt {
namespace {

LaunchStatus launch_shape(const Limits& limits, const Extents& grid, const Extents& block,
                          std::int64_t shared = 0) {
  Device device(limits, 1, {});
  LaunchRequest request;
  request.kernel = "k";
  request.warp_size = limits.warp_size;
  request.grid = grid;
  request.block = block;
  request.shared_bytes = shared;
  request.thread_main = [](const void*) {};
  return device.launch(request);
}

TEST_CASE("what a device can launch") {
  CHECK(launch_shape(Limits::warp32(), {1, 1, 1}, {1024, 1, 1}).ok());
  CHECK(launch_shape(Limits::warp32(), {1, 1, 1}, {16, 1, 64}).ok());
  CHECK(launch_shape(Limits::warp32(), {1, 65535, 1}, {1, 1, 1}).ok());
  CHECK(launch_shape(Limits::warp32(), {1, 1, 65535}, {1, 1, 1}).ok());
  CHECK(launch_shape(Limits::warp32(), {1, 1, 1}, {1, 1, 1}, 49152).ok());
  CHECK(launch_shape(Limits::warp64(), {1, 1, 1}, {1, 1, 1}, 65536).ok());
}

TEST_CASE("what a device cannot launch is an error that names the value and the limit") {
  struct Row {
    Extents grid, block;
    std::int64_t shared;
    const char* what;
  };
  const Row row = GENERATE(values<Row>({
      {{1, 1, 1}, {1025, 1, 1}, 0, "k: block of 1025 threads exceeds 1024"},
      {{1, 1, 1}, {32, 33, 1}, 0, "k: block of 1056 threads exceeds 1024"},
      {{1, 1, 1}, {1, 1, 65}, 0, "k: block z of 65 exceeds 64"},
      {{1, 1, 1}, {INT64_C(1) << 62, 2, 2}, 0, "k: block x of 4611686018427387904 exceeds 1024"},
      {{1, 1, 1}, {0, 1, 1}, 0, "k: block x of 0 is empty"},
      {{1, 1, 1}, {1, -1, 1}, 0, "k: block y of -1 is empty"},
      {{0, 1, 1}, {1, 1, 1}, 0, "k: grid x of 0 is empty"},
      {{1, 1, 0}, {1, 1, 1}, 0, "k: grid z of 0 is empty"},
      {{2147483648, 1, 1}, {1, 1, 1}, 0, "k: grid x of 2147483648 exceeds 2147483647"},
      {{1, 65536, 1}, {1, 1, 1}, 0, "k: grid y of 65536 exceeds 65535"},
      {{1, 1, 65536}, {1, 1, 1}, 0, "k: grid z of 65536 exceeds 65535"},
      {{1, 1, 1}, {1, 1, 1}, 49153, "k: shared memory of 49153 bytes exceeds 49152"},
      {{1, 1, 1}, {1, 1, 1}, -1, "k: shared memory of -1 bytes is negative"},
  }));
  const LaunchStatus status = launch_shape(Limits::warp32(), row.grid, row.block, row.shared);
  CHECK(status.kind == LaunchStatus::Kind::error);
  CHECK(status.what == row.what);
}

TEST_CASE("schedules are known by name") {
  CHECK(Schedule::parse("forward", 0).kind == Schedule::Kind::forward);
  CHECK(Schedule::parse("reverse", 0).kind == Schedule::Kind::reverse);
  CHECK(Schedule::parse("random", 9).kind == Schedule::Kind::random);
  CHECK(Schedule::parse("random", 9).seed == 9);
  CHECK(Schedule::parse("round_robin", 0).kind == Schedule::Kind::round_robin);
  CHECK(Schedule::parse("ahead", 2).kind == Schedule::Kind::ahead);
  CHECK(Schedule::parse("last", 2).kind == Schedule::Kind::last);
  for (const char* name : {"forward", "reverse", "round_robin", "ahead", "last", "random"})
    CHECK(Schedule::parse(name, 0).name() == name);
  CHECK_THROWS_WITH(
      Schedule::parse("backwards", 0),
      "unknown schedule 'backwards'; known: forward, reverse, round_robin, ahead, last, random");
}

TEST_CASE("a negative number of host threads is refused") {
  CHECK_THROWS_WITH(Device(Limits::warp32(), -2, {}), "threads must be 0 (all cores) or more, not -2");
}

}  // namespace
}  // namespace kvr::simt
