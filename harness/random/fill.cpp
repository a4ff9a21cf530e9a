// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Input regimes, a row at a time. Kinds built on normal numbers share one fast path and patch a few elements;
// the others compute doubles. Both end in narrow().
#include "harness/random/fill.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "harness/numeric/codec.h"
#include "harness/random/elementary.h"
#include "harness/random/narrow.h"

namespace kvr {
namespace {

using Kind = Fill::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 17> kNames{{
    {Kind::normal, "normal"},
    {Kind::uniform_int, "uniform_int"},
    {Kind::rope_table, "rope_table"},
    {Kind::tiny, "tiny"},
    {Kind::huge, "huge"},
    {Kind::constant_row, "constant_row"},
    {Kind::constant, "constant"},
    {Kind::one_outlier, "one_outlier"},
    {Kind::zero_row, "zero_row"},
    {Kind::denormal, "denormal"},
    {Kind::ties, "ties"},
    {Kind::special, "special"},
    {Kind::exact_int, "exact_int"},
    {Kind::near_constant, "near_constant"},
    {Kind::one_hot, "one_hot"},
    {Kind::arange, "arange"},
    {Kind::list, "list"},
}};

// Draws of a row as such start here, out of reach of element indices.
constexpr std::uint64_t kRowDraws = std::uint64_t{1} << 63;
constexpr std::size_t kChunk = 256;
static_assert(std::endian::native == std::endian::little);

[[noreturn]] void refuse(const Fill& fill, const std::string& why) {
  throw std::invalid_argument("fill " + std::string(fill_name(fill.kind)) + ": " + why);
}

// One row to be written.
struct Row {
  const Fill& fill;
  const RandomStream& stream;
  DType dtype;
  std::int64_t row;
  std::int64_t len;
  std::byte* out;

  std::uint64_t first() const { return static_cast<std::uint64_t>(row) * static_cast<std::uint64_t>(len); }
  std::uint64_t draw() const { return kRowDraws + static_cast<std::uint64_t>(row); }
  // A shift of zero is no addition: it would turn a given -0 into +0.
  double affine(double value) const {
    const double scaled = value * fill.scale;
    return fill.shift == 0.0 ? scaled : scaled + fill.shift;
  }
  void put(std::int64_t index, double value) const {
    narrow(dtype, &value, 1, out + static_cast<std::size_t>(index) * dtype_size(dtype));
  }
  // The code's lower bytes; every machine this builds for is little-endian.
  void put_code(std::int64_t index, std::uint64_t code) const {
    const std::size_t size = dtype_size(dtype);
    std::memcpy(out + static_cast<std::size_t>(index) * size, &code, size);
  }
  // Multiply-high: uniform in [0, len) up to a bias of len / 2^32.
  std::int64_t random_position() const {
    return static_cast<std::int64_t>((stream.bits(draw()) * static_cast<std::uint64_t>(len)) >> 32);
  }
};

bool is_16_or_32_bit_float(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::fp16;
}

void check_dtype(const Fill& fill, DType dtype) {
  bool applies = true;
  switch (fill.kind) {
    case Kind::tiny:
    case Kind::huge:
    case Kind::ties:
    case Kind::near_constant:
      applies = is_16_or_32_bit_float(dtype);
      break;
    case Kind::special:
      applies = is_16_or_32_bit_float(dtype) || dtype == DType::e5m2;
      break;
    case Kind::denormal:
    case Kind::rope_table:
      applies = is_floating(dtype);
      break;
    case Kind::exact_int:
      applies = dtype != DType::uint8;
      break;
    default:
      break;
  }
  if (!applies) refuse(fill, "does not apply to " + std::string(dtype_name(dtype)));
}

// Integer types only: decode(encode(v)) differs from v where v does not fit.
void check_fits(const Fill& fill, DType dtype, std::int64_t value) {
  if (is_floating(dtype) || dtype == DType::int64) return;
  const auto wanted = static_cast<double>(value);
  if (decode(dtype, encode(dtype, wanted)) != wanted) {
    refuse(fill, "value " + std::to_string(value) + " does not fit in " + std::string(dtype_name(dtype)));
  }
}

void check_shape(const Fill& fill, DType dtype, std::int64_t row, std::int64_t len) {
  if (row < 0 || len < 0) refuse(fill, "row " + std::to_string(row) + " of length " + std::to_string(len));
  switch (fill.kind) {
    case Kind::rope_table:
      if (len % 2 != 0)
        refuse(fill, "row length " + std::to_string(len) + " is odd; cosines and sines come in halves");
      if (row >= std::int64_t{1} << 31) refuse(fill, "position " + std::to_string(row) + " is beyond 2^31");
      if (!(fill.base > 0) || std::isinf(fill.base))
        refuse(fill, "base " + std::to_string(fill.base) + " is not positive and finite");
      break;
    case Kind::uniform_int: {
      const auto range = static_cast<std::uint64_t>(fill.high) - static_cast<std::uint64_t>(fill.low);
      if (fill.low >= fill.high || range > std::uint64_t{1} << 32) {
        refuse(fill, "[" + std::to_string(fill.low) + ", " + std::to_string(fill.high) +
                         ") is empty or wider than 2^32");
      }
      check_fits(fill, dtype, fill.low);
      check_fits(fill, dtype, fill.high - 1);
      break;
    }
    case Kind::one_hot:
      if (fill.position < 0 || fill.position >= len) {
        refuse(fill,
               "position " + std::to_string(fill.position) + " is outside a row of " + std::to_string(len));
      }
      break;
    case Kind::list:
      if ((row + 1) * len > static_cast<std::int64_t>(fill.values.size())) {
        refuse(fill, std::to_string(fill.values.size()) + " values given, element " +
                         std::to_string((row + 1) * len - 1) + " wanted");
      }
      break;
    case Kind::arange: {
      const double last = static_cast<double>((row + 1) * len - 1) * fill.scale + fill.shift;
      const double largest =
          is_floating(dtype) ? float_format(dtype).max_finite : decode(dtype, encode(dtype, 0x1p80));
      if (std::fabs(last) > largest) {
        refuse(fill, "element " + std::to_string((row + 1) * len - 1) + " exceeds the largest " +
                         std::string(dtype_name(dtype)));
      }
      break;
    }
    default:
      break;
  }
}

// normal * scale + shift for the whole row.
void put_normals(const Row& row, double scale) {
  float normals[kChunk];
  const auto len = static_cast<std::size_t>(row.len);
  for (std::size_t begin = 0; begin < len; begin += kChunk) {
    const std::size_t part = std::min(kChunk, len - begin);
    row.stream.normal(row.first() + begin, normals, part);
    narrow(row.dtype, normals, scale, row.fill.shift, part, row.out + begin * dtype_size(row.dtype));
  }
}

// value(j) for the whole row, without scale and shift.
template <class Value>
void put_values(const Row& row, Value value) {
  double values[kChunk];
  for (std::int64_t begin = 0; begin < row.len; begin += static_cast<std::int64_t>(kChunk)) {
    const std::int64_t part = std::min(static_cast<std::int64_t>(kChunk), row.len - begin);
    for (std::int64_t i = 0; i < part; ++i) values[i] = value(begin + i);
    narrow(row.dtype, values, static_cast<std::size_t>(part),
           row.out + static_cast<std::size_t>(begin) * dtype_size(row.dtype));
  }
}

void put_rope(const Row& row) {
  const std::int64_t half = row.len / 2;
  // base^(-2i/R) = 2^(-i/half * log2 base)
  const double log2_base = portable_log(row.fill.base) / portable_log(2.0);
  for (std::int64_t i = 0; i < half; ++i) {
    const double frequency = portable_exp2(-(static_cast<double>(i) / static_cast<double>(half)) * log2_base);
    const SinCos at = portable_sincos(static_cast<double>(row.row) * frequency);
    row.put(i, row.affine(at.cos));
    row.put(half + i, row.affine(at.sin));
  }
}

// Half-way between the two values of the narrower format that enclose `value`.
double tie_near(DType narrower, double value) {
  const FloatFormat& format = float_format(narrower);
  const double magnitude =
      std::min(std::fabs(value), format.max_finite * (1.0 - 0x1p-20));  // the last tie lies below max
  const double step = ulp_at(narrower, magnitude);
  return std::copysign((std::floor(magnitude / step) + 0.5) * step, value);
}

void put_denormals(const Row& row) {
  const FloatFormat& format = float_format(row.dtype);
  const std::uint64_t count = (std::uint64_t{1} << format.mantissa_bits) - 1;
  put_values(row, [&](std::int64_t j) {
    const std::uint32_t word = row.stream.bits(row.first() + static_cast<std::uint64_t>(j));
    const std::uint64_t code = 1 + ((word & 0x7FFFFFFFULL) * count >> 31);
    const double magnitude = static_cast<double>(code) * format.min_subnormal;
    return row.affine((word >> 31) != 0 ? -magnitude : magnitude);
  });
}

void put_integers(const Row& row, std::int64_t low, std::int64_t high) {
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  put_values(row, [&](std::int64_t j) {
    const std::uint64_t word = row.stream.bits(row.first() + static_cast<std::uint64_t>(j));
    // range <= 2^32 and word < 2^32: the product fits.
    return row.affine(static_cast<double>(low + static_cast<std::int64_t>(word * range >> 32)));
  });
}

void put_special(const Row& row) {
  put_normals(row, row.fill.scale);
  if (row.row % 4 != 0 || row.len == 0) return;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr std::array kSpecials{std::numeric_limits<double>::quiet_NaN(), kInf, -kInf};
  // Not through narrow(), which saturates fp8: this infinity is meant.
  const double special = kSpecials[static_cast<std::size_t>(row.row / 4 % 3)];
  row.put_code(row.random_position(), encode(row.dtype, special, Overflow::ieee));
}

void put_outlier(const Row& row) {
  put_normals(row, row.fill.scale);
  if (row.len == 0) return;
  const std::int64_t position = row.random_position();
  row.put(position,
          row.affine(row.stream.normal(row.first() + static_cast<std::uint64_t>(position)) * 1000.0));
}

double near_constant_spread(DType dtype) {
  // f32: the 16 values a thousandth apart of bug report A15 span 0.015. Below 16 ULP a 16-bit row would be
  // constant.
  return dtype == DType::f32 ? 0x1p-6 : 16.0 * ulp_at(dtype, 1000.0);
}

double regime_scale(Kind kind, DType dtype) {
  const int exponent = dtype == DType::fp16 ? 12 : 40;
  return std::ldexp(1.0, kind == Kind::tiny ? -exponent : exponent);  // a power of two: exact
}

}  // namespace

Fill Fill::normal(double scale, double shift) {
  Fill fill;
  fill.scale = scale;
  fill.shift = shift;
  return fill;
}

Fill Fill::constant(double value) {
  Fill fill = of(Kind::constant);
  fill.value = value;
  return fill;
}

Fill Fill::integers(std::int64_t low, std::int64_t high) {
  Fill fill = of(Kind::uniform_int);
  fill.low = low;
  fill.high = high;
  return fill;
}

Fill Fill::rope(double base) {
  Fill fill = of(Kind::rope_table);
  fill.base = base;
  return fill;
}

Fill Fill::one_hot(std::int64_t position) {
  Fill fill = of(Kind::one_hot);
  fill.position = position;
  return fill;
}

Fill Fill::list(std::vector<double> values) {
  Fill fill = of(Kind::list);
  fill.values = std::move(values);
  return fill;
}

Fill Fill::arange() {
  return of(Kind::arange);
}

Fill Fill::of(Kind kind) {
  Fill fill;
  fill.kind = kind;
  return fill;
}

std::string_view fill_name(Fill::Kind kind) {
  return kNames[static_cast<std::size_t>(kind)].second;
}

std::optional<Fill::Kind> parse_fill(std::string_view name) {
  for (const auto& [kind, text] : kNames) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

void fill_row(const Fill& fill, const RandomStream& stream, DType dtype, std::int64_t row,
              std::int64_t row_len, std::byte* out) {
  check_dtype(fill, dtype);
  check_shape(fill, dtype, row, row_len);
  const Row target{fill, stream, dtype, row, row_len, out};
  const auto element = [&](std::int64_t j) { return target.first() + static_cast<std::uint64_t>(j); };
  const auto constant = [&](double value) { put_values(target, [value](std::int64_t) { return value; }); };
  switch (fill.kind) {
    case Kind::normal:
      return put_normals(target, fill.scale);
    case Kind::tiny:
    case Kind::huge:
      return put_normals(target, regime_scale(fill.kind, dtype) * fill.scale);
    case Kind::one_outlier:
      return put_outlier(target);
    case Kind::special:
      return put_special(target);
    case Kind::zero_row:
      if (row % 3 != 1) return put_normals(target, fill.scale);
      return constant(row % 6 == 1 ? 0.0 : -0.0);
    case Kind::constant_row:
      return constant(target.affine(stream.normal(target.draw())));
    case Kind::constant:
      return constant(target.affine(fill.value));
    case Kind::uniform_int:
      return put_integers(target, fill.low, fill.high);
    case Kind::exact_int:
      return put_integers(target, -8, 9);
    case Kind::rope_table:
      return put_rope(target);
    case Kind::denormal:
      return put_denormals(target);
    case Kind::ties:
      return put_values(target, [&](std::int64_t j) {
        return tie_near(dtype == DType::f32 ? DType::bf16 : DType::e4m3fn,
                        target.affine(stream.normal(element(j))));
      });
    case Kind::near_constant:
      return put_values(target, [&](std::int64_t j) {
        return target.affine(1000.0 + (stream.uniform(element(j)) - 0.5) * near_constant_spread(dtype));
      });
    case Kind::one_hot:
      return put_values(target,
                        [&](std::int64_t j) { return target.affine(j == fill.position ? 1.0 : 0.0); });
    case Kind::arange:
      return put_values(target,
                        [&](std::int64_t j) { return target.affine(static_cast<double>(element(j))); });
    case Kind::list:
      return put_values(target, [&](std::int64_t j) {
        return target.affine(fill.values[static_cast<std::size_t>(element(j))]);
      });
  }
}

}  // namespace kvr
