// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace kvr {
namespace {

std::vector<std::int64_t> packed_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    // What does not fit is for validate() to refuse; it does, since the number of elements overflows there.
    if (__builtin_mul_overflow(stride, std::max<std::int64_t>(shape[d], 1), &stride)) stride = INT64_MAX;
  }
  return strides;
}

// In place: ascending, overlapping and touching ranges merged.
void merge(std::vector<ByteRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::size_t last = 0;
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin <= ranges[last].end) {
      ranges[last].end = std::max(ranges[last].end, ranges[i].end);
    } else {
      ranges[++last] = ranges[i];
    }
  }
  if (!ranges.empty()) ranges.resize(last + 1);
}

}  // namespace

TensorSpec TensorSpec::contiguous(std::string name, DType dtype, std::vector<std::int64_t> shape) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.dtype = dtype;
  spec.strides = packed_strides(shape);
  spec.shape = std::move(shape);
  return spec;
}

TensorSpec TensorSpec::with_row_stride(std::int64_t row_stride) const {
  if (shape.size() < 2) {
    throw std::invalid_argument(fmt::format("tensor '{}' has rank {}: a row stride of {} needs rank 2", name,
                                            shape.size(), row_stride));
  }
  TensorSpec spec = *this;
  spec.strides = packed_strides(shape);
  std::int64_t stride = row_stride;
  for (std::size_t d = shape.size() - 1; d-- > 0;) {
    spec.strides[d] = stride;
    stride *= std::max<std::int64_t>(shape[d], 1);
  }
  return spec;
}

TensorSpec TensorSpec::with_strides(std::vector<std::int64_t> new_strides) const {
  TensorSpec spec = *this;
  spec.strides = std::move(new_strides);
  return spec;
}

TensorSpec TensorSpec::with_offset(std::int64_t elements) const {
  TensorSpec spec = *this;
  spec.offset = elements;
  return spec;
}

std::int64_t TensorSpec::numel() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;
  return n;
}

std::int64_t TensorSpec::row_len() const {
  return shape.empty() ? 1 : shape.back();
}

std::int64_t TensorSpec::rows() const {
  const std::int64_t n = numel();
  return n == 0 ? 0 : n / row_len();
}

std::int64_t TensorSpec::row_start(std::int64_t row) const {
  std::int64_t at = offset;
  for (std::size_t d = shape.size() - std::min<std::size_t>(shape.size(), 1); d-- > 0;) {
    at += row % shape[d] * strides[d];
    row /= shape[d];
  }
  return at;
}

std::int64_t TensorSpec::inner_stride() const {
  return strides.empty() ? 1 : strides.back();
}

std::int64_t TensorSpec::bytes() const {
  if (numel() == 0) return 0;
  std::int64_t last = offset;
  for (std::size_t d = 0; d < shape.size(); ++d) last += (shape[d] - 1) * strides[d];
  return (last + 1) * static_cast<std::int64_t>(dtype_size(dtype));
}

std::vector<ByteRange> TensorSpec::addressed(const std::vector<std::int64_t>& only) const {
  std::vector<ByteRange> ranges;
  if (numel() == 0) return ranges;
  const auto size = static_cast<std::int64_t>(dtype_size(dtype));
  const std::int64_t count = only.empty() ? rows() : static_cast<std::int64_t>(only.size());
  const bool dense = inner_stride() <= 1;  // stride 0: every column is the same element
  const std::int64_t width = inner_stride() == 0 ? 1 : row_len();
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t row = only.empty() ? r : only[static_cast<std::size_t>(r)];
    if (row < 0 || row >= rows()) {
      throw std::invalid_argument(fmt::format("tensor '{}' has {} rows, not a row {}", name, rows(), row));
    }
    const std::int64_t start = row_start(row);
    if (dense) {
      ranges.push_back({start * size, (start + width) * size});
      continue;
    }
    for (std::int64_t c = 0; c < width; ++c) {
      ranges.push_back({(start + c * inner_stride()) * size, (start + c * inner_stride() + 1) * size});
    }
  }
  merge(ranges);
  return ranges;
}

bool TensorSpec::overlaps() const {
  if (numel() <= 1) return false;
  // Dimensions from the innermost outwards: when each step leaves everything before it behind, no two
  // elements meet.
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, extent
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1) dims.emplace_back(strides[d], shape[d]);
  }
  std::sort(dims.begin(), dims.end());
  std::int64_t reach = 0;
  bool nested = true;
  for (const auto& [stride, extent] : dims) {
    nested = nested && stride > reach;
    reach += stride * (extent - 1);
  }
  if (nested) return false;
  if (numel() > reach + 1) return true;  // more elements than places
  // Interleaved strides, such as (2, 3): look at every element.
  std::vector<std::int64_t> places;
  places.reserve(static_cast<std::size_t>(numel()));
  for (std::int64_t row = 0; row < rows(); ++row) {
    for (std::int64_t c = 0; c < row_len(); ++c) places.push_back(row_start(row) + c * inner_stride());
  }
  std::sort(places.begin(), places.end());
  return std::adjacent_find(places.begin(), places.end()) != places.end();
}

void TensorSpec::validate() const {
  if (strides.size() != shape.size()) {
    throw std::invalid_argument(
        fmt::format("tensor '{}' has {} extents and {} strides", name, shape.size(), strides.size()));
  }
  const auto reject = [this](const char* what, std::size_t d, std::int64_t value) {
    throw std::invalid_argument(
        fmt::format("tensor '{}': {} {} of dimension {} is negative", name, what, value, d));
  };
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0) reject("extent", d, shape[d]);
    if (strides[d] < 0) reject("stride", d, strides[d]);
  }
  if (offset < 0)
    throw std::invalid_argument(fmt::format("tensor '{}': offset {} is negative", name, offset));
  std::int64_t elements = 1;
  std::int64_t last = offset;
  bool overflow = false;
  const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  for (std::size_t d = 0; d < shape.size() && !empty; ++d) {
    std::int64_t step = 0;
    overflow = __builtin_mul_overflow(elements, shape[d], &elements) || overflow;
    overflow = __builtin_mul_overflow(shape[d] - 1, strides[d], &step) || overflow;
    overflow = __builtin_add_overflow(last, step, &last) || overflow;
  }
  std::int64_t size = 0;
  overflow = __builtin_add_overflow(last, 1, &last) || overflow;
  overflow = __builtin_mul_overflow(last, static_cast<std::int64_t>(dtype_size(dtype)), &size) || overflow;
  if (overflow) {
    throw std::invalid_argument(fmt::format("tensor '{}' of shape ({}) and strides ({}) exceeds 2^63 bytes",
                                            name, fmt::join(shape, ", "), fmt::join(strides, ", ")));
  }
}

}  // namespace kvr
