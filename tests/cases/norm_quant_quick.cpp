// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The quick cases of norm_quant: what the public matrices lack (unit-scale inputs, fp16, odd widths and
// strides, special rows, a bound that matters), and one case at least for each defect found in public
// kernels.
#include "harness/suite/registry.h"
#include "tests/cases/norm_quant.h"

namespace kvr {
namespace {

using Values = std::vector<std::string>;

const Values kDtypes{"bf16", "fp16", "f32"};
const Values kOutputs{"fp8", "int8"};

Group quick(std::string name) {
  return {std::move(name), Tier::quick};
}

bool is(const Params& p, std::string_view key, std::string_view value) {
  return p.text(key) == value;
}
bool groups_divide(const Params& p) {
  const std::string& q = p.text("q");
  return q[0] != 'g' || p.integer("h") % (q == "g64" ? 64 : 128) == 0;
}

// Special cases first, then the products, the largest last: a wrong kernel is found soon.
const bool registered = register_cases(
    "norm_quant", norm_quant_cases::describe,
    {
        // Exact ties of the quantiser: a reciprocal in place of the division shows here (A2).
        quick("ties")
            .axis("n", {"3"})
            .axis("h", {"7", "129", "256"})
            .axis("dtype", {"bf16", "fp16"})
            .axis("q", {"static", "token"})
            .axis("out", {"fp8", "int8", "e4m3fn", "e4m3fnuz_224", "e4m3fnuz_240"})
            .axis("fill", {"tie336", "code_ties"}),
        // 1.078125 / 448 and / 224: v * (1/s) and v / s lie on different sides of A2's tie.
        quick("static_ties")
            .axis("n", {"3"})
            .axis("h", {"7", "256"})
            .axis("dtype", {"bf16", "fp16"})
            .axis("q", {"static"})
            .axis("scale", {"0.002406529", "0.004813058"})
            .axis("fill", {"tie336"}),
        quick("bound_exact")
            .axis("n", {"4"})
            .axis("h", {"64"})
            .axis("dtype", kDtypes)
            .axis("q", {"token"})
            .axis("fill", {"a18"})
            .axis("ub", {"1"})
            .presentation("at", {"host", "device"}),
        quick("bound_infinite")
            .axis("n", {"5"})
            .axis("h", {"512"})
            .axis("dtype", {"bf16"})
            .axis("q", {"token"})
            .presentation("ub", {"none", "inf"}),
        quick("bound_on_device")
            .axis("n", {"5"})
            .axis("h", {"512"})
            .axis("dtype", {"bf16"})
            .axis("q", {"token"})
            .axis("ub", {"0", "-1", "nan"})
            .axis("at", {"device"}),
        quick("static_scale")
            .axis("n", {"5"})
            .axis("h", {"512"})
            .axis("dtype", kDtypes)
            .axis("q", {"static"})
            .axis("out", kOutputs)
            .axis("scale", {"0.01", "0.37", "3"})
            .presentation("at", {"host", "device"}),
        quick("static_on_device")
            .axis("n", {"4"})
            .axis("h", {"512"})
            .axis("dtype", {"bf16"})
            .axis("q", {"static"})
            .axis("out", kOutputs)
            .axis("scale", {"0", "-1", "nan"})
            .axis("fill", {"normal", "zero_group"})
            .axis("at", {"device"}),
        // A12: one zero group in a normal row.
        quick("zero_group")
            .axis("n", {"4"})
            .axis("h", {"512"})
            .axis("dtype", kDtypes)
            .axis("q", {"g64", "g128"})
            .axis("out", kOutputs)
            .axis("fill", {"zero_group"}),
        quick("overflow")
            .axis("n", {"3"})
            .axis("h", {"256"})
            .axis("dtype", {"fp16"})
            .axis("q", {"static", "token", "g128"})
            .axis("out", kOutputs)
            .axis("fill", {"overflow"}),
        // A15: variance as a difference of squares.
        quick("cancellation")
            .axis("n", {"2"})
            .axis("h", {"4"})
            .axis("dtype", {"f32"})
            .axis("norm", {"layer"})
            .axis("q", {"token", "static"})
            .axis("fill", {"a15_step1"}),
        quick("cancellation16")
            .axis("n", {"2"})
            .axis("h", {"16"})
            .axis("dtype", {"f32"})
            .axis("norm", {"layer"})
            .axis("q", {"token", "static"})
            .axis("fill", {"a15_step001"}),
        quick("constant_rows")
            .axis("n", {"2"})
            .axis("h", {"128", "768", "1027", "10240"})
            .axis("dtype", kDtypes)
            .axis("norm", {"layer"})
            .axis("q", {"token", "static"})
            .axis("out", kOutputs)
            .axis("fill", {"a15_1234", "a15_23"})
            .axis("scale", {"0.05"}),
        quick("formats")
            .axis("n", {"5"})
            .axis("h", {"512"})
            .axis("dtype", {"bf16", "f32"})
            .axis("q", {"static", "token", "g128"})
            .axis("out", {"e4m3fn", "e4m3fnuz_224", "e4m3fnuz_240", "int8"})
            .axis("scale", {"0.01"}),  // static: the largest values saturate
                                       // More groups than a block has threads: public kernels divide by zero
                                       // (or skip groups) there.
        quick("many_groups")
            .axis("n", {"2"})
            .axis("h", {"16448", "33024"})
            .axis("dtype", {"bf16"})
            .axis("q", {"g64", "g128"})
            .axis("out", kOutputs)
            .where(groups_divide)
            .presentation("scales", {"row", "col4"}),
        // Every combination of the contract, in every layout.
        quick("contract")
            .axis("n", {"5"})
            .axis("h", {"1024", "769"})
            .axis("dtype", kDtypes)
            .axis("q", {"static", "token", "g128"})
            .axis("out", kOutputs)
            .axis("norm", {"rms", "layer"})
            .axis("res", {"none", "f32_sum", "rounded_sum"})
            .axis("round", {"per_op", "once"})
            .where([](const Params& p) {
              const bool moot =
                  is(p, "dtype", "f32") && (is(p, "round", "once") || is(p, "res", "rounded_sum"));
              return groups_divide(p) && !moot;
            }),
        // Scale layouts; padding behind column-major scales is guarded memory.
        quick("scale_layouts")
            .axis("n", {"1", "3", "5", "8"})
            .axis("h", {"128", "1024"})
            .axis("dtype", {"bf16", "f32"})
            .axis("q", {"token", "g64", "g128"})
            .axis("out", kOutputs)
            .presentation("scales", {"row", "row_gap", "col", "col4", "col_gap"}),
        quick("layouts")
            .axis("n", {"6"})
            .axis("h", {"768", "769"})
            .axis("dtype", {"bf16", "f32"})
            .axis("q", {"static", "token"})
            .axis("res", {"none", "f32_sum"})
            .axis("norm", {"rms", "layer"})
            .presentation("layout", {"contiguous", "strided", "rows16", "wide4", "odd", "batches"}),
        // scale_ub (A18): a bound some rows reach; none at all; on the device, also values the host would
        // Offsets beyond 2^31 and 2^32 elements.
        quick("far")
            .axis("n", {"5"})
            .axis("h", {"768"})
            .axis("dtype", {"bf16"})
            .axis("q", {"static", "token"})
            .axis("res", {"f32_sum"})
            .presentation("layout", {"contiguous", "far_in", "far_residual", "far_out"}),
        quick("regimes")
            .axis("n", {"37"})
            .axis("h", {"127", "256"})
            .axis("dtype", kDtypes)
            .axis("q", {"static", "token", "g128"})
            .axis("out", kOutputs)
            .axis("norm", {"rms", "layer"})
            .axis("fill", {"tiny", "huge", "constant_row", "one_outlier", "zero_row", "denormal", "special",
                           "exact_int", "near_constant"})
            .axis("scale", {"0.05"})  // of static cases; 1 would leave int8 nothing to say about small values
            .where([](const Params& p) { return is(p, "q", "g128") == is(p, "h", "256"); }),
        // Batch invariance (A10): one row, shown in launches of all these sizes; the f32 scales show the
        // statistics.
        quick("batch")
            .axis("h", {"2048", "4096"})
            .axis("dtype", {"f32"})
            .axis("q", {"token"})
            .axis("fill", {"a10", "normal"})
            .axis("layout", {"broadcast"})
            .presentation("n", {"1", "255", "256", "257"}),
        // refuse.
        quick("bound")
            .axis("n", {"37"})
            .axis("h", {"512", "769"})
            .axis("dtype", kDtypes)
            .axis("q", {"token"})
            .axis("norm", {"rms", "layer"})
            .axis("ub", {"q75"})
            .presentation("at", {"host", "device"}),
        quick("mixed_weight")
            .axis("n", {"5"})
            .axis("h", {"768", "769"})
            .axis("dtype", {"bf16", "fp16"})
            .axis("w", {"f32"})
            .axis("q", {"static", "token"})
            .axis("round", {"per_op", "once"})
            .axis("norm", {"rms", "layer"})
            .presentation("layout", {"contiguous", "odd"}),
        quick("eps_dominates")
            .axis("n", {"37"})
            .axis("h", {"1024"})
            .axis("dtype", kDtypes)
            .axis("q", {"static", "token", "g128"})
            .axis("std", {"1/h", "1/2h", "eps"}),
        // Around a chunk of 8, a warp, a block, and beyond what a block keeps in registers (A8).
        quick("widths")
            .axis("n", {"3"})
            .axis("h", {"1", "2", "3", "7", "8", "9", "31", "33", "127", "129", "768", "769", "1025", "1027",
                        "5120", "5125", "5137", "8192", "16448"})
            .axis("dtype", kDtypes)
            .axis("q", {"static", "token"})
            .axis("out", kOutputs)
            .presentation("layout", {"contiguous", "odd"}),
        quick("wide")
            .axis("n", {"2"})
            .axis("h", {"32776", "65536"})
            .axis("dtype", {"bf16", "f32"})
            .axis("q", {"token", "g64"})
            .axis("res", {"f32_sum"})
            .axis("norm", {"rms", "layer"})
            .where([](const Params& p) { return is(p, "q", "g64") == is(p, "h", "65536"); }),
        quick("rows")
            .axis("n", {"0", "1", "2", "7", "257"})
            .axis("h", {"64"})
            .axis("dtype", kDtypes)
            .axis("q", {"static", "token", "g64"})
            .axis("out", kOutputs),
        quick("refused_token")
            .axis("n", {"4"})
            .axis("h", {"256"})
            .axis("dtype", {"bf16"})
            .axis("q", {"token"})
            .axis("refuse", {"tokens",
                             "tokens:grid",
                             "width",
                             "weight_dtype",
                             "in_inner_stride",
                             "out_inner_stride",
                             "in_row_stride",
                             "out_row_stride",
                             "rows_per_batch",
                             "in_batch_stride",
                             "eps",
                             "eps:nan",
                             "bias",
                             "dtype",
                             "out_format:e5m2",
                             "out_format.max",
                             "out_format.max:nan",
                             "scale_ub:zero",
                             "scale_ub:negative",
                             "scale_ub:nan",
                             "scales_stride",
                             "scales_stride:layout",
                             "scales_numel",
                             "scales",
                             "scales:overlap",
                             "in",
                             "weight",
                             "out",
                             "out:overlap",
                             "residual:overlap",
                             "residual:overlaps_out"}),
        quick("refused_residual")
            .axis("n", {"4"})
            .axis("h", {"256"})
            .axis("dtype", {"bf16"})
            .axis("q", {"token"})
            .axis("res", {"f32_sum"})
            .axis("refuse", {"residual_inner_stride", "residual_row_stride"}),
        quick("refused_static")
            .axis("n", {"4"})
            .axis("h", {"256"})
            .axis("dtype", {"bf16"})
            .axis("q", {"static"})
            .axis("refuse", {"scale:zero", "scale:negative", "scale:nan", "scale_ub:set"}),
        quick("refused_int8")
            .axis("n", {"4"})
            .axis("h", {"256"})
            .axis("dtype", {"f32"})
            .axis("q", {"token"})
            .axis("out", {"int8"})
            .axis("refuse", {"scale_ub:set", "scale_ub:device", "out_format.max"}),
        quick("refused_group")
            .axis("n", {"4"})
            .axis("h", {"1152"})
            .axis("dtype", {"f32"})
            .axis("q", {"g128"})
            .axis("refuse", {"scale_ub:set", "scale_ub:device", "group:96", "group:zero", "scales_stride",
                             "scales_numel"}),
        quick("refused_group_width")
            .axis("n", {"4"})
            .axis("h", {"1028"})
            .axis("dtype", {"f32"})
            .axis("q", {"token"})
            .axis("refuse", {"group:divides"}),
    });

}  // namespace
}  // namespace kvr
