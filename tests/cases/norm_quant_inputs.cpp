// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Inputs of norm_quant that are made of chosen values, and arguments that must be refused. Where the values
// are the point, rows of +1, -1, +1, ... with eps = 0 make the norm transparent: r = 1 to within its
// interval, so with 16-bit T the value that is quantised is exactly +-weight.
#include <cmath>
#include <numeric>

#include "tests/cases/norm_quant.h"

namespace kvr::norm_quant_cases {
namespace {

std::vector<double> alternating(std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 1.0 : -1.0;
  return values;
}

// `pattern` over and over: every tie meets both signs, as the rows alternate and its length is odd or the
// width is.
std::vector<double> repeated(const std::vector<double>& pattern, std::int64_t width) {
  std::vector<double> values(static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = pattern[i % pattern.size()];
  return values;
}

// Midpoints between neighbouring codes: of an e4m3 format with this largest value, or of int8. The first is
// the largest value itself, so that a dynamic scale is exactly 1.
std::vector<double> ties(const Fp8Format& format) {
  std::vector<double> values{static_cast<double>(format.max)};
  if (format.encoding == DType::int8) {
    for (int k = 0; k < 127; ++k) values.push_back(k + 0.5);
    return values;
  }
  const double smallest = format.encoding == DType::e4m3fn ? 0x1p-9 : 0x1p-10;
  for (double power = 8 * smallest; power < values[0]; power *= 2)
    for (int m = 8; m < 16; ++m)
      if ((m + 0.5) / 8 * power < values[0]) values.push_back((m + 0.5) / 8 * power);
  for (int m = 0; m < 8; ++m) values.push_back((m + 0.5) * smallest);
  return values;
}

// Rows of H = 64 with 64, 16, 4 and 1 elements of 1, spread, and weights 1/2: amax 0.5, 1, 2 and 4 (bug
// report A18).
std::vector<double> four_amaxes() {
  std::vector<double> values(4 * 64);
  for (std::size_t row = 0; row < 4; ++row)
    for (std::size_t j = 0; j < 64; j += std::size_t{1} << (2 * row)) values[row * 64 + j] = 1.0;
  return values;
}

// The lane-strided sum of squares of this row depends on the number of lanes (bug report A10).
std::vector<double> order_probe(std::int64_t width) {
  std::vector<double> values(static_cast<std::size_t>(width));
  for (std::size_t j = 256; j < values.size(); j += 256) values[j] = 1.0;
  values[0] = 4096.0;
  return values;
}

// Normal rows whose second group of 128 is zero, -0 in every other row.
std::vector<double> zero_group(const CaseBuilder& c, std::int64_t rows, std::int64_t width) {
  const RandomStream stream = c.stream("in");
  std::vector<double> values;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t j = 0; j < width; ++j)
      values.push_back(j / 128 == 1 ? (row % 2 == 0 ? 0.0 : -0.0)
                                    : stream.normal(static_cast<std::uint64_t>(row * width + j)));
  return values;
}

std::vector<double> repeat_rows(std::vector<double> row, std::int64_t rows) {
  std::vector<double> values;
  for (std::int64_t r = 0; r < rows; ++r) values.insert(values.end(), row.begin(), row.end());
  return values;
}

std::vector<double> ramp(std::int64_t width, double first, double step) {
  std::vector<double> values;
  for (std::int64_t j = 0; j < width; ++j) values.push_back(first + step * static_cast<double>(j));
  return values;
}

}  // namespace

std::optional<InputValues> input_values(const CaseBuilder& c, const NormQuantArgs& args) {
  if (!c.params().has("fill")) return std::nullopt;
  const std::string& name = c.params().text("fill");
  const std::int64_t n = args.tokens;
  const std::int64_t h = args.width;
  const auto transparent = [&](std::vector<double> pattern) {
    return InputValues{Fill::list(alternating(n * h)), Fill::list(repeated(pattern, h)), 0.0F};
  };
  // amax 1.078125: 0.80859375 / (amax / 448) is 336 exactly, a tie; times 1 / scale it is above 336 (bug
  // report A2). With 224 the same holds at 168.
  if (name == "tie336") return transparent({1.078125, 0.80859375, 0.5, 1.0, -0.25, 0.625, 0.09375});
  if (name == "code_ties") return transparent(ties(args.out_format));
  if (name == "a18") return InputValues{Fill::list(four_amaxes()), Fill::constant(0.5), 0.0F};
  // amax is 1.75 * 64 * (1 - a few 2^-24), just under 112, and its scale just under a power of two (1/4 or
  // 1/2), where neighbouring floats are nearest to each other: one ULP of r shows.
  if (name == "a10") return InputValues{Fill::list(order_probe(h)), Fill::constant(1.75), 0.0F};
  if (name == "zero_group")
    return InputValues{Fill::list(zero_group(c, n, h)), Fill::normal(0.1, 1.0), 1e-6F};
  // fp16: one element carries the row, so that d * r = sqrt(H) and the product with its weight overflows.
  if (name == "overflow") return InputValues{Fill::one_hot(3), Fill::constant(30000.0), 1e-6F};
  // Bug report A15: the difference of squares gives -128, 0.375 and -2.6 where 1.25, 2.13e-5 and 0 are right.
  if (name == "a15_step1")
    return InputValues{Fill::list(repeat_rows(ramp(h, 40000.0, 1.0), n)), Fill::constant(1.0), 1e-6F};
  if (name == "a15_step001")
    return InputValues{Fill::list(repeat_rows(ramp(h, 1000.0, 0.001), n)), Fill::constant(1.0), 1e-5F};
  if (name == "a15_1234") return InputValues{Fill::constant(1234.0), Fill::normal(0.1, 1.0), 1e-6F};
  if (name == "a15_23") return InputValues{Fill::constant(23.375), Fill::normal(0.1, 1.0), 1e-6F};
  return std::nullopt;
}

void break_argument(NormQuantArgs& args, const std::string& what) {
  if (what.empty()) return;
  const float nan = std::nanf("");
  if (what == "tokens")
    args.tokens = -1;
  else if (what == "tokens:grid")
    args.tokens = std::int64_t{1} << 31;
  else if (what == "width")
    args.width = 0;
  else if (what == "dtype")
    args.dtype = DType::e5m2;
  else if (what == "weight_dtype")
    args.weight_dtype = DType::fp16;
  else if (what == "in_inner_stride")
    args.in_inner_stride = 2;
  else if (what == "out_inner_stride")
    args.out_inner_stride = 4;
  else if (what == "residual_inner_stride")
    args.residual_inner_stride = 2;
  else if (what == "in_row_stride")
    args.in_row_stride = args.width - 1;
  else if (what == "out_row_stride")
    args.out_row_stride = args.width - 1;
  else if (what == "residual_row_stride")
    args.residual_row_stride = 1;
  else if (what == "rows_per_batch")
    args.rows_per_batch = -3;
  else if (what == "in_batch_stride")
    args.in_batch_stride = -1;
  else if (what == "eps")
    args.eps = -1e-6F;
  else if (what == "eps:nan")
    args.eps = nan;
  else if (what == "bias")
    args.bias = args.weight;  // RMSNorm has none
  else if (what == "out_format:e5m2")
    args.out_format = kE5m2;
  else if (what == "out_format.max")
    args.out_format.max = 2.0F * args.out_format.max;
  else if (what == "out_format.max:nan")
    args.out_format.max = nan;
  else if (what == "scale:zero")
    args.scale = 0.0F;
  else if (what == "scale:negative")
    args.scale = -1.0F;
  else if (what == "scale:nan")
    args.scale = nan;
  else if (what == "scale_ub:zero")
    args.scale_ub = 0.0F;
  else if (what == "scale_ub:negative")
    args.scale_ub = -1.0F;
  else if (what == "scale_ub:nan")
    args.scale_ub = nan;
  else if (what == "scale_ub:set")
    args.scale_ub = 1.0F;  // with int8, groups or a static scale
  else if (what == "scale_ub:device")
    args.scale_ub_at = static_cast<const float*>(args.weight);
  else if (what == "group:divides") {
    args.quantiser = Quantiser::per_group;
    args.group = 64;
  } else if (what == "group:96")
    args.group = 96;
  else if (what == "group:zero")
    args.group = 0;
  else if (what == "scales_stride")
    args.scales_stride -= 1;
  else if (what == "scales_stride:layout")
    args.scale_layout = ScaleLayout::column_major;
  else if (what == "scales_numel")
    args.scales_numel -= 1;
  else if (what == "scales")
    args.scales = nullptr;
  else if (what == "scales:overlap")
    args.scales = static_cast<float*>(args.out);
  else if (what == "in")
    args.in = nullptr;
  else if (what == "weight")
    args.weight = nullptr;
  else if (what == "out")
    args.out = nullptr;
  else if (what == "out:overlap")
    args.out = const_cast<void*>(args.in);
  else if (what == "residual:overlap")
    args.residual = const_cast<void*>(args.in);
  else if (what == "residual:overlaps_out")
    args.residual = args.out;
  else
    throw std::invalid_argument("unknown refusal " + what);
}

}  // namespace kvr::norm_quant_cases
