// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Contraction is part of the arithmetic envelope: a * b + c is rounded twice on the machine itself, and once
// or twice over the envelope. CUDA's words with a rounding mode are never fused.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <optional>
#include <set>
#include <vector>

#include "harness/machine/machine.h"
#include "tests/unit/machine/contraction.h"

namespace kvr {
namespace {

using test::ContractionArgs;
using Results = std::array<float, test::kContractionForms>;

Results launch(Machine& machine) {
  // a * b = 1 + 2^-11 + 2^-24; rounded to 24 bits (a tie, to even) 1 + 2^-11. So the sum is 2^-24 when fused,
  // 0 when not.
  std::vector<float> in;
  for (int form = 0; form < test::kContractionForms; ++form)
    for (const float x : {1.0F + 0x1p-12F, 1.0F + 0x1p-12F, -(1.0F + 0x1p-11F)}) in.push_back(x);
  Results out{};
  out.fill(-1.0F);
  const ContractionArgs args{in.data(), out.data()};
  const LaunchStatus status = machine.launch("contraction", args);
  INFO(status.what);
  REQUIRE(status.ok());
  return out;
}

void check_own_arithmetic(const Results& out) {
  for (int form = 0; form < test::kContractionForms; ++form) {
    CAPTURE(form);
    CHECK(out[static_cast<std::size_t>(form)] == (form == test::kFused ? 0x1p-24F : 0.0F));
  }
}

TEST_CASE("a machine without the envelope, and one before a point of it is chosen, rounds twice") {
  for (const char* name : {"cpu:warp32", "cpu:warp64"}) {
    check_own_arithmetic(launch(*open_machine(name)));
    MachineOptions options;
    options.envelope = true;
    const auto machine = open_machine(name, options);
    check_own_arithmetic(launch(*machine));
    for (std::uint64_t seed = 0; seed < 8; ++seed) machine->set_envelope(seed);
    machine->set_envelope(std::nullopt);
    check_own_arithmetic(launch(*machine));
    const auto closed = open_machine(name);
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      closed->set_envelope(seed);
      check_own_arithmetic(launch(*closed));
    }
  }
}

TEST_CASE(
    "over the envelope plain operators are fused under some seeds, words with a rounding mode under none") {
  for (const char* name : {"cpu:warp32", "cpu:warp64"}) {
    MachineOptions options;
    options.envelope = true;
    const auto machine = open_machine(name, options);
    const std::string gap = machine->envelope_gap("contraction", "");
    if (!gap.empty()) SKIP(gap);
    std::set<float> sums, differences;
    for (std::uint64_t seed = 0; seed < 16; ++seed) {
      machine->set_envelope(seed);
      const Results out = launch(*machine);
      CHECK(out == launch(*machine));  // a seed is one machine, not noise
      CAPTURE(name, seed);
      sums.insert(out[test::kPlainSum]);
      differences.insert(out[test::kPlainDifference]);
      for (const int form :
           {test::kProductRounded, test::kSumRounded, test::kDifferenceRounded, test::kBothRounded}) {
        CAPTURE(form);
        CHECK(out[static_cast<std::size_t>(form)] == 0.0F);
      }
      CHECK(out[test::kFused] == 0x1p-24F);
    }
    CHECK(sums == std::set<float>{0.0F, 0x1p-24F});
    CHECK(differences == std::set<float>{0.0F, 0x1p-24F});
    machine->set_envelope(UINT64_MAX);  // the last seed is a point like any other
    CHECK_NOTHROW(launch(*machine));
  }
}

TEST_CASE("what the envelope does not vary is said") {
  MachineOptions options;
  options.envelope = true;
  const auto machine = open_machine("cpu:warp32", options);
  CHECK(machine->envelope_gap("contraction", "some_fault") == "contraction: faults have one build");
  CHECK(machine->envelope_gap("uncontracted", "") ==
        "contraction: the kernel was built without it (KVR_BUILD_CONTRACTED)");
}

}  // namespace
}  // namespace kvr
