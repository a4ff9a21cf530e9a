// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kernels/common/warp.h and vec.h. The order of a sum is checked with numbers whose sum depends on it.
#include "kernels/common/warp.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/common/vec.h"
#include "run_kernel.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
using Floats = std::vector<float>;

std::uint32_t bits(float x) {
  std::uint32_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

enum class Op { sum, max_dropping, max_propagating };

template <int W>
__global__ void reduce(Op op, const float* in, float* out) {
  const float x = in[threadIdx.x];
  float result = 0.0F;
  if (op == Op::sum) result = group_sum<W>(x);
  if (op == Op::max_dropping) result = group_max_dropping_nan<W>(x);
  if (op == Op::max_propagating) result = group_max_propagating_nan<W>(x);
  out[threadIdx.x] = result;
}

template <int W>
Floats reduced(Op op, const Floats& in) {
  TestDevice device;
  Floats out(in.size(), -7.0F);
  KVR_RUN(device, reduce<W>, 1, static_cast<std::int64_t>(in.size()), 0, op, in.data(), out.data());
  return out;
}

TEST_CASE(KVR_NAME("a group sum adds its group and no other")) {
  Floats in(64);
  for (std::size_t i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
  const Floats by4 = reduced<4>(Op::sum, in);
  const Floats by16 = reduced<16>(Op::sum, in);
  const Floats by32 = reduced<32>(Op::sum, in);
  const Floats by1 = reduced<1>(Op::sum, in);
  const Floats by2 = reduced<2>(Op::sum, in);
  const Floats by8 = reduced<8>(Op::sum, in);
  for (std::size_t i = 0; i < 64; ++i) {
    const auto first = [i](std::size_t w) { return static_cast<float>(i / w * w); };
    CHECK(by1[i] == first(1));
    CHECK(by2[i] == 2 * first(2) + 1);
    CHECK(by4[i] == 4 * first(4) + 6);
    CHECK(by8[i] == 8 * first(8) + 28);
    CHECK(by16[i] == 16 * first(16) + 120);
    CHECK(by32[i] == 32 * first(32) + 496);
  }
}

TEST_CASE(KVR_NAME("the butterfly begins with the farthest lane")) {
  // (x0 + x2) + (x1 + x3): the large numbers cancel first. Neighbours first would give (2^24 + 1) + (-2^24 +
  // 1) = 2^24 - 2^24 + 1 = 1.
  const Floats in = {0x1p24F, 1.0F, -0x1p24F, 1.0F};
  for (const float v : reduced<4>(Op::sum, in)) CHECK(v == 2.0F);
}

TEST_CASE(KVR_NAME("one-hot: the sum finds the value in whatever lane it lies")) {
  for (std::size_t hot = 0; hot < 64; ++hot) {
    Floats in(64, 0.0F);
    in[hot] = 3.0F;
    const Floats out = reduced<16>(Op::sum, in);
    for (std::size_t i = 0; i < 64; ++i) {
      if (out[i] != (i / 16 == hot / 16 ? 3.0F : 0.0F)) FAIL("hot " << hot << ", lane " << i);
    }
  }
}

TEST_CASE(KVR_NAME("maxima: a NaN is dropped or propagated, zeros are ordered")) {
  const Floats in = {1.0F,  kNan, -3.0F, 2.0F,  kNan,  kNan,      kNan,  kNan,
                     -0.0F, 0.0F, -0.0F, -0.0F, -5.0F, -INFINITY, -6.0F, -7.0F};
  const Floats dropping = reduced<4>(Op::max_dropping, in);
  const Floats propagating = reduced<4>(Op::max_propagating, in);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(dropping[i] == 2.0F);
    CHECK(std::isnan(dropping[4 + i]));
    CHECK(bits(dropping[8 + i]) == 0x00000000);
    CHECK(dropping[12 + i] == -5.0F);
    CHECK(bits(propagating[i]) == 0x7fc00000);
    CHECK(bits(propagating[4 + i]) == 0x7fc00000);
    CHECK(bits(propagating[8 + i]) == 0x00000000);
    CHECK(propagating[12 + i] == -5.0F);
  }
}

TEST_CASE(KVR_NAME("all lanes of a group get the same bits, NaN payloads included")) {
  Floats in(32, 1.0F);
  for (std::size_t i = 0; i < 32; i += 3) {
    const std::uint32_t payload = 0x7fc00000 + static_cast<std::uint32_t>(i);
    std::memcpy(&in[i], &payload, sizeof payload);
  }
  const Floats out = reduced<32>(Op::sum, in);
  for (const float v : out) {
    CHECK(std::isnan(v));
    CHECK(bits(v) == bits(out[0]));
  }
}

TEST_CASE(KVR_NAME("a block that is no multiple of the warp, but of the group, is fine")) {
  const Floats out = reduced<32>(Op::sum, Floats(96, 1.0F));
  for (const float v : out) CHECK(v == 32.0F);
  const Floats small = reduced<8>(Op::sum, Floats(8, 1.0F));
  for (const float v : small) CHECK(v == 8.0F);
}

__global__ void exchange(float* out, int* picked, double* wide) {
  const int t = static_cast<int>(threadIdx.x);
  Vec<float, 8> v;
  for (int e = 0; e < 8; ++e) v[e] = static_cast<float>(t * 8 + e);
  const Vec<float, 8> other = group_shfl_xor<16>(v, 5);
  const Vec<float, 8> third = group_shfl<16>(v, 3);
  for (int e = 0; e < 8; ++e) out[t * 8 + e] = other[e] + 10000.0F * third[e];
  picked[t] = group_shfl<8>(t, 7 - t % 8);
  wide[t] = group_shfl<8>(0.5 * t, 0);
}

TEST_CASE(KVR_NAME("shuffles of vectors and numbers within a group")) {
  TestDevice device;
  Floats out(64 * 8);
  std::vector<int> picked(64);
  std::vector<double> wide(64);
  KVR_RUN(device, exchange, 1, 64, 0, out.data(), picked.data(), wide.data());
  CHECK(out[0] == 5 * 8 + 10000.0F * (3 * 8));              // lane 0: from lanes 5 and 3
  CHECK(out[7 * 8 + 2] == 2 * 8 + 2 + 10000.0F * (26));     // 7 ^ 5 = 2
  CHECK(out[30 * 8 + 1] == 27 * 8 + 1 + 10000.0F * (153));  // 30 ^ 5 = 27; 16 + 3 = 19, 19 * 8 + 1
  CHECK(picked[0] == 7);
  CHECK(picked[13] == 10);
  CHECK(wide[15] == 4.0);
}

__global__ void block_reductions(const float* in, float* out, float* greatest) {
  __shared__ float scratch[32];
  const int t = linear_thread();
  const float x = in[t];
  // One scratch for both, so that a missing barrier would show.
  const float sum = block_sum(x, scratch);
  greatest[t] = block_max_dropping_nan(x, scratch);
  out[t] = sum;
}

TEST_CASE(KVR_NAME("block reductions, at every block size and schedule")) {
  using Kind = simt::Schedule::Kind;
  for (const Kind kind : {Kind::forward, Kind::reverse, Kind::random}) {
    for (const std::int64_t threads : {32, 64, 96, 256, 1024}) {
      TestDevice device(1, {kind, 7});
      const auto n = static_cast<std::size_t>(threads);
      Floats in(n), out(n), greatest(n);
      for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<float>(i);
      in[n / 2] = 5000.0F;
      KVR_RUN(device, block_reductions, 1, threads, 0, in.data(), out.data(), greatest.data());
      const auto sum = static_cast<float>(n * (n - 1) / 2 - n / 2 + 5000);
      for (std::size_t i = 0; i < n; ++i) {
        if (out[i] != sum || greatest[i] != 5000.0F)
          FAIL(threads << " threads, thread " << i << ": " << out[i]);
      }
    }
  }
}

TEST_CASE(KVR_NAME("the order of a block sum does not depend on the warp size")) {
  TestDevice device;
  Floats in(256, 0.0F), out(256), greatest(256);
  // Groups of 32 give 2^24, 1, -2^24, 1 and zeros. Padded to 32 groups, the butterfly's offset 2 cancels the
  // large ones first: 2. The order of the threads would give 1.
  in[5] = 0x1p24F;
  in[40] = 1.0F;
  in[70] = -0x1p24F;
  in[127] = 1.0F;
  KVR_RUN(device, block_reductions, 1, dim3(8, 8, 4), 0, in.data(), out.data(), greatest.data());
  for (const float v : out) CHECK(v == 2.0F);
}

TEST_CASE(KVR_NAME("vectors are loaded and stored whole, in any access size")) {
  alignas(16) std::uint16_t in[16], out[16] = {};
  for (int i = 0; i < 16; ++i) in[i] = static_cast<std::uint16_t>(1000 + i);
  store_vec<16>(out, load_vec<16, 8>(in + 8));
  CHECK(std::memcmp(out, in + 8, 16) == 0);
  store_vec<8>(out + 4, load_vec<8, 8>(in + 4));
  CHECK(std::memcmp(out + 4, in + 4, 16) == 0);
  store_vec<2>(out + 1, load_vec<2, 8>(in + 3));
  CHECK(std::memcmp(out + 1, in + 3, 16) == 0);
  store_vec<4>(out + 2, load_vec<4, 4>(in));
  CHECK(std::memcmp(out + 2, in, 8) == 0);
  alignas(16) float f[8], g[8] = {};
  for (int i = 0; i < 8; ++i) f[i] = 0.5F * static_cast<float>(i);
  store_vec<16>(g, load_vec<16, 8>(f));
  CHECK(std::memcmp(f, g, sizeof f) == 0);
  std::uint8_t b[4] = {1, 2, 3, 4}, c[4] = {};
  store_vec<1>(c, load_vec<1, 4>(b));
  CHECK(std::memcmp(b, c, 4) == 0);
}

TEST_CASE(KVR_NAME("alignment of rows: address and stride both count")) {
  alignas(64) static char memory[128];
  CHECK(is_aligned(memory, 16));
  CHECK(is_aligned(memory + 16, 16, 48));
  CHECK_FALSE(is_aligned(memory + 8, 16));
  CHECK_FALSE(is_aligned(memory, 16, 24));
  CHECK(is_aligned(memory + 8, 8, 24));
  CHECK(is_aligned(memory + 1, 1, 3));
}

__global__ void envelope_kernel(const float* in, float* sums, float* roots) {
  const int t = static_cast<int>(threadIdx.x);
  sums[t] = group_sum<4>(in[t]);
  roots[t] = rsqrtf(static_cast<float>(t + 2));
}

TEST_CASE(KVR_NAME("the arithmetic envelope gives legal answers only, and more than one of them")) {
  // x = (2^24, 1, -2^24, 1): halves first, (2^24 - 2^24) + (1 + 1) = 2; neighbours first, 2^24 + 1 rounds to
  // 2^24 and -2^24 + 1 is exact, so the sum is 1.
  std::vector<float> in(64), sums(64), roots(64);
  for (std::size_t g = 0; g < 64; g += 4)
    in[g] = 0x1p24F, in[g + 1] = 1.0F, in[g + 2] = -0x1p24F, in[g + 3] = 1.0F;
  TestDevice device;
  KVR_RUN(device, envelope_kernel, 1, 64, 0, in.data(), sums.data(), roots.data());
  const std::vector<float> nearest = roots;
  for (const float s : sums) CHECK(s == 2.0F);
  bool other_order = false, below = false, above = false;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    device.set_envelope_seed(seed);
    KVR_RUN(device, envelope_kernel, 1, 64, 0, in.data(), sums.data(), roots.data());
    for (const float s : sums) CHECK((s == 1.0F || s == 2.0F));
    other_order = other_order || sums[0] == 1.0F;
    for (std::size_t t = 0; t < 64; ++t) {
      // Within the documented 2 ULP: at most one step from the nearest float.
      CHECK((roots[t] == nearest[t] || roots[t] == std::nextafter(nearest[t], 0.0F) ||
             roots[t] == std::nextafter(nearest[t], 2.0F)));
      below = below || roots[t] < nearest[t];
      above = above || roots[t] > nearest[t];
    }
    const std::vector<float> first = roots;
    KVR_RUN(device, envelope_kernel, 1, 64, 0, in.data(), sums.data(), roots.data());
    CHECK(roots == first);  // a seed is one machine, not noise
  }
  CHECK(other_order);
  CHECK(below);
  CHECK(above);
  device.set_envelope_seed(0);
  KVR_RUN(device, envelope_kernel, 1, 64, 0, in.data(), sums.data(), roots.data());
  CHECK(roots == nearest);
}

__global__ void special_values_kernel(float* out) {
  out[0] = rsqrtf(INFINITY);
  out[1] = rsqrtf(0.0F);
  out[2] = rsqrtf(-1.0F);
  out[3] = __expf(-INFINITY);
  out[4] = __expf(INFINITY);
  out[5] = __fdividef(0.0F, 3.0F);
  out[6] = __fdividef(3.0F, 0.0F);
}

TEST_CASE(KVR_NAME("the arithmetic envelope leaves zeros, infinities and NaN alone")) {
  std::vector<float> out(7);
  TestDevice device;
  for (std::uint64_t seed = 0; seed <= 32; ++seed) {
    device.set_envelope_seed(seed);
    KVR_RUN(device, special_values_kernel, 1, 1, 0, out.data());
    CAPTURE(seed);
    CHECK(out[0] == 0.0F);
    CHECK(out[1] == INFINITY);
    CHECK(std::isnan(out[2]));
    CHECK(out[3] == 0.0F);
    CHECK(out[4] == INFINITY);
    CHECK(out[5] == 0.0F);
    CHECK(out[6] == INFINITY);
  }
}

}  // namespace
}  // namespace kvr::KVR_BUILD
