// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The tensors a strict device holds: where they lie, which of their bytes are elements (the rest are gaps),
// whether their contents are initialised, and the shadow of each.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "harness/strict/shadow.h"
#include "harness/tensor/tensor.h"

namespace kvr::strict {

struct Tensor {
  std::string name;
  std::uintptr_t begin = 0;
  std::uint64_t bytes = 0;
  std::int64_t element_bytes = 1;
  std::vector<ByteRange> addressed;  // ascending, disjoint
  bool initialised = false;          // every addressed byte; otherwise what the shadow says
  Shadow shadow;
  std::size_t recent_range = 0;
  static constexpr std::uint32_t kNoTraffic = UINT32_MAX;
  std::uint32_t traffic = kNoTraffic;  // its number in the traffic of the launch, once it has one

  bool contains(std::uintptr_t address) const { return address - begin < bytes; }
  // [offset, offset + size) lies within one addressed range.
  bool addresses(std::uint64_t offset, std::uint64_t size);
  // "element 513 (byte 1026)"
  std::string element(std::int64_t offset) const;
};

class DeviceMap {
 public:
  // The address of a tensor's first byte names it from then on.
  void add(const void* data, const TensorSpec& spec);
  void remove(const void* data);
  // What of it are elements, and whether they hold values now. A tensor that nobody describes is all
  // elements, uninitialised until they are uploaded or written.
  void describe(const void* data, std::span<const ByteRange> addressed, bool initialised);
  void uploaded(const void* data);

  Tensor* find(std::uintptr_t address) {
    for (const Place& place : places_)
      if (address - place.begin < place.bytes) return place.tensor;
    return nullptr;
  }
  // The tensor an address outside of all is nearest to; null when there are none.
  const Tensor* nearest(std::uintptr_t address) const;
  // Who accessed what is forgotten; what has been written stays written.
  void begin_launch();

 private:
  std::map<std::uintptr_t, Tensor> tensors_;
  // The same, to be searched fast: a launch has a dozen of them.
  struct Place {
    std::uintptr_t begin;
    std::uint64_t bytes;
    Tensor* tensor;
  };
  std::vector<Place> places_;
};

}  // namespace kvr::strict
