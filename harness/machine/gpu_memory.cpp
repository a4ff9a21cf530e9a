// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/machine/gpu_memory.h"

#include <fmt/format.h>

#include <utility>

namespace kvr::gpu {
namespace {

double gib(std::size_t bytes) {
  return static_cast<double>(bytes) / (1024.0 * 1024.0 * 1024.0);
}

std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  KVR_GPU_CHECK(KVR_GPU(MemGetInfo)(&free, &total));
  return free;
}

}  // namespace

GpuStream::GpuStream(int device) : device_(device) {
  make_current();
  KVR_GPU_CHECK(KVR_GPU(StreamCreateWithFlags)(&stream_, KVR_GPU(StreamNonBlocking)));
}

GpuStream::~GpuStream() {
  // After a fault on the device every call fails; there is nobody left to tell.
  (void)KVR_GPU(SetDevice)(device_);
  (void)KVR_GPU(StreamDestroy)(stream_);
}

void GpuStream::make_current() const {
  KVR_GPU_CHECK(KVR_GPU(SetDevice)(device_));
}

GpuMemory::GpuMemory(std::shared_ptr<const GpuStream> stream, const std::string& machine,
                     const TensorSpec& spec, const std::vector<ByteRange>& committed, Placement placement)
    : stream_(std::move(stream)),
      name_(spec.name),
      tensor_bytes_(spec.bytes()),
      span_(device_span(tensor_bytes_, committed, placement)) {
  stream_->make_current();
  const auto needed = static_cast<std::size_t>(span_.bytes);
  std::size_t available = free_bytes();
  void* base = nullptr;
  if (needed <= available) {
    const Error error = KVR_GPU(Malloc)(&base, needed);
    if (error != KVR_GPU(ErrorMemoryAllocation)) check(error, "allocating device memory", __FILE__, __LINE__);
    if (error != KVR_GPU(Success)) (void)KVR_GPU(GetLastError)();
    available = free_bytes();
  }
  if (base == nullptr) {
    throw NotEnoughMemory(fmt::format("{}: tensor '{}' needs {:.1f} GiB, {:.1f} GiB free", machine, spec.name,
                                      gib(needed), gib(available)));
  }
  base_ = static_cast<std::byte*>(base);
}

GpuMemory::~GpuMemory() {
  (void)KVR_GPU(Free)(
      base_);  // knows its device; an error here belongs to an earlier launch, which reported it
}

void GpuMemory::require_same_shape(const HostAllocation& host) const {
  if (host.bytes() != tensor_bytes_) {
    throw std::logic_error(fmt::format("tensor '{}' has {} bytes on the device and {} on the host", name_,
                                       tensor_bytes_, host.bytes()));
  }
}

void GpuMemory::upload(const HostAllocation& from, std::span<const ByteRange> ranges) {
  require_same_shape(from);
  stream_->make_current();
  auto* const device = static_cast<std::byte*>(data());
  for (const ByteRange& range : ranges) {
    KVR_GPU_CHECK(KVR_GPU(MemcpyAsync)(device + range.begin, from.data() + range.begin,
                                       static_cast<std::size_t>(range.end - range.begin),
                                       KVR_GPU(MemcpyHostToDevice), stream_->get()));
  }
  KVR_GPU_CHECK(KVR_GPU(StreamSynchronize)(stream_->get()));
}

void GpuMemory::download(const HostAllocation& to, std::span<const ByteRange> ranges) {
  require_same_shape(to);
  stream_->make_current();
  const auto* const device = static_cast<const std::byte*>(data());
  for (const ByteRange& range : ranges) {
    KVR_GPU_CHECK(KVR_GPU(MemcpyAsync)(to.data() + range.begin, device + range.begin,
                                       static_cast<std::size_t>(range.end - range.begin),
                                       KVR_GPU(MemcpyDeviceToHost), stream_->get()));
  }
  KVR_GPU_CHECK(KVR_GPU(StreamSynchronize)(stream_->get()));
}

}  // namespace kvr::gpu
