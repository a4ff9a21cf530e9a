// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reads members of JSON objects. Each function names the key it was after and what it found there.
// For files of this folder: nlohmann-json stays out of public headers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/numeric/dtype.h"
#include "harness/report/json.h"

namespace kvr::json_reading {

using Json = nlohmann::ordered_json;

// Throw JsonError.
Json parse(std::string_view text);
const Json& at(const Json& object, const char* key);
std::string text_at(const Json& object, const char* key);
bool bool_at(const Json& object, const char* key);
std::int64_t integer_at(const Json& object, const char* key);
// "nan" is kNanDistance.
std::int64_t ulp_at(const Json& object, const char* key);
// "nan", "inf" and "-inf" are numbers.
double double_at(const Json& object, const char* key);
// A string of decimal digits or, with the prefix 0x, hexadecimal ones.
std::uint64_t u64_at(const Json& object, const char* key);
DType dtype_at(const Json& object, const char* key);
const Json& array_at(const Json& object, const char* key);

}  // namespace kvr::json_reading
