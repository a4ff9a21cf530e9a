// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <stdexcept>

#include "harness/machine/kernel_registry.h"
#include "harness/machine/machine.h"

namespace kvr {
namespace {

struct ArgsA {};
struct ArgsB {};

LaunchStatus launch_a(const ArgsA&, Stream) {
  return LaunchStatus::refused("a");
}
LaunchStatus launch_a_faulty(const ArgsA&, Stream) {
  return LaunchStatus::refused("a, faulty");
}

KernelEntry entry(const char* kernel, const char* build, const char* fault, Launcher<ArgsA> launch) {
  return {kernel, build, fault, std::type_index(typeid(ArgsA)), reinterpret_cast<void (*)()>(launch)};
}

const bool registered = register_kernel(entry("test_kernel", "build1", "wrong_sign", launch_a_faulty)) &&
                        register_kernel(entry("test_kernel", "build1", "", launch_a)) &&
                        register_kernel(entry("test_kernel", "build1", "no_bias", launch_a_faulty)) &&
                        register_kernel(entry("test_kernel", "build2", "", launch_a)) &&
                        register_kernel(entry("another", "build1", "", launch_a));

TEST_CASE("a kernel for one warp size does not exist on machines of another, and says so") {
  CHECK(limit_kernel_to_warps("for_32_lanes", 32));
  CHECK(limit_kernel_to_warps("for_64_lanes", 64));
  CHECK(why_no_kernel("for_32_lanes", 32) == std::nullopt);
  CHECK(why_no_kernel("for_32_lanes", 64) == "built for warps of 32 only");
  CHECK(why_no_kernel("for_64_lanes", 32) == "built for warps of 64 only");
  CHECK(why_no_kernel("test_kernel", 64) == std::nullopt);  // no limit was declared
}

TEST_CASE("kernels are found by name, build and fault") {
  REQUIRE(registered);
  const auto launch = [](const char* build, const char* fault) {
    const KernelEntry& found = find_kernel("test_kernel", build, fault, std::type_index(typeid(ArgsA)));
    return reinterpret_cast<Launcher<ArgsA>>(found.launch)(ArgsA{}, nullptr).what;
  };
  CHECK(launch("build1", "") == "a");
  CHECK(launch("build2", "") == "a");
  CHECK(launch("build1", "no_bias") == "a, faulty");
  CHECK(kernel_names() == std::vector<std::string>{"another", "test_kernel"});
  CHECK(kernel_faults("test_kernel", "build1") == std::vector<std::string>{"no_bias", "wrong_sign"});
  CHECK(kernel_faults("test_kernel", "build2").empty());
}

TEST_CASE("what is missing is named, with what there is") {
  const auto find = [](const char* kernel, const char* build, const char* fault) {
    (void)find_kernel(kernel, build, fault, std::type_index(typeid(ArgsA)));
  };
  CHECK_THROWS_WITH(find("tset_kernel", "build1", ""),
                    "unknown kernel 'tset_kernel'; known: another, test_kernel");
  CHECK_THROWS_WITH(find("test_kernel", "cuda", ""),
                    "kernel 'test_kernel' has no build 'cuda'; it has: build1, build2");
  CHECK_THROWS_WITH(find("test_kernel", "build1", "x"),
                    "kernel 'test_kernel' has no fault 'x' for build 'build1'; it has: no_bias, wrong_sign");
  CHECK_THROWS_WITH(find("another", "build1", "x"),
                    "kernel 'another' has no fault 'x' for build 'build1'; it has: none");
  CHECK_THROWS_AS(find_kernel("another", "build1", "", std::type_index(typeid(ArgsB))), std::logic_error);
  CHECK_THROWS_WITH(
      find_kernel("another", "build1", "", std::type_index(typeid(ArgsB))),
      Catch::Matchers::ContainsSubstring("ArgsA, not ") && Catch::Matchers::ContainsSubstring("ArgsB"));
}

TEST_CASE("an unknown machine is refused with the names that exist") {
  CHECK_THROWS_AS(open_machine("tpu:0"), UnknownMachine);
  CHECK_THROWS_WITH(open_machine("tpu:0"),
                    Catch::Matchers::StartsWith("unknown machine 'tpu:0'; this build has: "));
}

}  // namespace
}  // namespace kvr
