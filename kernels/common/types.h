// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The words that kernels, references and the harness share: storage types, data types, fp8 format
// descriptors, launch status. Plain data only; it compiles for the host and for every device.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace kvr {

// Storage types: the bits and nothing else, so that no vendor header is needed to pass them around.
struct bf16 {
  std::uint16_t bits;
};
struct fp16 {
  std::uint16_t bits;
};
struct e4m3fn {
  std::uint8_t bits;
};
struct e4m3fnuz {
  std::uint8_t bits;
};
struct e5m2 {
  std::uint8_t bits;
};

enum class DType : std::uint8_t {
  f32,
  fp16,
  bf16,
  e4m3fn,
  e4m3fnuz,
  e5m2,
  int8,
  uint8,
  int32,
  int64,
};

// An fp8 encoding together with the largest magnitude a kernel may store. The maximum is a decision of the
// caller, not of the platform: FNUZ can hold 240, yet quantisers that share scales with OCP use 224.
struct Fp8Format {
  DType encoding;
  float max;
};

inline constexpr Fp8Format kE4m3fn{DType::e4m3fn, 448.0F};
inline constexpr Fp8Format kE4m3fnuz224{DType::e4m3fnuz, 224.0F};
inline constexpr Fp8Format kE4m3fnuz240{DType::e4m3fnuz, 240.0F};
inline constexpr Fp8Format kE5m2{DType::e5m2, 57344.0F};

// How a rotary embedding pairs the elements of the rotary part (width R).
enum class Pairing : std::uint8_t {
  interleaved,  // (2i, 2i + 1): GPT-J, complex numbers
  half_split,   // (i, i + R/2): GPT-NeoX, Llama
};

// What a launcher returns. `what` names the argument and its value, or carries the runtime's own text.
struct LaunchStatus {
  enum class Kind : std::uint8_t {
    ok,
    refused,      // an argument is invalid; nothing was launched
    unsupported,  // valid, but outside what this kernel implements; nothing was launched
    error,        // the runtime or the device reported a failure
  };
  Kind kind = Kind::ok;
  std::string what;

  static LaunchStatus refused(std::string why) { return {Kind::refused, std::move(why)}; }
  static LaunchStatus unsupported(std::string why) { return {Kind::unsupported, std::move(why)}; }
  static LaunchStatus error(std::string why) { return {Kind::error, std::move(why)}; }
  [[nodiscard]] bool ok() const { return kind == Kind::ok; }
};

}  // namespace kvr
