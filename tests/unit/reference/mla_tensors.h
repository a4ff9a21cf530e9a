// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Small tensors for tests of the reference of concat_and_cache_mla_rope: H = 1, packed, one block of N
// entries, token n in entry n.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/numeric/codec.h"
#include "reference/concat_and_cache_mla_rope.h"

namespace kvr {

// What the reference says of one output, by index.
struct Said {
  std::vector<double> value, budget, products;
  std::vector<bool> is_set;
  void set(std::int64_t index, double v, double b, double p) {
    const auto at = static_cast<std::size_t>(index);
    if (at >= value.size()) {
      value.resize(at + 1);
      budget.resize(at + 1);
      products.resize(at + 1);
      is_set.resize(at + 1);
    }
    value[at] = v;
    budget[at] = b;
    products[at] = p;
    is_set[at] = true;
  }
};

struct MlaTensors {
  // Codes of T; an element takes 2 or 4 bytes.
  struct Codes {
    DType dtype;
    std::vector<std::byte> bytes;
    Codes(DType of, std::int64_t numel)
        : dtype(of), bytes(static_cast<std::size_t>(numel) * dtype_size(of)) {}
    void put(std::int64_t index, double value) {
      const std::uint64_t code = encode(dtype, value);
      for (std::size_t i = 0; i < dtype_size(dtype); ++i)
        bytes[static_cast<std::size_t>(index) * dtype_size(dtype) + i] =
            static_cast<std::byte>(code >> (8 * i));
    }
    double get(std::int64_t index) const {
      std::uint64_t code = 0;
      for (std::size_t i = 0; i < dtype_size(dtype); ++i)
        code |= std::to_integer<std::uint64_t>(bytes[static_cast<std::size_t>(index) * dtype_size(dtype) + i])
                << (8 * i);
      return decode(dtype, code);
    }
  };

  Codes q, k, kv_c, table;  // row n of the table belongs to token n
  std::vector<std::int64_t> positions, slots;
  float scale = 1.0F;
  ConcatAndCacheMlaRopeArgs args;

  MlaTensors(DType dtype, std::int64_t n, std::int64_t r, std::int64_t l)
      : q(dtype, n * r), k(dtype, n * r), kv_c(dtype, n * l), table(dtype, n * r) {
    for (std::int64_t i = 0; i < n; ++i) {
      positions.push_back(i);
      slots.push_back(i);
    }
    args.tokens = args.slot_count = args.position_count = args.block_size = args.max_position = n;
    args.heads = args.blocks = 1;
    args.rotary_dim = args.q_token_stride = args.q_head_stride = args.k_token_stride =
        args.cos_sin_row_stride = r;
    args.latent_dim = args.kv_c_token_stride = l;
    args.cache_entry_stride = l + r;
    args.cache_block_stride = n * (l + r);
    args.dtype = dtype;
    args.cache_format = {dtype, 0.0F};
  }

  struct Outputs {
    Said q, k, cache;
  };
  template <class Real>
  Outputs reference() {
    args.positions = positions.data();
    args.slots = slots.data();
    args.q = q.bytes.data();
    args.k = k.bytes.data();
    args.kv_c = kv_c.bytes.data();
    args.cos_sin = table.bytes.data();
    args.scale = &scale;
    Outputs out;
    reference::concat_and_cache_mla_rope<Real>(args, out.q, out.k, out.cache);
    return out;
  }
};

}  // namespace kvr
