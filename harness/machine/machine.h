// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a launch runs on: a GPU ("cuda:0", "hip:0") or an emulated one ("cpu:warp32", "cpu:warp64", and these
// two with "+strict": slower, and they check every access; harness/strict).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "harness/machine/kernel_registry.h"
#include "harness/machine/traffic.h"
#include "harness/tensor/allocation.h"
#include "kernels/common/registry_types.h"

namespace kvr {

struct MachineProperties {
  std::string name;      // "cpu:warp32", "cuda:0"
  std::string platform;  // "cpu", "cuda", "hip"
  std::string build;     // which kernel build runs here: "warp32", "warp32_strict", ..., "cuda", "hip"
  bool strict = false;   // every access is checked; such a machine runs only when it is named
  std::string arch;      // "emulated-warp32", "sm_90", "gfx942"
  std::string device;    // marketing name, or "SIMT machine in software"
  int warp_size = 32;
  Fp8Format fp8 = kE4m3fn;  // what quantising kernels produce here: OCP 448, or FNUZ 224 (gfx94x, cpu:warp64)
  std::int64_t max_threads_per_block = 1024;
  std::int64_t max_grid[3] = {2147483647, 65535, 65535};
  std::int64_t shared_bytes_per_block = 49152;
  std::int64_t memory_bytes = 0;  // free memory; 0 = not known
};

// Memory on a machine holding one tensor: same layout and guards as the host allocation it was made from.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual void* data() = 0;  // device pointer to the allocation's first byte
  // Copies these ranges of the allocation (relative to its first byte; guards lie outside [0, bytes)).
  virtual void upload(const HostAllocation& from, std::span<const ByteRange> ranges) = 0;
  virtual void download(const HostAllocation& to, std::span<const ByteRange> ranges) = 0;
  // The memory itself, where the host can read it; else nullptr.
  virtual const HostAllocation* on_host() const { return nullptr; }
  // What of the tensor are elements, and whether they hold values (outputs do not): strict machines check it.
  virtual void describe_contents(std::span<const ByteRange> /*addressed*/, bool /*initialised*/) {}
  // Every committed byte, guards included.
  void upload(const HostAllocation& from) { upload(from, from.committed()); }
  void download(const HostAllocation& to) { download(to, to.committed()); }
};

// In which order a machine resumes the lanes and warps of a block: a name and what it is drawn from.
// cpu: simt::Schedule (harness/simt/device.h).
struct ScheduleChoice {
  std::string name = "forward";
  std::uint64_t seed = 0;
  friend bool operator==(const ScheduleChoice&, const ScheduleChoice&) = default;
};

struct MachineOptions {
  int threads = 0;  // cpu: host threads, 0 = all cores
  ScheduleChoice schedule = {};
  // Strict machines: count what launches move (Machine::take_traffic()).
  bool traffic = false;
  // cpu: vary by seed what vendors leave open (approximate intrinsics within their documented error, the
  // order of tree reductions, contraction of multiply and add). A policy that holds over this envelope does
  // not depend on one vendor's choice of them.
  bool envelope = false;
};

// The named machine does not exist in this build, or its device is not here.
class UnknownMachine : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// The device cannot hold the case: "needs 4.3 GiB, 2.0 GiB free".
class NotEnoughMemory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Machine {
 public:
  virtual ~Machine() = default;
  const MachineProperties& properties() const { return properties_; }
  const std::string& name() const { return properties_.name; }
  // Picks one point of the arithmetic envelope for the launches to come; without a seed: the machine's own
  // arithmetic, which is what it starts with. No effect unless opened with MachineOptions::envelope.
  virtual void set_envelope(std::optional<std::uint64_t> /*seed*/) {}
  // What the envelope cannot vary for this kernel here, and why ("contraction: ..."); empty when it varies
  // everything.
  virtual std::string envelope_gap(std::string_view /*kernel*/, std::string_view /*fault*/) const {
    return "";
  }

  // For the launches to come. Throws std::invalid_argument for a schedule that the machine does not have: a
  // GPU has "forward" only, and takes it to mean its own.
  virtual void set_schedule(const ScheduleChoice& schedule);
  // Schedules other than forward that disturb a block of the launches so far: keeping pace, reverse, each
  // warp ahead of and behind the others, and `random` drawn orders. None where a schedule cannot be chosen.
  virtual std::vector<ScheduleChoice> other_schedules(int /*random*/) const { return {}; }
  // Of the launches since the last call; nothing unless the machine was opened with MachineOptions::traffic.
  virtual LaunchTraffic take_traffic() { return {}; }

  // `like` gives size, committed ranges and placement.
  virtual std::unique_ptr<DeviceMemory> allocate(const TensorSpec& spec,
                                                 const std::vector<ByteRange>& committed,
                                                 Placement placement) = 0;

  // Launches the registered kernel `kernel` (fault "" = the production build), reads the launch status,
  // synchronises and reads the status again. An unregistered kernel or other argument type is a
  // std::logic_error.
  template <class Args>
  LaunchStatus launch(std::string_view kernel, const Args& args, std::string_view fault = "") {
    const KernelEntry& entry =
        find_kernel(kernel, build_of(kernel, fault), fault, std::type_index(typeid(Args)));
    LaunchStatus status = reinterpret_cast<Launcher<Args>>(entry.launch)(args, stream());
    const LaunchStatus after = synchronize();
    return status.ok() ? after : status;
  }

 protected:
  explicit Machine(MachineProperties properties) : properties_(std::move(properties)) {}
  virtual Stream stream() = 0;
  virtual LaunchStatus synchronize() = 0;
  // The build of the kernel that the next launch takes.
  virtual std::string build_of(std::string_view /*kernel*/, std::string_view /*fault*/) const {
    return properties_.build;
  }
  MachineProperties properties_;
};

// Every machine of this build, whether or not its device is present. On cuda and hip: one per visible device,
// or "cuda:0" with `present` false and the runtime's text in `why` when there is none.
struct MachineInfo {
  MachineProperties properties;
  bool present = true;
  std::string why;  // when not present: "no CUDA-capable device is detected"
};
std::vector<MachineInfo> list_machines();

// The schedules that this build's machines have; "forward" alone where nothing can be chosen.
std::vector<std::string> schedule_names();

// Throws UnknownMachine (listing the known names) or NoDevice.
std::unique_ptr<Machine> open_machine(std::string_view name, const MachineOptions& options = {});

}  // namespace kvr
