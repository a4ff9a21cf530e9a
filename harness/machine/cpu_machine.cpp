// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The machines of a cpu build: two emulated GPUs that differ in warp size, fp8 format and limits, and both
// again in strict mode, where that was built.
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>

#include "harness/machine/platform.h"
#include "harness/simt/device.h"
#include "harness/simt/state.h"
#if defined(KVR_HAS_STRICT)
#include "harness/strict/checker.h"
#endif

namespace kvr {
namespace {

simt::Limits limits_of(int warp_size) {
  return warp_size == 32 ? simt::Limits::warp32() : simt::Limits::warp64();
}

MachineProperties emulated(int warp_size, bool strict) {
  const simt::Limits limits = limits_of(warp_size);
  MachineProperties properties;
  properties.build = "warp" + std::to_string(warp_size);
  properties.name = "cpu:" + properties.build + (strict ? "+strict" : "");
  properties.platform = "cpu";
  properties.arch = "emulated-" + properties.build;
  if (strict) properties.build += "_strict";
  properties.strict = strict;
  properties.device = strict ? "SIMT machine in software, every access checked" : "SIMT machine in software";
  properties.warp_size = warp_size;
  properties.fp8 = warp_size == 32 ? kE4m3fn : kE4m3fnuz224;
  properties.max_threads_per_block = limits.threads_per_block;
  for (std::size_t axis = 0; axis < 3; ++axis) properties.max_grid[axis] = limits.grid[axis];
  properties.shared_bytes_per_block = limits.shared_bytes;
  properties.memory_bytes = static_cast<std::int64_t>(::sysconf(_SC_AVPHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  return properties;
}

constexpr const char* kContracted = "_contracted";  // what a contracted build's name ends in

// Kernels with contraction are compiled for CPUs that have the instruction: on x86 those since 2013,
// elsewhere all.
bool has_fused_multiply_add() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

// Guarded host memory of the same shape: a kernel's wild access faults or shows in the guards.
class CpuMemory final : public DeviceMemory {
 public:
  // `map` must outlive the memory: errors name the tensor through it.
  CpuMemory(const TensorSpec& spec, const std::vector<ByteRange>& committed, Placement placement,
            simt::MemoryMap& map, std::shared_ptr<MappingPool> pool)
      : memory_(spec, committed, placement, std::move(pool)), map_(map) {
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
  const HostAllocation* on_host() const override { return &memory_; }

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

class CpuMachine : public Machine {
 public:
  CpuMachine(MachineProperties properties, const MachineOptions& options)
      : Machine(std::move(properties)),
        device_(limits_of(properties_.warp_size), options.threads,
                simt::Schedule::parse(options.schedule.name, options.schedule.seed)),
        envelope_(options.envelope) {}

  void set_envelope(std::optional<std::uint64_t> seed) override {
    if (!envelope_) return;
    const std::uint64_t point = !seed ? 0 : *seed < UINT64_MAX ? *seed + 1 : UINT64_MAX;  // 0 is off
    device_.set_envelope_seed(point);
    contracted_ = seed && (simt::envelope_draw(point, 0) & 1) != 0;
  }
  std::string envelope_gap(std::string_view kernel, std::string_view fault) const override {
    if (properties_.strict) return "contraction: strict machines have one build of each kernel";
    if (!fault.empty()) return "contraction: faults have one build";
    if (!has_kernel(kernel, properties_.build + kContracted))
      return "contraction: the kernel was built without it (KVR_BUILD_CONTRACTED)";
    if (!has_fused_multiply_add()) return "contraction: this CPU has no fused multiply-add";
    return "";
  }
  void set_schedule(const ScheduleChoice& schedule) override {
    device_.set_schedule(simt::Schedule::parse(schedule.name, schedule.seed));
  }
  std::vector<ScheduleChoice> other_schedules(int random) const override {
    std::vector<ScheduleChoice> schedules;
    const auto add = [&schedules](simt::Schedule::Kind kind, int seed) {
      schedules.push_back({std::string(simt::Schedule{kind, 0}.name()), static_cast<std::uint64_t>(seed)});
    };
    add(simt::Schedule::Kind::round_robin, 0);
    add(simt::Schedule::Kind::reverse, 0);
    for (int warp = 0; warp < device_.most_warps(); ++warp) {
      add(simt::Schedule::Kind::ahead, warp);
      add(simt::Schedule::Kind::last, warp);
    }
    for (int seed = 1; seed <= random; ++seed) add(simt::Schedule::Kind::random, seed);
    return schedules;
  }
  std::unique_ptr<DeviceMemory> allocate(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                                         Placement placement) override {
    return std::make_unique<CpuMemory>(spec, committed, placement, device_.memory(), pool_);
  }

 protected:
  Stream stream() override { return &device_; }
  LaunchStatus synchronize() override { return device_.synchronize(); }
  std::string build_of(std::string_view kernel, std::string_view fault) const override {
    return contracted_ && envelope_gap(kernel, fault).empty() ? properties_.build + kContracted
                                                              : properties_.build;
  }

  simt::Device device_;

 private:
  std::shared_ptr<MappingPool> pool_ = std::make_shared<MappingPool>();
  bool envelope_;
  bool contracted_ = false;
};

#if defined(KVR_HAS_STRICT)

class StrictMemory final : public DeviceMemory {
 public:
  StrictMemory(const TensorSpec& spec, std::unique_ptr<DeviceMemory> memory, strict::DeviceMap& map)
      : memory_(std::move(memory)), map_(map) {
    map_.add(data(), spec);
  }
  ~StrictMemory() override { map_.remove(data()); }
  StrictMemory(const StrictMemory&) = delete;
  StrictMemory& operator=(const StrictMemory&) = delete;

  void* data() override { return memory_->data(); }
  void upload(const HostAllocation& from, std::span<const ByteRange> ranges) override {
    memory_->upload(from, ranges);
    map_.uploaded(data());
  }
  void download(const HostAllocation& to, std::span<const ByteRange> ranges) override {
    memory_->download(to, ranges);
  }
  const HostAllocation* on_host() const override { return memory_->on_host(); }
  void describe_contents(std::span<const ByteRange> addressed, bool initialised) override {
    map_.describe(data(), addressed, initialised);
  }

 private:
  std::unique_ptr<DeviceMemory> memory_;
  strict::DeviceMap& map_;
};

class StrictMachine final : public CpuMachine {
 public:
  StrictMachine(MachineProperties properties, const MachineOptions& options)
      : CpuMachine(std::move(properties), options) {
    device_.observe(&checker_);
    checker_.record_traffic(options.traffic);
  }

  LaunchTraffic take_traffic() override { return checker_.take_traffic(); }

  std::unique_ptr<DeviceMemory> allocate(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                                         Placement placement) override {
    return std::make_unique<StrictMemory>(spec, CpuMachine::allocate(spec, committed, placement),
                                          checker_.memory());
  }

 private:
  strict::Checker checker_;
};

#endif

}  // namespace

std::vector<MachineInfo> platform_machines() {
  std::vector<MachineInfo> machines(4);
  for (std::size_t m = 0; m < machines.size(); ++m) {
    machines[m].properties = emulated(m % 2 == 0 ? 32 : 64, m >= 2);
#if !defined(KVR_HAS_STRICT)
    if (m < 2) continue;
    machines[m].present = false;
    machines[m].why = KVR_NO_STRICT;
#endif
  }
  return machines;
}

std::vector<std::string> schedule_names() {
  return simt::Schedule::names();
}

std::unique_ptr<Machine> open_platform_machine(const MachineInfo& info, const MachineOptions& options) {
#if defined(KVR_HAS_STRICT)
  if (info.properties.strict) return std::make_unique<StrictMachine>(info.properties, options);
#endif
  return std::make_unique<CpuMachine>(info.properties, options);
}

}  // namespace kvr
