// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// One element under a rule, exactly: conversions by the codec, decisions in double. This is the definition
// that the fast scan (segment_scan.h) has to agree with.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/judge/comparison.h"
#include "harness/judge/rule.h"

namespace kvr {

// The elementwise keys; atol and rtol are one.
enum class RuleKey : std::uint8_t { none, exact, atol_rtol, max_ulp, tie_window, budget };
std::string_view rule_key_name(RuleKey key);

// What people call a row: its place in the tensor that the outcome is a selection of.
std::int64_t name_of_row(const Outcome& outcome, std::int64_t row);

struct Finding {
  std::uint64_t code = 0;
  std::uint64_t expected_code = 0;
  double actual = 0.0;
  // What the format can be asked for: clamped where it saturates (all integers do; NaN becomes an integer 0).
  double expected = 0.0;
  std::int64_t distance = 0;
  Mismatch mismatch = Mismatch::none;
  bool finite = true;       // both codes; what follows is about finite elements only
  double difference = 0.0;  // actual - expected
  double ulps = 0.0;        // difference / ulp_at(expected)
  // Error over allowed by the key that leaves the least room, and that key. Above 1 exactly when the element
  // fails.
  double ratio = 0.0;
  double allowed = 0.0;
  RuleKey key = RuleKey::none;
  bool fails = false;       // misses an elementwise key, or is a mismatch of special values
  bool bad_budget = false;  // the rule needs a budget here, and it is negative or NaN
};

class ElementJudge {
 public:
  ElementJudge(const Outcome& outcome, const Rule& rule);

  Finding at(std::int64_t index) const;
  // May `outliers` excuse this failing element, if there are few enough such and they are scattered?
  bool excusable(const Finding& finding, std::int64_t index) const;
  // As a place in the output, for people.
  Element describe(std::int64_t index) const;

  const Outcome& outcome() const { return outcome_; }
  const Rule& rule() const { return rule_; }
  // The clamp of a saturating output; infinity where nothing clamps.
  double clamp() const { return clamp_; }

 private:
  std::uint64_t code_at(std::int64_t index) const;
  double expected_at(std::int64_t index) const;
  std::uint64_t round(double value) const;
  std::int64_t position(double value) const;
  void weigh(Finding& finding, RuleKey key, double error, double allowed, double allowed_error,
             bool passes) const;
  void decide(Finding& finding, std::int64_t index) const;

  const Outcome& outcome_;
  const Rule& rule_;
  bool single_;  // expected is fp32
  double clamp_;
};

}  // namespace kvr
