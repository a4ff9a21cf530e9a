// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Conversions between codes (bit patterns) and values, one algorithm for every format, driven by a
// description of the format. Slow and plain on purpose: this is what references and the judge trust. Kernels
// have their own, fast conversions (kernels/common/convert.h) and tests compare the two exhaustively.
#pragma once

#include <cstdint>

#include "harness/numeric/dtype.h"

namespace kvr {

// A binary floating-point format of at most 32 bits.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // without the implicit one
  int bias;
  bool has_infinity;       // fp16, bf16, f32, e5m2
  bool has_negative_zero;  // all but FNUZ
  std::uint32_t nan_code;  // the canonical quiet NaN that encode() returns
  std::uint32_t max_code;  // of max_finite; infinity, where there is one, is the next code
  double max_finite;
  double min_normal;
  double min_subnormal;
};

// Throws std::invalid_argument for an integer type.
const FloatFormat& float_format(DType dtype);

// What happens to a magnitude that rounds beyond the largest finite value.
enum class Overflow : std::uint8_t {
  ieee,      // infinity where the format has one, NaN otherwise
  saturate,  // the largest finite value (infinities too)
};

// The value of a code (the dtype's bytes, zero-extended; higher bits are ignored). Exact, as every format
// here fits in a double; int64 alone rounds to nearest even beyond 2^53. A negative NaN code decodes to NaN
// like any other.
double decode(DType dtype, std::uint64_t code);

// Round to nearest, ties to even, in one step from the double. NaN gives the format's canonical NaN (int: 0);
// a negative value that rounds to zero gives -0 where the format has one, +0 in FNUZ. Integers round to
// nearest even and saturate. The code is the dtype's bytes, zero-extended: int8 -1 is 0xFF.
std::uint64_t encode(DType dtype, double value, Overflow overflow = Overflow::ieee);
// As above, clamped to +-format.max first (infinities too); NaN stays NaN. A maximum beyond the encoding's
// own counts as the encoding's own.
std::uint64_t encode(const Fp8Format& format, double value);

bool is_nan_code(DType dtype, std::uint64_t code);
bool is_inf_code(DType dtype, std::uint64_t code);

// Position of a finite or infinite code on the number line of the format: adjacent values differ by 1,
// +0 and -0 share position 0, infinity follows the largest finite value. Undefined for NaN (callers test
// first).
std::int64_t line_position(DType dtype, std::uint64_t code);

inline constexpr std::int64_t kNanDistance = INT64_MAX;
// Number of representable steps between two codes. NaN is equal to NaN (0) and kNanDistance from anything
// else. int64 distances that do not fit count as kNanDistance - 1.
std::int64_t ulp_distance(DType dtype, std::uint64_t a, std::uint64_t b);

// Spacing of the format at `value`: 2^(max(floor(log2|v|), emin) - mantissa_bits). One ULP of bf16 at 24.0 is
// 0.125. Beyond the largest finite value the formula goes on as if the exponent were unbounded; infinity
// gives infinity, NaN gives NaN; integer types have spacing 1.
double ulp_at(DType dtype, double value);

}  // namespace kvr
