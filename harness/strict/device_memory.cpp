// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kvr::strict {

bool Tensor::addresses(std::uint64_t offset, std::uint64_t size) {
  const auto first = static_cast<std::int64_t>(offset);
  const auto end = static_cast<std::int64_t>(offset + size);
  if (recent_range < addressed.size() && addressed[recent_range].begin <= first &&
      end <= addressed[recent_range].end)
    return true;
  const auto above =
      std::upper_bound(addressed.begin(), addressed.end(), first,
                       [](std::int64_t value, const ByteRange& range) { return value < range.begin; });
  if (above == addressed.begin()) return false;
  recent_range = static_cast<std::size_t>(std::prev(above) - addressed.begin());
  return end <= std::prev(above)->end;
}

std::string Tensor::element(std::int64_t offset) const {
  const std::int64_t down =
      offset >= 0 ? offset / element_bytes : -((-offset + element_bytes - 1) / element_bytes);
  return fmt::format("element {} (byte {})", down, offset);
}

void DeviceMap::add(const void* data, const TensorSpec& spec) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  Tensor& tensor = tensors_[address];
  tensor.name = spec.name;
  tensor.begin = address;
  tensor.bytes = static_cast<std::uint64_t>(spec.bytes());
  tensor.element_bytes = static_cast<std::int64_t>(dtype_size(spec.dtype));
  tensor.addressed = {{0, spec.bytes()}};
}

void DeviceMap::remove(const void* data) {
  tensors_.erase(reinterpret_cast<std::uintptr_t>(data));
}

void DeviceMap::describe(const void* data, std::span<const ByteRange> addressed, bool initialised) {
  Tensor& tensor = tensors_.at(reinterpret_cast<std::uintptr_t>(data));
  tensor.addressed.assign(addressed.begin(), addressed.end());
  tensor.recent_range = 0;
  tensor.initialised = initialised;
  if (!initialised) tensor.shadow.clear();
}

void DeviceMap::uploaded(const void* data) {
  tensors_.at(reinterpret_cast<std::uintptr_t>(data)).initialised = true;
}

const Tensor* DeviceMap::nearest(std::uintptr_t address) const {
  const auto above = tensors_.upper_bound(address);
  if (above == tensors_.begin()) return above == tensors_.end() ? nullptr : &above->second;
  const Tensor& below = std::prev(above)->second;
  if (above == tensors_.end()) return &below;
  return address - (below.begin + below.bytes) < above->first - address ? &below : &above->second;
}

void DeviceMap::begin_launch() {
  places_.clear();
  for (auto& [address, tensor] : tensors_) {
    tensor.shadow.forget_accesses();
    tensor.traffic = Tensor::kNoTraffic;
    if (tensor.bytes > 0) places_.push_back({tensor.begin, tensor.bytes, &tensor});
  }
}

}  // namespace kvr::strict
