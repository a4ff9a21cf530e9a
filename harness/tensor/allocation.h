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

class HostAllocation {
 public:
  HostAllocation() = default;
  // Throws std::bad_alloc-derived errors naming the tensor and the size when address space runs out.
  HostAllocation(const TensorSpec& spec, const std::vector<ByteRange>& committed,
                 Placement placement = Placement::guarded);
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
  void* reserved_ = nullptr;
  std::size_t reserved_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<ByteRange> committed_;
};

}  // namespace kvr
