// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// k_norm_rope end to end: the reference against numbers worked out by hand, and the story that started kvr
// (A1).
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>

#include "harness/suite/materialise.h"
#include "harness/suite/runner.h"
#include "harness/suite/study.h"
#include "reference/k_norm_rope.h"

namespace kvr {
namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

constexpr std::int64_t kD = 128;
constexpr std::int64_t kR = 64;

// One token at position 1 of a table whose angles are all `angle`; weight 1, bias 0, eps 0 unless changed.
struct OneRow {
  std::vector<std::uint16_t> k = std::vector<std::uint16_t>(kD);
  std::vector<float> weight = std::vector<float>(kD, 1.0F);
  std::vector<float> bias = std::vector<float>(kD, 0.0F);
  std::vector<float> table = std::vector<float>(2 * kR);
  std::int32_t position = 1;
  KNormRopeArgs args;

  OneRow(Pairing pairing, double angle) {
    for (std::int64_t i = 0; i < kR / 2; ++i) {
      table[static_cast<std::size_t>(kR + i)] = static_cast<float>(std::cos(angle));
      table[static_cast<std::size_t>(kR + kR / 2 + i)] = static_cast<float>(std::sin(angle));
    }
    args.k = k.data();
    args.weight = weight.data();
    args.bias = bias.data();
    args.cos_sin = table.data();
    args.positions = &position;
    args.tokens = 1;
    args.max_position = 2;
    args.pairing = pairing;
    args.eps = 0.0F;
  }
  void set(std::int64_t j, double value) {
    k[static_cast<std::size_t>(j)] = static_cast<std::uint16_t>(encode(DType::bf16, value));
  }
  template <class Real>
  std::vector<Real> reference() const {
    std::vector<Real> y(kD);
    reference::k_norm_rope_row<Real>(args, 0, y.data(), nullptr);
    return y;
  }
};

TEST_CASE("A4: one non-zero element goes where the pairing says, and nowhere else") {
  // cos(1) = 0.540302, sin(1) = 0.841471 (bug_reports.md A4). Rows of +1, -1, ... have mean 0 and variance 1,
  // so a weight that is 1 at one index and 0 elsewhere leaves +-1 there and 0 elsewhere.
  for (const Pairing pairing : {Pairing::interleaved, Pairing::half_split}) {
    for (std::int64_t hot = 0; hot < kD; ++hot) {
      OneRow row(pairing, 1.0);
      for (std::int64_t j = 0; j < kD; ++j) row.set(j, j % 2 == 0 ? 1.0 : -1.0);
      std::fill(row.weight.begin(), row.weight.end(), 0.0F);
      row.weight[static_cast<std::size_t>(hot)] = hot % 2 == 0 ? 1.0F : -1.0F;
      std::vector<double> want(kD, 0.0);
      if (hot >= kR) {
        want[static_cast<std::size_t>(hot)] = 1.0;
      } else {
        const bool interleaved = pairing == Pairing::interleaved;
        const bool first = interleaved ? hot % 2 == 0 : hot < kR / 2;
        const std::int64_t partner =
            interleaved ? (first ? hot + 1 : hot - 1) : (first ? hot + kR / 2 : hot - kR / 2);
        want[static_cast<std::size_t>(hot)] = 0.540302;
        want[static_cast<std::size_t>(partner)] = first ? 0.841471 : -0.841471;
      }
      const auto y = row.reference<double>();
      for (std::int64_t j = 0; j < kD; ++j) {
        CAPTURE(hot, j);
        CHECK_THAT(y[static_cast<std::size_t>(j)], WithinAbs(want[static_cast<std::size_t>(j)], 1e-6));
      }
    }
  }
}

TEST_CASE("LayerNorm by hand: a one-hot row of width 128") {
  // mean 1/128, variance 127/16384: sqrt(127) = 11.269428 at the hot element, -1/sqrt(127) = -0.088736
  // elsewhere.
  OneRow row(Pairing::interleaved, 0.0);
  row.set(77, 1.0);
  const auto y = row.reference<double>();
  for (std::size_t j = 0; j < kD; ++j) CHECK_THAT(y[j], WithinAbs(j == 77 ? 11.269428 : -0.088736, 1e-6));
}

TEST_CASE("a constant row is the bias, rotated") {
  OneRow row(Pairing::half_split, 1.0);
  for (std::int64_t j = 0; j < kD; ++j) row.set(j, 23.375);
  row.args.eps = 1e-6F;
  row.bias[3] = 2.0F;
  const auto y = row.reference<double>();
  CHECK_THAT(y[3], WithinAbs(2.0 * 0.540302, 1e-5));
  CHECK_THAT(y[3 + 32], WithinAbs(2.0 * 0.841471, 1e-5));
  CHECK(y[100] == 0.0);
}

TEST_CASE("large mean, small spread: two passes keep the digits (A15)") {
  // 1000 and 1004 alternating (one bf16 step apart): mean 1002, variance 4, outputs -1 and +1.
  OneRow row(Pairing::interleaved, 0.0);
  for (std::int64_t j = 0; j < kD; ++j) row.set(j, j % 2 == 0 ? 1000.0 : 1004.0);
  const auto y = row.reference<float>();
  for (std::size_t j = 0; j < kD; ++j) CHECK(y[j] == (j % 2 == 0 ? -1.0F : 1.0F));
}

TEST_CASE("the fp32 reference stays within a small multiple of the budget of the double one") {
  // The fp32 reference adds its 128 terms one after the other (127 roundings instead of the contract's 11),
  // so its own bound is 127/11 < 12 times the part of the budget that comes from the sums.
  const RandomStream random(Seed{1}, "k_norm_rope_test", "k");
  double worst = 0.0;
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    OneRow row(draw % 2 == 0 ? Pairing::interleaved : Pairing::half_split, 0.001 * static_cast<double>(draw));
    row.args.eps = 1e-6F;
    for (std::int64_t j = 0; j < kD; ++j)
      row.set(j, random.normal(draw * 1000 + static_cast<std::uint64_t>(j)));
    std::vector<double> y(kD), budget(kD);
    reference::k_norm_rope_row<double>(row.args, 0, y.data(), budget.data());
    const auto y32 = row.reference<float>();
    for (std::size_t j = 0; j < kD; ++j)
      worst = std::max(worst, std::fabs(static_cast<double>(y32[j]) - y[j]) / budget[j]);
  }
  CHECK(worst <= 12.0);
  CHECK(worst > 0.0);
}

// The machines that are here; a build without its device has none, and says so.
std::vector<std::string> present_machines() {
  std::vector<std::string> names;
  for (const MachineInfo& info : list_machines())
    if (info.present) names.push_back(info.properties.name);
  return names;
}

TEST_CASE(
    "A1: the absolute tolerance fails a right kernel about once in a hundred runs, the relative one never") {
  if (present_machines().empty()) SKIP("no device");
  const PolicyTable policies = PolicyTable::load(KVR_POLICY_FILE);
  const CaseId* id =
      find_case("k_norm_rope/public/n=37/dtype=bf16/pairing=interleaved/table=normal/pos=int32");
  REQUIRE(id != nullptr);
  StudyOptions options;
  options.draws = 3000;
  options.policies = {"atol=0.06 rtol=0", "rtol=2^-7 atol=0.001", ""};
  const StudyResult result = run_study(*id, present_machines().front(), policies, options, nullptr, {});
  REQUIRE(result.outputs.size() == 1);
  const std::vector<PolicyTally>& tallies = result.outputs[0].policies;
  // indexer_qsa.md 1.13: 1.19 % of 10,000 simulated runs. Over 3000 runs the standard deviation is 0.2 %:
  // four of them.
  CHECK(static_cast<double>(tallies[0].failing) > 3000 * (0.0119 - 4 * 0.002));
  CHECK(static_cast<double>(tallies[0].failing) < 3000 * (0.0119 + 4 * 0.002));
  CHECK(tallies[1].failing == 0);
  // The same page: worst error over allowed 0.49 in 10,000 runs; a rounding error of half a ULP is never more
  // than 2^-8 of the value, half of the 2^-7 allowed.
  CHECK(tallies[1].worst_ratio.value > 0.45);
  CHECK(tallies[1].worst_ratio.value < 0.5);
  INFO(tallies[2].first_failure);
  CHECK(tallies[2].failing == 0);
}

TEST_CASE("A3: a case and a seed define the input bits") {
  // Golden hashes: a change here means that every published seed now means something else.
  struct Row {
    const char* name;
    std::uint64_t seed;
    std::uint64_t hash;
  };
  const Row rows[] = {
      {"k_norm_rope/public/n=37/dtype=bf16/pairing=interleaved/table=normal/pos=int32", 0,
       0x4c22dea3807bcc43},
      {"k_norm_rope/fills/n=37/dtype=fp16/pairing=half_split/fill=special", 7, 0xd11478004fc26465},
      {"k_norm_rope/shapes/n=4096/dtype=bf16/pairing=half_split", 18446744073709551615ULL,
       0xa5d107345adb21d6},
  };
  const PolicyTable policies = PolicyTable::load(KVR_POLICY_FILE);
  if (present_machines().empty()) SKIP("no device");
  for (const std::string& name : present_machines()) {
    for (const int threads : {1, 2}) {
      MachineOptions machine_options;
      machine_options.threads = threads;
      const auto machine = open_machine(name, machine_options);
      for (const Row& row : rows) {
        const CaseId* id = find_case(row.name);
        REQUIRE(id != nullptr);
        RunOptions options;
        options.seed = Seed{row.seed};
        const CaseReport report = run_case(*id, *machine, policies, options);
        CAPTURE(row.name, name, threads);
        CHECK(fmt::format("{:016x}", report.input_hash) == fmt::format("{:016x}", row.hash));
        CHECK(report.verdict == Verdict::pass);
      }
    }
  }
}

}  // namespace
}  // namespace kvr
