// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/output_faults.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/suite/null_answers.h"

namespace kvr {
namespace {

using Codes = std::vector<std::byte>;
using Faulty = std::optional<Codes>;

std::size_t code_size(const Outcome& outcome) {
  return dtype_size(outcome.dtype);
}

std::uint64_t code_at(const Outcome& outcome, std::int64_t index) {
  return load_code(outcome.actual.data() + static_cast<std::size_t>(index) * code_size(outcome),
                   code_size(outcome));
}

// Codes of every element from `code(row, column)`; nothing when that changes none of them.
Faulty rebuild(const Outcome& outcome, const std::function<std::uint64_t(std::int64_t, std::int64_t)>& code) {
  Codes codes(outcome.actual.begin(), outcome.actual.end());
  bool changed = false;
  for (std::int64_t r = 0; r < outcome.rows; ++r) {
    for (std::int64_t c = 0; c < outcome.row_len; ++c) {
      const std::int64_t index = r * outcome.row_len + c;
      const std::uint64_t value = code(r, c);
      const std::uint64_t before = code_at(outcome, index);
      if (value == before) continue;
      store_code(codes.data() + static_cast<std::size_t>(index) * code_size(outcome), code_size(outcome),
                 value);
      changed = changed || ulp_distance(outcome.dtype, value, before) != 0;
    }
  }
  if (!changed) return std::nullopt;
  return codes;
}

Faulty map_values(const Outcome& outcome, const std::function<double(double)>& map) {
  return rebuild(outcome, [&](std::int64_t r, std::int64_t c) {
    const std::uint64_t code = code_at(outcome, r * outcome.row_len + c);
    return is_nan_code(outcome.dtype, code) ? code : round_to(outcome, map(decode(outcome.dtype, code)));
  });
}

// Elements taken from other places of the same output.
Faulty gather_from(const Outcome& outcome,
                   const std::function<std::int64_t(std::int64_t, std::int64_t)>& from) {
  return rebuild(outcome, [&](std::int64_t r, std::int64_t c) { return code_at(outcome, from(r, c)); });
}

// Zero, as memory that nobody wrote often is, where `where` says so.
Faulty zero_where(const Outcome& outcome, const std::function<bool(std::int64_t, std::int64_t)>& where) {
  return rebuild(outcome, [&](std::int64_t r, std::int64_t c) {
    return where(r, c) ? round_to(outcome, 0.0) : code_at(outcome, r * outcome.row_len + c);
  });
}

std::int64_t last(const Outcome& outcome) {
  return outcome.rows - 1;
}
std::int64_t middle(const Outcome& outcome) {
  return outcome.rows / 2;
}
std::int64_t at(const Outcome& outcome, std::int64_t row, std::int64_t column) {
  return row * outcome.row_len + column;
}

Faulty zeros(const Outcome& o) {
  return zero_where(o, [](auto, auto) { return true; });
}

Faulty constant(const Outcome& o) {
  const std::uint64_t code = round_to(o, mean_expected(o));
  return rebuild(o, [code](auto, auto) { return code; });
}

Faulty gain_up(const Outcome& o) {
  return map_values(o, [](double v) { return 1.05 * v; });
}
Faulty gain_down(const Outcome& o) {
  return map_values(o, [](double v) { return 0.72 * v; });
}
Faulty sign_flipped(const Outcome& o) {
  return map_values(o, [](double v) { return -v; });
}
Faulty exponent_off(const Outcome& o) {
  return map_values(o, [](double v) { return 2.0 * v; });
}

// Toward zero from the value before rounding, which is what dropping the low bits does. Where the reference
// does not know that value to half a ULP, as in fp32 outputs of fp32 arithmetic, no code is its truncation
// any more than its rounding, and the element stays as it is.
Faulty truncated(const Outcome& o) {
  return rebuild(o, [&](std::int64_t r, std::int64_t c) {
    const double value = expected_at(o, at(o, r, c));
    const std::uint64_t rounded = round_to(o, value);
    const bool vague =
        !o.budget.empty() && o.budget[static_cast<std::size_t>(at(o, r, c))] >= 0.5 * ulp_at(o.dtype, value);
    if (vague) return code_at(o, at(o, r, c));
    if (!std::isfinite(value) || is_inf_code(o.dtype, rounded)) return rounded;
    return std::fabs(decode(o.dtype, rounded)) > std::fabs(value) ? step_code(o.dtype, rounded, -1) : rounded;
  });
}

Faulty one_code_up(const Outcome& o) {
  return rebuild(
      o, [&](std::int64_t r, std::int64_t c) { return step_code(o.dtype, code_at(o, at(o, r, c)), 1); });
}

Faulty element_4_ulp(const Outcome& o) {
  return rebuild(o, [&](std::int64_t r, std::int64_t c) {
    const std::uint64_t code = code_at(o, at(o, r, c));
    return r == middle(o) && c == o.row_len / 2 ? step_code(o.dtype, code, 4) : code;
  });
}

Faulty row_zeroed(const Outcome& o) {
  return zero_where(o, [&](std::int64_t r, auto) { return r == middle(o); });
}
Faulty last_row_unwritten(const Outcome& o) {
  return zero_where(o, [&](std::int64_t r, auto) { return r == last(o); });
}
Faulty last_token_unwritten(const Outcome& o) {
  if (o.heads <= 1) return std::nullopt;
  return zero_where(o, [&](std::int64_t r, auto) { return r / o.heads == last(o) / o.heads; });
}
Faulty last_head_unwritten(const Outcome& o) {
  if (o.heads <= 1) return std::nullopt;
  return zero_where(o, [&](std::int64_t r, auto) { return r % o.heads == o.heads - 1; });
}
Faulty row_stale(const Outcome& o) {
  if (o.rows < 2) return std::nullopt;
  return gather_from(o, [&](std::int64_t r, std::int64_t c) { return at(o, r == last(o) ? 0 : r, c); });
}
Faulty rows_swapped(const Outcome& o) {
  if (o.rows < 2) return std::nullopt;
  return gather_from(o, [&](std::int64_t r, std::int64_t c) {
    const std::int64_t from = r == last(o) ? last(o) - 1 : (r == last(o) - 1 ? last(o) : r);
    return at(o, from, c);
  });
}
Faulty rows_shifted(const Outcome& o) {
  if (o.rows < 2) return std::nullopt;
  return gather_from(o, [&](std::int64_t r, std::int64_t c) { return at(o, r == 0 ? last(o) : r - 1, c); });
}
Faulty head_copied(const Outcome& o) {
  if (o.heads <= 1) return std::nullopt;
  return gather_from(o,
                     [&](std::int64_t r, std::int64_t c) { return at(o, r % o.heads == 1 ? r - 1 : r, c); });
}
Faulty row_tail_wrong(const Outcome& o) {
  const std::int64_t tail = std::max<std::int64_t>(1, o.row_len / 16);
  return zero_where(o,
                    [&](std::int64_t r, std::int64_t c) { return r == middle(o) && c >= o.row_len - tail; });
}
Faulty last_column_wrong(const Outcome& o) {
  return zero_where(o, [&](auto, std::int64_t c) { return c == o.row_len - 1; });
}
Faulty every_32nd_wrong(const Outcome& o) {
  if (o.row_len < 2) return std::nullopt;
  const std::int64_t lanes = std::min<std::int64_t>(32, o.row_len);
  return zero_where(o, [&](auto, std::int64_t c) { return c % lanes == lanes - 1; });
}
Faulty halves_swapped(const Outcome& o) {
  if (o.row_len < 2) return std::nullopt;
  const std::int64_t half = o.row_len / 2;
  return gather_from(o, [&](std::int64_t r, std::int64_t c) {
    if (c >= 2 * half) return at(o, r, c);
    return at(o, r, c < half ? c + half : c - half);
  });
}
Faulty pairs_swapped(const Outcome& o) {
  if (o.row_len < 2) return std::nullopt;
  return gather_from(o, [&](std::int64_t r, std::int64_t c) {
    const std::int64_t partner = c % 2 == 0 ? c + 1 : c - 1;
    return at(o, r, partner < o.row_len ? partner : c);
  });
}
Faulty nan_to_max(const Outcome& o) {
  const double max = o.format_max > 0.0 ? o.format_max : float_format(o.dtype).max_finite;
  const std::uint64_t code = round_to(o, max);
  return rebuild(o, [&](std::int64_t r, std::int64_t c) {
    const std::uint64_t actual = code_at(o, at(o, r, c));
    return is_nan_code(o.dtype, actual) ? code : actual;
  });
}
Faulty nan_to_max_if_floating(const Outcome& o) {
  return is_floating(o.dtype) ? nan_to_max(o) : std::nullopt;
}

}  // namespace

const std::vector<OutputFault>& output_faults() {
  static const std::vector<OutputFault> faults{
      {"zeros", "nothing but zeros", zeros},
      {"constant", "the mean everywhere", constant},
      {"gain_1.05", "5 % too large", gain_up},
      {"gain_0.72", "28 % too small", gain_down},
      {"sign_flipped", "every sign wrong", sign_flipped},
      {"exponent_off", "a scale one exponent off", exponent_off},
      {"truncated", "rounded toward zero", truncated},
      {"one_code_up", "every element one code up", one_code_up},
      {"element_4_ulp", "one element 4 ULP off", element_4_ulp},
      {"row_zeroed", "one row zeroed", row_zeroed},
      {"row_stale", "the last row holds the first one's values", row_stale},
      {"rows_swapped", "the last two rows swapped", rows_swapped},
      {"rows_shifted", "every row holds its neighbour's values, as from a neighbour's position",
       rows_shifted},
      {"last_row_unwritten", "the last row still zero", last_row_unwritten},
      {"last_token_unwritten", "every head of the last token still zero", last_token_unwritten},
      {"last_head_unwritten", "the last head of every token still zero", last_head_unwritten},
      {"head_copied", "head 1 holds head 0's values", head_copied},
      {"row_tail_wrong", "the last sixteenth of one row zero", row_tail_wrong},
      {"last_column_wrong", "the last element of every row zero", last_column_wrong},
      {"every_32nd_wrong", "every 32nd element of a row zero", every_32nd_wrong},
      {"halves_swapped", "the two halves of every row swapped", halves_swapped},
      {"pairs_swapped", "neighbouring elements swapped", pairs_swapped},
      {"nan_to_max", "NaN stored as the largest value", nan_to_max_if_floating},
  };
  return faults;
}

std::uint64_t step_code(DType dtype, std::uint64_t code, std::int64_t steps) {
  if (is_floating(dtype) && (is_nan_code(dtype, code) || is_inf_code(dtype, code))) return code;
  // Steps count in magnitude: +1 is away from zero. The nearest representable values are found through the
  // spacing.
  double value = decode(dtype, code);
  if (!is_floating(dtype)) return encode(dtype, value + static_cast<double>(value < 0.0 ? -steps : steps));
  const FloatFormat& format = float_format(dtype);
  const double sign = std::signbit(value) ? -1.0 : 1.0;
  double magnitude = std::fabs(value);
  for (; steps > 0; --steps) magnitude = std::min(format.max_finite, magnitude + ulp_at(dtype, magnitude));
  for (; steps < 0 && magnitude > 0.0; ++steps) {
    // Below a power of two the spacing is half of what it is above.
    const double below = magnitude - ulp_at(dtype, magnitude) / 2.0;
    const double candidate = decode(dtype, encode(dtype, below));
    magnitude = candidate < magnitude ? candidate : magnitude - ulp_at(dtype, magnitude);
  }
  return encode(dtype, sign * magnitude);
}

std::vector<std::byte> with_gain(const Outcome& outcome, double gain) {
  return map_values(outcome, [gain](double v) { return gain * v; })
      .value_or(std::vector<std::byte>(outcome.actual.begin(), outcome.actual.end()));
}

std::vector<std::byte> with_element_moved(const Outcome& outcome, std::int64_t index, std::int64_t steps) {
  std::vector<std::byte> codes(outcome.actual.begin(), outcome.actual.end());
  store_code(codes.data() + static_cast<std::size_t>(index) * code_size(outcome), code_size(outcome),
             step_code(outcome.dtype, code_at(outcome, index), steps));
  return codes;
}

std::vector<std::byte> with_rows_zeroed(const Outcome& outcome, std::int64_t count) {
  return zero_where(outcome, [count](std::int64_t r, auto) { return r < count; })
      .value_or(std::vector<std::byte>(outcome.actual.begin(), outcome.actual.end()));
}

}  // namespace kvr
