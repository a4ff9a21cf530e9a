// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// norm_quant's reference against numbers worked by hand or given by the bug reports, its fp32 form against
// its double form, and its intervals against every rounding a kernel may legally do otherwise.
#include "reference/norm_quant.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "harness/numeric/codec.h"
#include "harness/random/fill.h"

namespace kvr {
namespace {

using Catch::Matchers::WithinRel;
using reference::norm_quant_row;
using reference::NormQuantBounds;
using reference::NormQuantRow;

// Host tensors of one test, with the arguments that point at them.
struct Problem {
  NormQuantArgs args;
  std::vector<std::uint16_t> in16, residual16, weight16, bias16;
  std::vector<float> in32, residual32, weight32, bias32;

  Problem(DType dtype, std::int64_t tokens, std::int64_t width) {
    args.dtype = args.weight_dtype = dtype;
    args.tokens = tokens;
    args.width = args.in_row_stride = args.residual_row_stride = args.out_row_stride = width;
    args.scales_stride = 1;
  }
  static void* store(DType dtype, const std::vector<double>& values, std::vector<std::uint16_t>& narrow,
                     std::vector<float>& wide) {
    if (dtype == DType::f32) {
      wide.assign(values.begin(), values.end());
      return wide.data();
    }
    narrow.clear();
    for (const double value : values) narrow.push_back(static_cast<std::uint16_t>(encode(dtype, value)));
    return narrow.data();
  }
  Problem& in(const std::vector<double>& values) {
    return args.in = store(args.dtype, values, in16, in32), *this;
  }
  Problem& residual(const std::vector<double>& values) {
    return args.residual = store(args.dtype, values, residual16, residual32), *this;
  }
  Problem& weight(const std::vector<double>& values) {
    return args.weight = store(args.weight_dtype, values, weight16, weight32), *this;
  }
  Problem& bias(const std::vector<double>& values) {
    args.norm = Norm::layer;
    return args.bias = store(args.weight_dtype, values, bias16, bias32), *this;
  }
};

std::vector<double> draw(std::size_t count, unsigned seed, double deviation = 1.0, double mean = 0.0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(mean, deviation);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

std::uint64_t code_of(const NormQuantArgs& args, double value) {
  return encode(args.out_format, value);
}

TEST_CASE("round_to is RN_T: every fp32 pattern with a random lower half, and every tie") {
  std::mt19937 random(7);
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    std::int64_t different = 0;
    for (std::uint32_t upper = 0; upper < 65536; ++upper)
      for (const std::uint32_t lower :
           {0x0000U, 0x0001U, 0x0FFFU, 0x1000U, 0x1001U, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU,
            static_cast<std::uint32_t>(random() & 0xFFFFU)}) {
        const auto value = std::bit_cast<float>(upper << 16 | lower);
        const float fast = reference::round_to(dtype, value);
        const double right = decode(dtype, encode(dtype, static_cast<double>(value)));
        const bool same = std::isnan(right) ? std::isnan(fast)
                                            : static_cast<double>(fast) == right &&
                                                  std::signbit(fast) == std::signbit(right);
        different += same ? 0 : 1;
      }
    CHECK(different == 0);
  }
}

TEST_CASE("a row of ones normalises to the weights (A11)") {
  Problem p(DType::bf16, 1, 256);
  p.in(std::vector<double>(256, 1.0)).weight(std::vector<double>(256, 0.5));
  NormQuantRow<double> row;
  norm_quant_row(p.args, 0, row);
  CHECK(row.v == std::vector<double>(256, 0.5));
  CHECK(row.scale[0] == 0.5 / 448.0);
  CHECK(row.code[17] == 448.0);
}

TEST_CASE("two elements by hand: RMSNorm of (3, 4) is (3, 4) / sqrt(12.5)") {
  Problem p(DType::f32, 1, 2);
  p.in({3.0, 4.0}).weight({1.0, 2.0});
  p.args.eps = 0.0F;
  NormQuantRow<double> row;
  norm_quant_row(p.args, 0, row);
  CHECK_THAT(row.v[0], WithinRel(3.0 / std::sqrt(12.5), 1e-15));
  CHECK_THAT(row.v[1], WithinRel(8.0 / std::sqrt(12.5), 1e-15));
  CHECK_THAT(row.scale[0], WithinRel(8.0 / std::sqrt(12.5) / 448.0, 1e-15));
  CHECK_THAT(row.code[0], WithinRel(448.0 * 3.0 / 8.0, 1e-15));
}

TEST_CASE("LayerNorm keeps its precision where a difference of squares loses it (A15)") {
  struct Row {
    std::vector<double> in;
    double first;  // output of element 0, from the bug reports
  };
  std::vector<double> fine;
  for (int i = 0; i < 16; ++i) fine.push_back(1000.0 + i * 0.001);
  const Row rows[] = {{{40000.0, 40001.0, 40002.0, 40003.0}, -1.34164}, {fine, -1.3415}};
  for (const Row& r : rows) {
    Problem p(DType::f32, 1, static_cast<std::int64_t>(r.in.size()));
    p.in(r.in).weight(std::vector<double>(r.in.size(), 1.0)).bias(std::vector<double>(r.in.size(), 0.0));
    p.args.eps = 1e-5F;
    NormQuantRow<double> exact;
    norm_quant_row(p.args, 0, exact);
    CHECK_THAT(exact.v[0], WithinRel(r.first, 0.01));  // fp32 places 1000.001 to within 3e-5
    NormQuantBounds::Row bounds;
    NormQuantBounds(p.args).row(0, bounds);
    CHECK(bounds.hi[0] < -1.0F);  // -0.012, the answer of the one-pass formula, lies far outside
  }
  for (const std::int64_t width : {128, 768, 1027, 10240}) {
    Problem p(DType::f32, 1, width);
    p.in(std::vector<double>(static_cast<std::size_t>(width), 1234.0));
    p.weight(std::vector<double>(static_cast<std::size_t>(width), 1.0));
    p.bias(std::vector<double>(static_cast<std::size_t>(width), 0.25));
    NormQuantBounds::Row bounds;
    NormQuantBounds(p.args).row(0, bounds);
    CHECK(bounds.mean_lo == 1234.0F);  // no partial sum rounds: the mean is one number
    CHECK(bounds.mean_hi == 1234.0F);
    CHECK(bounds.lo[3] == 0.25F);
    CHECK(bounds.hi[3] == 0.25F);
  }
}

TEST_CASE("the ties of A2 and A19: division and reciprocal give different codes, and the budget is nil") {
  struct Tie {
    Fp8Format format;
    double quotient;
    std::uint64_t code;
  };
  for (const auto& [format, quotient, code] : {Tie{kE4m3fn, 336.0, 0x7A}, Tie{kE4m3fnuz224, 168.0, 0x7A}}) {
    Problem p(DType::bf16, 1, 4);
    p.in({1.0, -1.0, 1.0, -1.0}).weight({1.078125, 0.80859375, 0.80859375, 1.0});
    p.args.eps = 0.0F;
    p.args.out_format = format;
    NormQuantBounds::Row row;
    NormQuantBounds(p.args).row(0, row);
    CHECK(row.code[2] == quotient);
    CHECK(row.code_budget[2] == 0.0);
    CHECK(code_of(p.args, row.code[2]) == code);
    const float scale = 1.078125F / format.max;
    CHECK(code_of(p.args, static_cast<double>(0.80859375F * (1.0F / scale))) == code + 1);
  }
  Problem p(DType::bf16, 1, 2);
  p.in({1.0, 1.0}).weight({448.0, 304.0});
  p.args.eps = 0.0F;
  NormQuantBounds::Row row;
  NormQuantBounds(p.args).row(0, row);
  CHECK(row.scale[0].value == 1.0);
  CHECK(row.code[1] == 304.0);
  CHECK(code_of(p.args, row.code[1]) == 0x7A);  // 320: the tie between 288 and 320 goes to the even code
  CHECK(reference::tie_distance(DType::e4m3fn, 304.0) == 0.0);
  CHECK(reference::tie_distance(DType::e4m3fn, 320.0) == 0.5);
  CHECK(reference::tie_distance(DType::int8, -2.25) == 0.25);
}

TEST_CASE("scale_ub (A18): four rows, a bound of one") {
  std::vector<double> in(256, 0.0);
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t j = 0; j < 64; j += std::size_t{1} << (2 * row)) in[row * 64 + j] = 1.0;
  Problem p(DType::bf16, 4, 64);
  p.in(in).weight(std::vector<double>(64, 0.5));
  p.args.eps = 0.0F;
  p.args.scale_ub = 1.0F;
  const double amax[] = {0.5, 1.0, 2.0, 4.0};
  for (std::int64_t n = 0; n < 4; ++n) {
    NormQuantBounds::Row row;
    NormQuantBounds(p.args).row(n, row);
    CHECK(row.scale[0].value == static_cast<double>(static_cast<float>(std::min(amax[n], 1.0)) / 448.0F));
    CHECK(row.scale[0].budget == 0.0);
    CHECK(row.clamped == (n >= 2));
    CHECK(code_of(p.args, row.code[0]) == 0x7E);
  }
}

TEST_CASE("special values, as kernels/norm_quant/norm_quant.h states them") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const auto row_of = [](std::vector<double> in, Quantiser quantiser, Fp8Format format = kE4m3fn) {
    Problem p(DType::bf16, 1, 128);
    in.resize(128, 1.0);
    p.in(in).weight(std::vector<double>(128, 1.0));
    p.args.quantiser = quantiser;
    p.args.group = 64;
    p.args.out_format = format;
    NormQuantBounds::Row row;
    NormQuantBounds(p.args).row(0, row);
    return row;
  };
  SECTION("NaN: scale and codes") {
    const auto row = row_of({nan}, Quantiser::per_token);
    CHECK(std::isnan(row.scale[0].value));
    CHECK(std::isnan(row.code[5]));
  }
  SECTION("infinity: its group only") {
    const auto row = row_of({inf}, Quantiser::per_group);
    CHECK(std::isnan(row.scale[0].value));
    CHECK(row.scale[1].value == static_cast<double>(1.0F / (448.0F * 512.0F)));
    CHECK(row.code[100] == 0.0);
  }
  SECTION("zero rows: the floor, exactly (A12)") {
    const std::vector<double> zeros(128, -0.0);
    CHECK(row_of(zeros, Quantiser::per_token).scale[0].value ==
          static_cast<double>(1.0F / (448.0F * 512.0F)));
    CHECK(row_of(zeros, Quantiser::per_token, kE4m3fnuz224).scale[0].value ==
          static_cast<double>(1.0F / (224.0F * 512.0F)));
    CHECK(row_of(zeros, Quantiser::per_token, kInt8).scale[0].value == 0x1p-23);
    CHECK(row_of(zeros, Quantiser::per_group).code[64] == 0.0);
  }
}

// Every sum order and every rsqrt within 2 ULP is legal. Whatever they give must lie in the reference's
// interval.
TEST_CASE("no legal r leaves the interval: random orders of the sum, rsqrt off by two ULP") {
  std::mt19937 random(11);
  std::int64_t open = 0;
  for (const DType dtype : {DType::bf16, DType::fp16, DType::f32})
    for (const std::int64_t width : {7, 129, 1027, 5120})
      for (unsigned seed = 0; seed < 6; ++seed) {
        Problem p(dtype, 1, width);
        const auto count = static_cast<std::size_t>(width);
        p.in(draw(count, seed)).weight(draw(count, seed + 100, 0.1, 1.0));
        if (seed % 2 == 1) p.bias(draw(count, seed + 200, 0.1));
        NormQuantBounds::Row bounds;
        const NormQuantBounds reference(p.args);
        reference.row(0, bounds);
        open += bounds.ambiguous_codes;
        std::vector<float> x = bounds.x;
        for (int trial = 0; trial < 4; ++trial) {
          std::shuffle(x.begin(), x.end(), random);
          // Pairwise, as a kernel's tree: the depth of a plain loop is not promised to anybody.
          const auto tree = [](std::vector<float> terms) {
            while (terms.size() > 1) {
              for (std::size_t i = 0; i + 1 < terms.size(); i += 2) terms[i / 2] = terms[i] + terms[i + 1];
              if (terms.size() % 2 == 1) terms[terms.size() / 2] = terms.back();
              terms.resize((terms.size() + 1) / 2);
            }
            return terms[0];
          };
          const float mean = p.args.norm == Norm::layer ? tree(x) / static_cast<float>(width) : 0.0F;
          std::vector<float> squares;
          for (const float value : x) squares.push_back((value - mean) * (value - mean));
          const float variance = tree(squares) / static_cast<float>(width);
          float r = static_cast<float>(1.0 / std::sqrt(static_cast<double>(variance + p.args.eps)));
          for (int step = 0; step < 2; ++step) r = std::nextafter(r, trial % 2 == 0 ? 0.0F : 1e30F);
          CHECK(bounds.mean_lo <= mean);
          CHECK(mean <= bounds.mean_hi);
          CHECK(bounds.r_lo <= r);
          CHECK(r <= bounds.r_hi);
        }
      }
  CHECK(open > 0);  // and the interval is not a point
}

TEST_CASE("the interval of r is as narrow as the header says") {
  Problem p(DType::f32, 1, 8192);
  p.in(draw(8192, 3)).weight(std::vector<double>(8192, 1.0));
  NormQuantBounds::Row row;
  NormQuantBounds(p.args).row(0, row);
  CHECK(row.r_hi / row.r_lo - 1.0F < 2.0F * 8e-7F);
  CHECK(row.r_hi / row.r_lo - 1.0F > 2.0F * 5e-7F);
}

TEST_CASE("the plain loops, in fp32 and in double, lie in the interval") {
  for (const DType dtype : {DType::bf16, DType::fp16, DType::f32})
    for (const Quantiser quantiser : {Quantiser::per_tensor, Quantiser::per_token, Quantiser::per_group})
      for (const RoundingContract rounding : {RoundingContract::per_op, RoundingContract::once})
        for (const Fp8Format format : {kE4m3fn, kE4m3fnuz240, kInt8})
          for (unsigned seed = 0; seed < 8; ++seed) {
            Problem p(dtype, 1, 256);
            p.in(draw(256, seed)).weight(draw(256, seed + 50, 0.1, 1.0)).residual(draw(256, seed + 70));
            if (seed % 2 == 1) p.bias(draw(256, seed + 90, 0.1));
            p.args.quantiser = quantiser;
            p.args.group = 64;
            p.args.rounding = rounding;
            p.args.out_format = format;
            p.args.residual_contract =
                seed % 4 < 2 ? ResidualContract::f32_sum : ResidualContract::rounded_sum;
            NormQuantBounds::Row bounds;
            NormQuantBounds(p.args).row(0, bounds);
            NormQuantRow<double> exact;
            norm_quant_row(p.args, 0, exact);
            NormQuantRow<float> single;
            norm_quant_row(p.args, 0, single);
            std::int64_t outside = 0;
            for (std::size_t j = 0; j < 256; ++j) {
              // Roundings to fp32 are part of the interval's ends, not of the double's path: one ULP of room.
              const double room = std::fabs(exact.v[j]) * 0x1p-22;
              outside += exact.v[j] < static_cast<double>(bounds.lo[j]) - room ||
                                 exact.v[j] > static_cast<double>(bounds.hi[j]) + room
                             ? 1
                             : 0;
              outside += single.v[j] < bounds.lo[j] || single.v[j] > bounds.hi[j] ? 1 : 0;
              outside += static_cast<double>(single.sum[j]) != static_cast<double>(bounds.sum[j]) ? 1 : 0;
              const double max = static_cast<double>(format.max);
              const double code = std::clamp(static_cast<double>(single.code[j]), -max, max);
              outside += std::fabs(code - bounds.code[j]) > bounds.code_budget[j] ? 1 : 0;
            }
            CHECK(outside == 0);
            for (std::size_t g = 0; g < exact.scale.size(); ++g)
              CHECK(std::fabs(static_cast<double>(single.scale[g]) - bounds.scale[g].value) <=
                    bounds.scale[g].budget);
          }
}

TEST_CASE("16-bit types leave almost nothing open") {
  // The sum with a residual: in alone has so few significands that its ties come in clusters.
  Problem p(DType::bf16, 64, 1024);
  p.in(draw(64 * 1024, 5)).weight(draw(1024, 6, 0.1, 1.0)).residual(draw(64 * 1024, 7, 0.37));
  std::int64_t codes = 0;
  std::int64_t scales = 0;
  NormQuantBounds::Row row;
  const NormQuantBounds reference(p.args);
  for (std::int64_t n = 0; n < 64; ++n) {
    reference.row(n, row);
    scales += row.ambiguous_scales;
    if (row.ambiguous_scales == 0) codes += row.ambiguous_codes;
  }
  // The relative width of r's interval is 1.3e-6, a step of bf16 is 2^-8 to 2^-7 of the value: one in 3000 or
  // so.
  CHECK(codes < 64 * 1024 / 1000);
  CHECK(codes > 0);
  CHECK(scales <= 2);
}

}  // namespace
}  // namespace kvr
