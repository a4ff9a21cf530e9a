// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// All 2^32 floats to every narrow format: the trusted codec and the portable device conversions against an
// oracle that shares no code with either. The oracle is the host side of the vendor's headers (bf16, fp16,
// e4m3fn, e5m2) where a CUDA toolkit was found, and the nearest value of the format's definition for FNUZ
// (and for all formats without a toolkit). Minutes, so it is a soak test: ctest -C Soak -L soak.
#include <array>
#include <atomic>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "harness/numeric/codec.h"
#include "kernels/common/convert_portable.h"
#include "tests/unit/numeric/definition.h"

#if defined(KVR_HAS_CUDA_HEADERS)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#endif

namespace kvr {
namespace {

struct Result {
  std::uint64_t codec = 0;     // differences of the codec
  std::uint64_t portable = 0;  // differences of the portable conversions
  std::uint32_t first = 0;     // bits of one differing input
};

// `oracle`, `codec` and `device` map a float to a code.
template <class Oracle, class Codec, class Device>
Result compare_all_floats(DType dtype, Oracle oracle, Codec codec, Device device) {
  constexpr std::uint64_t kChunk = 1 << 22;
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::atomic<std::uint64_t> next{0};
  std::vector<Result> results(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      Result mine;
      for (std::uint64_t begin = next.fetch_add(kChunk); begin < std::uint64_t{1} << 32;
           begin = next.fetch_add(kChunk)) {
        for (std::uint64_t bits = begin; bits < begin + kChunk; ++bits) {
          const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
          const std::uint32_t expected = oracle(value);
          const std::uint32_t trusted = codec(value);
          const std::uint32_t fast = device(value);
          if (trusted == expected && fast == expected) continue;
          const bool nan = is_nan_code(dtype, expected);  // payloads and signs of NaNs may differ
          const bool trusted_wrong = trusted != expected && !(nan && is_nan_code(dtype, trusted));
          const bool fast_wrong = fast != expected && !(nan && is_nan_code(dtype, fast));
          if (trusted_wrong || fast_wrong) mine.first = static_cast<std::uint32_t>(bits);
          mine.codec += trusted_wrong;
          mine.portable += fast_wrong;
        }
      }
      results[t] = mine;
    });
  }
  for (std::thread& worker : workers) worker.join();
  Result total;
  for (const Result& each : results) {
    total.codec += each.codec;
    total.portable += each.portable;
    if (each.codec + each.portable > 0) total.first = each.first;
  }
  return total;
}

template <class Oracle, class Codec, class Device>
void require_equal(const char* name, DType dtype, Oracle oracle, Codec codec, Device device) {
  const auto start = std::chrono::steady_clock::now();
  const Result result = compare_all_floats(dtype, oracle, codec, device);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("%s: 2^32 floats in %.0f s, codec %llu, portable %llu differences\n", name, seconds,
              static_cast<unsigned long long>(result.codec),
              static_cast<unsigned long long>(result.portable));
  std::fflush(stdout);
  INFO("one differing input: 0x" << std::hex << result.first);
  CHECK(result.codec == 0);
  CHECK(result.portable == 0);
}

std::uint32_t codec_ieee(DType dtype, float value) {
  return static_cast<std::uint32_t>(encode(dtype, static_cast<double>(value)));
}
std::uint32_t codec_fp8(const Fp8Format& format, float value) {
  return static_cast<std::uint32_t>(encode(format, static_cast<double>(value)));
}

// The nearest value of the definition, with the position looked up by the float's upper bits: a float's
// candidates are the code at or below it and the next one.
class FastNearest {
 public:
  explicit FastNearest(const test::Definition& definition) : table_(definition) {
    const std::uint32_t sign = 1U << (definition.bits() - 1);
    sign_ = sign;
    keep_negative_zero_ = definition.specials != test::Specials::fnuz;
    nan_ = table_.nearest(std::nan(""), true);
    has_infinity_ = definition.specials == test::Specials::ieee;
    std::uint32_t code = 0;
    // Upper 16 bits of the float (sign aside): the largest code whose value is at or below the smallest float
    // of the bucket.
    for (std::uint32_t bucket = 0; bucket < below_.size(); ++bucket) {
      const auto start = static_cast<double>(std::bit_cast<float>(bucket << 16));
      while (code < table_.max_code() && table_.value(code + 1) <= start) ++code;
      below_[bucket] = code;
    }
  }

  std::uint32_t operator()(float value, float max, bool saturate) const {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const bool negative = bits >> 31 != 0;
    double magnitude = static_cast<double>(std::bit_cast<float>(bits & 0x7FFFFFFFU));
    if (magnitude != magnitude) return nan_;
    if (saturate && magnitude > static_cast<double>(max)) magnitude = static_cast<double>(max);
    const std::uint32_t bucket = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude)) >> 16;
    std::uint32_t code = below_[bucket];
    while (code <= table_.max_code() && magnitude > table_.midpoint_above(code)) ++code;
    if (code <= table_.max_code() && magnitude == table_.midpoint_above(code) && code % 2 == 1) ++code;
    if (code > table_.max_code() && saturate) code = table_.max_code();
    if (code > table_.max_code() && !has_infinity_) return nan_;
    return negative && (code != 0 || keep_negative_zero_) ? code | sign_ : code;
  }

 private:
  test::NearestTable table_;
  std::array<std::uint32_t, 0x8000> below_{};
  std::uint32_t sign_ = 0;
  std::uint32_t nan_ = 0;
  bool keep_negative_zero_ = true;
  bool has_infinity_ = false;
};

TEST_CASE("FNUZ: every float, against the nearest value of the definition", "[.soak]") {
  const FastNearest nearest(test::e4m3fnuz_definition());
  for (const Fp8Format format : {kE4m3fnuz240, kE4m3fnuz224}) {
    require_equal(
        format.max == 240.0F ? "e4m3fnuz, max 240" : "e4m3fnuz, max 224", DType::e4m3fnuz,
        [&](float v) { return nearest(v, format.max, true); }, [&](float v) { return codec_fp8(format, v); },
        [&](float v) -> std::uint32_t {
          return portable::from_float_saturating<e4m3fnuz>(v, format.max).bits;
        });
  }
}

#if defined(KVR_HAS_CUDA_HEADERS)

TEST_CASE("bf16 and fp16: every float, against the CUDA headers", "[.soak]") {
  require_equal(
      "bf16, cuda_bf16.h", DType::bf16,
      [](float v) -> std::uint32_t { return std::bit_cast<std::uint16_t>(__float2bfloat16_rn(v)); },
      [](float v) { return codec_ieee(DType::bf16, v); },
      [](float v) -> std::uint32_t { return portable::from_float<bf16>(v).bits; });
  require_equal(
      "fp16, cuda_fp16.h", DType::fp16,
      [](float v) -> std::uint32_t { return std::bit_cast<std::uint16_t>(__float2half_rn(v)); },
      [](float v) { return codec_ieee(DType::fp16, v); },
      [](float v) -> std::uint32_t { return portable::from_float<fp16>(v).bits; });
}

TEST_CASE("OCP fp8: every float, against the CUDA headers", "[.soak]") {
  require_equal(
      "e4m3fn, cuda_fp8.h", DType::e4m3fn,
      [](float v) -> std::uint32_t { return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3); },
      [](float v) { return codec_fp8(kE4m3fn, v); },
      [](float v) -> std::uint32_t { return portable::from_float_saturating<e4m3fn>(v, 448.0F).bits; });
  require_equal(
      "e5m2, cuda_fp8.h", DType::e5m2,
      [](float v) -> std::uint32_t { return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E5M2); },
      [](float v) { return codec_fp8(kE5m2, v); },
      [](float v) -> std::uint32_t { return portable::from_float_saturating<e5m2>(v, 57344.0F).bits; });
}

#else

TEST_CASE("bf16 and fp16: every float, against the nearest value of the definition", "[.soak]") {
  const FastNearest bf(test::bf16_definition());
  const FastNearest half(test::fp16_definition());
  require_equal(
      "bf16, definition", DType::bf16, [&](float v) { return bf(v, 0.0F, false); },
      [](float v) { return codec_ieee(DType::bf16, v); },
      [](float v) -> std::uint32_t { return portable::from_float<bf16>(v).bits; });
  require_equal(
      "fp16, definition", DType::fp16, [&](float v) { return half(v, 0.0F, false); },
      [](float v) { return codec_ieee(DType::fp16, v); },
      [](float v) -> std::uint32_t { return portable::from_float<fp16>(v).bits; });
}

TEST_CASE("OCP fp8: every float, against the nearest value of the definition", "[.soak]") {
  const FastNearest fn(test::e4m3fn_definition());
  const FastNearest wide(test::e5m2_definition());
  require_equal(
      "e4m3fn, definition", DType::e4m3fn, [&](float v) { return fn(v, 448.0F, true); },
      [](float v) { return codec_fp8(kE4m3fn, v); },
      [](float v) -> std::uint32_t { return portable::from_float_saturating<e4m3fn>(v, 448.0F).bits; });
  require_equal(
      "e5m2, definition", DType::e5m2, [&](float v) { return wide(v, 57344.0F, true); },
      [](float v) { return codec_fp8(kE5m2, v); },
      [](float v) -> std::uint32_t { return portable::from_float_saturating<e5m2>(v, 57344.0F).bits; });
}

#endif

}  // namespace
}  // namespace kvr
