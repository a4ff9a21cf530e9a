// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The table of data types behind dtype.h: one row per DType, in the order of the enumeration.
#include "harness/numeric/dtype.h"

#include <array>

namespace kvr {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
  bool floating;
};

constexpr std::array kRows{
    Row{DType::f32, "f32", 4, true},           Row{DType::fp16, "fp16", 2, true},
    Row{DType::bf16, "bf16", 2, true},         Row{DType::e4m3fn, "e4m3fn", 1, true},
    Row{DType::e4m3fnuz, "e4m3fnuz", 1, true}, Row{DType::e5m2, "e5m2", 1, true},
    Row{DType::int8, "int8", 1, false},        Row{DType::uint8, "uint8", 1, false},
    Row{DType::int32, "int32", 4, false},      Row{DType::int64, "int64", 8, false},
};

constexpr bool rows_follow_the_enumeration() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(rows_follow_the_enumeration());

const Row& row(DType dtype) {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  return row(dtype).name;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) return candidate.dtype;
  }
  return std::nullopt;
}

std::string dtype_names() {
  std::string names;
  for (const Row& each : kRows) {
    if (!names.empty()) names += ", ";
    names += each.name;
  }
  return names;
}

std::size_t dtype_size(DType dtype) {
  return row(dtype).size;
}

bool is_floating(DType dtype) {
  return row(dtype).floating;
}

}  // namespace kvr
