// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Addresses of tensors, worked by hand.
#include "harness/tensor/tensor.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <stdexcept>

namespace kvr {
namespace {

using Shape = std::vector<std::int64_t>;
using Ranges = std::vector<ByteRange>;

TEST_CASE("a contiguous tensor") {
  const TensorSpec t = TensorSpec::contiguous("t", DType::bf16, {2, 3, 4});
  CHECK(t.strides == Shape{12, 4, 1});
  CHECK(t.numel() == 24);
  CHECK(t.rows() == 6);
  CHECK(t.row_len() == 4);
  CHECK(t.row_start(0) == 0);
  CHECK(t.row_start(4) == 16);  // (1, 1): 12 + 4
  CHECK(t.bytes() == 48);
  CHECK(t.addressed() == Ranges{{0, 48}});
  CHECK(t.addressed({1, 4}) == Ranges{{8, 16}, {32, 40}});
  CHECK(t.addressed({5, 4}) == Ranges{{32, 48}});  // neighbours merge, in whatever order they are named
  CHECK_FALSE(t.overlaps());
}

TEST_CASE("a scalar and a vector") {
  const TensorSpec scalar = TensorSpec::contiguous("s", DType::f32, {});
  CHECK(scalar.numel() == 1);
  CHECK(scalar.rows() == 1);
  CHECK(scalar.row_len() == 1);
  CHECK(scalar.row_start(0) == 0);
  CHECK(scalar.addressed() == Ranges{{0, 4}});
  const TensorSpec vector = TensorSpec::contiguous("v", DType::int64, {5}).with_offset(2);
  CHECK(vector.rows() == 1);
  CHECK(vector.row_start(0) == 2);
  CHECK(vector.bytes() == 56);
  CHECK(vector.addressed() == Ranges{{16, 56}});
}

TEST_CASE("padded rows: outer dimensions are packed over them") {
  const TensorSpec t = TensorSpec::contiguous("t", DType::f32, {2, 3, 4}).with_row_stride(10);
  CHECK(t.strides == Shape{30, 10, 1});
  CHECK(t.row_start(5) == 50);
  CHECK(t.bytes() == 4 * 54);
  CHECK(t.addressed({0, 3}) == Ranges{{0, 16}, {120, 136}});
  CHECK(t.addressed().size() == 6);
  CHECK_FALSE(t.overlaps());
  CHECK_THROWS_WITH(TensorSpec::contiguous("v", DType::f32, {4}).with_row_stride(8),
                    "tensor 'v' has rank 1: a row stride of 8 needs rank 2");
}

TEST_CASE("a transposed view: every element is a range of its own") {
  const TensorSpec t = TensorSpec::contiguous("t", DType::e4m3fn, {2, 3}).with_strides({1, 4}).with_offset(1);
  CHECK(t.inner_stride() == 4);
  CHECK(t.bytes() == 11);  // 1 + 1 + 2 * 4 + 1
  CHECK(t.addressed({0}) == Ranges{{1, 2}, {5, 6}, {9, 10}});
  CHECK(t.addressed() == Ranges{{1, 3}, {5, 7}, {9, 11}});
}

TEST_CASE("rows 2^30 + 64 elements apart are addressed in 64 bits") {
  const TensorSpec t =
      TensorSpec::contiguous("t", DType::bf16, {3, 128}).with_row_stride((INT64_C(1) << 30) + 64);
  CHECK(t.row_start(2) == 2147483776);
  CHECK(t.bytes() == 2 * (2147483776 + 128));
  CHECK(t.addressed({2}) == Ranges{{4294967552, 4294967808}});
}

TEST_CASE("an empty tensor addresses nothing") {
  const TensorSpec t = TensorSpec::contiguous("t", DType::f32, {0, 128});
  CHECK(t.numel() == 0);
  CHECK(t.rows() == 0);
  CHECK(t.bytes() == 0);
  CHECK(t.addressed().empty());
  CHECK_FALSE(t.overlaps());
  CHECK_NOTHROW(t.validate());
  CHECK(TensorSpec::contiguous("t", DType::f32, {4, 0}).rows() == 0);
}

TEST_CASE("which strides let two elements share an address") {
  const auto overlaps = [](Shape shape, Shape strides) {
    return TensorSpec::contiguous("t", DType::f32, std::move(shape))
        .with_strides(std::move(strides))
        .overlaps();
  };
  CHECK(overlaps({2, 3}, {0, 1}));  // one row twice
  CHECK(overlaps({2, 3}, {2, 1}));  // (0, 2) and (1, 0)
  CHECK_FALSE(overlaps({2, 3}, {3, 1}));
  CHECK_FALSE(overlaps({1, 3}, {0, 1}));  // an extent of 1 never steps
  CHECK_FALSE(overlaps({2, 2}, {3, 2}));  // 0 2 3 5
  CHECK(overlaps({3, 4}, {3, 2}));        // (2, 0) and (0, 3): 6
  CHECK_FALSE(overlaps({4, 8}, {1, 4}));  // transposed
  CHECK(overlaps({100, 100}, {1, 1}));
}

TEST_CASE("what a tensor must not be") {
  const auto check = [](Shape shape, Shape strides, std::int64_t offset = 0) {
    TensorSpec::contiguous("k", DType::f32, std::move(shape))
        .with_strides(std::move(strides))
        .with_offset(offset)
        .validate();
  };
  CHECK_NOTHROW(check({2, 3}, {3, 1}));
  CHECK_THROWS_WITH(check({2, 3}, {1}), "tensor 'k' has 2 extents and 1 strides");
  CHECK_THROWS_WITH(check({2, -3}, {3, 1}), "tensor 'k': extent -3 of dimension 1 is negative");
  CHECK_THROWS_WITH(check({2, 3}, {-3, 1}), "tensor 'k': stride -3 of dimension 0 is negative");
  CHECK_THROWS_WITH(check({2, 3}, {3, 1}, -1), "tensor 'k': offset -1 is negative");
  CHECK_THROWS_WITH(check({3, 1}, {INT64_C(1) << 61, 1}),
                    "tensor 'k' of shape (3, 1) and strides (2305843009213693952, 1) exceeds 2^63 bytes");
  CHECK_THROWS_AS(check({INT64_C(1) << 32, INT64_C(1) << 32}, {0, 0}), std::invalid_argument);
}

TEST_CASE("a row that the tensor does not have") {
  const TensorSpec t = TensorSpec::contiguous("t", DType::f32, {3, 4});
  CHECK_THROWS_WITH(t.addressed({3}), "tensor 't' has 3 rows, not a row 3");
  CHECK_THROWS_WITH(t.addressed({-1}), "tensor 't' has 3 rows, not a row -1");
}

}  // namespace
}  // namespace kvr
