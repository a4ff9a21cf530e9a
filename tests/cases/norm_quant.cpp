// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// One case of norm_quant: from the parameters of its name to tensors, arguments and reference. Which cases
// exist: norm_quant_quick.cpp and norm_quant_public.cpp.
#include "tests/cases/norm_quant.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace kvr::norm_quant_cases {
namespace {

std::string text_or(const Params& params, std::string_view key, std::string value) {
  return params.has(key) ? params.text(key) : value;
}

// Elements between rows, each tensor its own, so that a kernel which uses one stride for another is caught.
struct Strides {
  std::int64_t in, residual, out, offset, rows_per_batch, batch;
};
Strides strides_of(const std::string& layout, std::int64_t h) {
  constexpr std::int64_t kFar =
      (std::int64_t{1} << 30) + 64;  // row 2 lies beyond 2^31 elements, row 4 beyond 2^32
  if (layout == "contiguous") return {h, h, h, 0, 0, 0};
  if (layout == "strided")
    return {2 * h, h, h, 0, 0, 0};  // the left half of a wider tensor, as in the public tests
  if (layout == "rows16") return {h + 24, h + 8, h + 16, 8, 0, 0};
  if (layout == "wide4")
    return {h + 4, h, h, 0, 0, 0};  // 768 of 772 columns: aligned bases, rows that are not
  if (layout == "odd") return {h + 3, h + 5, h + 1, 1, 0, 0};
  if (layout == "batches")
    return {h + 8, h, h, 0, 3, 5 * (h + 8)};  // [n/3, 3, h] of a [n/3, 5, h + 8] tensor
  if (layout == "broadcast") return {0, h, h, 0, 0, 0};
  if (layout == "far_in") return {kFar, h, h, 0, 0, 0};
  if (layout == "far_residual") return {h, kFar, h, 0, 0, 0};
  if (layout == "far_out") return {h, h, kFar, 0, 0, 0};
  throw std::invalid_argument("unknown layout " + layout);
}

Fp8Format format_of(const std::string& name, const MachineProperties& machine) {
  if (name == "fp8") return machine.fp8;
  if (name == "int8") return kInt8;
  if (name == "e4m3fn") return kE4m3fn;
  if (name == "e4m3fnuz_224") return kE4m3fnuz224;
  if (name == "e4m3fnuz_240") return kE4m3fnuz240;
  throw std::invalid_argument("unknown output format " + name);
}

void set_scale_layout(NormQuantArgs& args, const std::string& layout) {
  const std::int64_t groups = reference::scales_per_row(args);
  const std::int64_t aligned = (args.tokens + 3) / 4 * 4;
  args.scale_layout = layout.starts_with("row") ? ScaleLayout::row_major : ScaleLayout::column_major;
  if (layout == "row") args.scales_stride = groups;
  if (layout == "row_gap") args.scales_stride = groups + 3;
  if (layout == "col") args.scales_stride = args.tokens;
  if (layout == "col4") args.scales_stride = aligned;
  if (layout == "col_gap") args.scales_stride = aligned + 4;
  if (args.scales_stride == 0 && args.tokens > 0)
    throw std::invalid_argument("unknown scale layout " + layout);
  args.scales_stride = std::max<std::int64_t>(args.scales_stride, 1);
  // Up to the last scale; what would be padding behind it is guarded memory.
  const bool row_major = args.scale_layout == ScaleLayout::row_major;
  const std::int64_t lines = row_major ? args.tokens : groups;
  args.scales_numel = lines == 0 ? 0 : (lines - 1) * args.scales_stride + (row_major ? groups : args.tokens);
}

double std_of(const std::string& name, std::int64_t h) {
  if (name == "unit") return 1.0;
  if (name == "1/h") return 1.0 / static_cast<double>(h);
  if (name == "1/2h") return 0.5 / static_cast<double>(h);
  if (name == "eps") return 1e-3;
  throw std::invalid_argument("unknown std " + name);
}

struct Fills {
  Fill in, residual, weight, bias;
  float eps = 1e-6F;
};
Fills fills_of(const CaseBuilder& c, const NormQuantArgs& args) {
  Fills fills;
  fills.residual = Fill::normal(std_of(text_or(c.params(), "std", "unit"), args.width));
  fills.weight = Fill::normal(0.1, 1.0);
  fills.bias = Fill::normal(0.1);
  if (const auto values = input_values(c, args)) {
    fills.in = values->in;
    fills.weight = values->weight;
    fills.eps = values->eps;
    return fills;
  }
  const std::string name = text_or(c.params(), "fill", "normal");
  const auto kind = parse_fill(name);
  if (!kind) throw std::invalid_argument("unknown fill " + name);
  fills.in = Fill::of(*kind);
  if (*kind == Fill::Kind::tiny) fills.eps = 0.0F;  // or eps alone would decide, and every code be 0
  fills.in.scale = fills.residual.scale;
  return fills;
}

// A bound that lowers the amax of some rows but not of all: their 75 % quantile, half-way between two of
// them.
float bound_at_quantile(const CaseBuilder& c, NormQuantArgs args, const Fills& fills) {
  args.tokens = std::min<std::int64_t>(args.tokens, 64);
  const auto draw = [&](const char* name, const Fill& fill, DType dtype, std::int64_t rows) {
    const std::size_t row_bytes = static_cast<std::size_t>(args.width) * dtype_size(dtype);
    std::vector<std::byte> codes(static_cast<std::size_t>(rows) * row_bytes);
    for (std::int64_t r = 0; r < rows; ++r)
      fill_row(fill, c.stream(name), dtype, r, args.width,
               codes.data() + static_cast<std::size_t>(r) * row_bytes);
    return codes;
  };
  const bool adds = text_or(c.params(), "res", "none") != "none";
  const bool shifts = args.norm == Norm::layer;
  auto in = draw("in", fills.in, args.dtype, args.tokens);
  auto residual = draw("residual", fills.residual, args.dtype, adds ? args.tokens : 0);
  auto weight = draw("weight", fills.weight, args.weight_dtype, 1);
  auto bias = draw("bias", fills.bias, args.weight_dtype, shifts ? 1 : 0);
  args.in = in.data();
  args.in_row_stride = args.residual_row_stride = args.width;
  args.residual = adds ? residual.data() : nullptr;
  args.weight = weight.data();
  args.bias = shifts ? bias.data() : nullptr;
  const reference::NormQuantBounds bounds(args);
  reference::NormQuantBounds::Row row;
  std::vector<float> amax;
  for (std::int64_t n = 0; n < args.tokens; ++n) {
    bounds.row(n, row);
    float most = 0.0F;
    for (const float v : row.hi) most = std::max(most, std::fabs(v));
    amax.push_back(most);
  }
  std::sort(amax.begin(), amax.end());
  const std::size_t at = amax.size() * 3 / 4;
  return amax.size() == 1 ? 0.75F * amax[0] : 0.5F * (amax[at - 1] + amax[at]);
}

// The reference's word on every output, rows in parallel.
void expect(const NormQuantArgs& args, Expectations& expected, bool bound_must_matter) {
  if (args.tokens == 0) return;
  const reference::NormQuantBounds bounds(args);
  const auto H = static_cast<std::size_t>(args.width);
  const bool dynamic = args.quantiser != Quantiser::per_tensor;
  const auto groups = static_cast<std::size_t>(reference::scales_per_row(args));
  const Expected::AllSingle out = expected.at("out").set_all_single();
  const Expected::All scales = dynamic ? expected.at("scales").set_all() : Expected::All{};
  const Expected::AllSingle sums =
      args.residual != nullptr ? expected.at("residual").set_all_single() : Expected::AllSingle{};
  std::atomic<std::int64_t> clamped{0}, saturated{0}, flipping{0}, ambiguous{0};
  const auto grain = std::max<std::int64_t>(1, 16384 / args.width);
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, args.tokens, grain), [&](const auto& range) {
    reference::NormQuantBounds::Row row;
    for (std::int64_t n = range.begin(); n != range.end(); ++n) {
      const auto at = static_cast<std::size_t>(n);
      bounds.row(n, row, out.values.subspan(at * H, H), out.budgets.subspan(at * H, H));
      for (std::size_t g = 0; dynamic && g < groups; ++g) {
        scales.values[at * groups + g] = row.scale[g].value;
        scales.budgets[at * groups + g] = row.scale[g].budget;
      }
      std::copy(row.sum.begin(), row.sum.end(),
                sums.values.begin() + static_cast<std::ptrdiff_t>(at * row.sum.size()));
      clamped += row.clamped ? 1 : 0;
      saturated += row.saturated;
      flipping += row.ambiguous_scales;
      ambiguous += row.ambiguous_codes;
    }
  });

  Expected& codes = expected.at("out");
  const double share = static_cast<double>(saturated) / static_cast<double>(args.tokens * args.width);
  // Rows (groups) whose scale a correct kernel may give one step off, and how many codes hang on each.
  codes.counts["flipped_rows"] = static_cast<double>(flipping);
  codes.counts["scale_len"] = static_cast<double>(reference::scale_width(args));
  if (dynamic) expected.at("scales").counts["flipped_rows"] = static_cast<double>(flipping);
  codes.note = fmt::format("saturated {:.3g} %, {} codes and {} scales open", 100.0 * share, ambiguous.load(),
                           flipping.load());
  if (!bound_must_matter) return;
  codes.note = fmt::format("clamp active in {} of {} rows, ", clamped.load(), args.tokens) + codes.note;
  if (clamped == 0 || (clamped == args.tokens && args.tokens > 1) || share > 0.5)
    codes.powerless =
        fmt::format("scale_ub proves nothing: clamp active in {} of {} rows, saturated {:.3g} %",
                    clamped.load(), args.tokens, 100.0 * share);
}

void add_argument_faults(CaseBuilder& c, const NormQuantArgs& args, bool has_residual, bool on_device) {
  using Args = NormQuantArgs;
  c.argument_fault<Args>("eps x100", [](Args& a) { a.eps *= 100.0F; });
  if (args.dtype != DType::f32)
    c.argument_fault<Args>("the other rounding contract", [](Args& a) {
      a.rounding = a.rounding == RoundingContract::once ? RoundingContract::per_op : RoundingContract::once;
    });
  if (has_residual && args.dtype != DType::f32)
    c.argument_fault<Args>("the other residual contract", [](Args& a) {
      a.residual_contract = a.residual_contract == ResidualContract::f32_sum ? ResidualContract::rounded_sum
                                                                             : ResidualContract::f32_sum;
    });
  if (args.norm == Norm::layer)
    c.argument_fault<Args>("RMSNorm in place of LayerNorm", [](Args& a) {
      a.norm = Norm::rms;
      a.bias = nullptr;
    });
  c.argument_fault<Args>("14/15 of the format's maximum (224 for 240)",
                         [](Args& a) { a.out_format.max = a.out_format.max * 14.0F / 15.0F; });
  if (args.quantiser == Quantiser::per_tensor && !on_device)
    c.argument_fault<Args>("static scale doubled", [](Args& a) { a.scale *= 2.0F; });
  if (args.quantiser == Quantiser::per_tensor && !on_device && args.scale != 1.0F)
    c.argument_fault<Args>("static scale inverted", [](Args& a) { a.scale = 1.0F / a.scale; });
  if (args.weight_dtype == args.dtype && args.tokens > 0)
    c.argument_fault<Args>("input in place of weight", [](Args& a) { a.weight = a.in; });
  if (args.norm == Norm::layer) {
    c.argument_fault<Args>("bias in place of weight", [](Args& a) { a.weight = a.bias; });
    c.argument_fault<Args>("weight in place of bias", [](Args& a) { a.bias = a.weight; });
  }
  if (args.in_row_stride > args.width)
    c.argument_fault<Args>(
        "in stride packed", [](Args& a) { a.in_row_stride = a.width; }, CaseBuilder::Addresses::others);
  if (has_residual && args.residual_row_stride > args.width)
    c.argument_fault<Args>(
        "residual stride packed", [](Args& a) { a.residual_row_stride = a.width; },
        CaseBuilder::Addresses::others);
  if (args.out_row_stride > args.width)
    c.argument_fault<Args>(
        "out stride packed", [](Args& a) { a.out_row_stride = a.width; }, CaseBuilder::Addresses::others);
}

}  // namespace

NormQuantArgs contract_of(const CaseBuilder& c) {
  const Params& p = c.params();
  NormQuantArgs args;
  args.tokens = p.integer("n");
  args.width = p.integer("h");
  args.dtype = p.dtype("dtype");
  args.weight_dtype = text_or(p, "w", "same") == "f32" ? DType::f32 : args.dtype;
  args.out_format = format_of(text_or(p, "out", "fp8"), c.machine());
  args.norm = text_or(p, "norm", "rms") == "layer" ? Norm::layer : Norm::rms;
  args.rounding = text_or(p, "round", "per_op") == "once" ? RoundingContract::once : RoundingContract::per_op;
  args.residual_contract =
      text_or(p, "res", "none") == "rounded_sum" ? ResidualContract::rounded_sum : ResidualContract::f32_sum;
  const std::string& q = p.text("q");
  args.quantiser = q == "static"  ? Quantiser::per_tensor
                   : q == "token" ? Quantiser::per_token
                                  : Quantiser::per_group;
  if (args.quantiser == Quantiser::per_group) args.group = q == "g64" ? 64 : 128;
  return args;
}

void describe(CaseBuilder& c) {
  const Params& p = c.params();
  NormQuantArgs args = contract_of(c);
  const std::int64_t n = args.tokens;
  const std::int64_t h = args.width;
  const Strides strides = strides_of(text_or(p, "layout", "contiguous"), h);
  const bool has_residual = text_or(p, "res", "none") != "none";
  const bool alike = strides.in == 0;
  const bool dynamic = args.quantiser != Quantiser::per_tensor;
  const bool on_device = text_or(p, "at", "host") == "device";
  const std::string bound = text_or(p, "ub", "none");
  const std::string refuse = text_or(p, "refuse", "");
  const Fills fills = fills_of(c, args);
  args.eps = fills.eps;
  args.in_row_stride = strides.in;
  args.rows_per_batch = strides.rows_per_batch;
  args.in_batch_stride = strides.batch;
  args.residual_row_stride = strides.residual;
  args.out_row_stride = strides.out;
  if (dynamic) set_scale_layout(args, text_or(p, "scales", "row"));
  args.scale = p.has("scale") ? std::stof(p.text("scale")) : 1.0F;
  if (bound == "q75")
    args.scale_ub = bound_at_quantile(c, args, fills);
  else if (bound != "none")
    args.scale_ub = std::stof(bound);

  TensorSpec in =
      TensorSpec::contiguous("in", args.dtype, {alike ? 1 : n, h}).with_row_stride(alike ? h : strides.in);
  if (strides.rows_per_batch > 0)
    in = TensorSpec::contiguous("in", args.dtype, {n / strides.rows_per_batch, strides.rows_per_batch, h})
             .with_strides({strides.batch, strides.in, 1});
  c.input(in.with_offset(strides.offset), fills.in);
  if (has_residual)
    c.inout(TensorSpec::contiguous("residual", args.dtype, {n, h})
                .with_row_stride(strides.residual)
                .with_offset(strides.offset),
            fills.residual);
  c.input(TensorSpec::contiguous("weight", args.weight_dtype, {h}), fills.weight).cached =
      "a row of weights that every token reads: L2";
  if (args.norm == Norm::layer)
    c.input(TensorSpec::contiguous("bias", args.weight_dtype, {h}), fills.bias).cached =
        "a row of biases that every token reads: L2";
  if (on_device)
    c.input(TensorSpec::contiguous("factor", DType::f32, {1}),
            Fill::list({static_cast<double>(dynamic ? args.scale_ub : args.scale)}));
  TensorDecl& out = c.output(TensorSpec::contiguous("out", args.out_format.encoding, {n, h})
                                 .with_row_stride(strides.out)
                                 .with_offset(strides.offset));
  out.overflow = Overflow::saturate;
  out.format_max = static_cast<double>(args.out_format.max);
  out.rows_alike = alike;
  if (dynamic) {
    const std::int64_t groups = reference::scales_per_row(args);
    TensorSpec scales = TensorSpec::contiguous("scales", DType::f32, {n, groups});
    scales = args.scale_layout == ScaleLayout::row_major ? scales.with_strides({args.scales_stride, 1})
                                                         : scales.with_strides({1, args.scales_stride});
    c.output(scales).rows_alike = alike;
  }
  // Per token (mla_cache_norm_quant_v4.md 2.4): the row in, with a residual that and the sum besides, the
  // codes out, the scales out. Weights and biases once per launch.
  const auto bytes_of = [](DType of) { return static_cast<std::int64_t>(dtype_size(of)); };
  const std::int64_t scale_count = dynamic ? reference::scales_per_row(args) : 0;
  c.minimum_traffic(n * (h * bytes_of(args.dtype) * (has_residual ? 3 : 1) + h + 4 * scale_count) +
                    h * bytes_of(args.weight_dtype) * (args.norm == Norm::layer ? 2 : 1));

  c.bind<NormQuantArgs>([=](const Bindings& at) {
    const auto offset = strides.offset * static_cast<std::int64_t>(dtype_size(args.dtype));
    NormQuantArgs bound_args = args;
    bound_args.in = static_cast<const std::byte*>(at("in").value) + offset;
    if (has_residual) bound_args.residual = static_cast<std::byte*>(at("residual").value) + offset;
    bound_args.weight = at("weight");
    if (args.norm == Norm::layer) bound_args.bias = at("bias");
    bound_args.out = static_cast<std::byte*>(at("out").value) + strides.offset;
    if (dynamic) bound_args.scales = at("scales");
    if (on_device) {
      // What the host says does not count then: something else stands there.
      (dynamic ? bound_args.scale_ub_at : bound_args.scale_at) = at("factor");
      bound_args.scale_ub = std::numeric_limits<float>::infinity();
      bound_args.scale = 512.0F;
    }
    break_argument(bound_args, refuse);
    return bound_args;
  });
  if (!refuse.empty()) {
    c.expect_refusal(refuse.substr(0, refuse.find(':')));
    return;
  }
  const std::string fill = text_or(p, "fill", "normal");
  if (fill == "denormal") c.null_answers_allowed("the values are far below the smallest code");
  if (args.out_format.encoding == DType::int8 && (std::isnan(args.scale) || fill == "overflow"))
    c.null_answers_allowed("int8 codes under a scale that is NaN or infinite are 0");
  if (h == 1 && fill == "normal" && text_or(p, "std", "unit") != "eps" &&
      args.quantiser != Quantiser::per_tensor)
    c.null_answers_allowed(
        "rows of one element normalise to +-1, so some seeds' scales are alike within their budget");
  if (fill == "constant_row" && args.norm == Norm::layer)
    c.null_answers_allowed("every row is its bias: rows are alike within their budget");
  c.reference<NormQuantArgs>([matters = bound == "q75"](const NormQuantArgs& a, Expectations& expected) {
    expect(a, expected, matters);
  });
  add_argument_faults(c, args, has_residual, on_device);
}

}  // namespace kvr::norm_quant_cases
