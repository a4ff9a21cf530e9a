// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the formats mean, written from their definitions and sharing nothing with harness/numeric: a decoder
// that is the textbook formula, and an encoder that searches a table of decoded codes for the nearest value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kvr::test {

// The four ways a format can spend its top codes.
enum class Specials {
  ieee,  // exponent all ones: mantissa 0 is infinity, the rest NaN
  fn,    // all ones alone is NaN; no infinity
  fnuz,  // sign bit alone is NaN; no infinity, no -0
};

struct Definition {
  std::string name;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;

  int bits() const { return 1 + exponent_bits + mantissa_bits; }
};

// OCP 8-bit specification 1.0 (e4m3, e5m2), Noune et al. 2022 (FNUZ), IEEE 754-2008 (binary16), and bf16 as
// the upper half of binary32.
inline Definition fp16_definition() {
  return {"fp16", 5, 10, 15, Specials::ieee};
}
inline Definition bf16_definition() {
  return {"bf16", 8, 7, 127, Specials::ieee};
}
inline Definition e4m3fn_definition() {
  return {"e4m3fn", 4, 3, 7, Specials::fn};
}
inline Definition e4m3fnuz_definition() {
  return {"e4m3fnuz", 4, 3, 8, Specials::fnuz};
}
inline Definition e5m2_definition() {
  return {"e5m2", 5, 2, 15, Specials::ieee};
}

// (-1)^s * 2^(E - bias) * (1 + M / 2^m), and (-1)^s * 2^(1 - bias) * M / 2^m for E = 0.
inline double value_of(const Definition& d, std::uint32_t code) {
  const std::uint32_t mantissas = 1U << d.mantissa_bits;
  const std::uint32_t exponents = 1U << d.exponent_bits;
  const std::uint32_t m = code % mantissas;
  const std::uint32_t e = code / mantissas % exponents;
  const double sign = code / mantissas / exponents % 2 == 1 ? -1.0 : 1.0;
  if (d.specials == Specials::ieee && e == exponents - 1) {
    return m == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  }
  if (d.specials == Specials::fn && e == exponents - 1 && m == mantissas - 1) return std::nan("");
  if (d.specials == Specials::fnuz && sign < 0 && e == 0 && m == 0) return std::nan("");
  const double fraction = static_cast<double>(m) / mantissas;
  return e == 0 ? sign * std::ldexp(fraction, 1 - d.bias)
                : sign * std::ldexp(1.0 + fraction, static_cast<int>(e) - d.bias);
}

// The magnitudes of a format in order. Position and code coincide: codes of one sign are ordered like their
// values.
class NearestTable {
 public:
  explicit NearestTable(const Definition& definition) : definition_(definition) {
    const std::uint32_t sign = 1U << (definition.bits() - 1);
    for (std::uint32_t code = 0; code < sign; ++code) {
      const double value = value_of(definition, code);
      if (!std::isfinite(value)) break;
      values_.push_back(value);
    }
    // Where the next value would be if the format went on: rounding to it is overflow.
    const std::size_t last = values_.size() - 1;
    values_.push_back(values_[last] + (values_[last] - values_[last - 1]));
  }

  const Definition& definition() const { return definition_; }
  std::uint32_t max_code() const { return static_cast<std::uint32_t>(values_.size()) - 2; }
  double max() const { return values_[max_code()]; }
  double value(std::uint32_t magnitude_code) const {
    return values_[magnitude_code];
  }  // max_code() + 1 included
  double midpoint_above(std::uint32_t magnitude_code) const {
    return (values_[magnitude_code] + values_[magnitude_code + 1]) / 2;
  }

  // Code of the nearest value, ties to the even code. `saturate`: beyond the maximum gives the maximum;
  // otherwise infinity (ieee) or NaN. A NaN result is any NaN: the caller compares with `same`.
  std::uint32_t nearest(double value, bool saturate) const {
    const std::uint32_t sign_bit = 1U << (definition_.bits() - 1);
    const std::uint32_t nan = definition_.specials == Specials::fnuz ? sign_bit : sign_bit - 1;
    if (std::isnan(value)) return nan;
    const double magnitude = std::fabs(value);
    std::uint32_t code = max_code() + 1;
    if (magnitude < values_.back()) {
      const auto above = std::upper_bound(values_.begin(), values_.end(), magnitude);
      const auto upper = static_cast<std::uint32_t>(above - values_.begin());
      const double middle = (values_[upper - 1] + values_[upper]) / 2;
      const bool up = magnitude > middle || (magnitude == middle && upper % 2 == 0);
      code = up ? upper : upper - 1;
    }
    if (code > max_code()) {
      if (saturate) {
        code = max_code();
      } else if (definition_.specials != Specials::ieee) {
        return nan;
      }
    }
    const bool negative = std::signbit(value) && !(code == 0 && definition_.specials == Specials::fnuz);
    return negative ? code + sign_bit : code;
  }

  // Equal codes, or both NaN.
  bool same(std::uint32_t a, std::uint32_t b) const {
    return a == b || (std::isnan(value_of(definition_, a)) && std::isnan(value_of(definition_, b)));
  }

 private:
  Definition definition_;
  std::vector<double> values_;
};

}  // namespace kvr::test
