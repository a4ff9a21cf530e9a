// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/memory_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kvr {
namespace {

void append(std::vector<ByteRange>& ranges, ByteRange range) {
  if (!ranges.empty() && ranges.back().end == range.begin)
    ranges.back().end = range.end;
  else
    ranges.push_back(range);
}

// First byte in [begin, end) that differs, or end.
std::int64_t first_difference(const std::byte* a, const std::byte* b, std::int64_t begin, std::int64_t end) {
  if (begin >= end || std::memcmp(a + begin, b + begin, static_cast<std::size_t>(end - begin)) == 0)
    return end;
  return std::mismatch(a + begin, a + end, b + begin).first - a;
}

}  // namespace

std::vector<ByteRange> writable_ranges(const HostTensor& tensor, const Expected* expected) {
  if (expected == nullptr) return {};
  const TensorSpec& spec = tensor.decl->spec;
  if (expected->set_count() == spec.numel() && static_cast<std::int64_t>(tensor.rows.size()) == spec.rows())
    return tensor.addressed;
  const auto size = static_cast<std::int64_t>(dtype_size(spec.dtype));
  std::vector<ByteRange> ranges;
  for (std::int64_t t = 0; t < expected->touched_rows(); ++t) {
    const std::int64_t start = spec.row_start(expected->row_ids()[static_cast<std::size_t>(t)]);
    for (std::int64_t c = 0; c < spec.row_len(); ++c) {
      if (expected->is_set()[static_cast<std::size_t>(t * spec.row_len() + c)] == 0) continue;
      const std::int64_t begin = (start + c * spec.inner_stride()) * size;
      append(ranges, {begin, begin + size});
    }
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  return ranges;
}

std::string describe_byte(const HostTensor& tensor, std::int64_t byte) {
  const TensorSpec& spec = tensor.decl->spec;
  const auto size = static_cast<std::int64_t>(dtype_size(spec.dtype));
  if (byte < 0) return fmt::format("in the guard, byte {} in front of the data", -byte);
  if (byte >= tensor.memory.bytes())
    return fmt::format("in the guard, byte {} behind the data", byte - tensor.memory.bytes());
  std::int64_t before = -1;  // the row whose start is nearest below
  std::int64_t before_start = -1;
  for (const std::int64_t row : tensor.rows) {
    const std::int64_t start = spec.row_start(row);
    const std::int64_t element = byte / size - start;
    if (element >= 0 && element % std::max<std::int64_t>(spec.inner_stride(), 1) == 0 &&
        element / std::max<std::int64_t>(spec.inner_stride(), 1) < spec.row_len())
      return fmt::format("at row {}, column {}", row,
                         element / std::max<std::int64_t>(spec.inner_stride(), 1));
    if (element >= 0 && start > before_start) {
      before = row;
      before_start = start;
    }
  }
  if (before < 0) return fmt::format("in the gap in front of the first row, byte {}", byte);
  return fmt::format("in the gap behind row {}, byte {} after its end", before,
                     byte - (before_start + (spec.row_len() - 1) * spec.inner_stride() + 1) * size);
}

std::optional<std::string> find_stray_write(const HostTensor& tensor, const HostAllocation& after,
                                            const std::vector<ByteRange>& writable) {
  const std::byte* expected = tensor.memory.data();
  const std::byte* actual = after.data();
  std::size_t next = 0;  // first writable range that may still matter
  for (const ByteRange& committed : tensor.memory.committed()) {
    std::int64_t at = committed.begin;
    while (at < committed.end) {
      while (next < writable.size() && writable[next].end <= at) ++next;
      const bool more = next < writable.size() && writable[next].begin < committed.end;
      const std::int64_t stop = more ? std::max(writable[next].begin, at) : committed.end;
      const std::int64_t difference = first_difference(expected, actual, at, stop);
      if (difference < stop) {
        const std::string where = describe_byte(tensor, difference);
        const std::string& name = tensor.decl->spec.name;
        return tensor.decl->role == Role::input
                   ? fmt::format("input '{}' was modified {}", name, where)
                   : fmt::format("'{}' was written {}, which this case must not touch", name, where);
      }
      at = more ? writable[next].end : committed.end;
    }
  }
  return std::nullopt;
}

std::string element_place(const HostTensor& tensor, const Expected& want, std::size_t element) {
  const auto row_len = static_cast<std::size_t>(want.row_len());
  return fmt::format("'{}' row {}, column {}", tensor.decl->spec.name, want.row_ids()[element / row_len],
                     element % row_len);
}

}  // namespace kvr
