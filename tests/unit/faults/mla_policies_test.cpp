// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the published tolerances of concat_and_cache_mla_rope take and refuse: a kernel that is right but
// orders its roundings otherwise, fp8 codes one step apart, and the faults that the relaxed rows let through.
#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "harness/judge/comparison.h"
#include "harness/random/random.h"
#include "harness/suite/runner.h"
#include "tests/unit/reference/mla_tensors.h"

namespace kvr {
namespace {

const PolicyTable& policies() {
  static const PolicyTable table = PolicyTable::load(KVR_POLICY_FILE);
  return table;
}

constexpr std::int64_t kN = 42;
constexpr std::int64_t kR = 64;
constexpr std::int64_t kL = 512;

MlaTensors public_tensors(std::uint64_t seed) {
  MlaTensors t(DType::bf16, kN, kR, kL);
  const RandomStream random(Seed{seed}, "mla policies", "values");
  std::uint64_t at = 0;
  for (std::int64_t n = 0; n < kN; ++n) {
    const double position = std::floor(8192 * random.uniform(at++));
    for (std::int64_t i = 0; i < kR / 2; ++i) {
      const double angle = position * std::pow(10000.0, -2.0 * static_cast<double>(i) / kR);
      t.table.put(n * kR + i, std::cos(angle));
      t.table.put(n * kR + kR / 2 + i, std::sin(angle));
    }
    for (std::int64_t i = 0; i < kR; ++i) t.k.put(n * kR + i, random.normal(at++));
    for (std::int64_t j = 0; j < kL; ++j) t.kv_c.put(n * kL + j, random.normal(at++));
  }
  return t;
}

double bf16_of(double value) {
  return decode(DType::bf16, encode(DType::bf16, value));
}

// A cache output with what the reference says, and codes to be judged.
struct Cache {
  DType dtype;
  Said said;
  std::vector<std::byte> codes;

  Cache(DType of, Said expected)
      : dtype(of), said(std::move(expected)), codes(said.value.size() * dtype_size(of)) {}
  void put(std::size_t index, std::uint64_t code) {
    std::memcpy(codes.data() + index * dtype_size(dtype), &code, dtype_size(dtype));
  }
  Outcome outcome() const {
    Outcome seen;
    seen.dtype = dtype;
    seen.rows = kN;
    seen.row_len = kL + kR;
    seen.actual = codes;
    seen.expected = std::span<const double>(said.value);
    seen.budget = said.budget;
    seen.magnitude = said.products;
    if (dtype_size(dtype) == 1) {
      seen.overflow = Overflow::saturate;
      seen.format_max = float_format(dtype).max_finite;
    }
    seen.counts["rotated"] = static_cast<double>(kN * kR);
    return seen;
  }
  // Under a named alternative, or the shipped row.
  Comparison judged(const std::string& alternative) const {
    const PolicyKey key{"concat_and_cache_mla_rope", "cache", dtype, "cpu", "emulated-warp32"};
    const Policy* policy =
        alternative.empty() ? policies().resolve(key) : policies().alternative(alternative, key);
    REQUIRE(policy != nullptr);
    return judge(outcome(), policy->rule);
  }
};

// The public test's bf16 cache from a kernel that fuses one product into the difference: RN(fma(x, c, -RN(y
// s))). That is one rounding fewer, so each element is at most half an ULP of a product nearer to, or further
// from, the truth.
Cache fused_cache(std::uint64_t seed) {
  MlaTensors t = public_tensors(seed);
  Cache cache(DType::bf16, t.reference<double>().cache);
  for (std::size_t i = 0; i < cache.said.value.size(); ++i)
    cache.put(i, encode(DType::bf16, cache.said.value[i]));
  for (std::int64_t n = 0; n < kN; ++n) {
    for (std::int64_t i = 0; i < kR / 2; ++i) {
      const double x = t.k.get(n * kR + i);
      const double y = t.k.get(n * kR + kR / 2 + i);
      const double c = t.table.get(n * kR + i);
      const double s = t.table.get(n * kR + kR / 2 + i);
      const auto at = static_cast<std::size_t>(n * (kL + kR) + kL + i);
      cache.put(at, encode(DType::bf16, x * c - bf16_of(y * s)));
      cache.put(at + kR / 2, encode(DType::bf16, y * c + bf16_of(x * s)));
    }
  }
  return cache;
}

TEST_CASE(
    "bf16: the strict CUDA row fails a kernel that differs by a rounding of one product, the relaxed takes "
    "it") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Cache cache = fused_cache(seed);
    const Comparison strict = cache.judged("vllm-mla-cuda");
    CAPTURE(seed, strict.reason, strict.failing);
    CHECK_FALSE(strict.accepted);
    CHECK(cache.judged("vllm-mla-rocm-relaxed").accepted);
    // What fails is where the products cancel: little is left, and the difference is one rounding of a
    // product.
    CHECK(strict.worst.error <= 0x1p-8 * cache.said.products[static_cast<std::size_t>(strict.worst.index)]);
    // The second tier of the two-tier rule is of the right shape and takes every element; its count of 1 in
    // 100 is not derived from anything, and is too small for this kernel.
    const Comparison two_tier = cache.judged("vllm-mla-rocm-two-tier");
    CAPTURE(two_tier.reason);
    CHECK(two_tier.reason.find("max_magnitude") == std::string::npos);
    CHECK(two_tier.reason.find("outliers.count") != std::string::npos);
    CHECK(strict.failing < kN * kR / 30);
    // Declared per_op, this kernel does not keep its contract, and the shipped row says so.
    CHECK_FALSE(cache.judged("").accepted);
  }
}

TEST_CASE("one ULP of a bf16 output is within the strict row, but not within the relaxed one from 4 up") {
  MlaTensors t = public_tensors(0);
  for (std::int64_t j = 0; j < kL; ++j) t.kv_c.put(j, 4.0);
  Cache cache(DType::bf16, t.reference<double>().cache);
  // 1.6e-2 is above 2^-7, the largest ULP relative to its value. The step above 4 is 2^-5; 0.02 + 1e-3 * 4 is
  // below.
  for (std::size_t i = 0; i < cache.said.value.size(); ++i)
    cache.put(i, encode(DType::bf16, cache.said.value[i]) + (i == 7 ? 1 : 0));
  CHECK(cache.judged("vllm-mla-cuda").accepted);
  CHECK(cache.judged("vllm-mla-rocm-relaxed").failing == 1);
  CHECK_FALSE(cache.judged("").accepted);
}

TEST_CASE("fp8 cache of bf16: codes one apart fail the strict row, the relaxed takes them") {
  MlaTensors t = public_tensors(0);
  t.scale = 0.1F;
  for (const Fp8Format& format : {kE4m3fn, kE4m3fnuz240}) {
    t.args.cache_format = format;
    // Expected: what the published test compares with, the codes themselves.
    Cache cache(format.encoding, t.reference<double>().cache);
    for (double& value : cache.said.value) value = decode(format.encoding, encode(format, value));
    for (std::size_t i = 0; i < cache.said.value.size(); ++i) {
      const std::uint64_t code = encode(format, cache.said.value[i]);
      const bool largest = (code & 0x7FU) >= 0x7EU;
      cache.put(i, !largest && i % 50 == 0 ? code + 1 : code);
    }
    const Comparison strict = cache.judged("vllm-mla-cuda");
    CAPTURE(dtype_name(format.encoding), strict.reason);
    CHECK_FALSE(strict.accepted);
    // Arbitrary: rtol = 0.1 takes a step of 1/16 of the value and refuses one of 1/8.
    CHECK(strict.failing < strict.differing);
    CHECK(cache.judged("vllm-mla-rocm-relaxed").accepted);
    CHECK_FALSE(cache.judged("").accepted);
  }
}

// Cases that the relaxed row can be asked about: bf16, and values as in the public test (see tolerances.toml
// on rtol).
bool covered(const CaseId& id) {
  return id.kernel == "concat_and_cache_mla_rope" && id.tier == Tier::quick && id.group != "fills" &&
         id.params.dtype("dtype") == DType::bf16;
}

Verdict verdict_of(const CaseId& id, Machine& machine, const std::string& alternative,
                   const std::string& fault = "") {
  RunOptions options;
  options.fault = fault;
  options.alternative = alternative;
  return run_case(id, machine, policies(), options).verdict;
}

TEST_CASE("the relaxed row has no power over one-hot probes: it takes rows shifted by one") {
  for (const MachineInfo& info : list_machines()) {
    if (!info.present) continue;
    const auto machine = open_machine(info.properties.name);
    std::int64_t powerless = 0;
    for (const CaseId& id : all_cases()) {
      if (!covered(id) || id.group != "probe") continue;
      CHECK(verdict_of(id, *machine, "") == Verdict::pass);
      if (verdict_of(id, *machine, "vllm-mla-rocm-relaxed") == Verdict::no_power) ++powerless;
    }
    CHECK(powerless > 0);
  }
}

TEST_CASE("what the relaxed row lets through: faults that the shipped row kills") {
  const std::set<std::string> expected{"fp8_from_unrounded", "max_14_15ths", "rounds_always",
                                       "scale_reciprocal"};
  std::size_t machines = 0;
  for (const MachineInfo& info : list_machines()) {
    if (!info.present) continue;
    const auto machine = open_machine(info.properties.name);
    const std::vector<std::string> faults = kernel_faults("concat_and_cache_mla_rope", info.properties.build);
    if (faults.empty()) continue;
    ++machines;
    std::set<std::string> survivors;
    for (const std::string& fault : faults) {
      bool killed = false;
      for (const CaseId& id : all_cases()) {
        if (killed || !covered(id)) continue;
        const Verdict verdict = verdict_of(id, *machine, "vllm-mla-rocm-relaxed", fault);
        killed = verdict == Verdict::fail || verdict == Verdict::launch_error;
      }
      if (!killed) survivors.insert(fault);
    }
    CAPTURE(machine->name());
    CHECK(survivors == expected);
  }
  if (machines == 0) SKIP("no machine is present, or no faults were compiled");
}

}  // namespace
}  // namespace kvr
