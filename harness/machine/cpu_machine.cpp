// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The machines of a cpu build: two emulated GPUs that differ in warp size, fp8 format and limits.
#include <unistd.h>

#include <cstring>
#include <utility>

#include "harness/machine/platform.h"
#include "harness/simt/device.h"

namespace kvr {
namespace {

simt::Limits limits_of(int warp_size) {
  return warp_size == 32 ? simt::Limits::warp32() : simt::Limits::warp64();
}

MachineProperties emulated(int warp_size) {
  const simt::Limits limits = limits_of(warp_size);
  MachineProperties properties;
  properties.build = "warp" + std::to_string(warp_size);
  properties.name = "cpu:" + properties.build;
  properties.platform = "cpu";
  properties.arch = "emulated-" + properties.build;
  properties.device = "SIMT machine in software";
  properties.warp_size = warp_size;
  properties.fp8 = warp_size == 32 ? kE4m3fn : kE4m3fnuz224;
  properties.max_threads_per_block = limits.threads_per_block;
  for (std::size_t axis = 0; axis < 3; ++axis) properties.max_grid[axis] = limits.grid[axis];
  properties.shared_bytes_per_block = limits.shared_bytes;
  properties.memory_bytes = static_cast<std::int64_t>(::sysconf(_SC_AVPHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return properties;
}

// Guarded host memory of the same shape: a kernel's wild access faults or shows in the guards.
class CpuMemory final : public DeviceMemory {
 public:
  // `map` must outlive the memory: errors name the tensor through it.
  CpuMemory(const TensorSpec& spec, const std::vector<ByteRange>& committed, Placement placement,
            simt::MemoryMap& map)
      : memory_(spec, committed, placement), map_(map) {
    map_.add(memory_.data(), memory_.bytes(), spec.name);
  }
  ~CpuMemory() override { map_.remove(memory_.data()); }
  CpuMemory(const CpuMemory&) = delete;
  CpuMemory& operator=(const CpuMemory&) = delete;

  void* data() override { return memory_.data(); }
  void upload(const HostAllocation& from, std::span<const ByteRange> ranges) override {
    copy(from, memory_, ranges);
  }
  void download(const HostAllocation& to, std::span<const ByteRange> ranges) override {
    copy(memory_, to, ranges);
  }

 private:
  static void copy(const HostAllocation& from, const HostAllocation& to, std::span<const ByteRange> ranges) {
    for (const ByteRange& range : ranges) {
      std::memcpy(to.data() + range.begin, from.data() + range.begin,
                  static_cast<std::size_t>(range.end - range.begin));
    }
  }
  HostAllocation memory_;
  simt::MemoryMap& map_;
};

class CpuMachine final : public Machine {
 public:
  CpuMachine(MachineProperties properties, const MachineOptions& options)
      : Machine(std::move(properties)),
        device_(limits_of(properties_.warp_size), options.threads,
                simt::Schedule::parse(options.schedule, options.schedule_seed)) {}

  std::unique_ptr<DeviceMemory> allocate(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                                         Placement placement) override {
    return std::make_unique<CpuMemory>(spec, committed, placement, device_.memory());
  }

 protected:
  Stream stream() override { return &device_; }
  LaunchStatus synchronize() override { return device_.synchronize(); }

 private:
  simt::Device device_;
};

}  // namespace

std::vector<MachineInfo> platform_machines() {
  std::vector<MachineInfo> machines(2);
  machines[0].properties = emulated(32);
  machines[1].properties = emulated(64);
  return machines;
}

std::unique_ptr<Machine> open_platform_machine(const MachineInfo& info, const MachineOptions& options) {
  return std::make_unique<CpuMachine>(info.properties, options);
}

}  // namespace kvr
