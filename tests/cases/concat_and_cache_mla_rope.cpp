// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Cases of concat_and_cache_mla_rope. The cache is an output of which a launch writes a few entries: the
// runner compares everything else with the poison it was filled with, byte for byte.
#include "reference/concat_and_cache_mla_rope.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "harness/suite/registry.h"

namespace kvr {
namespace {

using Args = ConcatAndCacheMlaRopeArgs;

std::int64_t integer_or(const Params& params, std::string_view key, std::int64_t value) {
  return params.has(key) ? params.integer(key) : value;
}

std::string text_or(const Params& params, std::string_view key, std::string value) {
  return params.has(key) ? params.text(key) : value;
}

struct Sizes {
  std::int64_t n, h, r, l, b, s, table_rows;
  std::int64_t entry() const { return l + r; }
};

// Of q, k, kv_c, table, cache, in elements. Each has strides and an offset of its own, so that a kernel which
// uses one tensor's stride for another is caught.
struct Layout {
  std::int64_t q_token, q_head, q_offset, k, k_offset, kv_c, kv_c_offset, table, block, entry, cache_offset;
};

Layout choose_layout(const std::string& name, const Sizes& z) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 30) + 64;  // row 2 starts beyond 2^31 elements (A7)
  const std::int64_t e = z.entry();
  Layout at{z.h * z.r, z.r, 0, z.r, 0, z.l, 0, z.r, z.s * e, e, 0};
  if (name == "contiguous") return at;
  // As a model holds them: q's rope part behind 128 others in each head, k the tail of a row that begins with
  // the latent; the cache padded by entry and by block. Everything a multiple of 16 elements: 16-byte
  // accesses.
  if (name == "slices")
    return {z.h * (z.r + 128) + 64, z.r + 128, 128, z.l + z.r, z.l, z.l + 96, 32, z.r + 32,
            z.s * (e + 16) + 48,    e + 16,    16};
  // Nothing is aligned: element by element.
  if (name == "odd")
    return {z.h * (z.r + 3) + 2, z.r + 3, 1, z.r + 5, 3, z.l + 7, 5, z.r + 1, z.s * (e + 9) + 11, e + 9, 1};
  // Blocks lie inside entries: the same entry of all blocks together.
  if (name == "entry_major") {
    at.block = e + 16;
    at.entry = z.b * at.block;
    return at;
  }
  if (name == "far_q") at.q_token = kFar;
  if (name == "far_k") at.k = kFar;
  if (name == "far_kv_c") at.kv_c = kFar;
  if (name == "far_block") at.block = kFar;
  if (name == "far_entry") {
    at.entry = kFar;
    at.block = z.s * kFar;
  }
  if (name.starts_with("far_")) return at;
  throw std::invalid_argument("unknown layout " + name);
}

// Slots sampled without replacement, as the public test does, with what a server adds: padding among them.
std::vector<std::int64_t> choose_slots(const CaseBuilder& c, const Sizes& z, const std::string& pattern) {
  const std::int64_t total = z.b * z.s;
  const RandomStream random = c.stream("slots");
  std::set<std::int64_t> taken;
  std::vector<std::int64_t> slots;
  const auto take = [&](std::int64_t slot) {
    while (!taken.insert(slot).second) slot = (slot + 1) % total;
    slots.push_back(slot);
  };
  // The outermost entries, and both sides of the first boundary between blocks.
  if (pattern == "ends")
    for (const std::int64_t slot : {total - 1, std::int64_t{0}, z.s - 1, z.s})
      if (static_cast<std::int64_t>(slots.size()) < z.n) take(slot);
  constexpr std::int64_t kNegative[] = {-1, INT64_MIN, -7};  // any negative, not just -1
  while (static_cast<std::int64_t>(slots.size()) < z.n) {
    const auto n = slots.size();
    if (pattern == "none" || (pattern == "mixed" && n % 2 == 1)) {
      slots.push_back(kNegative[n / 2 % 3]);
    } else {
      take(static_cast<std::int64_t>(random.uniform(n) * static_cast<double>(total)));
    }
  }
  return slots;
}

std::vector<std::int64_t> choose_positions(const CaseBuilder& c, const Sizes& z, const std::string& where) {
  const RandomStream random = c.stream("positions");
  std::vector<std::int64_t> positions;
  for (std::int64_t n = 0; n < z.n; ++n) {
    const auto drawn = static_cast<std::int64_t>(random.uniform(static_cast<std::uint64_t>(n)) *
                                                 static_cast<double>(z.table_rows));
    positions.push_back(where == "table_ends" ? (n % 2 == 0 ? z.table_rows - 1 : 0)
                        : where == "small"    ? 1 + n  // angle 0 would turn nothing
                        : where == "sequence" ? n
                        : where == "inside"   ? std::clamp<std::int64_t>(drawn, 1, z.table_rows - 2)
                                              : drawn);
  }
  return positions;
}

Fill as_list(const std::vector<std::int64_t>& values) {
  return Fill::list(std::vector<double>(values.begin(), values.end()));
}

// Entries of the cache that exist in memory: all of a small one; of a large one the addressed, their
// neighbours, and both ends.
std::vector<std::int64_t> existing_entries(const Sizes& z, const std::vector<std::int64_t>& slots) {
  const std::int64_t total = z.b * z.s;
  if (total <= 64 * 256) return {};
  std::vector<std::int64_t> rows{0, total - 1};
  for (const std::int64_t slot : slots)
    for (const std::int64_t row : {slot - 1, slot, slot + 1})
      if (slot >= 0 && row >= 0 && row < total) rows.push_back(row);
  return rows;
}

Fp8Format cache_format(const std::string& cache, DType dtype, const MachineProperties& machine) {
  if (cache == "auto") return {dtype, 0.0F};
  if (cache == "e5m2") return kE5m2;
  // The MLA cache uses all of FNUZ's range (contracts.md), unlike quantisers that share scales with OCP.
  if (cache == "fp8") return machine.fp8.encoding == DType::e4m3fnuz ? kE4m3fnuz240 : kE4m3fn;
  throw std::invalid_argument("unknown cache " + cache);
}

float parse_scale(const std::string& text) {
  if (text == "nan") return NAN;
  if (const auto slash = text.find('/'); slash != std::string::npos)
    return std::stof(text.substr(0, slash)) / std::stof(text.substr(slash + 1));
  if (text.starts_with("2^")) return std::ldexp(1.0F, std::stoi(text.substr(2)));
  return std::stof(text);
}

Fill choose_fill(const std::string& name, std::int64_t hot) {
  if (name == "one_hot") return Fill::one_hot(hot);
  if (const auto kind = parse_fill(name)) return Fill::of(*kind);
  throw std::invalid_argument("unknown fill " + name);
}

// +-0.404296875 divided by 1.078125/448 in fp32 is 168, half-way between the codes of 160 and 176; times the
// rounded reciprocal it is 168.00002, and rounds up (A2, halved to fit FNUZ too).
Fill quotient_ties(const Sizes& z) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < z.n * z.l; ++i) values.push_back(i % 2 == 0 ? 0.404296875 : -0.404296875);
  return Fill::list(std::move(values));
}

// "argument" or "argument:what is wrong with it".
void break_argument(Args& args, const std::string& what) {
  if (what == "rotary_dim:odd") args.rotary_dim -= 1;
  if (what == "heads") args.heads = 0;
  if (what == "tokens") args.tokens = -1;
  if (what == "slot_count:short") args.slot_count -= 1;
  if (what == "slot_count:long") args.slot_count += 1;
  if (what == "position_count") args.position_count -= 1;
  if (what == "q_inner_stride") args.q_inner_stride = 2;
  if (what == "k_inner_stride") args.k_inner_stride = 2;
  if (what == "kv_c_inner_stride") args.kv_c_inner_stride = 4;
  if (what == "cos_sin_inner_stride") args.cos_sin_inner_stride = 2;
  if (what == "cache_inner_stride") args.cache_inner_stride = 2;
  if (what == "q_token_stride") args.q_token_stride = args.rotary_dim - 1;
  if (what == "q_head_stride") args.q_head_stride = args.rotary_dim - 1;
  if (what == "k_token_stride") args.k_token_stride = 0;
  if (what == "kv_c_token_stride") args.kv_c_token_stride = args.latent_dim - 1;
  if (what == "cos_sin_row_stride") args.cos_sin_row_stride = args.rotary_dim - 1;
  if (what == "cache_entry_stride") args.cache_entry_stride = args.latent_dim + args.rotary_dim - 1;
  if (what == "cache_block_stride") args.cache_block_stride = args.latent_dim;
  if (what == "kv_c") args.kv_c = nullptr;
  if (what == "scale:null") args.scale = nullptr;
  if (what == "cache_format.max") args.cache_format.max = 0.0F;
  if (what == "dtype") args.dtype = DType::int32;
  if (what == "cache_format:int8") args.cache_format.encoding = DType::int8;
}

void describe(CaseBuilder& c) {
  const Params& p = c.params();
  const std::string refuse = text_or(p, "refuse", "");
  const std::string where = text_or(p, "at", p.has("hot") ? "small" : "");
  const Sizes z{p.integer("n"),
                integer_or(p, "h", 128),
                integer_or(p, "r", 64),
                integer_or(p, "l", 512),
                integer_or(p, "b", 64),
                integer_or(p, "s", 16),
                where.empty() || where == "sequence" ? 8192 : 64};
  const DType dtype = p.dtype("dtype");
  const Layout at = choose_layout(text_or(p, "layout", "contiguous"), z);
  const Fp8Format format = cache_format(text_or(p, "cache", "auto"), dtype, c.machine());
  const std::string fill = text_or(p, "fill", "normal");
  const std::int64_t hot = integer_or(p, "hot", 0);
  const Pairing pairing = p.text("pairing") == "half_split" ? Pairing::half_split : Pairing::interleaved;
  const RopeRounding rounding =
      text_or(p, "rounding", "per_op") == "once" ? RopeRounding::once : RopeRounding::per_op;

  std::vector<std::int64_t> slots = choose_slots(c, z, text_or(p, "slots", "random"));
  std::vector<std::int64_t> positions = choose_positions(c, z, where);
  float scale = parse_scale(text_or(p, "scale", "0.1"));
  if (refuse == "slots[2]") slots.at(2) = z.b * z.s;
  if (refuse == "positions[1]:large") positions.at(1) = z.table_rows;
  if (refuse == "positions[1]:negative") positions.at(1) = -1;
  if (refuse == "scale:zero") scale = 0.0F;
  if (refuse == "scale:negative") scale = -0.1F;
  if (refuse == "scale:nan") scale = NAN;
  // A scale that only the device knows is used as it is.
  const bool hidden_scale = text_or(p, "scale_seen", "host") == "device";

  const auto size = [](DType of) { return static_cast<std::int64_t>(dtype_size(of)); };
  TensorDecl& q = c.inout(TensorSpec::contiguous("q", dtype, {z.n, z.h, z.r})
                              .with_strides({at.q_token, at.q_head, 1})
                              .with_offset(at.q_offset),
                          choose_fill(fill, hot));
  q.heads = z.h;
  c.inout(TensorSpec::contiguous("k_pe", dtype, {z.n, z.r}).with_row_stride(at.k).with_offset(at.k_offset),
          choose_fill(fill, hot));
  const std::string latent = text_or(p, "latent", fill == "one_hot" ? "normal" : fill);
  c.input(
      TensorSpec::contiguous("kv_c", dtype, {z.n, z.l}).with_row_stride(at.kv_c).with_offset(at.kv_c_offset),
      latent == "quotient_ties" ? quotient_ties(z) : choose_fill(latent, 0));
  TensorDecl& table = c.input(
      TensorSpec::contiguous("cos_sin", dtype, {z.table_rows, z.r}).with_row_stride(at.table), Fill::rope());
  table.rows = z.n == 0 ? std::vector<std::int64_t>{0} : positions;
  // All rows: a kernel that reads a neighbour's finds values there, and says so by its output.
  if (!refuse.empty() || where == "inside") table.rows.clear();
  if (where == "table_ends") table.placement = Placement::end_at_page;  // reading behind the last row faults
  table.cached = "the warps of a token's block share its row: L1";
  c.input(TensorSpec::contiguous("positions", DType::int64, {z.n}), as_list(positions)).cached =
      "8 bytes per token that its whole block reads: L1";
  c.input(TensorSpec::contiguous("slots", DType::int64, {z.n}), as_list(slots)).cached =
      "8 bytes per token that its whole block reads: L1";
  c.input(TensorSpec::contiguous("scale", DType::f32, {1}), Fill::list({static_cast<double>(scale)})).cached =
      "4 bytes that every token reads: L2";
  TensorDecl& cache = c.output(TensorSpec::contiguous("cache", format.encoding, {z.b, z.s, z.entry()})
                                   .with_strides({at.block, at.entry, 1})
                                   .with_offset(at.cache_offset));
  cache.rows = existing_entries(z, slots);
  if (format.encoding != dtype) {
    cache.overflow = Overflow::saturate;
    cache.format_max = static_cast<double>(format.max);
  }

  // Per token (mla_cache_norm_quant_v4.md 1.4): q and k in and out, the latent in, the entry out, the table
  // row, position and slot. Without a slot: q, table row, position and slot.
  const auto stored = std::count_if(slots.begin(), slots.end(), [](std::int64_t slot) { return slot >= 0; });
  const auto distinct = static_cast<std::int64_t>(std::set(positions.begin(), positions.end()).size());
  c.minimum_traffic(z.n * (2 * z.h * z.r * size(dtype) + 16) + distinct * z.r * size(dtype) +
                    stored * (2 * z.r * size(dtype) + z.l * size(dtype) + z.entry() * size(format.encoding)));

  struct HostCopies {
    std::vector<std::int64_t> positions, slots;
    float scale;
  };
  const auto host = std::make_shared<const HostCopies>(HostCopies{positions, slots, scale});
  c.bind<Args>([=](const Bindings& bound) {
    const auto start = [&](std::string_view name, DType of, std::int64_t offset) {
      return static_cast<std::byte*>(bound(name).value) + offset * size(of);
    };
    Args args;
    args.positions = bound("positions");
    args.slots = bound("slots");
    args.q = start("q", dtype, at.q_offset);
    args.k = start("k_pe", dtype, at.k_offset);
    args.kv_c = start("kv_c", dtype, at.kv_c_offset);
    args.cos_sin = bound("cos_sin");
    args.cache = start("cache", format.encoding, at.cache_offset);
    args.scale = bound("scale");
    args.host_positions = host->positions.data();
    args.host_slots = host->slots.data();
    args.host_scale = hidden_scale ? nullptr : &host->scale;
    args.tokens = z.n;
    args.heads = z.h;
    args.rotary_dim = z.r;
    args.latent_dim = z.l;
    args.blocks = z.b;
    args.block_size = z.s;
    args.max_position = z.table_rows;
    args.position_count = z.n;
    args.slot_count = z.n;
    args.q_token_stride = at.q_token;
    args.q_head_stride = at.q_head;
    args.k_token_stride = at.k;
    args.kv_c_token_stride = at.kv_c;
    args.cos_sin_row_stride = at.table;
    args.cache_block_stride = at.block;
    args.cache_entry_stride = at.entry;
    args.dtype = dtype;
    args.cache_format = format;
    args.pairing = pairing;
    args.rounding = rounding;
    break_argument(args, refuse);
    return args;
  });
  if (!refuse.empty()) c.expect_refusal(refuse.substr(0, refuse.find(':')));
  c.reference<Args>([](const Args& args, Expectations& expected) {
    Expected& heads = expected.at("q");
    Expected& k = expected.at("k_pe");
    Expected& entries = expected.at("cache");
    reference::concat_and_cache_mla_rope<double>(args, heads, k, entries);
    // For rules that count outliers among what was rotated: of the cache, not the latent.
    heads.counts["rotated"] = static_cast<double>(heads.set_count());
    k.counts["rotated"] = static_cast<double>(k.set_count());
    entries.counts["rotated"] = static_cast<double>(k.set_count());
  });

  c.argument_fault<Args>("the other rounding contract", [](Args& args) {
    args.rounding = args.rounding == RopeRounding::once ? RopeRounding::per_op : RopeRounding::once;
  });
  c.argument_fault<Args>("the other pairing", [](Args& args) {
    args.pairing = args.pairing == Pairing::interleaved ? Pairing::half_split : Pairing::interleaved;
  });
  c.argument_fault<Args>("14/15 of the format's maximum (224 for 240)",
                         [](Args& args) { args.cache_format.max *= 14.0F / 15.0F; });
  c.argument_fault<Args>("the last head left out",
                         [](Args& args) { args.heads = std::max<std::int64_t>(1, args.heads - 1); });
  const auto [lowest, highest] = std::minmax_element(positions.begin(), positions.end());
  if (z.n > 0 && *highest + 1 < z.table_rows)
    c.argument_fault<Args>("position + 1", [size](Args& args) {
      args.cos_sin = static_cast<const std::byte*>(args.cos_sin) + args.cos_sin_row_stride * size(args.dtype);
    });
  if (z.n > 0 && *lowest > 0)
    c.argument_fault<Args>("position - 1", [size](Args& args) {
      args.cos_sin = static_cast<const std::byte*>(args.cos_sin) - args.cos_sin_row_stride * size(args.dtype);
    });
  // As if every slot were one higher; the last entry of a block has its neighbour in the next one.
  const bool room = z.n > 0 && at.block == z.s * at.entry && cache.rows.empty() &&
                    *std::max_element(slots.begin(), slots.end()) + 1 < z.b * z.s;
  if (room)
    c.argument_fault<Args>("slot + 1", [size](Args& args) {
      args.cache =
          static_cast<std::byte*>(args.cache) + args.cache_entry_stride * size(args.cache_format.encoding);
    });
  if (at.k > z.r)
    c.argument_fault<Args>(
        "k stride packed", [](Args& args) { args.k_token_stride = args.rotary_dim; },
        CaseBuilder::Addresses::others);
  if (at.kv_c > z.l)
    c.argument_fault<Args>(
        "kv_c stride packed", [](Args& args) { args.kv_c_token_stride = args.latent_dim; },
        CaseBuilder::Addresses::others);
}

std::vector<std::string> numbers(std::int64_t begin, std::int64_t end) {
  std::vector<std::string> out;
  for (std::int64_t i = begin; i < end; ++i) out.push_back(std::to_string(i));
  return out;
}

const std::vector<std::string> kDtypes{"bf16", "fp16", "f32"};
const std::vector<std::string> kPairings{"half_split", "interleaved"};

const bool registered = register_cases(
    "concat_and_cache_mla_rope", describe,
    {
        // Every type, pairing, cache and contract once, small.
        Group("contracts", Tier::quick)
            .axis("n", {"5"})
            .axis("h", {"4"})
            .axis("s", {"4"})
            .axis("b", {"8"})
            .axis("dtype", kDtypes)
            .axis("pairing", kPairings)
            .axis("cache", {"auto", "fp8", "e5m2"})
            .axis("rounding", {"per_op", "once"}),
        // Padding among the tokens, nothing but padding, and the outermost entries of the cache.
        Group("slots", Tier::quick)
            .axis("n", {"9"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"8"})
            .axis("dtype", kDtypes)
            .axis("pairing", {"half_split"})
            .axis("cache", {"auto", "fp8"})
            .axis("slots", {"mixed", "none", "ends"}),
        // Strides of q, k, kv_c, table and cache; with each the bits of the contiguous run (A6).
        Group("layouts", Tier::quick)
            .axis("n", {"5"})
            .axis("h", {"3"})
            .axis("s", {"3"})
            .axis("b", {"5"})
            .axis("dtype", kDtypes)
            .axis("pairing", kPairings)
            .axis("cache", {"auto", "fp8"})
            .presentation("layout", {"contiguous", "slices", "odd", "entry_major"}),
        // Offsets beyond 2^31 elements, one tensor at a time (A7).
        Group("far", Tier::quick)
            .axis("n", {"3"})
            .axis("h", {"2"})
            .axis("s", {"2"})
            .axis("b", {"3"})
            .axis("dtype", {"bf16"})
            .axis("pairing", {"half_split"})
            .axis("cache", {"auto", "fp8"})
            .axis("slots", {"ends"})
            .presentation("layout", {"contiguous", "far_q", "far_k", "far_kv_c", "far_block", "far_entry"}),
        // One non-zero element in every head and in k, at each rotary index (A4).
        Group("probe", Tier::quick)
            .axis("n", {"2"})
            .axis("h", {"2"})
            .axis("l", {"16"})
            .axis("s", {"2"})
            .axis("b", {"2"})
            .axis("dtype", {"bf16"})
            .axis("pairing", kPairings)
            .axis("fill", {"one_hot"})
            .axis("hot", numbers(0, 64)),
        Group("positions", Tier::quick)
            .axis("n", {"6"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", kDtypes)
            .axis("pairing", kPairings)
            .axis("at", {"table_ends", "inside"}),
        Group("fills", Tier::quick)
            .axis("n", {"8"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", kDtypes)
            .axis("pairing", {"half_split"})
            .axis("cache", {"auto", "fp8", "e5m2"})
            .axis("fill", {"huge", "one_outlier", "zero_row", "denormal", "ties", "special", "exact_int"})
            // In fp8 every denormal is a zero, and so would be any answer.
            .where([](const Params& p) { return p.text("fill") != "denormal" || p.text("cache") == "auto"; }),
        // A latent so small that every code is a zero: 0x80 is -0 in OCP and would be NaN in FNUZ (A20).
        Group("small_latent", Tier::quick)
            .axis("n", {"8"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", kDtypes)
            .axis("pairing", {"half_split"})
            .axis("cache", {"fp8", "e5m2"})
            .axis("latent", {"tiny"})
            .axis("scale", {"1"}),
        // Quotients at a tie: a reciprocal in place of the division falls on the other side.
        Group("division", Tier::quick)
            .axis("n", {"4"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", kDtypes)
            .axis("pairing", {"half_split"})
            .axis("cache", {"fp8"})
            .axis("latent", {"quotient_ties"})
            .axis("scale", {"1.078125/448"}),
        Group("scales", Tier::quick)
            .axis("n", {"4"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", kDtypes)
            .axis("pairing", {"interleaved"})
            .axis("cache", {"fp8", "e5m2"})
            .axis("scale", {"0.1", "1", "2^-10"}),
        // Values that the host does not see follow plain arithmetic (contracts.md).
        Group("device_scales", Tier::quick)
            .axis("n", {"4"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", {"bf16"})
            .axis("pairing", {"interleaved"})
            .axis("cache", {"fp8", "e5m2"})
            .axis("fill", {"normal", "zero_row", "special"})
            .axis("scale_seen", {"device"})
            .axis("scale", {"0", "-0.5", "nan"}),
        // Heads and rotary widths around what a block of 256 threads takes.
        Group("shapes", Tier::quick)
            .axis("n", {"3"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", {"bf16", "f32"})
            .axis("pairing", kPairings)
            .axis("cache", {"fp8"})
            .axis("h", {"1", "2", "16", "128"})
            .axis("r", {"16", "32", "64", "128"}),
        Group("dims", Tier::quick)
            .axis("n", {"5"})
            .axis("h", {"3"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", kDtypes)
            .axis("pairing", kPairings)
            .axis("cache", {"auto", "fp8"})
            .axis("l", {"512", "448", "500", "1"})
            .axis("r", {"64", "36", "2"})
            .where([](const Params& p) {
              const std::string dims = p.text("l") + "x" + p.text("r");
              return dims == "512x64" || dims == "448x64" || dims == "500x36" || dims == "1x2";
            }),
        // Around the tokens that share a block (8 of one head), and none.
        Group("tokens", Tier::quick)
            .axis("n", {"0", "1", "7", "8", "9", "65"})
            .axis("s", {"16"})
            .axis("dtype", {"bf16"})
            .axis("pairing", kPairings)
            .axis("cache", {"auto", "fp8"})
            .axis("h", {"1", "2", "16"}),
        Group("refused", Tier::quick)
            .axis("n", {"4"})
            .axis("h", {"2"})
            .axis("s", {"4"})
            .axis("b", {"4"})
            .axis("dtype", {"bf16"})
            .axis("pairing", {"half_split"})
            .axis("at", {"small"})
            .axis("cache", {"fp8"})
            .axis("refuse", {"rotary_dim:odd",
                             "heads",
                             "tokens",
                             "slot_count:short",
                             "slot_count:long",
                             "position_count",
                             "q_inner_stride",
                             "k_inner_stride",
                             "kv_c_inner_stride",
                             "cos_sin_inner_stride",
                             "cache_inner_stride",
                             "q_token_stride",
                             "q_head_stride",
                             "k_token_stride",
                             "kv_c_token_stride",
                             "cos_sin_row_stride",
                             "cache_entry_stride",
                             "cache_block_stride",
                             "kv_c",
                             "scale:null",
                             "scale:zero",
                             "scale:negative",
                             "scale:nan",
                             "slots[2]",
                             "positions[1]:large",
                             "positions[1]:negative",
                             "cache_format.max",
                             "dtype",
                             "cache_format:int8"}),
        // vLLM's matrix: 144 cases (mla_cache_norm_quant_v4.md 1.5).
        Group("public", Tier::full)
            .axis("dtype", kDtypes)
            .axis("pairing", kPairings)
            .axis("n", {"11", "42"})
            .axis("r", {"64", "128"})
            .axis("cache", {"auto", "fp8"})
            .axis("s", {"16", "64", "256"}),
        // One of each kind of it in every push.
        Group("public_sample", Tier::quick)
            .axis("dtype", {"bf16", "f32"})
            .axis("pairing", {"half_split"})
            .axis("n", {"11"})
            .axis("r", {"64"})
            .axis("cache", {"auto", "fp8"})
            .axis("s", {"16"}),
        // Block sizes of its older version. Only the entries around the addressed ones take memory.
        Group("large_blocks", Tier::full)
            .axis("dtype", kDtypes)
            .axis("pairing", kPairings)
            .axis("n", {"42"})
            .axis("r", {"128"})
            .axis("cache", {"auto", "fp8"})
            .axis("s", {"1024", "16384"})
            .axis("h", {"16"}),
        // What servers launch; kvr bench counts its traffic.
        Group("serving", Tier::soak)
            .axis("n", {"1024"})
            .axis("h", {"128"})
            .axis("s", {"64"})
            .axis("dtype", {"bf16"})
            .axis("pairing", kPairings)
            .axis("cache", {"auto", "fp8"})
            .axis("at", {"sequence"}),
    });

}  // namespace
}  // namespace kvr
