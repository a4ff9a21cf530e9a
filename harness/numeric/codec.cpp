// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// One encoder and one decoder for every binary format, in integer arithmetic on the bits of the double, so
// that the result depends neither on the rounding mode, nor on flush-to-zero, nor on the compiler.
#include "harness/numeric/codec.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace kvr {
namespace {

constexpr int kDoubleMantissa = 52;
constexpr int kDoubleBias = 1023;
constexpr std::uint64_t kDoubleSign = std::uint64_t{1} << 63;
constexpr std::uint64_t kDoubleFraction = (std::uint64_t{1} << kDoubleMantissa) - 1;

// FNUZ has bias 8, one more than OCP: with no infinities, no -0 and one NaN, it halves the smallest value
// instead.
constexpr std::array<FloatFormat, 6> kFormats{{
    // E  M  bias  inf    -0     NaN         largest     its value               normal    subnormal
    {8, 23, 127, true, true, 0x7FC00000, 0x7F7FFFFF, 0x1.fffffep127, 0x1p-126, 0x1p-149},  // f32
    {5, 10, 15, true, true, 0x7E00, 0x7BFF, 65504.0, 0x1p-14, 0x1p-24},                    // fp16
    {8, 7, 127, true, true, 0x7FC0, 0x7F7F, 0x1.fep127, 0x1p-126, 0x1p-133},               // bf16
    {4, 3, 7, false, true, 0x7F, 0x7E, 448.0, 0x1p-6, 0x1p-9},                             // e4m3fn
    {4, 3, 8, false, false, 0x80, 0x7F, 240.0, 0x1p-7, 0x1p-10},                           // e4m3fnuz
    {5, 2, 15, true, true, 0x7E, 0x7B, 57344.0, 0x1p-14, 0x1p-16},                         // e5m2
}};
static_assert(static_cast<int>(DType::f32) == 0 && static_cast<int>(DType::e5m2) == 5);

constexpr const FloatFormat& format_of(DType dtype) {
  return kFormats[static_cast<std::size_t>(dtype)];
}

constexpr std::uint32_t sign_bit(const FloatFormat& format) {
  return std::uint32_t{1} << (format.exponent_bits + format.mantissa_bits);
}

// The one NaN of FNUZ is its sign bit alone; every other format has NaNs in pairs beyond the last finite or
// infinite code.
constexpr bool is_nan(const FloatFormat& format, std::uint32_t code) {
  const std::uint32_t sign = sign_bit(format);
  if (!format.has_negative_zero) return (code & (2 * sign - 1)) == format.nan_code;
  const std::uint32_t magnitude = code & (sign - 1);
  return magnitude > format.max_code + (format.has_infinity ? 1 : 0);
}

constexpr bool is_inf(const FloatFormat& format, std::uint32_t code) {
  return format.has_infinity && (code & (sign_bit(format) - 1)) == format.max_code + 1;
}

constexpr double decode_float(const FloatFormat& format, std::uint32_t code) {
  if (is_nan(format, code)) return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t sign = (code & sign_bit(format)) != 0 ? kDoubleSign : 0;
  const std::uint32_t mantissa = code & ((std::uint32_t{1} << format.mantissa_bits) - 1);
  const std::uint32_t exponent = (code & (sign_bit(format) - 1)) >> format.mantissa_bits;
  std::uint64_t magnitude = 0;
  if (is_inf(format, code)) {
    magnitude = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  } else if (exponent == 0) {
    // Exact: at most 23 bits times a power of two.
    magnitude = std::bit_cast<std::uint64_t>(mantissa * format.min_subnormal);
  } else {
    const std::uint64_t biased = exponent + static_cast<std::uint64_t>(kDoubleBias - format.bias);
    magnitude = biased << kDoubleMantissa | static_cast<std::uint64_t>(mantissa)
                                                << (kDoubleMantissa - format.mantissa_bits);
  }
  return std::bit_cast<double>(sign | magnitude);
}

constexpr std::array<double, 256> decode_table(DType dtype) {
  std::array<double, 256> table{};
  for (std::uint32_t code = 0; code < table.size(); ++code)
    table[code] = decode_float(format_of(dtype), code);
  return table;
}

constexpr std::array<double, 256> kE4m3fnValues = decode_table(DType::e4m3fn);
constexpr std::array<double, 256> kE4m3fnuzValues = decode_table(DType::e4m3fnuz);
constexpr std::array<double, 256> kE5m2Values = decode_table(DType::e5m2);

std::uint32_t with_sign(const FloatFormat& format, std::uint32_t magnitude, bool negative) {
  if (!negative || (magnitude == 0 && !format.has_negative_zero)) return magnitude;
  return magnitude | sign_bit(format);
}

std::uint32_t encode_float(const FloatFormat& format, double value, Overflow overflow) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = (bits & kDoubleSign) != 0;
  const int biased = static_cast<int>((bits & ~kDoubleSign) >> kDoubleMantissa);
  const std::uint64_t fraction = bits & kDoubleFraction;
  const bool special = biased == 2 * kDoubleBias + 1;
  if (special && fraction != 0) return format.nan_code;

  std::uint64_t magnitude = 0;
  if (special) {
    magnitude = std::uint64_t{format.max_code} + 1;
  } else if (biased != 0) {  // zero, and doubles below 2^-1022, round to zero in every format
    const int exponent = biased - kDoubleBias;
    const int smallest = 1 - format.bias;  // exponent of the smallest normal; subnormals share its quantum
    const int effective = exponent > smallest ? exponent : smallest;
    // Bits of the 53-bit significand below the last place of the format. At 54 and above the value is below
    // half a quantum.
    const int dropped = kDoubleMantissa - format.mantissa_bits + (effective - exponent);
    if (dropped <= kDoubleMantissa + 1) {
      const std::uint64_t significand = fraction | (std::uint64_t{1} << kDoubleMantissa);
      const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
      const std::uint64_t rest = significand & (2 * half - 1);
      std::uint64_t kept = significand >> dropped;
      // Up when rest > half, or rest == half and kept is odd; written without a branch, which no predictor
      // could guess.
      kept += static_cast<std::uint64_t>(rest + (kept & 1) > half);
      // The implicit one of `kept` adds 1 to the exponent field, and a carry out of the mantissa adds 1 more.
      magnitude = (static_cast<std::uint64_t>(effective - smallest) << format.mantissa_bits) + kept;
    }
  }
  if (magnitude > format.max_code) {
    if (overflow == Overflow::saturate) return with_sign(format, format.max_code, negative);
    if (format.has_infinity) return with_sign(format, format.max_code + 1, negative);
    return format.nan_code;
  }
  return with_sign(format, static_cast<std::uint32_t>(magnitude), negative);
}

// Halves go to the even neighbour. floor and the subtraction are exact for every double.
double round_to_even(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  if (rest > 0.5) return below + 1;
  if (rest < 0.5) return below;
  return below / 2 == std::floor(below / 2) ? below : below + 1;
}

// The bounds of int64 as doubles: 2^63 is the first value too large.
template <class Int>
std::uint64_t encode_integer(double value) {
  if (std::isnan(value)) return 0;
  using Limits = std::numeric_limits<Int>;
  constexpr double kBeyond = static_cast<double>(Limits::max() / 2 + 1) * 2;  // max + 1, exact
  const double rounded = round_to_even(value);
  const Int integer = rounded >= kBeyond                              ? Limits::max()
                      : rounded <= static_cast<double>(Limits::min()) ? Limits::min()
                                                                      : static_cast<Int>(rounded);
  return static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<Int>>(integer));
}

std::int64_t integer_value(DType dtype, std::uint64_t code) {
  switch (dtype) {
    case DType::int8:
      return static_cast<std::int8_t>(code);
    case DType::uint8:
      return static_cast<std::uint8_t>(code);
    case DType::int32:
      return static_cast<std::int32_t>(code);
    default:
      return static_cast<std::int64_t>(code);
  }
}

}  // namespace

const FloatFormat& float_format(DType dtype) {
  if (!is_floating(dtype)) {
    throw std::invalid_argument("float_format: " + std::string(dtype_name(dtype)) +
                                " is not a floating-point type");
  }
  return format_of(dtype);
}

double decode(DType dtype, std::uint64_t code) {
  switch (dtype) {
    case DType::e4m3fn:
      return kE4m3fnValues[code & 0xFF];
    case DType::e4m3fnuz:
      return kE4m3fnuzValues[code & 0xFF];
    case DType::e5m2:
      return kE5m2Values[code & 0xFF];
    case DType::f32:
    case DType::fp16:
    case DType::bf16:
      return decode_float(format_of(dtype), static_cast<std::uint32_t>(code));
    default:
      return static_cast<double>(integer_value(dtype, code));
  }
}

std::uint64_t encode(DType dtype, double value, Overflow overflow) {
  switch (dtype) {
    case DType::int8:
      return encode_integer<std::int8_t>(value);
    case DType::uint8:
      return encode_integer<std::uint8_t>(value);
    case DType::int32:
      return encode_integer<std::int32_t>(value);
    case DType::int64:
      return encode_integer<std::int64_t>(value);
    default:
      return encode_float(format_of(dtype), value, overflow);
  }
}

std::uint64_t encode(const Fp8Format& format, double value) {
  const double max = static_cast<double>(format.max);
  const double clamped = value > max ? max : value < -max ? -max : value;  // NaN fails both comparisons
  return encode(format.encoding, clamped, Overflow::saturate);
}

bool is_nan_code(DType dtype, std::uint64_t code) {
  return is_floating(dtype) && is_nan(format_of(dtype), static_cast<std::uint32_t>(code));
}

bool is_inf_code(DType dtype, std::uint64_t code) {
  return is_floating(dtype) && is_inf(format_of(dtype), static_cast<std::uint32_t>(code));
}

std::int64_t line_position(DType dtype, std::uint64_t code) {
  if (!is_floating(dtype)) return integer_value(dtype, code);
  const std::uint32_t sign = sign_bit(format_of(dtype));
  const std::int64_t magnitude = static_cast<std::uint32_t>(code) & (sign - 1);
  return (code & sign) != 0 ? -magnitude : magnitude;
}

std::int64_t ulp_distance(DType dtype, std::uint64_t a, std::uint64_t b) {
  const bool a_nan = is_nan_code(dtype, a);
  const bool b_nan = is_nan_code(dtype, b);
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : kNanDistance;
  const std::int64_t x = line_position(dtype, a);
  const std::int64_t y = line_position(dtype, b);
  // Unsigned subtraction wraps to the right distance, up to 2^64 - 1 for int64.
  const std::uint64_t distance = x < y ? static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x)
                                       : static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
  constexpr std::uint64_t kLargest = static_cast<std::uint64_t>(kNanDistance) - 1;
  return static_cast<std::int64_t>(distance < kLargest ? distance : kLargest);
}

double ulp_at(DType dtype, double value) {
  if (!is_floating(dtype)) return 1.0;
  const FloatFormat& format = format_of(dtype);
  const double magnitude = std::fabs(value);
  if (!(magnitude >= 2 * format.min_normal)) {  // the lowest two binades and the subnormals share one spacing
    return std::isnan(value) ? value : format.min_subnormal;
  }
  if (std::isinf(magnitude)) return magnitude;
  const std::uint64_t exponent = std::bit_cast<std::uint64_t>(magnitude) >> kDoubleMantissa;
  const auto mantissa_bits = static_cast<std::uint64_t>(format.mantissa_bits);
  return std::bit_cast<double>((exponent - mantissa_bits) << kDoubleMantissa);
}

}  // namespace kvr
