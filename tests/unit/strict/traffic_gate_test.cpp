// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Positive controls of the traffic gate: 4096 floats copied in several ways. All numbers are counted by hand:
// 16384 bytes are 512 sectors, in and out, so the minimum is 1024 sectors; 4 blocks of 256 threads.
#include "harness/suite/traffic.h"

#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>

#include "harness/machine/machine.h"
#include "tests/unit/strict/traffic_controls.h"

namespace kvr {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;

constexpr std::int64_t kCount = 4096;

const std::map<std::string, Copy> kCopies{
    {"once", Copy::once},     {"again", Copy::again},           {"scattered", Copy::scattered},
    {"narrow", Copy::narrow}, {"transposed", Copy::transposed}, {"exchanged", Copy::exchanged},
    {"half", Copy::half}};

void describe(CaseBuilder& c) {
  const std::string does = c.params().text("does");
  const std::string says = c.params().text("says");
  c.input(TensorSpec::contiguous("in", DType::f32, {kCount}), Fill::normal()).cached =
      says == "cached" ? "all of it fits into L1" : "";
  c.input(TensorSpec::contiguous("arrivals", DType::int32, {1}), Fill::list({0.0}));
  c.output(TensorSpec::contiguous("out", DType::f32, {kCount}));
  if (says != "nothing") c.minimum_traffic(says == "twice" ? 16 * kCount : 8 * kCount);
  if (says == "excused") c.traffic_limit(1.5, "the maximum is needed before the first store");
  c.bind<CopyArgs>([=](const Bindings& at) {
    return CopyArgs{kCopies.at(does), kCount, at("in"), at("out"), at("arrivals")};
  });
  c.reference<CopyArgs>([](const CopyArgs&, Expectations&) {});
}

const bool registered = register_cases(
    "strict_copy", describe,
    {Group("serving", Tier::quick)
         .axis("does", {"once", "again", "scattered", "narrow", "transposed", "exchanged", "half"})
         .axis("says", {"once", "twice", "excused", "cached", "nothing"})});

TrafficReport measure(const std::string& machine_name, const std::string& does,
                      const std::string& says = "once") {
  MachineOptions options;
  options.traffic = true;
  const auto machine = open_machine(machine_name, options);
  return measure_traffic(*find_case(fmt::format("strict_copy/serving/does={}/says={}", does, says)), *machine,
                         Seed{1});
}

TEST_CASE("a copy that moves each byte once is accepted, and everything about it is counted") {
  const std::string machine = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  const TrafficReport report = measure(machine, "once");
  INFO(report.reason);
  CHECK(report.accepted);
  CHECK(report.load_sectors == 512);
  CHECK(report.store_sectors == 512);
  CHECK(report.bytes_requested == 32768);
  CHECK(report.unique_bytes == 32768);
  CHECK(report.moved == 32768);
  CHECK(report.ratio() == 1.0);
  CHECK(report.wide_share() == 1.0);
  CHECK(report.launch.barriers == 0);
  CHECK(report.launch.collectives == 0);
  CHECK(report.launch.atomics == 0);
  CHECK(report.launch.bank_conflicts == 0);
}

TEST_CASE("a pass over the input too many is rejected, on both warp sizes") {
  const std::string machine = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  const TrafficReport report = measure(machine, "again");
  CHECK_FALSE(report.accepted);
  CHECK(report.load_sectors == 1024);
  CHECK(report.unique_bytes == 32768);  // no byte is new
  CHECK_THAT(report.reason,
             Equals("49152 bytes moved, 1.500 x the minimum of 32768; at most 1.05 x is allowed. "
                    "'in' took 1024 sectors for 16384 bytes"));
}

TEST_CASE("accesses that take a sector for every lane are rejected") {
  const TrafficReport report = measure("cpu:warp32+strict", "scattered");
  CHECK_FALSE(report.accepted);
  CHECK(report.load_sectors == 4096);
  CHECK(report.store_sectors == 4096);
  CHECK(report.bytes_requested == 32768);
  CHECK_THAT(report.reason, ContainsSubstring("8.000 x the minimum"));
}

TEST_CASE("narrow accesses that lie in a row move no more, and show in the share of 16-byte ones") {
  const TrafficReport report = measure("cpu:warp32+strict", "narrow");
  CHECK(report.accepted);
  CHECK(report.ratio() == 1.0);
  CHECK(report.launch.accesses == 16384);
  CHECK(report.wide_share() == 0.0);
}

TEST_CASE("bank conflicts are counted: 32 lanes in one bank take 32 passes") {
  const std::string machine = GENERATE("cpu:warp32+strict", "cpu:warp64+strict");
  const TrafficReport report = measure(machine, "transposed");
  CHECK(report.launch.bank_conflicts == 4 * 8 * 4 * 2 * 31);  // blocks, 32 lanes, rounds, in and out
  CHECK(report.launch.barriers == 4);
}

TEST_CASE("barriers, collectives and atomics are counted") {
  CHECK(measure("cpu:warp32+strict", "exchanged").launch.collectives == 2 * 32);
  const TrafficReport report = measure("cpu:warp64+strict", "exchanged");
  CHECK(report.launch.collectives == 2 * 16);
  CHECK(report.launch.barriers == 4);
  CHECK(report.launch.atomics == 1024);
  CHECK(report.store_sectors == 512 + 16);  // an atomic's sector once per warp
}

TEST_CASE("a limit of its own needs a reason, and gives one") {
  const TrafficReport report = measure("cpu:warp32+strict", "again", "excused");
  CHECK(report.accepted);
  CHECK(report.limit == 1.5);
  CHECK(report.reason == "the maximum is needed before the first store");
  CHECK_FALSE(measure("cpu:warp32+strict", "scattered", "excused").accepted);
  const Params params;
  const MachineProperties properties;
  CaseBuilder builder(params, Seed{}, properties, "");
  CHECK_THROWS_WITH(builder.traffic_limit(2.0, ""), ContainsSubstring("without a reason"));
}

TEST_CASE("what a cache serves counts once") {
  const TrafficReport report = measure("cpu:warp32+strict", "again", "cached");
  CHECK(report.accepted);
  CHECK(report.ratio() == 1.0);
  REQUIRE(report.cached.size() == 1);
  CHECK(report.cached[0].tensor == "in");
}

TEST_CASE("a declaration that cannot be right is a rejection") {
  CHECK_THAT(measure("cpu:warp32+strict", "once", "nothing").reason,
             ContainsSubstring("declares no minimum"));
  CHECK_THAT(measure("cpu:warp32+strict", "once", "twice").reason,
             ContainsSubstring("32768 bytes moved, below the declared minimum of 65536"));
  CHECK_THAT(measure("cpu:warp32+strict", "half").reason, ContainsSubstring("below the declared minimum"));
}

}  // namespace
}  // namespace kvr
