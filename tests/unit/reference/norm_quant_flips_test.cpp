// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The known flips: two right kernels that add up a row in different orders (a two-stage reference in a plain
// loop, a one-pass kernel as a tree) disagree in a code or a scale here and there. Which rule says what about
// it: the shipped one accepts them because each lies at a tie, and nothing else; the published ones as they
// are documented.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <random>

#include "harness/judge/comparison.h"
#include "harness/judge/policy.h"
#include "reference/norm_quant.h"

namespace kvr {
namespace {

using reference::NormQuantBounds;

constexpr std::int64_t kWidth = 1024;

// What one kernel makes of rows of N(0, 1) with weights of one, per token, as stored.
struct Answer {
  std::vector<std::byte> codes;
  std::vector<float> scales;
};

enum class Order { loop, tree, least, greatest };

// fp32 sum of squares: left to right, or pairwise.
float variance(const std::vector<float>& x, Order order) {
  std::vector<float> squares;
  for (const float value : x) squares.push_back(value * value);
  if (order == Order::loop) {
    float sum = 0.0F;
    for (const float square : squares) sum += square;
    return sum / static_cast<float>(x.size());
  }
  for (std::size_t half = squares.size() / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) squares[i] += squares[i + half];
  return squares[0] / static_cast<float>(x.size());
}

class Rows {
 public:
  Rows(std::int64_t rows, unsigned seed, Fp8Format format) : rows_(rows) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    in_.resize(static_cast<std::size_t>(rows * kWidth));
    for (std::uint16_t& code : in_)
      code = static_cast<std::uint16_t>(encode(DType::bf16, static_cast<double>(normal(random))));
    args.in = in_.data();
    args.residual = residual_.data();
    args.residual_row_stride = kWidth;
    args.weight = weight_.data();
    args.tokens = rows;
    args.width = args.in_row_stride = kWidth;
    args.out_format = format;
  }
  NormQuantArgs args;

  Answer answer(Order order) const {
    Answer result;
    const NormQuantBounds reference(args);
    NormQuantBounds::Row row;
    for (std::int64_t n = 0; n < rows_; ++n) {
      reference.row(n, row);
      float r = static_cast<float>(1.0 / std::sqrt(static_cast<double>(variance(row.x, order) + args.eps)));
      if (order == Order::least) r = row.r_lo;
      if (order == Order::greatest) r = row.r_hi;
      float amax = 0.0F;
      std::vector<float> v;
      for (const float x : row.x) v.push_back(reference::round_to(DType::bf16, x * r));
      for (const float value : v) amax = std::max(amax, std::fabs(value));
      const float scale = amax / args.out_format.max;
      result.scales.push_back(scale);
      for (const float value : v) {
        const float code = args.out_format.encoding == DType::int8 ? value * (1.0F / scale) : value / scale;
        result.codes.push_back(static_cast<std::byte>(encode(args.out_format, static_cast<double>(code))));
      }
    }
    return result;
  }

  // What the harness expects: values and budgets, and how many scales are open.
  void expect() {
    const NormQuantBounds reference(args);
    NormQuantBounds::Row row;
    for (std::int64_t n = 0; n < rows_; ++n) {
      reference.row(n, row);
      values.insert(values.end(), row.code.begin(), row.code.end());
      budgets.insert(budgets.end(), row.code_budget.begin(), row.code_budget.end());
      scale_values.push_back(row.scale[0].value);
      scale_budgets.push_back(row.scale[0].budget);
      open_scales += row.ambiguous_scales;
    }
  }
  Outcome codes(const Answer& actual, const std::vector<double>& expected) const {
    Outcome outcome;
    outcome.dtype = args.out_format.encoding;
    outcome.rows = rows_;
    outcome.row_len = kWidth;
    outcome.actual = actual.codes;
    outcome.expected = std::span<const double>(expected);
    outcome.budget = budgets;
    outcome.overflow = Overflow::saturate;
    outcome.format_max = static_cast<double>(args.out_format.max);
    outcome.counts = {{"flipped_rows", static_cast<double>(open_scales)},
                      {"scale_len", static_cast<double>(kWidth)}};
    return outcome;
  }
  Outcome scales(const Answer& actual, const std::vector<double>& expected) const {
    Outcome outcome;
    outcome.rows = rows_;
    outcome.row_len = 1;
    outcome.actual = std::as_bytes(std::span(actual.scales));
    outcome.expected = std::span<const double>(expected);
    outcome.budget = scale_budgets;
    return outcome;
  }
  std::vector<double> values, budgets, scale_values, scale_budgets;
  std::int64_t open_scales = 0;

 private:
  std::int64_t rows_;
  std::vector<std::uint16_t> in_, residual_;
  std::vector<std::uint16_t> weight_ = std::vector<std::uint16_t>(kWidth, 0x3F80);
};

// A kernel's codes as the expectation of a test that compares kernels (parity tests do).
std::vector<double> numbers(const Answer& answer, DType dtype) {
  std::vector<double> values;
  for (const std::byte code : answer.codes) values.push_back(decode(dtype, static_cast<std::uint64_t>(code)));
  return values;
}
std::vector<double> numbers(const std::vector<float>& scales) {
  return {scales.begin(), scales.end()};
}

class Policies {
 public:
  Policies() : table_(PolicyTable::load(KVR_POLICY_FILE)) {}
  const Rule& shipped(const char* output, DType dtype) const {
    return table_.resolve({"norm_quant", output, dtype, "cpu", "emulated-warp32"})->rule;
  }
  const Rule& published(const char* name, const char* output, DType dtype) const {
    return table_.alternative(name, {"norm_quant", output, dtype, "cpu", "emulated-warp32"})->rule;
  }

 private:
  PolicyTable table_;
};

const Policies& policies() {
  static const Policies loaded;
  return loaded;
}

// What the published rule says, which counts but does not ask where. Here outliers must be scattered too, and
// those under a flipped scale share a row: our version of the rule refuses them.
bool within_count(const Comparison& comparison) {
  return comparison.failing <= comparison.outlier_limit && comparison.worst_ulp.ulp <= 1;
}

TEST_CASE("two sum orders flip codes at ties, and only there") {
  for (const Fp8Format format : {kE4m3fn, kE4m3fnuz224}) {
    Rows rows(2048, 1, format);
    rows.expect();
    const Answer two_stage = rows.answer(Order::loop);
    const Answer one_pass = rows.answer(Order::tree);
    const DType dtype = format.encoding;
    const std::vector<double> expected = numbers(two_stage, dtype);

    const Comparison exact =
        judge(rows.codes(one_pass, expected), policies().published("vllm-norm-quant-cuda", "out", dtype));
    CHECK(exact.differing > 0);
    CHECK(exact.differing <= 2048 * kWidth / 100000 + 8);
    CHECK(exact.worst_ulp.ulp == 1);
    CHECK_FALSE(exact.accepted);  // the flake of the exact rule
    for (const char* name : {"vllm-norm-quant-rocm", "vllm-norm-quant-unified"}) {
      const Comparison counted =
          judge(rows.codes(one_pass, expected), policies().published(name, "out", dtype));
      CAPTURE(name, counted.reason);
      CHECK(within_count(counted));
    }
    for (const Answer& answer : {two_stage, one_pass}) {
      CHECK(judge(rows.codes(answer, rows.values), policies().shipped("out", dtype)).accepted);
      CHECK(judge(rows.scales(answer, rows.scale_values), policies().shipped("scales", DType::f32)).accepted);
    }
    // The same flips anywhere else are refused: move each to its neighbour, whose value is not at a tie.
    Answer moved = two_stage;
    const auto next = static_cast<std::size_t>(exact.examples.at(0).index) ^ 1U;
    moved.codes[next] = static_cast<std::byte>(static_cast<std::uint8_t>(moved.codes[next]) ^ 1U);
    CHECK_FALSE(judge(rows.codes(moved, rows.values), policies().shipped("out", dtype)).accepted);
    CHECK(judge(rows.codes(moved, expected), policies().published("vllm-norm-quant-rocm", "out", dtype))
              .accepted);
  }
}

TEST_CASE("a flipped amax moves the scale by one bf16 step and many codes of its row") {
  unsigned seed = 2;
  Rows rows(1024, seed, kE4m3fn);
  for (rows.expect(); rows.open_scales == 0; rows.expect()) rows = Rows(1024, ++seed, kE4m3fn);
  REQUIRE(seed < 30);
  const Answer least = rows.answer(Order::least);
  const Answer greatest = rows.answer(Order::greatest);
  std::int64_t flipped = 0;
  for (std::size_t n = 0; n < least.scales.size(); ++n) {
    if (least.scales[n] == greatest.scales[n]) continue;
    ++flipped;
    CHECK(greatest.scales[n] > least.scales[n]);
    CHECK(greatest.scales[n] / least.scales[n] < 1.0F + 0x1p-7F * 1.01F);
  }
  CHECK(flipped > 0);
  CHECK(flipped <= rows.open_scales);
  const std::vector<double> expected = numbers(least, DType::e4m3fn);
  const auto rule = [](const char* name, const char* output, DType dtype) -> const Rule& {
    return policies().published(name, output, dtype);
  };
  const std::vector<double> expected_scales = numbers(least.scales);
  CHECK_FALSE(
      judge(rows.scales(greatest, expected_scales), rule("vllm-norm-quant-cuda", "scales", DType::f32))
          .accepted);
  CHECK(judge(rows.scales(greatest, expected_scales), rule("vllm-norm-quant-rocm", "scales", DType::f32))
            .accepted);
  CHECK(judge(rows.scales(greatest, expected_scales), rule("vllm-norm-quant-unified", "scales", DType::f32))
            .accepted);
  const Comparison counted =
      judge(rows.codes(greatest, expected), rule("vllm-norm-quant-unified", "out", DType::e4m3fn));
  CHECK(counted.differing > 8);  // many hang on one scale
  CHECK(within_count(counted));
  CHECK_FALSE(counted.accepted);
  CHECK(counted.reason.find("not scattered") != std::string::npos);
  for (const Answer& answer : {least, greatest}) {
    CHECK(judge(rows.codes(answer, rows.values), policies().shipped("out", DType::e4m3fn)).accepted);
    CHECK(judge(rows.scales(answer, rows.scale_values), policies().shipped("scales", DType::f32)).accepted);
  }
}

TEST_CASE("the published budgets at their edges (A2)") {
  Rows rows(64, 3, kE4m3fn);
  rows.expect();
  const Answer right = rows.answer(Order::loop);
  const std::vector<double> expected = numbers(right, DType::e4m3fn);
  const std::int64_t limit = 64 * kWidth / 100000 + 8;
  REQUIRE(limit == 8);
  // `count` codes moved by `steps`, scattered: another row, column, tile and lane each.
  const auto moved = [&](std::int64_t count, unsigned steps) {
    Answer answer = right;
    for (std::int64_t i = 0; i < count; ++i) {
      auto at = static_cast<std::size_t>((i * 7 % 64) * kWidth + (i * 131 + 17) % kWidth);
      while ((static_cast<unsigned>(answer.codes[at]) & 0x7FU) < 8 ||
             (static_cast<unsigned>(answer.codes[at]) & 0x7FU) > 0x70)
        ++at;
      answer.codes[at] = static_cast<std::byte>(static_cast<unsigned>(answer.codes[at]) + steps);
    }
    return answer;
  };
  const auto accepts = [&](const char* name, const Answer& answer) {
    return judge(rows.codes(answer, expected), policies().published(name, "out", DType::e4m3fn)).accepted;
  };
  CHECK(accepts("vllm-norm-quant-rocm", moved(limit, 1)));
  CHECK_FALSE(accepts("vllm-norm-quant-rocm", moved(1, 2)));
  CHECK_FALSE(accepts("vllm-norm-quant-rocm", moved(limit + 1, 1)));
  CHECK_FALSE(accepts("vllm-norm-quant-cuda", moved(1, 1)));
  CHECK_FALSE(judge(rows.codes(moved(1, 1), rows.values), policies().shipped("out", DType::e4m3fn)).accepted);
  const Comparison used = judge(rows.codes(moved(5, 1), expected),
                                policies().published("vllm-norm-quant-rocm", "out", DType::e4m3fn));
  CHECK(used.excused == 5);
  CHECK(used.outlier_limit == 8);
}

TEST_CASE("int8: one step is always allowed by the published rules, never without a reason by ours") {
  Rows rows(64, 4, kInt8);
  rows.expect();
  const Answer right = rows.answer(Order::loop);
  const std::vector<double> expected = numbers(right, DType::int8);
  Answer wrong = right;
  for (std::size_t i = 0; i < wrong.codes.size(); ++i)
    if (static_cast<std::int8_t>(wrong.codes[i]) > 0)
      wrong.codes[i] = static_cast<std::byte>(static_cast<std::int8_t>(wrong.codes[i]) - 1);
  CHECK(judge(rows.codes(wrong, expected), policies().published("vllm-norm-quant-cuda", "out", DType::int8))
            .accepted);
  CHECK_FALSE(judge(rows.codes(wrong, rows.values), policies().shipped("out", DType::int8)).accepted);
  wrong = right;
  wrong.codes[77] = static_cast<std::byte>(static_cast<std::int8_t>(wrong.codes[77]) + 2);
  CHECK_FALSE(
      judge(rows.codes(wrong, expected), policies().published("vllm-norm-quant-cuda", "out", DType::int8))
          .accepted);
  CHECK(
      judge(rows.codes(wrong, expected), policies().published("vllm-norm-quant-unified", "out", DType::int8))
          .accepted);
}

}  // namespace
}  // namespace kvr
