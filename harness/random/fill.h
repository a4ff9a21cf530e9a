// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Input regimes. A fill turns (stream, element index) into the value of an element; it knows the logical shape of
// the tensor and the dtype it is stored in, and nothing of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/numeric/dtype.h"
#include "harness/random/random.h"

namespace kvr {

struct Fill {
  enum class Kind : std::uint8_t {
    normal,         // N(0, 1)
    uniform_int,    // integers in [low, high)
    rope_table,     // row p: cos(p * base^(-2i/R)) for i < R/2, then the sines; needs rank 2
    tiny,           // normal * 2^-40 for bf16 and f32, subnormal-adjacent 2^-12 for fp16
    huge,           // normal * 2^40 for bf16 and f32 (sums of squares stay finite in fp32), 2^12 for fp16
    constant_row,   // every row one value (normal)
    constant,       // `value` everywhere
    one_outlier,    // normal, one element per row times 1000
    zero_row,       // normal, every third row (starting at row 1) zero, alternating +0 and -0
    denormal,       // subnormal values of the storage dtype
    ties,           // values that lie half-way between two neighbours of the next narrower format (f32 -> bf16, 16 bit -> e4m3fn)
    special,        // normal, with rows holding NaN, +inf, -inf (one special element in every fourth row)
    exact_int,      // small integers in [-8, 8]: every sum is exact in fp32
    near_constant,  // 1000 + small spread: large mean against the variance (bug report A15)
    one_hot,        // 1 at element `position` of every row, 0 elsewhere
    arange,         // element index
    list,           // `values`, given
  };
  Kind kind = Kind::normal;
  double value = 0.0;                // constant
  std::int64_t low = 0, high = 0;    // uniform_int
  std::int64_t position = 0;         // one_hot
  double base = 10000.0;             // rope_table
  double scale = 1.0;                // multiplies every value before rounding to the dtype
  double shift = 0.0;                // added after the scale
  std::vector<double> values;        // list

  static Fill normal(double scale = 1.0, double shift = 0.0);
  static Fill constant(double value);
  static Fill integers(std::int64_t low, std::int64_t high);
  static Fill rope(double base = 10000.0);
  static Fill one_hot(std::int64_t position);
  static Fill list(std::vector<double> values);
  static Fill arange();
  static Fill of(Kind kind);
};

// "normal", "rope_table", ... as used in case names.
std::string_view fill_name(Fill::Kind kind);
std::optional<Fill::Kind> parse_fill(std::string_view name);

// Writes the codes of row `row` (of `row_len` elements; a tensor is rows x row_len) of the tensor into `out`,
// `row_len * dtype_size(dtype)` bytes. Rounding to the dtype is RNE. Throws std::invalid_argument where the fill does
// not apply to the dtype or the shape.
void fill_row(const Fill& fill, const RandomStream& stream, DType dtype, std::int64_t row, std::int64_t row_len, std::byte* out);

}  // namespace kvr
