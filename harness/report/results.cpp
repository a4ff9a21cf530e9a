// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kvr {

std::string kvr_version() {
  return KVR_VERSION;
}

std::int64_t Counts::total() const {
  return std::accumulate(by_verdict.begin(), by_verdict.end(), std::int64_t{0});
}

std::int64_t Counts::failed() const {
  std::int64_t count = 0;
  for (std::size_t v = 0; v < kVerdicts; ++v)
    if (is_failure(static_cast<Verdict>(v))) count += by_verdict[v];
  return count;
}

std::int64_t Counts::executed() const {
  return total() - (*this)[Verdict::skipped] - (*this)[Verdict::unsupported];
}

void Worst::add(const CaseReport& report) {
  for (const OutputReport& output : report.outputs) {
    known = true;
    // A NaN ratio must win, whichever side it arrives on.
    if (std::isnan(output.comparison.worst_ratio) || output.comparison.worst_ratio > ratio)
      ratio = output.comparison.worst_ratio;
    ulp = std::max(ulp, output.comparison.worst_ulp.ulp);
  }
}

std::string ulp_text(std::int64_t ulp) {
  return ulp == kNanDistance ? "nan" : std::to_string(ulp);
}

std::string ratio_text(double ratio) {
  // Which side of the limit it lies on must be seen.
  if (ratio != 1.0 && std::abs(ratio - 1.0) < 0.005) return fmt::format("{:.6f}", ratio);
  if (std::isfinite(ratio) && ratio < 1000.0) return fmt::format("{:.2f}", ratio);
  return fmt::format("{:.1e}", ratio);
}

}  // namespace kvr
