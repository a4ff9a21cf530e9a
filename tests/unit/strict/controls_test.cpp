// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Positive controls: every faulty kernel is reported with its class and its line, every correct twin is
// silent, on both warp sizes and whatever the schedule.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "harness/machine/machine.h"
#include "tests/unit/strict/controls.h"

namespace kvr {
namespace {

struct Expectation {
  Control control;
  const char* name;
  const char* finding;  // its class
  const char* names;    // tensor or variable that the report must name
  bool warp64_only = false;
};

const std::vector<Expectation> kExpectations{
    {Control::tail_store, "tail_store", "bounds", "'out'"},
    {Control::negative_slot, "negative_slot", "bounds", "'out'"},
    {Control::shared_end, "shared_end", "bounds", "'scratch'"},
    {Control::dynamic_shared_end, "dynamic_shared_end", "bounds", "dynamic shared memory byte 512"},
    {Control::wrapped, "wrapped", "bounds", "outside every tensor"},
    {Control::host_heap, "host_heap", "bounds", "outside every tensor"},
    {Control::global_vector, "global_vector", "misaligned", "'in' element 2 (byte 8)"},
    {Control::shared_vector, "shared_vector", "misaligned", "dynamic shared memory byte 24"},
    {Control::shared_unwritten, "shared_unwritten", "uninitialised read", "'total'"},
    {Control::masked_maximum, "masked_maximum", "uninitialised read", "'values' byte 160"},
    {Control::output_read, "output_read", "uninitialised read", "'out'"},
    {Control::scratch_reused, "scratch_reused", "race", "'scratch'"},
    {Control::missing_syncwarp, "missing_syncwarp", "",
     "'values'"},  // a race, or uninitialised where the reader came first
    {Control::two_writers, "two_writers", "race", "'out'"},
    {Control::next_row, "next_row", "race", "'out' element 38 (byte 152)"},
    {Control::read_other_block, "read_other_block", "race", "'out' element 0 (byte 0)"},
    {Control::branch_shuffle, "branch_shuffle", "divergence", "__shfl_xor_sync"},
    {Control::branch_barrier, "branch_barrier", "divergence", "__syncthreads"},
    {Control::narrow_mask, "narrow_mask", "divergence", "mask 0x00000000ffffffff", true},
    {Control::rows_of_32, "rows_of_32", "divergence", "mask 0x00000000ffffffff", true},
    {Control::grid_y, "grid_y", "launch limit", "grid y of 65536 exceeds 65535"},
    {Control::block_threads, "block_threads", "launch limit", "block of 1056 threads exceeds 1024"},
    {Control::shared_size, "shared_size", "launch limit", "shared memory of 65552 bytes exceeds"},
};

// "controls.cu:42" for the marked lines.
std::vector<std::string> marked_lines(const std::string& name) {
  std::ifstream file(KVR_CONTROLS_SOURCE);
  REQUIRE(file);
  std::vector<std::string> lines;
  std::string text;
  for (int line = 1; std::getline(file, text); ++line) {
    const std::size_t mark = text.find("// finds:");
    if (mark != std::string::npos && (text.substr(mark) + " ").find(" " + name + " ") != std::string::npos)
      lines.push_back(fmt::format("controls.cu:{}", line));
  }
  return lines;
}

struct Bench {
  explicit Bench(const std::string& machine_name, const std::string& schedule = "forward",
                 std::uint64_t seed = 0) {
    MachineOptions options;
    options.schedule = {schedule, seed};
    machine = open_machine(machine_name, options);
  }

  LaunchStatus run(Control control, bool faulty, const char* kernel = "strict_control",
                   const std::string& fault = "") {
    ControlArgs args;
    args.control = control;
    args.faulty = faulty;
    // 38 columns: the last vector of 4 reaches 2 elements beyond the row.
    if (control == Control::tail_store || control == Control::next_row) args.width = 38;
    if (control == Control::next_row) args.pitch = 38;
    if (control == Control::rows_of_32) args.width = 128, args.pitch = 128;
    const auto tensor = [&](const char* name, DType dtype, std::vector<std::int64_t> shape,
                            std::int64_t pitch) {
      TensorSpec spec = TensorSpec::contiguous(name, dtype, std::move(shape));
      return pitch == 0 ? spec : spec.with_row_stride(pitch);
    };
    const TensorSpec in = tensor("in", DType::f32, {args.rows, args.width}, args.pitch);
    const TensorSpec out = tensor("out", DType::f32, {args.rows + 1, args.width}, args.pitch);
    const TensorSpec slots = tensor("slots", DType::int64, {args.rows}, 0);
    Memory a(*machine, in), b(*machine, out), c(*machine, slots);
    a.host.poison(std::byte{0});
    c.host.poison(std::byte{0});
    reinterpret_cast<std::int64_t*>(c.host.data())[1] = -1;
    a.upload(in, true);
    b.upload(out, false);
    c.upload(slots, true);
    args.in = static_cast<const float*>(a.device->data());
    args.out = static_cast<float*>(b.device->data());
    args.slots = static_cast<const std::int64_t*>(c.device->data());
    args.heap = heap.data();
    return machine->launch(kernel, args, fault);
  }

  struct Memory {
    Memory(Machine& machine, const TensorSpec& spec)
        : host(spec, {{0, spec.bytes()}}),
          device(machine.allocate(spec, {{0, spec.bytes()}}, Placement::guarded)) {}
    void upload(const TensorSpec& spec, bool initialised) const {
      device->upload(host);
      device->describe_contents(spec.addressed(), initialised);
    }
    HostAllocation host;
    std::unique_ptr<DeviceMemory> device;
  };
  std::unique_ptr<Machine> machine;
  std::vector<float> heap = std::vector<float>(4, 1.0F);
};

TEST_CASE("every positive control is reported with its class, its line and what it touched") {
  const std::string machine = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  const std::string schedule = GENERATE("forward", "reverse", "random");
  Bench bench(machine, schedule, 7);
  for (const Expectation& want : kExpectations) {
    if (want.warp64_only && machine == "cpu:warp32+strict") continue;
    const LaunchStatus status = bench.run(want.control, true);
    INFO(machine << ", " << schedule << ", " << want.name << ": " << status.what);
    CHECK(status.kind == LaunchStatus::Kind::error);
    CHECK(status.what.starts_with(want.finding));
    if (*want.finding == '\0')
      CHECK((status.what.starts_with("race: ") || status.what.starts_with("uninitialised read: ")));
    CHECK(status.what.find(want.names) != std::string::npos);
    for (const std::string& line : marked_lines(want.name)) {
      INFO(line);
      CHECK(status.what.find(line) != std::string::npos);
    }
    if (std::string_view(want.finding) != "launch limit")
      CHECK(status.what.find("block (") != std::string::npos);
  }
}

TEST_CASE("their correct twins are silent") {
  const std::string machine = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  const std::string schedule = GENERATE("forward", "reverse", "random");
  Bench bench(machine, schedule, 7);
  for (const Expectation& want : kExpectations) {
    const LaunchStatus status = bench.run(want.control, false);
    INFO(machine << ", " << schedule << ", " << want.name << ": " << status.what);
    CHECK(status.ok());
  }
}

TEST_CASE("every class has two controls or more") {
  std::map<std::string, int> controls;
  for (const Expectation& want : kExpectations) ++controls[want.finding];
  for (const char* finding :
       {"bounds", "misaligned", "uninitialised read", "race", "divergence", "launch limit"}) {
    INFO(finding);
    CHECK(controls[finding] >= 2);
  }
}

TEST_CASE(
    "a kernel's own stack, constants, captured arguments and the machine's state are nobody's business") {
  const std::string machine = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  const std::string schedule = GENERATE("forward", "reverse", "round_robin", "random");
  const LaunchStatus status = Bench(machine, schedule, 7).run(Control::host_memory, false);
  INFO(status.what);
  CHECK(status.ok());
}

TEST_CASE("removing any barrier of our kernels is reported, and as they stand they are silent") {
  const std::string machine = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  const std::string schedule = GENERATE("forward", "reverse", "random");
  Bench bench(machine, schedule, 3);
  const LaunchStatus whole = bench.run(Control::two_writers, false, "strict_barriers");
  INFO(whole.what);
  CHECK(whole.ok());
  for (int n = 1; n <= KVR_BARRIERS; ++n) {
    const LaunchStatus status =
        bench.run(Control::two_writers, false, "strict_barriers", fmt::format("without_barrier_{}", n));
    INFO(machine << ", " << schedule << ", barrier " << n << ": " << status.what);
    CHECK(status.kind == LaunchStatus::Kind::error);
    // A race; or, where the reader comes first, a read of what nobody has written yet.
    CHECK((status.what.starts_with("race: ") || status.what.starts_with("uninitialised read: ")));
    CHECK(status.what.find("shared 'scratch'") != std::string::npos);
    CHECK(status.what.find("(in warp.h:") != std::string::npos);
  }
}

}  // namespace
}  // namespace kvr
