// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// How fast judge() is on a 256 MiB bf16 output, next to memcpy of the same bytes on the same cores, in one
// run. "output" counts the bytes of the output only; "read" counts everything the judge reads (expected
// values and budget too). memcpy counts the bytes copied, and is spread over all cores as the judge is.
#include <benchmark/benchmark.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "harness/judge/comparison.h"

namespace {

constexpr std::int64_t kRowLen = 4096;
constexpr std::int64_t kRows = 32768;
constexpr std::int64_t kNumel = kRows * kRowLen;  // 2^27 elements of 2 bytes: 256 MiB

// What a good kernel's output looks like: the rounding of the expected value with an error of a few fp32 ULP,
// which moves about one element in 10,000 to the next code.
template <class Real>
struct Data {
  std::vector<std::uint16_t> actual = std::vector<std::uint16_t>(kNumel);
  std::vector<Real> expected = std::vector<Real>(kNumel);
  std::vector<double> budget;

  explicit Data(bool with_budget) : budget(with_budget ? kNumel : 0) {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, kRows), [this](const tbb::blocked_range<std::int64_t>& rows) {
          for (std::int64_t row = rows.begin(); row != rows.end(); ++row) {
            std::mt19937_64 bits(static_cast<std::uint64_t>(row));
            std::normal_distribution<double> normal;
            std::uniform_real_distribution<double> jitter(-0x1p-20, 0x1p-20);
            for (std::int64_t column = 0; column < kRowLen; ++column) {
              const auto at = static_cast<std::size_t>(row * kRowLen + column);
              expected[at] = static_cast<Real>(normal(bits));
              const auto exact = static_cast<double>(expected[at]);
              actual[at] =
                  static_cast<std::uint16_t>(kvr::encode(kvr::DType::bf16, exact * (1.0 + jitter(bits))));
              if (!budget.empty()) budget[at] = 0x1p-20 * (exact < 0 ? -exact : exact);
            }
          }
        });
  }
};

void memcpy_all_cores(benchmark::State& state) {
  std::vector<std::byte> from(2 * kNumel, std::byte{1}), to(2 * kNumel);
  for (auto _ : state) {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, from.size(), std::size_t{1} << 20),
                      [&](const tbb::blocked_range<std::size_t>& range) {
                        std::memcpy(to.data() + range.begin(), from.data() + range.begin(), range.size());
                      });
    benchmark::ClobberMemory();
  }
  state.counters["copied"] = benchmark::Counter(2.0 * kNumel, benchmark::Counter::kIsIterationInvariantRate);
}

void memcpy_one_core(benchmark::State& state) {
  std::vector<std::byte> from(2 * kNumel, std::byte{1}), to(2 * kNumel);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.counters["copied"] = benchmark::Counter(2.0 * kNumel, benchmark::Counter::kIsIterationInvariantRate);
}

template <class Real>
void judge_bf16(benchmark::State& state, const char* rule_text) {
  const kvr::Rule rule = kvr::parse_rule(rule_text, kvr::DType::bf16);
  const Data<Real> data(rule.budget.has_value());
  kvr::Outcome outcome;
  outcome.dtype = kvr::DType::bf16;
  outcome.rows = kRows;
  outcome.row_len = kRowLen;
  outcome.actual = std::as_bytes(std::span(data.actual));
  outcome.expected = std::span<const Real>(data.expected);
  outcome.budget = data.budget;
  for (auto _ : state) {
    kvr::Comparison comparison = kvr::judge(outcome, rule);
    if (!comparison.accepted) state.SkipWithError(comparison.reason.c_str());
    benchmark::DoNotOptimize(comparison.differing);
  }
  const double read = 2.0 + sizeof(Real) + (rule.budget ? sizeof(double) : 0);
  state.counters["output"] = benchmark::Counter(2.0 * kNumel, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["read"] = benchmark::Counter(read * kNumel, benchmark::Counter::kIsIterationInvariantRate);
}

constexpr auto judge_fp32 = judge_bf16<float>;
constexpr auto judge_double = judge_bf16<double>;

BENCHMARK(memcpy_all_cores)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(memcpy_one_core)->MeasureProcessCPUTime()->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(judge_fp32, rtol, "atol=1e-3 rtol=2^-7")
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(judge_fp32, max_ulp, "max_ulp=1")
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(judge_double, max_ulp, "max_ulp=1")
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(judge_double, budget, "budget=1")
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
