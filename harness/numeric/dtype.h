// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Names and sizes of the data types of kernels/common/types.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/common/types.h"

namespace kvr {

// "f32", "fp16", "bf16", "e4m3fn", "e4m3fnuz", "e5m2", "int8", "uint8", "int32", "int64".
std::string_view dtype_name(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);
// "f32, fp16, ...": every name, for error messages.
std::string dtype_names();
std::size_t dtype_size(DType dtype);  // bytes
bool is_floating(DType dtype);

}  // namespace kvr
