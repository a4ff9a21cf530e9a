// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What a launcher of concat_and_cache_mla_rope refuses before it launches anything: see the kernel's header.
// Host code, apart from the kernel so that its faults need not compile it again.
#pragma once

#include <string>
#include <utility>

#include "kernels/concat_and_cache_mla_rope/concat_and_cache_mla_rope.h"

namespace kvr {
namespace mla {

inline bool quantises(const ConcatAndCacheMlaRopeArgs& args) {
  return args.cache_format.encoding != args.dtype;
}

inline std::string text(const std::string& name, std::int64_t value, const std::string& why) {
  return name + " = " + std::to_string(value) + ": " + why;
}

inline LaunchStatus check_sizes(const ConcatAndCacheMlaRopeArgs& args) {
  using S = LaunchStatus;
  constexpr std::int64_t kWidest = 65536;
  if (args.tokens < 0) return S::refused(text("tokens", args.tokens, "must not be negative"));
  for (const auto& [name, value] : {std::pair{"heads", args.heads},
                                    {"rotary_dim", args.rotary_dim},
                                    {"latent_dim", args.latent_dim},
                                    {"blocks", args.blocks},
                                    {"block_size", args.block_size},
                                    {"max_position", args.max_position}})
    if (value < 1) return S::refused(text(name, value, "must be positive"));
  if (args.rotary_dim % 2 != 0) return S::refused(text("rotary_dim", args.rotary_dim, "must be even"));
  if (args.rotary_dim > kWidest) return S::unsupported(text("rotary_dim", args.rotary_dim, "at most 65536"));
  if (args.latent_dim > kWidest) return S::unsupported(text("latent_dim", args.latent_dim, "at most 65536"));
  if (args.blocks > INT64_MAX / args.block_size)
    return S::refused(text("blocks", args.blocks, "times block_size does not fit in 64 bits"));
  if (args.slot_count != args.tokens)
    return S::refused(text("slot_count", args.slot_count, "must be tokens = " + std::to_string(args.tokens)));
  if (args.position_count < args.tokens)
    return S::refused(
        text("position_count", args.position_count, "is below tokens = " + std::to_string(args.tokens)));
  for (const auto& [name, value] : {std::pair{"q_inner_stride", args.q_inner_stride},
                                    {"k_inner_stride", args.k_inner_stride},
                                    {"kv_c_inner_stride", args.kv_c_inner_stride},
                                    {"cos_sin_inner_stride", args.cos_sin_inner_stride},
                                    {"cache_inner_stride", args.cache_inner_stride}})
    if (value != 1) return S::refused(text(name, value, "must be 1"));
  const std::int64_t entry = args.latent_dim + args.rotary_dim;
  struct Stride {
    const char* name;
    std::int64_t value, at_least;
    const char* what;
  };
  for (const Stride& stride :
       {Stride{"q_token_stride", args.q_token_stride, args.rotary_dim, "rotary_dim"},
        {"q_head_stride", args.q_head_stride, args.rotary_dim, "rotary_dim"},
        {"k_token_stride", args.k_token_stride, args.rotary_dim, "rotary_dim"},
        {"kv_c_token_stride", args.kv_c_token_stride, args.latent_dim, "latent_dim"},
        {"cos_sin_row_stride", args.cos_sin_row_stride, args.rotary_dim, "rotary_dim"},
        {"cache_block_stride", args.cache_block_stride, entry, "latent_dim + rotary_dim"},
        {"cache_entry_stride", args.cache_entry_stride, entry, "latent_dim + rotary_dim"}})
    if (stride.value < stride.at_least)
      return S::refused(
          text(stride.name, stride.value,
               std::string("is narrower than ") + stride.what + " = " + std::to_string(stride.at_least)));
  return {};
}

inline LaunchStatus check_types(const ConcatAndCacheMlaRopeArgs& args) {
  using S = LaunchStatus;
  if (args.dtype != DType::f32 && args.dtype != DType::fp16 && args.dtype != DType::bf16)
    return S::unsupported("dtype: only f32, fp16 and bf16");
  if (!quantises(args)) return {};
  const DType encoding = args.cache_format.encoding;
  if (encoding != DType::e4m3fn && encoding != DType::e4m3fnuz && encoding != DType::e5m2)
    return S::unsupported("cache_format: only dtype itself, e4m3fn, e4m3fnuz and e5m2");
  if (!(args.cache_format.max > 0.0F))
    return S::refused("cache_format.max = " + std::to_string(args.cache_format.max) + ": must be positive");
  return {};
}

inline LaunchStatus check_pointers(const ConcatAndCacheMlaRopeArgs& args) {
  for (const auto& [name, pointer] : {std::pair{"positions", static_cast<const void*>(args.positions)},
                                      {"slots", args.slots},
                                      {"q", args.q},
                                      {"k", args.k},
                                      {"kv_c", args.kv_c},
                                      {"cos_sin", args.cos_sin},
                                      {"cache", args.cache}})
    if (pointer == nullptr) return LaunchStatus::refused(std::string(name) + ": null pointer");
  if (quantises(args) && args.scale == nullptr) return LaunchStatus::refused("scale: null pointer");
  return {};
}

// What lives on the device can be checked only where the caller has a copy on the host.
inline LaunchStatus check_values(const ConcatAndCacheMlaRopeArgs& args) {
  using S = LaunchStatus;
  const auto element = [](const char* name, std::int64_t n) {
    return std::string(name) + "[" + std::to_string(n) + "]";
  };
  for (std::int64_t n = 0; args.host_slots != nullptr && n < args.tokens; ++n)
    if (args.host_slots[n] >= args.blocks * args.block_size)
      return S::refused(text(element("slots", n), args.host_slots[n],
                             "the cache has " + std::to_string(args.blocks * args.block_size) + " entries"));
  for (std::int64_t n = 0; args.host_positions != nullptr && n < args.tokens; ++n)
    if (args.host_positions[n] < 0 || args.host_positions[n] >= args.max_position)
      return S::refused(text(element("positions", n), args.host_positions[n],
                             "the table has " + std::to_string(args.max_position) + " rows"));
  if (quantises(args) && args.host_scale != nullptr && !(*args.host_scale > 0.0F))
    return S::refused("scale = " + std::to_string(*args.host_scale) + ": must be positive");
  return {};
}

}  // namespace mla

// The first argument that is wrong; ok when none is.
inline LaunchStatus check_arguments(const ConcatAndCacheMlaRopeArgs& args) {
  if (LaunchStatus status = mla::check_sizes(args); !status.ok()) return status;
  if (LaunchStatus status = mla::check_types(args); !status.ok() || args.tokens == 0) return status;
  if (LaunchStatus status = mla::check_pointers(args); !status.ok()) return status;
  return mla::check_values(args);
}

}  // namespace kvr
