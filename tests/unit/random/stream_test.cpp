// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Streams: published vectors, independence of order and chunking, and golden hashes that every compiler,
// optimisation level and platform must reproduce.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "harness/random/fill.h"
#include "harness/random/philox.h"
#include "harness/random/random.h"

namespace kvr {
namespace {

TEST_CASE("Philox4x32-10 gives the known answers of Random123's kat_vectors", "[philox]") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox(0, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox(~0ULL, ~0ULL, ~0ULL) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox(0x85a308d3243f6a88, 0x0370734413198a2e, 0x299f31d0a4093822) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("hash_text is 64-bit FNV-1a", "[stream]") {  // vectors of the FNV page
  CHECK(hash_text("") == 0xcbf29ce484222325);
  CHECK(hash_text("a") == 0xaf63dc4c8601ec8c);
  CHECK(hash_text("foobar") == 0x85944171f73967e8);
  CHECK(hash_text("bar", hash_text("foo")) == hash_text("foobar"));
}

TEST_CASE("a stream is Philox keyed by the seed, counted by index and by the hash of case and tensor",
          "[stream]") {
  const RandomStream stream(Seed{0x123456789ABCDEF0}, "k_norm_rope/n=37", "k");
  const std::uint64_t name = hash_text(std::string_view("k_norm_rope/n=37\0k", 18));
  for (const std::uint64_t index :
       {0ULL, 1ULL, 2ULL, 3ULL, 4ULL, 40961ULL, (1ULL << 32) * 4 + 2, 1ULL << 63}) {
    CHECK(stream.bits(index) == philox(index / 4, name, 0x123456789ABCDEF0)[index % 4]);
  }
}

TEST_CASE("seed, case and tensor each select another stream", "[stream]") {
  const auto prefix = [](const RandomStream& stream) {
    std::vector<std::uint32_t> words(16);
    stream.bits(0, words.data(), words.size());
    return words;
  };
  std::vector<std::vector<std::uint32_t>> all = {
      prefix({Seed{0}, "case", "x"}), prefix({Seed{1}, "case", "x"}), prefix({Seed{1ULL << 32}, "case", "x"}),
      prefix({Seed{0}, "cas", "ex"}), prefix({Seed{0}, "case", "y"}), prefix({Seed{0}, "casex", ""})};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(all[i] != all[j]);
  }
  CHECK(prefix({Seed{0}, "case", "x"}) == all[0]);
}

TEST_CASE("bulk and single draws agree for every start and length", "[stream]") {
  const RandomStream stream(Seed{7}, "case", "x");
  std::vector<std::uint32_t> words(600);
  std::vector<float> normals(600);
  bool equal = true;
  for (std::uint64_t first = 0; first < 9; ++first) {
    for (const std::size_t count : {0, 1, 2, 3, 4, 5, 7, 8, 255, 256, 257, 600}) {
      const std::uint64_t start =
          first + (first % 2 == 0 ? 0 : (1ULL << 34) - 100);  // across a carry of the low counter word
      stream.bits(start, words.data(), count);
      stream.normal(start, normals.data(), count);
      for (std::size_t i = 0; i < count; ++i) {
        equal = equal && words[i] == stream.bits(start + i);
        equal = equal && static_cast<double>(normals[i]) == stream.normal(start + i);
        equal = equal && stream.uniform(start + i) == (static_cast<double>(words[i]) + 0.5) / 4294967296.0;
      }
    }
  }
  CHECK(equal);
}

std::uint64_t hash_of(const std::vector<std::byte>& bytes) {
  return hash_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

TEST_CASE("rows do not depend on order, neighbours or chunking", "[stream][fill]") {
  // Bug report A3 (vllm#53775): 2048 x 1027 inputs that depended on the device they were drawn on. 40,961
  // elements was where two devices parted.
  const RandomStream stream(Seed{0}, "rms_norm/n=64/d=1027/bf16", "x");
  constexpr std::int64_t kRows = 64;
  constexpr std::int64_t kLen = 1027;
  for (const DType dtype : {DType::f32, DType::bf16, DType::fp16}) {
    const std::size_t row_bytes = kLen * dtype_size(dtype);
    std::vector<std::byte> forward(kRows * row_bytes), backward(kRows * row_bytes);
    for (std::int64_t r = 0; r < kRows; ++r) {
      fill_row(Fill{}, stream, dtype, r, kLen, forward.data() + static_cast<std::size_t>(r) * row_bytes);
      const std::int64_t b = kRows - 1 - r;
      fill_row(Fill{}, stream, dtype, b, kLen, backward.data() + static_cast<std::size_t>(b) * row_bytes);
    }
    CHECK(forward == backward);
    // The same elements as one long row.
    std::vector<std::byte> whole(kRows * row_bytes);
    fill_row(Fill{}, stream, dtype, 0, kRows * kLen, whole.data());
    CHECK(whole == forward);
  }
}

struct Golden {
  Fill::Kind kind;
  DType dtype;
  std::uint64_t hash;
};

TEST_CASE("golden hashes: the same bits on every compiler, optimisation level and platform",
          "[stream][fill][golden]") {
  const RandomStream stream(Seed{20240229}, "golden", "x");
  const Golden goldens[] = {
#include "tests/unit/random/golden.inc"
  };
  for (const Golden& golden : goldens) {
    Fill fill = Fill::of(golden.kind);
    fill.low = -100;
    fill.high = 100;
    std::vector<std::byte> bytes;
    for (std::int64_t row = 0; row < 40; ++row) {
      std::vector<std::byte> out(256 * dtype_size(golden.dtype));
      fill_row(fill, stream, golden.dtype, row * 1001, 256, out.data());
      bytes.insert(bytes.end(), out.begin(), out.end());
    }
    INFO(fill_name(golden.kind) << " " << dtype_name(golden.dtype));
    CHECK(hash_of(bytes) == golden.hash);
  }
}

}  // namespace
}  // namespace kvr
