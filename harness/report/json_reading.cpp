// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/json_reading.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "harness/numeric/codec.h"

namespace kvr::json_reading {
namespace {

std::string shown(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw JsonError(fmt::format("not JSON, near byte {}", error.byte));
  }
}

const Json& at(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) throw JsonError(fmt::format("'{}' is missing", key));
  return object[key];
}

std::string text_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (!value.is_string()) throw JsonError(fmt::format("'{}' is {}, not a string", key, shown(value)));
  return value.get<std::string>();
}

bool bool_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (!value.is_boolean()) throw JsonError(fmt::format("'{}' is {}, not true or false", key, shown(value)));
  return value.get<bool>();
}

std::int64_t integer_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (!value.is_number_integer())
    throw JsonError(fmt::format("'{}' is {}, not an integer", key, shown(value)));
  return value.get<std::int64_t>();
}

std::int64_t ulp_at(const Json& object, const char* key) {
  return at(object, key) == "nan" ? kNanDistance : integer_at(object, key);
}

double double_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (!value.is_number()) throw JsonError(fmt::format("'{}' is {}, not a number", key, shown(value)));
  return value.get<double>();
}

std::uint64_t u64_at(const Json& object, const char* key) {
  const std::string text = text_at(object, key);
  const bool hex = text.starts_with("0x");
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (error != std::errc() || stop != end)
    throw JsonError(fmt::format("'{}' is '{}', not a 64-bit number", key, text));
  return value;
}

DType dtype_at(const Json& object, const char* key) {
  const std::string text = text_at(object, key);
  const auto dtype = parse_dtype(text);
  if (!dtype) throw JsonError(fmt::format("'{}' is '{}'; known dtypes: {}", key, text, dtype_names()));
  return *dtype;
}

const Json& array_at(const Json& object, const char* key) {
  const Json& value = at(object, key);
  if (!value.is_array()) throw JsonError(fmt::format("'{}' is not a list", key));
  return value;
}

}  // namespace kvr::json_reading
