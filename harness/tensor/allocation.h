// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Guarded, poisoned host memory. An allocation reserves address space for the whole tensor, commits only the
// pages around what the tensor addresses, and leaves everything else inaccessible: a row stride of 2^30
// elements costs a few pages, and a wild access faults. Committed bytes around and between the addressed ones
// hold a poison pattern that is verified after a launch.
//
//   | no access | guard (poison) | data: addressed ranges and poisoned gaps | guard (poison) | no access |
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "harness/tensor/tensor.h"

namespace kvr {

// Bytes of poison on each side of the data that are verified after a launch.
inline constexpr std::int64_t kGuardBytes = 512;

enum class Placement : std::uint8_t {
  guarded,      // poison on both sides
  end_at_page,  // the last byte of the data is the last accessible byte: reading behind it faults at once
};

// The byte that fills memory nobody has written, a different one each run. Every pattern decodes to NaN in
// every floating format when repeated: 0xFF (run 0) and 0x7F (run 1) (FNUZ and integers have no such byte;
// there the pattern differs between runs, and a byte that follows the pattern in both runs was never
// written).
std::byte poison_byte(unsigned run);

// Address ranges, with the pages in them, of large allocations that are gone, for the next ones: a page costs
// a fault and is cleared when it is touched first, which takes as long as what a case does with it. Holds a
// few ranges only. May be shared by threads.
class MappingPool {
 public:
  struct Mapping {
    void* begin = nullptr;
    std::size_t bytes = 0;
  };
  MappingPool();
  MappingPool(const MappingPool&) = delete;
  MappingPool& operator=(const MappingPool&) = delete;
  ~MappingPool();

  // At least so large, and not several times as large; contents and protection are what they were. An empty
  // one when there is none.
  Mapping take(std::size_t bytes);
  // Unmapped when the pool has no use for it.
  void put(Mapping mapping);

 private:
  static constexpr std::size_t kMost = 4;  // tensors of a case that are large

  std::mutex mutex_;
  std::vector<Mapping> mappings_;  // in the order in which they came
};

class HostAllocation {
 public:
  HostAllocation() = default;
  // With a pool, the memory is taken from there where it can be, holds anything then, and goes back there.
  // Throws std::bad_alloc-derived errors naming the tensor and the size when address space runs out.
  HostAllocation(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                 Placement placement = Placement::guarded, std::shared_ptr<MappingPool> pool = nullptr);
  HostAllocation(HostAllocation&&) noexcept;
  HostAllocation& operator=(HostAllocation&&) noexcept;
  HostAllocation(const HostAllocation&) = delete;
  HostAllocation& operator=(const HostAllocation&) = delete;
  ~HostAllocation();

  std::byte* data() const {
    return data_;
  }  // first byte of the tensor's allocation, 256-byte aligned when guarded
  std::int64_t bytes() const { return bytes_; }
  // Committed byte ranges relative to data(): may begin below 0 and end above bytes() by the guards.
  const std::vector<ByteRange>& committed() const { return committed_; }
  void poison(std::byte pattern);  // every committed byte, guards included

 private:
  void release() noexcept;

  MappingPool::Mapping reserved_;
  std::shared_ptr<MappingPool> pool_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<ByteRange> committed_;
};

}  // namespace kvr
