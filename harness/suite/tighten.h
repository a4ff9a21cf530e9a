// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What studies of right kernels say of the rows of the policy table: how much of what a row allows is ever
// used, which row is looser than anything needs, which has expired, and which platform could do without its
// relaxation.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "harness/judge/policy.h"
#include "harness/machine/machine.h"
#include "harness/suite/study.h"

namespace kvr {

// Over this factor a row allows more than anything needs, and hides what it should show.
inline constexpr double kLoose = 8.0;

// The largest value seen of some measure, and the draw it was seen in: "seed 5 of k/g/n=1". Infinite where no
// value would do.
struct Worst {
  double value = 0.0;
  std::string where;
};

// What the outputs of one dtype that a row covers came to, over all cases, machines and draws.
struct RowNeed {
  DType dtype = DType::f32;
  std::uint64_t draws = 0, cases = 0;  // a case counts once for each machine
  std::set<std::string> machines;
  std::uint64_t differing = 0;  // elements that are not the rounding of the reference
  Worst atol, rtol, max_ulp, tie_window, bias, row_l2;
  std::optional<Worst> budget;  // none: the reference gives no bound
  Worst shipped;                // error over allowed, element by element
  std::uint64_t failing = 0;    // draws that the row rejects
  std::string first_failure;    // "seed 5 of k/g/n=1 on cpu:warp32", and the judge's reason on a second line
};

// A part of a rule that allows `factor` times what was seen of it anywhere (infinite: nothing was seen).
struct Slack {
  std::string key;  // as written: "atol=0.5 rtol=0", "bias=1"
  double factor = 0.0;
};

// A row for a platform (or arch), and the platform-neutral row that would apply without it.
struct Relaxation {
  const Policy* neutral = nullptr;
  bool measured_there = false;  // on a machine that the row is for; else on what machines there are
  std::uint64_t draws = 0;
  std::uint64_t failing = 0;  // draws that the neutral row rejects
};

struct RowReport {
  const Policy* row = nullptr;
  std::vector<RowNeed> needs;  // by dtype; empty: no draw was judged by the row
  std::vector<Slack> loose;    // by more than kLoose, for every dtype on every machine
  bool expired = false;
  std::optional<Relaxation> relaxation;
  bool failing() const;
  // A machine that the row is for passed every draw under the neutral row.
  bool needless() const { return relaxation && relaxation->measured_there && relaxation->failing == 0; }
};

class TightenSurvey {
 public:
  explicit TightenSurvey(const PolicyTable& table) : table_(table) {}

  // The policies to study a case under on this machine: the shipped one, then the platform-neutral rows
  // that its outputs' rows relax.
  std::vector<std::string> policies_for(const std::string& kernel, const MachineProperties& machine,
                                        const std::vector<std::pair<std::string, DType>>& outputs) const;
  // A study under those, with StudyOptions::every_kind.
  void add(const std::string& kernel, const MachineProperties& machine, const StudyResult& study);
  bool empty() const { return needs_.empty(); }

  // Every row that judged a draw, has expired (`today` as "2026-11-30"; a row is good through its day) or is
  // a relaxation of a row that judged one; in the order of the table.
  std::vector<RowReport> report(std::string_view today) const;

 private:
  void add_relaxations(const PolicyKey& key, const OutputTally& output, std::uint64_t draws);

  const PolicyTable& table_;
  std::map<const Policy*, std::map<DType, RowNeed>> needs_;
  std::map<const Policy*, Relaxation> relaxations_;
};

// The parts of a rule that are numbers somebody chose, with how much more they allow than these needs. (An
// exact rule has none; a budget up to 1 is the reference's derivation.)
std::vector<Slack> slack_of(const Rule& rule, const std::vector<RowNeed>& needs);

}  // namespace kvr
