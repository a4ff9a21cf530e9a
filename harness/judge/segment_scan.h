// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The fast first pass over a stretch of one row: every number a comparison needs, for elements that are
// finite and at most one code off. It says when a stretch is not like that ("unusual"); its numbers are then
// void and the exact pass (segment.h) takes over.
//
// Why the numbers are exact. Let Real be the type of the expected values (24 or 53 significant bits) and m
// the mantissa bits of the format. Where actual = RN(expected), the two are within a factor of two or one of
// them is zero, so actual - expected has no rounding error (Sterbenz). Where actual is one code off and
// expected is at least the format's smallest normal, the difference is a multiple of expected's last place
// and below 1.5 * 2^-m * 2^(E+1): it fits. Dividing by an ULP is a multiplication with a power of two. Sums
// are formed in eight double lanes, element i in lane i mod 8, and folded in a fixed order: see fold_lanes().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "harness/judge/element.h"

namespace kvr {

inline constexpr std::int64_t kSegment =
    1024;  // elements; the stretch that is rescanned when something is unusual
inline constexpr std::size_t kLanes = 8;
using Lanes = std::array<double, kLanes>;

inline double fold_lanes(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// The parts of a rule that the scan looks at.
template <class Real>
struct ScanRule {
  Real atol = 0;
  Real rtol = 0;
  bool relative = false;  // the rule has atol or rtol; ratios are formed
  Real clamp = 0;         // of the expected values; 0: none
};

template <class Real>
struct Scan {
  bool unusual = false;
  std::int64_t differing = 0;
  Real max_error = 0, max_relative = 0, max_expected = 0, max_ratio = 0;
  Lanes ulps{}, error2{}, expected2{};
  // |actual - expected| in ULP, of each element; below 0.5 exactly where the code is RN(expected). Void, like
  // all the rest, when unusual.
  alignas(32) std::array<Real, kSegment> off;
};

// Scans `count` <= kSegment elements.
template <class Real>
using ScanFunction = void (*)(const std::byte* codes, const Real* expected, std::int64_t count,
                              const ScanRule<Real>& rule, Scan<Real>& scan);

// The best scan for this processor, to be called with this rule only; nullptr for integer formats other than
// int8, which only the exact pass handles.
template <class Real>
ScanFunction<Real> scan_for(DType dtype, const ScanRule<Real>& rule);
extern template ScanFunction<float> scan_for<float>(DType dtype, const ScanRule<float>& rule);
extern template ScanFunction<double> scan_for<double>(DType dtype, const ScanRule<double>& rule);
// The one that any processor can run, for tests: all scans give the same bits.
template <class Real>
ScanFunction<Real> portable_scan_for(DType dtype, const ScanRule<Real>& rule);
extern template ScanFunction<float> portable_scan_for<float>(DType dtype, const ScanRule<float>& rule);
extern template ScanFunction<double> portable_scan_for<double>(DType dtype, const ScanRule<double>& rule);

}  // namespace kvr
