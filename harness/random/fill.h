// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Input regimes. A fill turns (stream, element index) into the value of an element; it knows the logical
// shape of the tensor and the dtype it is stored in, and nothing of memory.
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
  // "float types" are f32, fp16, bf16 and the fp8 formats. A kind that does not apply to a dtype is refused.
  enum class Kind : std::uint8_t {
    normal,       // N(0, 1); integers: rounded (use `scale`)
    uniform_int,  // integers in [low, high), high - low <= 2^32; bias below (high - low) / 2^32. Must fit an
                  // integer dtype
    rope_table,   // row p: cos(p * base^(-2i/R)) for i < R/2, then the sines; rank 2, R even; float types
    tiny,         // normal * 2^-40 for bf16 and f32, subnormal-adjacent 2^-12 for fp16; no other dtype
    huge,  // normal * 2^40 for bf16 and f32 (sums of squares stay finite in fp32), 2^12 for fp16; no other
           // dtype
    constant_row,  // every row one value (normal)
    constant,      // `value` everywhere
    one_outlier,   // normal, one element per row times 1000
    zero_row,  // normal, every third row (1, 4, 7, ...) zero whatever the shift: +0 in row 1, -0 in row 4,
               // and so on
    denormal,  // either sign, every subnormal magnitude of the storage dtype equally likely; float types
    ties,      // the tie next to a normal: half-way between two neighbours of the next narrower format
               // (f32 -> bf16; bf16 and fp16 -> e4m3fn, at most 432); no other dtype
    special,  // normal; rows 0, 4, 8, ... hold one special element, in turn NaN, +inf, -inf; f32, bf16, fp16,
              // e5m2
    exact_int,      // small integers in [-8, 8]: every sum is exact in fp32; not uint8
    near_constant,  // 1000 + uniform(-1/2, 1/2) * spread: large mean against the variance (bug report A15).
                    // The spread is 2^-6 in f32, 16 ULP (8) in fp16, 16 ULP (64) in bf16; no other dtype
    one_hot,        // 1 at element `position` of every row, 0 elsewhere
    arange,         // element index; refused where it exceeds the dtype's largest value
    list,           // `values`, given, by element index; refused where the tensor has more elements
  };
  Kind kind = Kind::normal;
  double value = 0.0;              // constant
  std::int64_t low = 0, high = 0;  // uniform_int
  std::int64_t position = 0;       // one_hot
  double base = 10000.0;           // rope_table
  // Every value is value * scale + shift (in double) before it is rounded to the dtype. Ties are taken after
  // that, and special elements and zero rows stay as they are.
  double scale = 1.0;
  double shift = 0.0;
  std::vector<double> values;  // list

  static Fill normal(double scale = 1.0, double shift = 0.0);
  static Fill constant(double value);
  static Fill integers(std::int64_t low, std::int64_t high);
  static Fill rope(double base = 10000.0);
  static Fill one_hot(std::int64_t position);
  static Fill list(std::vector<double> values);
  static Fill arange();
  static Fill of(Kind kind);
  friend bool operator==(const Fill&, const Fill&) = default;
};

// "normal", "rope_table", ... as used in case names.
std::string_view fill_name(Fill::Kind kind);
std::optional<Fill::Kind> parse_fill(std::string_view name);

// Writes the codes of row `row` (of `row_len` elements; a tensor is rows x row_len) of the tensor into `out`,
// `row_len * dtype_size(dtype)` bytes. Rounding to the dtype is RNE; fp8 saturates. Depends on no
// other row: element j draws word row * row_len + j of the stream, and what a row draws for itself lies
// beyond word 2^63. Throws std::invalid_argument where the fill does not apply to the dtype or the shape.
void fill_row(const Fill& fill, const RandomStream& stream, DType dtype, std::int64_t row,
              std::int64_t row_len, std::byte* out);

}  // namespace kvr
