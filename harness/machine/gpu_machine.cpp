// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The machines of a CUDA or HIP build: one per device the runtime sees.
#include <fmt/format.h>

#include <utility>

#include "harness/machine/arch.h"
#include "harness/machine/gpu_memory.h"
#include "harness/machine/gpu_runtime.h"
#include "harness/machine/platform.h"

namespace kvr {
namespace {

std::string machine_name(int device) {
  return fmt::format("{}:{}", gpu::kPlatform, device);
}

std::string arch_of(const gpu::DeviceProperties& device) {
#if defined(KVR_PLATFORM_cuda)
  return fmt::format("sm_{}{}", device.major, device.minor);
#else
  // "gfx90a:sramecc+:xnack-": the features are not part of the architecture's name.
  const std::string name = device.gcnArchName;
  return name.substr(0, name.find(':'));
#endif
}

// Dynamic shared memory a block may ask for, by opting in where the platform wants that
// (kernels/common/launch.h does).
std::int64_t shared_bytes_of(const gpu::DeviceProperties& device) {
#if defined(KVR_PLATFORM_cuda)
  return static_cast<std::int64_t>(device.sharedMemPerBlockOptin);
#else
  return static_cast<std::int64_t>(device.sharedMemPerBlock);
#endif
}

MachineProperties properties_of(int index) {
  gpu::DeviceProperties device{};
  KVR_GPU_CHECK(KVR_GPU(GetDeviceProperties)(&device, index));
  MachineProperties properties;
  properties.name = machine_name(index);
  properties.platform = gpu::kPlatform;
  properties.build = gpu::kPlatform;
  properties.arch = arch_of(device);
  properties.device = device.name;
  properties.warp_size = device.warpSize;
  properties.fp8 = fp8_of_arch(properties.arch);
  properties.max_threads_per_block = device.maxThreadsPerBlock;
  for (int axis = 0; axis < 3; ++axis) properties.max_grid[axis] = device.maxGridSize[axis];
  properties.shared_bytes_per_block = shared_bytes_of(device);
  return properties;
}

MachineInfo absent(std::string why) {
  MachineInfo info;
  info.properties.name = machine_name(0);
  info.properties.platform = gpu::kPlatform;
  info.properties.build = gpu::kPlatform;
  info.present = false;
  info.why = std::move(why);
  return info;
}

class GpuMachine : public Machine {
 public:
  GpuMachine(MachineProperties properties, int device)
      : Machine(std::move(properties)), stream_(std::make_shared<const gpu::GpuStream>(device)) {
    std::size_t free = 0;
    std::size_t total = 0;
    KVR_GPU_CHECK(KVR_GPU(MemGetInfo)(&free, &total));
    properties_.memory_bytes = static_cast<std::int64_t>(free);
  }

  std::unique_ptr<DeviceMemory> allocate(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                                         Placement placement) override {
    // Uploads carry the host's guards too, whole pages of them: make room for what the host commits, not for
    // the ranges alone.
    const HostAllocation like(spec, committed, placement);
    return std::make_unique<gpu::GpuMemory>(stream_, name(), spec, like.committed(), placement);
  }

 protected:
  Stream stream() override {
    stream_->make_current();
    return stream_->get();
  }

  // What the kernel did while it ran. The launch itself was checked by KVR_LAUNCH.
  LaunchStatus synchronize() override {
    stream_->make_current();
    const gpu::Error error = KVR_GPU(StreamSynchronize)(stream_->get());
    const gpu::Error left_behind = KVR_GPU(GetLastError)();
    const gpu::Error worst = error != KVR_GPU(Success) ? error : left_behind;
    if (worst == KVR_GPU(Success)) return {};
    return LaunchStatus::error(fmt::format("{}: while the kernel ran: {}", name(), gpu::error_text(worst)));
  }

 private:
  std::shared_ptr<const gpu::GpuStream> stream_;
};

}  // namespace

std::vector<MachineInfo> platform_machines() {
  int count = 0;
  const gpu::Error error = KVR_GPU(GetDeviceCount)(&count);
  if (error != KVR_GPU(Success)) {
    (void)KVR_GPU(GetLastError)();
    return {absent(KVR_GPU(GetErrorString)(error))};
  }
  if (count == 0) return {absent(fmt::format("the {} runtime sees no device", gpu::kPlatform))};
  std::vector<MachineInfo> machines;
  for (int device = 0; device < count; ++device) machines.push_back({properties_of(device), true, ""});
  return machines;
}

std::vector<std::string> schedule_names() {
  return {ScheduleChoice{}.name};
}

std::unique_ptr<Machine> open_platform_machine(const MachineInfo& info, const MachineOptions& options) {
  if (options.envelope) {
    throw std::invalid_argument(
        fmt::format("envelope: {} has the arithmetic it was built with; only cpu machines vary it",
                    info.properties.name));
  }
  const std::string& name = info.properties.name;
  auto machine = std::make_unique<GpuMachine>(info.properties, std::stoi(name.substr(name.find(':') + 1)));
  machine->set_schedule(options.schedule);
  return machine;
}

}  // namespace kvr
