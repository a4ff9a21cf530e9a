// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Cases of k_norm_rope. README's "Adding a case" walks through this file.
#include "reference/k_norm_rope.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/suite/registry.h"

namespace kvr {
namespace {

constexpr std::int64_t kTableRows = 4096;  // the public test draws positions from [0, 4096)

std::int64_t integer_or(const Params& params, std::string_view key, std::int64_t value) {
  return params.has(key) ? params.integer(key) : value;
}

std::string text_or(const Params& params, std::string_view key, std::string value) {
  return params.has(key) ? params.text(key) : value;
}

// Row positions: random, both ends of the table, those of one sequence, or random ones that have neighbours.
std::vector<double> choose_positions(const CaseBuilder& c, std::int64_t tokens, std::int64_t table_rows) {
  const std::string at = text_or(c.params(), "at", "");
  const bool ends = at == "table_ends";
  if (at == "sequence") {
    std::vector<double> sequence(static_cast<std::size_t>(tokens));
    std::iota(sequence.begin(), sequence.end(), 0.0);
    return sequence;
  }
  const RandomStream random = c.stream("positions");
  std::vector<double> positions;
  for (std::int64_t n = 0; n < tokens; ++n) {
    const auto ends_position = static_cast<double>(n % 2 == 0 ? table_rows - 1 : 0);
    const double drawn =
        std::floor(random.uniform(static_cast<std::uint64_t>(n)) * static_cast<double>(table_rows));
    positions.push_back(ends             ? ends_position
                        : at == "inside" ? std::clamp(drawn, 1.0, static_cast<double>(table_rows - 2))
                                         : drawn);
  }
  return positions;
}

struct Strides {
  std::int64_t k, out, table, offset;
};

// Every tensor gets a stride of its own, so that a kernel which uses one stride for two tensors is caught.
Strides choose_strides(const std::string& layout, std::int64_t d, std::int64_t r) {
  if (layout == "contiguous") return {d, d, r, 0};
  if (layout == "slice192") return {192, d, r, 0};           // k is columns 0..127 of a 192-wide projection
  if (layout == "rows16") return {d + 24, d + 8, r + 4, 8};  // multiples of 8 elements: 16-byte loads
  if (layout == "rows8") return {d + 4, d + 12, r + 8, 4};   // multiples of 4 elements: 8-byte loads
  if (layout == "odd") return {d + 3, d + 1, r + 5, 1};      // element by element
  if (layout == "far")
    return {(std::int64_t{1} << 30) + 64, d, r, 0};  // row 2 starts beyond 2^31 elements (A7)
  if (layout == "far_out") return {d, (std::int64_t{1} << 30) + 64, r, 0};
  throw std::invalid_argument("unknown layout " + layout);
}

Fill k_fill(const CaseBuilder& c, const std::string& name) {
  // Rows of +1, -1, +1, ...: mean 0 and variance exactly 1, so with eps = 0 and a one-hot weight the norm
  // passes a single +-1 through and what comes out is the rotation alone (A4).
  if (name == "alternating") {
    std::vector<double> values;
    const std::int64_t numel = c.params().integer("n") * integer_or(c.params(), "d", 128);
    for (std::int64_t i = 0; i < numel; ++i) values.push_back(i % 2 == 0 ? 1.0 : -1.0);
    return Fill::list(std::move(values));
  }
  if (name == "one_hot") return Fill::one_hot(8 * c.params().integer("lane"));
  if (const auto kind = parse_fill(name)) return Fill::of(*kind);
  throw std::invalid_argument("unknown fill " + name);
}

void break_argument(KNormRopeArgs& args, const std::string& what) {
  if (what == "head_dim") args.head_dim = 96;
  if (what == "rotary_dim:odd") args.rotary_dim = 63;
  if (what == "rotary_dim:wide") args.rotary_dim = 144;
  if (what == "k_row_stride") args.k_row_stride = 127;
  if (what == "out_row_stride") args.out_row_stride = 100;
  if (what == "k_inner_stride") args.k_inner_stride = 4;
  if (what == "out_inner_stride") args.out_inner_stride = 2;
  if (what == "cos_sin_row_stride") args.cos_sin_row_stride = 63;
  if (what == "eps:nan") args.eps = NAN;
  if (what == "eps:negative") args.eps = -1e-6F;
  if (what == "tokens") args.tokens = -1;
  if (what == "dtype") args.dtype = DType::f32;
  if (what == "position_dtype") args.position_dtype = DType::f32;
  if (what == "weight") args.weight = nullptr;
  if (what == "max_position") args.max_position = 0;
}

void describe(CaseBuilder& c) {
  const Params& p = c.params();
  const std::int64_t n = p.integer("n");
  const std::int64_t d = integer_or(p, "d", 128);
  const std::int64_t r = integer_or(p, "r", 64);
  const DType dtype = p.dtype("dtype");
  const DType position_dtype = p.has("pos") ? p.dtype("pos") : DType::int32;
  const Pairing pairing = p.text("pairing") == "half_split" ? Pairing::half_split : Pairing::interleaved;
  const Strides strides = choose_strides(text_or(p, "layout", "contiguous"), d, r);
  const bool probe = p.has("hot");
  const bool at_ends = text_or(p, "at", "") == "table_ends";
  const bool inside = text_or(p, "at", "") == "inside";
  const std::int64_t table_rows = probe || at_ends || inside ? 16 : kTableRows;
  const std::string refuse = text_or(p, "refuse", "");
  const float eps = probe ? 0.0F : 1e-6F;

  const std::vector<double> positions = choose_positions(c, n, table_rows);
  std::vector<std::int64_t> table_rows_read(positions.begin(), positions.end());
  if (n == 0) table_rows_read = {0};

  c.input(TensorSpec::contiguous("k", dtype, {n, d}).with_row_stride(strides.k).with_offset(strides.offset),
          k_fill(c, text_or(p, "fill", "normal")));
  c.input(TensorSpec::contiguous("weight", DType::f32, {d}),
          probe ? Fill::one_hot(p.integer("hot")) : Fill::normal())
      .cached = "512 bytes that every row reads: L1";
  c.input(TensorSpec::contiguous("bias", DType::f32, {d}), probe ? Fill::constant(0.0) : Fill::normal())
      .cached = "512 bytes that every row reads: L1";
  TensorDecl& table =
      c.input(TensorSpec::contiguous("cos_sin", DType::f32, {table_rows, r}).with_row_stride(strides.table),
              text_or(p, "table", "rope") == "normal" ? Fill::normal() : Fill::rope());
  // All rows where a kernel that reads a neighbour's is to find values there, and say so by its output.
  if (!inside) table.rows = table_rows_read;
  if (pairing == Pairing::half_split)
    table.cached = "half-split: a lane's 8 cosines are two 16-byte loads of one sector, the second from L1";
  if (at_ends) table.placement = Placement::end_at_page;  // reading behind the last row faults
  c.input(TensorSpec::contiguous("positions", position_dtype, {n}), Fill::list(positions));
  TensorDecl& out = c.output(
      TensorSpec::contiguous("out", dtype, {n, d}).with_row_stride(strides.out).with_offset(strides.offset));
  out.null_source = "k";
  // Per token: its row in and out, its table row, its position (indexer_qsa.md 1.9).
  const auto bytes_of = [](DType of) { return static_cast<std::int64_t>(dtype_size(of)); };
  c.minimum_traffic(n * (2 * d * bytes_of(dtype) + r * bytes_of(DType::f32) + bytes_of(position_dtype)) +
                    2 * d * bytes_of(DType::f32));

  c.bind<KNormRopeArgs>([=](const Bindings& at) {
    const auto size = static_cast<std::int64_t>(dtype_size(dtype));
    KNormRopeArgs args;
    args.k = static_cast<const std::byte*>(at("k").value) + strides.offset * size;
    args.out = static_cast<std::byte*>(at("out").value) + strides.offset * size;
    args.weight = at("weight");
    args.bias = at("bias");
    args.cos_sin = at("cos_sin");
    args.positions = at("positions");
    args.tokens = n;
    args.head_dim = d;
    args.rotary_dim = r;
    args.k_row_stride = strides.k;
    args.out_row_stride = strides.out;
    args.cos_sin_row_stride = strides.table;
    args.max_position = table_rows;
    args.dtype = dtype;
    args.position_dtype = position_dtype;
    args.pairing = pairing;
    args.eps = eps;
    break_argument(args, refuse);
    return args;
  });
  // Mistakes that arguments can make; each must be noticed, and names itself when an output matches it.
  c.argument_fault<KNormRopeArgs>("eps x100", [](KNormRopeArgs& args) { args.eps *= 100.0F; });
  c.argument_fault<KNormRopeArgs>("pairing swapped", [](KNormRopeArgs& args) {
    args.pairing = args.pairing == Pairing::interleaved ? Pairing::half_split : Pairing::interleaved;
  });
  c.argument_fault<KNormRopeArgs>("bias in place of weight",
                                  [](KNormRopeArgs& args) { args.weight = args.bias; });
  c.argument_fault<KNormRopeArgs>("weight in place of bias",
                                  [](KNormRopeArgs& args) { args.bias = args.weight; });
  c.argument_fault<KNormRopeArgs>(
      "k stride packed", [](KNormRopeArgs& args) { args.k_row_stride = args.head_dim; },
      CaseBuilder::Addresses::others);
  if (!at_ends)
    c.argument_fault<KNormRopeArgs>("position + 1",
                                    [](KNormRopeArgs& args) { args.cos_sin += args.cos_sin_row_stride; });
  if (inside)
    c.argument_fault<KNormRopeArgs>("position - 1",
                                    [](KNormRopeArgs& args) { args.cos_sin -= args.cos_sin_row_stride; });
  if (r >= 32)
    c.argument_fault<KNormRopeArgs>("rotary_dim 16", [](KNormRopeArgs& args) { args.rotary_dim = 16; });

  // The refusal must name the argument; "rotary_dim:odd" is argument and what is wrong with it.
  if (!refuse.empty()) c.expect_refusal(refuse.substr(0, refuse.find(':')));
  c.reference<KNormRopeArgs>([](const KNormRopeArgs& args, Expectations& expected) {
    const Expected::All all = expected.at("out").set_all();
    reference::k_norm_rope(args, all.values.data(), all.budgets.data());
  });
}

std::vector<std::string> numbers(std::int64_t begin, std::int64_t end) {
  std::vector<std::string> out;
  for (std::int64_t i = begin; i < end; ++i) out.push_back(std::to_string(i));
  return out;
}

const std::vector<std::string> kDtypes{"bf16", "fp16"};
const std::vector<std::string> kPairings{"interleaved", "half_split"};

const bool registered =
    register_cases("k_norm_rope", describe,
                   {
                       // The public test's one row: everything drawn from N(0, 1), also "cos" and "sin"
                       // (indexer_qsa.md 1.13).
                       Group("public", Tier::quick)
                           .axis("n", {"37"})
                           .axis("dtype", {"bf16"})
                           .axis("pairing", {"interleaved"})
                           .axis("table", {"normal"})
                           .presentation("pos", {"int32", "int64"}),
                       // Around the rows a block holds (8 at D = 128), around a warp, and a large launch.
                       Group("shapes", Tier::quick)
                           .axis("n", {"0", "1", "3", "4", "5", "31", "32", "33", "37", "127", "4096"})
                           .axis("dtype", kDtypes)
                           .axis("pairing", kPairings),
                       Group("dims", Tier::quick)
                           .axis("n", {"7"})
                           .axis("d", {"64", "128", "256"})
                           .axis("r", {"16", "32", "48", "64", "128", "256"})
                           .axis("dtype", kDtypes)
                           .axis("pairing", kPairings)
                           .where([](const Params& p) { return p.integer("r") <= p.integer("d"); }),
                       Group("layouts", Tier::quick)
                           .axis("n", {"37"})
                           .axis("dtype", kDtypes)
                           .axis("pairing", kPairings)
                           .presentation("layout", {"contiguous", "slice192", "rows16", "rows8", "odd"})
                           .presentation("pos", {"int32", "int64"}),
                       Group("far", Tier::quick)
                           .axis("n", {"3"})
                           .axis("dtype", {"bf16"})
                           .axis("pairing", kPairings)
                           .presentation("layout", {"contiguous", "far", "far_out"}),
                       Group("fills", Tier::quick)
                           .axis("n", {"37"})
                           .axis("dtype", kDtypes)
                           .axis("pairing", kPairings)
                           .axis("fill", {"normal", "tiny", "huge", "constant_row", "one_outlier", "zero_row",
                                          "denormal", "ties", "special", "exact_int", "near_constant"}),
                       // One non-zero element into the rotation, at each rotary index (A4); the elements
                       // behind it must pass through.
                       Group("probe", Tier::quick)
                           .axis("n", {"3"})
                           .axis("dtype", {"bf16"})
                           .axis("pairing", kPairings)
                           .axis("fill", {"alternating"})
                           .axis("hot", numbers(0, 64)),
                       // The only non-zero element of a row in each lane in turn: a lane left out of a sum is
                       // a wrong sum (A11).
                       Group("lanes", Tier::quick)
                           .axis("n", {"8"})
                           .axis("dtype", {"bf16"})
                           .axis("pairing", {"interleaved"})
                           .axis("fill", {"one_hot"})
                           .axis("lane", numbers(0, 16)),
                       Group("positions", Tier::quick)
                           .axis("n", {"6"})
                           .axis("dtype", {"bf16"})
                           .axis("pairing", kPairings)
                           .axis("at", {"table_ends", "inside"})
                           .presentation("pos", {"int32", "int64"}),
                       Group("refused", Tier::quick)
                           .axis("n", {"4"})
                           .axis("dtype", {"bf16"})
                           .axis("pairing", {"interleaved"})
                           .axis("refuse", {"head_dim", "rotary_dim:odd", "rotary_dim:wide", "k_row_stride",
                                            "out_row_stride", "k_inner_stride", "out_inner_stride",
                                            "cos_sin_row_stride", "eps:nan", "eps:negative", "tokens",
                                            "dtype", "position_dtype", "weight", "max_position"}),
                       Group("full", Tier::full)
                           .axis("n", {"1", "3", "5", "33", "127", "4096"})
                           .axis("d", {"64", "128", "256"})
                           .axis("r", {"16", "48", "64"})
                           .axis("dtype", kDtypes)
                           .axis("pairing", kPairings)
                           .axis("table", {"rope", "normal"})
                           .presentation("layout", {"contiguous", "rows16", "rows8", "odd"}),
                       // What servers launch; kvr bench counts its traffic.
                       Group("serving", Tier::soak)
                           .axis("n", {"4096"})
                           .axis("dtype", {"bf16"})
                           .axis("pairing", kPairings)
                           .axis("at", {"sequence"}),
                   });

}  // namespace
}  // namespace kvr
