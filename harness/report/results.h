// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The results of one run: what was asked for, what it ran on, and one report per planned case.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/machine/machine.h"
#include "harness/suite/ledger.h"
#include "harness/suite/verdict.h"

namespace kvr {

inline constexpr std::size_t kVerdicts = 8;  // number of values of Verdict

struct RunInfo {
  std::string version;   // of kvr
  std::string platform;  // "cpu", "cuda", "hip"
  std::vector<MachineInfo> machines;
  std::string tier;
  std::uint64_t seed = 0;  // of every case whose filter names no other
  int threads = 0;         // 0: all cores
  std::int64_t planned = 0;
};

// What the ledger made of a run.
struct LedgerReport {
  std::string file;
  LedgerReview review;
};

struct Results {
  RunInfo info;
  std::optional<LedgerReport> ledger;  // unless it was run with --no-ledger
  std::vector<CaseReport> cases;
};

// Version of the kvr this was compiled from.
std::string kvr_version();

// How many cases came to each verdict.
struct Counts {
  std::array<std::int64_t, kVerdicts> by_verdict{};

  void add(Verdict verdict) { ++by_verdict[static_cast<std::size_t>(verdict)]; }
  std::int64_t operator[](Verdict verdict) const { return by_verdict[static_cast<std::size_t>(verdict)]; }
  std::int64_t total() const;
  std::int64_t failed() const;    // is_failure()
  std::int64_t executed() const;  // all but skipped and unsupported
};

// The largest error over allowed, and the largest code distance, over the outputs of a case. `known` is false
// when no output was compared (a refused launch, a crash).
struct Worst {
  bool known = false;
  double ratio = 0.0;
  std::int64_t ulp = 0;  // kNanDistance: NaN on one side

  void add(const CaseReport& report);
};

// "2", or "nan" for kNanDistance.
std::string ulp_text(std::int64_t ulp);
// "0.41", "1.2e+03", "inf"; close to 1 more digits, "1.001333".
std::string ratio_text(double ratio);

}  // namespace kvr
