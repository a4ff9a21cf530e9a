// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The arithmetic words against exact integer arithmetic, and against values from CUDA's documentation.
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/common/simt.h"

namespace kvr {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

__extension__ typedef unsigned __int128 Wide;  // GCC and clang only, as the machine is

// Is r = R * 2^-24 (R in [2^23, 2^24]) the float nearest to 1/sqrt(x), x = m * 2^-23 in [1, 4)? With h = 2R
// +- 1 the neighbouring midpoints are h * 2^-25, and midpoint < 1/sqrt(x) exactly when midpoint^2 * x < 1:
// h^2 * m < 2^73.
bool is_nearest_reciprocal_root(std::uint64_t m, std::uint64_t r) {
  const Wide one = Wide{1} << 73;
  const Wide below = Wide{2 * r - 1} * (2 * r - 1) * m;
  const Wide above = Wide{2 * r + 1} * (2 * r + 1) * m;
  return below < one && one < above;
}

TEST_CASE("rsqrtf is the nearest float for every mantissa") {
  // x in [1, 4) has every mantissa and both parities of the exponent; other exponents scale the result by a
  // power of two.
  std::uint64_t wrong = 0;
  for (std::uint32_t code = 0x3F800000; code < 0x40800000; ++code) {
    const float x = std::bit_cast<float>(code);
    if (x == 1.0F) continue;  // exact, and the only x whose result is no number below 1
    const auto m = static_cast<std::uint64_t>(std::ldexp(x, 23));
    const auto r = static_cast<std::uint64_t>(std::ldexp(rsqrtf(x), 24));
    if (!is_nearest_reciprocal_root(m, r)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(rsqrtf(1.0F) == 1.0F);
  CHECK(rsqrtf(4.0F) == 0.5F);
  CHECK(rsqrtf(0x1p-148F) == 0x1p74F);  // subnormal
}

TEST_CASE("rsqrtf of special values") {
  CHECK(rsqrtf(0.0F) == kInf);
  CHECK(rsqrtf(-0.0F) == -kInf);  // as CUDA's
  CHECK(rsqrtf(kInf) == 0.0F);
  CHECK(std::isnan(rsqrtf(-1.0F)));
  CHECK(std::isnan(rsqrtf(kNan)));
}

TEST_CASE("fmaf rounds once") {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24. Rounding the product first loses the 2^-24.
  const float a = 1.0F + 0x1p-12F;
  CHECK(fmaf(a, a, -(1.0F + 0x1p-11F)) == 0x1p-24F);
  CHECK(__fmaf_rn(a, a, -(1.0F + 0x1p-11F)) == 0x1p-24F);
  CHECK(__fadd_rn(__fmul_rn(a, a), -(1.0F + 0x1p-11F)) == 0.0F);
  // Just above a tie between 1 and 1 + 2^-23: in double the 2^-100 is lost, and the tie would go to even.
  CHECK(fmaf(0x1p-50F, 0x1p-50F, 1.0F) == 1.0F);
  CHECK(fmaf(1.0F + 0x1p-23F, 1.0F - 0x1p-23F, 0x1p-24F) == 1.0F);  // 1 + 2^-24 - 2^-46: below the tie
  CHECK(fmaf(0x1p-75F, 0x1p-75F + 0x1p-98F, 0x1p-140F) ==
        0x1p-140F + 0x1p-149F);  // subnormal, just above a tie
}

TEST_CASE("the correctly rounded words") {
  CHECK(__fsub_rn(1.0F, 0x1p-25F) == 1.0F);
  CHECK(__fdiv_rn(1.0F, 3.0F) == 0x1.555556p-2F);
  CHECK(__frcp_rn(3.0F) == 0x1.555556p-2F);
  CHECK(__fsqrt_rn(2.0F) == 0x1.6a09e6p+0F);
  CHECK(__frsqrt_rn(2.0F) == 0x1.6a09e6p-1F);
  CHECK(__fdividef(1.0F, 3.0F) == 0x1.555556p-2F);
  CHECK(__expf(0.0F) == 1.0F);
  CHECK(__expf(1.0F) == 0x1.5bf0a8p+1F);
  CHECK(__expf(-kInf) == 0.0F);
}

TEST_CASE("conversions and bit casts") {
  CHECK(__float_as_int(-2.0F) == static_cast<int>(0xC0000000));
  CHECK(__float_as_uint(1.0F) == 0x3F800000U);
  CHECK(__int_as_float(0x40490FDB) == 3.14159274F);
  CHECK(__uint_as_float(0x7F800000U) == kInf);
  CHECK(__double_as_longlong(1.0) == 0x3FF0000000000000);
  CHECK(__longlong_as_double(0x4000000000000000) == 2.0);
  CHECK(__float2int_rn(2.5F) == 2);
  CHECK(__float2int_rn(3.5F) == 4);
  CHECK(__float2int_rn(-2.5F) == -2);
  CHECK(__float2int_rn(1e20F) == INT32_MAX);
  CHECK(__float2int_rn(-1e20F) == INT32_MIN);
  CHECK(__float2int_rn(kNan) == 0);
  CHECK(__int2float_rn(16777217) == 16777216.0F);
  CHECK(__uint2float_rn(4294967295U) == 4294967296.0F);
  CHECK(__saturatef(1.5F) == 1.0F);
  CHECK(__saturatef(-1.0F) == 0.0F);
  CHECK(__saturatef(0.25F) == 0.25F);
  CHECK(__saturatef(kNan) == 0.0F);
}

TEST_CASE("bit counting") {
  CHECK(__popc(0xF0F00001U) == 9);
  CHECK(__popcll(0x8000000000000001ULL) == 2);
  CHECK(__clz(1) == 31);
  CHECK(__clz(0) == 32);
  CHECK(__clz(-1) == 0);
  CHECK(__clzll(1) == 63);
  CHECK(__ffs(0) == 0);
  CHECK(__ffs(8) == 4);
  CHECK(__ffsll(1LL << 40) == 41);
}

TEST_CASE("min and max: a NaN loses against a number") {
  CHECK(min(3, -4) == -4);
  CHECK(max(3U, 4U) == 4U);
  CHECK(min(1LL << 40, 5LL) == 5);
  CHECK(max(kNan, 1.0F) == 1.0F);
  CHECK(min(2.0F, kNan) == 2.0F);
  CHECK(max(-1.0, 2.0) == 2.0);
  const int value = 7;
  CHECK(__ldg(&value) == 7);
}

TEST_CASE("vector types have CUDA's sizes and alignments") {
  STATIC_CHECK((sizeof(float2) == 8 && alignof(float2) == 8));
  STATIC_CHECK((sizeof(float3) == 12 && alignof(float3) == 4));
  STATIC_CHECK((sizeof(float4) == 16 && alignof(float4) == 16));
  STATIC_CHECK((sizeof(uint4) == 16 && alignof(uint4) == 16));
  STATIC_CHECK((sizeof(int2) == 8 && alignof(int2) == 8));
  STATIC_CHECK((sizeof(ushort4) == 8 && alignof(ushort4) == 8));
  STATIC_CHECK((sizeof(uchar4) == 4 && alignof(uchar4) == 4));
  STATIC_CHECK((sizeof(double2) == 16 && alignof(double2) == 16));
  STATIC_CHECK((sizeof(uint3) == 12 && sizeof(dim3) == 12));
  const float4 v = make_float4(1.0F, 2.0F, 3.0F, 4.0F);
  CHECK((v.x == 1.0F && v.y == 2.0F && v.z == 3.0F && v.w == 4.0F));
  const dim3 d(5, 6);
  CHECK((d.x == 5 && d.y == 6 && d.z == 1));
}

}  // namespace
}  // namespace kvr
