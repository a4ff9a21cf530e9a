// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Where a tensor lies inside a device allocation, so that its address has the alignment it has on the host.
// Plain arithmetic, free of any runtime.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/tensor/allocation.h"

namespace kvr::gpu {

// Runtimes align an allocation at least this well; HostAllocation aligns the data of a guarded tensor so.
inline constexpr std::int64_t kDeviceAlignment = 256;

struct DeviceSpan {
  std::int64_t bytes = 0;        // of the device allocation, at least 1
  std::int64_t data_offset = 0;  // of the tensor's first byte in it
};

// Device memory has no holes: the span covers everything from the first committed byte (a guard: below 0) to
// the last one. guarded: data_offset is a multiple of 256. end_at_page: the tensor's end is.
DeviceSpan device_span(std::int64_t tensor_bytes, const std::vector<ByteRange>& committed,
                       Placement placement);

}  // namespace kvr::gpu
