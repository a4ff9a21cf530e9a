// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/machine/gpu_span.h"

#include <algorithm>

namespace kvr::gpu {
namespace {

std::int64_t round_up(std::int64_t n) {
  return (n + kDeviceAlignment - 1) / kDeviceAlignment * kDeviceAlignment;
}

}  // namespace

DeviceSpan device_span(std::int64_t tensor_bytes, const std::vector<ByteRange>& committed,
                       Placement placement) {
  std::int64_t begin = 0;
  std::int64_t end = tensor_bytes;
  for (const ByteRange& range : committed) {
    begin = std::min(begin, range.begin);
    end = std::max(end, range.end);
  }
  DeviceSpan span;
  span.data_offset = round_up(-begin);
  // The end of the data, not its beginning, is the aligned address.
  if (placement == Placement::end_at_page) span.data_offset = round_up(-begin + tensor_bytes) - tensor_bytes;
  span.bytes = std::max<std::int64_t>(span.data_offset + end, 1);
  return span;
}

}  // namespace kvr::gpu
