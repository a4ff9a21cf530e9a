// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A machine whose "kernels" are host functions, so that what the runner does with a misbehaving kernel can be
// tested on every platform. Kernels register under the build "fake".
#pragma once

#include <cstring>

#include "harness/machine/machine.h"

namespace kvr::test {

class FakeMemory final : public DeviceMemory {
 public:
  FakeMemory(const TensorSpec& spec, const std::vector<ByteRange>& committed, Placement placement)
      : memory_(spec, committed, placement) {}
  void* data() override { return memory_.data(); }
  void upload(const HostAllocation& from, std::span<const ByteRange> ranges) override {
    copy(from, memory_, ranges);
  }
  void download(const HostAllocation& to, std::span<const ByteRange> ranges) override {
    copy(memory_, to, ranges);
  }

 private:
  static void copy(const HostAllocation& from, const HostAllocation& to, std::span<const ByteRange> ranges) {
    for (const ByteRange& range : ranges)
      std::memcpy(to.data() + range.begin, from.data() + range.begin,
                  static_cast<std::size_t>(range.end - range.begin));
  }
  HostAllocation memory_;
};

class FakeMachine final : public Machine {
 public:
  FakeMachine() : Machine(properties()) {}
  std::unique_ptr<DeviceMemory> allocate(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                                         Placement placement) override {
    return std::make_unique<FakeMemory>(spec, committed, placement);
  }

 private:
  static MachineProperties properties() {
    MachineProperties p;
    p.name = "fake:0";
    p.platform = "cpu";
    p.build = "fake";
    p.arch = "fake";
    return p;
  }
  Stream stream() override { return nullptr; }
  LaunchStatus synchronize() override { return {}; }
};

}  // namespace kvr::test
