// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The rules of one element, one key after the other.
#include "harness/judge/element.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace kvr {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double over(double error, double allowed) {
  return error == 0.0 ? 0.0 : error / allowed;
}

// The value at a place on the number line; the inverse of line_position() for finite values.
double value_at(DType dtype, std::int64_t position) {
  if (!is_floating(dtype)) return static_cast<double>(position);
  const double magnitude = decode(dtype, static_cast<std::uint64_t>(std::abs(position)));
  return position < 0 ? -magnitude : magnitude;
}

// Halfway between an actual value and its neighbour on the side of the expected code: where it would begin to
// be right.
double boundary(DType dtype, std::int64_t actual, std::int64_t expected) {
  const std::int64_t neighbour = actual < expected ? actual + 1 : actual - 1;
  return (value_at(dtype, actual) + value_at(dtype, neighbour)) / 2;
}

}  // namespace

std::string_view rule_key_name(RuleKey key) {
  switch (key) {
    case RuleKey::none:
      return "none";
    case RuleKey::exact:
      return "exact";
    case RuleKey::atol_rtol:
      return "atol, rtol";
    case RuleKey::max_ulp:
      return "max_ulp";
    case RuleKey::tie_window:
      return "tie_window";
    case RuleKey::budget:
      return "budget";
  }
  return "none";
}

std::int64_t name_of_row(const Outcome& outcome, std::int64_t row) {
  return outcome.row_ids.empty() ? row : outcome.row_ids[static_cast<std::size_t>(row)];
}

ElementJudge::ElementJudge(const Outcome& outcome, const Rule& rule)
    : outcome_(outcome),
      rule_(rule),
      single_(std::holds_alternative<std::span<const float>>(outcome.expected)),
      clamp_(kInfinity) {
  if (outcome.overflow == Overflow::saturate) {
    if (is_floating(outcome.dtype)) clamp_ = float_format(outcome.dtype).max_finite;
    if (outcome.format_max > 0.0) clamp_ = std::min(clamp_, outcome.format_max);
  }
}

std::uint64_t ElementJudge::code_at(std::int64_t index) const {
  const std::size_t size = dtype_size(outcome_.dtype);
  const std::byte* from = outcome_.actual.data() + static_cast<std::size_t>(index) * size;
  const auto load = [from](auto code) {
    std::memcpy(&code, from, sizeof code);
    return static_cast<std::uint64_t>(code);
  };
  switch (size) {
    case 1:
      return load(std::uint8_t{});
    case 2:
      return load(std::uint16_t{});
    case 4:
      return load(std::uint32_t{});
    default:
      return load(std::uint64_t{});
  }
}

double ElementJudge::expected_at(std::int64_t index) const {
  const auto at = static_cast<std::size_t>(index);
  double value =
      single_ ? static_cast<double>(std::get<0>(outcome_.expected)[at]) : std::get<1>(outcome_.expected)[at];
  if (!is_floating(outcome_.dtype)) {
    if (std::isnan(value)) return 0.0;
    // The ends of the type, as values: encode() saturates.
    value = std::clamp(value, decode(outcome_.dtype, encode(outcome_.dtype, -kInfinity)),
                       decode(outcome_.dtype, encode(outcome_.dtype, kInfinity)));
  }
  // NaN fails both comparisons and stays.
  return value > clamp_ ? clamp_ : value < -clamp_ ? -clamp_ : value;
}

std::uint64_t ElementJudge::round(double value) const {
  const double clamped = value > clamp_ ? clamp_ : value < -clamp_ ? -clamp_ : value;
  return encode(outcome_.dtype, clamped, outcome_.overflow);
}

std::int64_t ElementJudge::position(double value) const {
  const std::uint64_t code = round(value);
  if (!is_nan_code(outcome_.dtype, code)) return line_position(outcome_.dtype, code);
  // A format without infinity overflows to NaN: beyond every finite value, on the side of `value`.
  return value < 0.0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

Finding ElementJudge::at(std::int64_t index) const {
  const DType dtype = outcome_.dtype;
  Finding finding;
  finding.code = code_at(index);
  finding.actual = decode(dtype, finding.code);
  finding.expected = expected_at(index);
  finding.expected_code = round(finding.expected);
  finding.distance = ulp_distance(dtype, finding.code, finding.expected_code);
  const bool actual_nan = is_nan_code(dtype, finding.code);
  const bool expected_nan = is_nan_code(dtype, finding.expected_code);
  const bool any_infinite = is_inf_code(dtype, finding.code) || is_inf_code(dtype, finding.expected_code);
  finding.finite = !actual_nan && !expected_nan && !any_infinite;
  if (finding.finite) {
    finding.difference = finding.actual - finding.expected;
    finding.ulps = finding.difference / ulp_at(dtype, finding.expected);
    decide(finding, index);
    return finding;
  }
  if (actual_nan != expected_nan) {
    finding.mismatch = actual_nan ? Mismatch::unexpected_nan : Mismatch::missing_nan;
  } else if (any_infinite && finding.distance != 0) {
    finding.mismatch = Mismatch::wrong_infinity;
  }
  finding.fails = finding.mismatch != Mismatch::none;
  finding.ratio = finding.fails ? kInfinity : 0.0;
  return finding;
}

// Takes one key into account. `passes` is the exact decision; `error / allowed` may miss it by a rounding,
// and gives way.
void ElementJudge::weigh(Finding& finding, RuleKey key, double error, double allowed, double allowed_error,
                         bool passes) const {
  double ratio = over(error, allowed);
  if (passes) {
    ratio = std::min(ratio, 1.0);
  } else {
    ratio = std::max(ratio, std::nextafter(1.0, 2.0));
    finding.fails = true;
  }
  if (finding.key != RuleKey::none && !(ratio > finding.ratio)) return;
  finding.key = key;
  finding.ratio = ratio;
  finding.allowed = allowed_error;
}

void ElementJudge::decide(Finding& finding, std::int64_t index) const {
  const DType dtype = outcome_.dtype;
  const double error = std::fabs(finding.difference);
  const double magnitude = std::fabs(finding.expected);
  const std::int64_t distance = finding.distance;
  if (rule_.exact) weigh(finding, RuleKey::exact, distance == 0 ? 0.0 : error, 0.0, 0.0, distance == 0);
  if (rule_.atol || rule_.rtol) {
    const double atol = rule_.atol.value_or(0.0);
    const double rtol = rule_.rtol.value_or(0.0);
    const double allowed = atol + rtol * magnitude;
    // The ratio, not the decision, is in the precision of the expected values: the scan sees those only.
    double ratio_error = error;
    double ratio_allowed = allowed;
    if (single_) {
      ratio_error = static_cast<float>(error);
      ratio_allowed = static_cast<float>(atol) + static_cast<float>(rtol) * static_cast<float>(magnitude);
      if (ratio_error != 0.0)
        ratio_error = static_cast<float>(ratio_error) / static_cast<float>(ratio_allowed);
      ratio_allowed = 1.0;
    }
    weigh(finding, RuleKey::atol_rtol, ratio_error, ratio_allowed, allowed, error <= allowed);
  }
  const double ulp = ulp_at(dtype, finding.expected);
  if (rule_.max_ulp) {
    const auto limit = static_cast<double>(*rule_.max_ulp);
    weigh(finding, RuleKey::max_ulp, static_cast<double>(distance), limit, limit * ulp,
          distance <= *rule_.max_ulp);
  }
  if (!rule_.tie_window && !rule_.budget) return;

  const std::int64_t actual = line_position(dtype, finding.code);
  const std::int64_t expected = line_position(dtype, finding.expected_code);
  const double middle = distance == 0 ? finding.expected : boundary(dtype, actual, expected);
  const double missing = std::fabs(finding.expected - middle);  // how far expected would have to move
  const double rounding =
      std::fabs(finding.actual - middle);  // the part of the error that is the last rounding
  if (rule_.tie_window) {
    const double window = *rule_.tie_window * ulp;
    if (distance <= 1) {
      weigh(finding, RuleKey::tie_window, missing, window, rounding + window, missing <= window);
    } else {
      weigh(finding, RuleKey::tie_window, error, 0.0, rounding + window, false);
    }
  }
  if (rule_.budget) {
    const double one = outcome_.budget[static_cast<std::size_t>(index)];
    finding.bad_budget = !(one >= 0.0);
    // 0 * infinity is no bound at all, but no budget either.
    const double budget = *rule_.budget == 0.0 ? 0.0 : *rule_.budget * one;
    const bool passes =
        position(finding.expected - budget) <= actual && actual <= position(finding.expected + budget);
    weigh(finding, RuleKey::budget, missing, budget, rounding + budget, passes);
  }
}

bool ElementJudge::excusable(const Finding& finding, std::int64_t index) const {
  const auto& outliers = rule_.outliers;
  if (!outliers || finding.mismatch != Mismatch::none) return false;
  if (outliers->max_ulp && finding.distance > *outliers->max_ulp) return false;
  if (!outliers->max_magnitude) return true;
  const double magnitude = outcome_.magnitude[static_cast<std::size_t>(index)];
  return std::fabs(finding.difference) <= *outliers->max_magnitude * magnitude;
}

Element ElementJudge::describe(std::int64_t index) const {
  const Finding finding = at(index);
  Element element;
  element.index = index;
  element.row = name_of_row(outcome_, index / outcome_.row_len);
  element.column = index % outcome_.row_len;
  element.code = finding.code;
  element.expected_code = finding.expected_code;
  element.actual = finding.actual;
  element.expected = finding.expected;
  element.ulp = finding.distance;
  element.allowed = finding.allowed;
  element.mismatch = finding.mismatch;
  if (finding.finite) {
    element.error = std::fabs(finding.difference);
    if (finding.fails) element.mismatch = Mismatch::tolerance;
  } else if (finding.fails) {
    element.error = kInfinity;  // nothing finite is near a special value
  }
  return element;
}

}  // namespace kvr
