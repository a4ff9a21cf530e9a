// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Strict mode pays for what a launch touches, not for the addresses in between.
#include "harness/strict/shadow.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fstream>
#include <string>

#include "harness/machine/machine.h"
#include "tests/unit/strict/controls.h"

namespace kvr {
namespace {

TEST_CASE("shadow pages exist where something was touched") {
  strict::Shadow shadow;
  constexpr std::uint64_t kStride = (std::uint64_t{1} << 31) * sizeof(float);
  for (std::uint64_t row = 0; row < 4; ++row) {
    std::size_t count = 0;
    shadow.page(row * kStride / strict::ShadowPage::kBytes).records(0, 16, count);
    CHECK(count == 1);
  }
  CHECK(shadow.page_count() == 4);
}

TEST_CASE("a page keeps a record per 16 bytes until a smaller access comes along") {
  strict::ShadowPage page;
  std::size_t count = 0;
  page.records(0, 4096, count);
  CHECK(page.record_bytes() == 16);
  CHECK(count == 256);
  page.records(32, 2, count);
  CHECK(page.record_bytes() == 2);
  CHECK(count == 1);
  page.records(0, 4096, count);
  CHECK(count == 2048);
}

// Resident memory of this process in KiB.
std::int64_t resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    std::int64_t kib = 0;
    status >> kib;
    return kib;
  }
  return -1;
}

TEST_CASE("rows 2^31 elements apart are checked, and cost what three rows cost") {
  const std::string name = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  MachineOptions options;
  options.traffic = true;
  const std::unique_ptr<Machine> machine = open_machine(name, options);
  ControlArgs args;
  args.control = Control::strided_rows;
  args.rows = 3;
  args.width = 32;
  args.pitch = std::int64_t{1} << 31;  // 8 GiB between rows
  const TensorSpec in = TensorSpec::contiguous("in", DType::f32, {3, 32}).with_row_stride(args.pitch);
  TensorSpec out = in;
  out.name = "out";
  const std::vector<ByteRange> rows = in.addressed();
  const auto a = machine->allocate(in, rows, Placement::guarded);
  const auto b = machine->allocate(out, rows, Placement::guarded);
  a->describe_contents(rows, true);
  b->describe_contents(rows, false);
  args.in = static_cast<const float*>(a->data());
  args.out = static_cast<float*>(b->data());
  const std::int64_t before = resident();
  REQUIRE(before > 0);
  const LaunchStatus status = machine->launch("strict_control", args);
  INFO(status.what);
  CHECK(status.ok());
  CHECK(resident() - before < 16 * 1024);  // 16 GiB lie between the first byte and the last
  const LaunchTraffic traffic = machine->take_traffic();
  REQUIRE(traffic.tensors.size() == 2);
  CHECK(traffic.tensors[0].unique_bytes == 3 * 32 * 4);
  CHECK(traffic.tensors[1].unique_bytes == 3 * 32 * 4);
  // And the gap is out of bounds.
  args.faulty = true;
  CHECK(machine->launch("strict_control", args).what.starts_with("bounds: "));
}

}  // namespace
}  // namespace kvr
