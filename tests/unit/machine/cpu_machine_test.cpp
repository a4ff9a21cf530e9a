// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <cstring>
#include <stdexcept>

#include "harness/machine/machine.h"
#include "harness/simt/device.h"

namespace kvr {
namespace {

struct ProbeArgs {
  std::int64_t block = 32;
  int* out = nullptr;
};

// A kernel in the shape KVR_LAUNCH gives it, for both builds.
template <int WarpSize>
LaunchStatus launch_probe(const ProbeArgs& args, Stream stream) {
  if (args.out == nullptr) return LaunchStatus::refused("out is null");
  simt::LaunchRequest request;
  request.kernel = "probe";
  request.warp_size = WarpSize;
  request.block = {args.block, 1, 1};
  request.thread_main = [](const void* data) { ++*static_cast<const ProbeArgs*>(data)->out; };
  request.thread_data = &args;
  return simt::launch(static_cast<simt::Device*>(stream), request);
}

template <int WarpSize>
bool register_probe(const char* build) {
  return register_kernel(
      {"probe", build, "", std::type_index(typeid(ProbeArgs)),
       reinterpret_cast<void (*)()>(static_cast<Launcher<ProbeArgs>>(&launch_probe<WarpSize>))});
}
const bool registered = register_probe<32>("warp32") && register_probe<64>("warp64");

TEST_CASE("the cpu build has two machines, and both in strict mode") {
  const std::vector<MachineInfo> machines = list_machines();
  REQUIRE(machines.size() == 4);
  CHECK(machines[2].properties.name == "cpu:warp32+strict");
  CHECK(machines[2].properties.build == "warp32_strict");
  CHECK(machines[2].properties.strict);
  CHECK(machines[3].properties.name == "cpu:warp64+strict");
  CHECK(machines[3].properties.warp_size == 64);
  // Built or not, it says so.
  CHECK(machines[2].present == machines[2].why.empty());
  const MachineProperties& a = machines[0].properties;
  CHECK(a.name == "cpu:warp32");
  CHECK(a.platform == "cpu");
  CHECK(a.build == "warp32");
  CHECK(a.arch == "emulated-warp32");
  CHECK(a.warp_size == 32);
  CHECK((a.fp8.encoding == DType::e4m3fn && a.fp8.max == 448.0F));
  CHECK(a.max_threads_per_block == 1024);
  CHECK(a.max_grid[1] == 65535);
  CHECK(a.shared_bytes_per_block == 49152);
  CHECK(a.memory_bytes > 0);
  CHECK(machines[0].present);
  const MachineProperties& b = machines[1].properties;
  CHECK(b.name == "cpu:warp64");
  CHECK(b.build == "warp64");
  CHECK(b.arch == "emulated-warp64");
  CHECK(b.warp_size == 64);
  CHECK((b.fp8.encoding == DType::e4m3fnuz && b.fp8.max == 224.0F));
  CHECK(b.shared_bytes_per_block == 65536);
}

TEST_CASE("a machine launches the build that belongs to it and reports what the launch says") {
  REQUIRE(registered);
  for (const char* name : {"cpu:warp32", "cpu:warp64"}) {
    const std::unique_ptr<Machine> machine = open_machine(name, {.threads = 1});
    CHECK(machine->name() == name);
    int out = 0;
    CHECK(machine->launch("probe", ProbeArgs{100, &out}).ok());
    CHECK(out == 100);
    const LaunchStatus refused = machine->launch("probe", ProbeArgs{});
    CHECK(refused.kind == LaunchStatus::Kind::refused);
    CHECK(refused.what == "out is null");
    const LaunchStatus error = machine->launch("probe", ProbeArgs{1500, &out});
    CHECK(error.kind == LaunchStatus::Kind::error);
    CHECK(error.what == "probe: block of 1500 threads exceeds 1024");
    CHECK_THROWS_AS(machine->launch("probe", 5), std::logic_error);
    CHECK_THROWS_AS(machine->launch("nothing", ProbeArgs{}), std::logic_error);
  }
}

TEST_CASE("device memory is a guarded copy") {
  const std::unique_ptr<Machine> machine = open_machine("cpu:warp32");
  const TensorSpec spec = TensorSpec::contiguous("t", DType::f32, {3, 4}).with_row_stride(INT64_C(1) << 30);
  HostAllocation from(spec, spec.addressed());
  HostAllocation to(spec, spec.addressed());
  from.poison(std::byte{0xFF});
  to.poison(std::byte{0x7F});
  auto* values = reinterpret_cast<float*>(from.data());
  values[0] = 1.5F;
  values[2 * (INT64_C(1) << 30) + 3] = 2.5F;
  const auto memory = machine->allocate(spec, spec.addressed(), Placement::guarded);
  memory->upload(from);
  CHECK(memory->data() != from.data());
  CHECK(static_cast<float*>(memory->data())[2 * (INT64_C(1) << 30) + 3] == 2.5F);
  memory->download(to);
  REQUIRE(to.committed() == from.committed());
  for (const ByteRange& range : to.committed()) {
    CHECK(std::memcmp(to.data() + range.begin, from.data() + range.begin,
                      static_cast<std::size_t>(range.end - range.begin)) == 0);
  }
}

TEST_CASE("options that make no sense are refused") {
  CHECK_THROWS_WITH(open_machine("cpu:warp32", {.schedule = {"sideways"}}),
                    "unknown schedule 'sideways'; known: forward, reverse, round_robin, ahead, last, random");
  CHECK_THROWS_WITH(open_machine("cpu:warp32", {.traffic = true}),
                    "traffic: cpu:warp32 counts none; strict machines do");
  CHECK_THROWS_WITH(open_machine("cpu:warp32", {.threads = -1}),
                    "threads must be 0 (all cores) or more, not -1");
}

}  // namespace
}  // namespace kvr
