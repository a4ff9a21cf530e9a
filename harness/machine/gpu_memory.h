// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A tensor in GPU memory, guards included. Copies are complete when upload() and download() return. Memory
// between committed ranges (a row stride of 2^30 elements) is allocated as well, because a GPU has no lazily
// committed pages here; when it does not fit, NotEnoughMemory says how much was needed and how much was free.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/machine/gpu_runtime.h"
#include "harness/machine/gpu_span.h"
#include "harness/machine/machine.h"

namespace kvr::gpu {

// A stream on one device; shared by the machine and the memory that is copied on it.
class GpuStream {
 public:
  explicit GpuStream(int device);
  ~GpuStream();
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;

  // The current device belongs to the calling thread: every use of a runtime function starts here.
  void make_current() const;
  KVR_GPU(Stream_t) get() const { return stream_; }

 private:
  int device_;
  KVR_GPU(Stream_t) stream_ = nullptr;
};

class GpuMemory : public DeviceMemory {
 public:
  GpuMemory(std::shared_ptr<const GpuStream> stream, const std::string& machine, const TensorSpec& spec,
            const std::vector<ByteRange>& committed, Placement placement);
  ~GpuMemory() override;
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;

  void* data() override { return base_ + span_.data_offset; }
  void upload(const HostAllocation& from, std::span<const ByteRange> ranges) override;
  void download(const HostAllocation& to, std::span<const ByteRange> ranges) override;

 private:
  // Throws std::logic_error for a host allocation of another tensor: its bytes would land outside this one.
  void require_same_shape(const HostAllocation& host) const;

  std::shared_ptr<const GpuStream> stream_;
  std::string name_;
  std::int64_t tensor_bytes_;
  DeviceSpan span_;
  std::byte* base_ = nullptr;
};

}  // namespace kvr::gpu
