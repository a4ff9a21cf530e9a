// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/ledger_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/report/json_reading.h"
#include "harness/report/results_file.h"

namespace kvr {
namespace {

using namespace json_reading;

constexpr int kSchemaVersion = 1;
constexpr std::array<const char*, 11> kKeys{"kernel",    "group",    "output", "dtype", "platform", "arch",
                                            "worst_ulp", "outliers", "bias",   "ratio", "rule"};
constexpr std::array<std::string_view, 3> kPlatforms{"cpu", "cuda", "hip"};

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string family_line(const LedgerKey& key, const LedgerEntry& entry) {
  return fmt::format(
      R"({{"kernel": {}, "group": {}, "output": {}, "dtype": "{}", "platform": {}, "arch": {}, )"
      R"("worst_ulp": {}, "outliers": {}, "bias": {}, "ratio": {}, "rule": {}}})",
      quoted(key.kernel), quoted(key.group), quoted(key.output), dtype_name(key.dtype), quoted(key.platform),
      quoted(key.arch), entry.worst_ulp, entry.outliers, entry.bias,
      std::isinf(entry.ratio) ? "\"inf\"" : fmt::format("{}", entry.ratio), quoted(entry.rule));
}

double number_from_zero(const Json& object, const char* key, double most) {
  const double value = double_at(object, key);
  if (!(value >= 0.0) || value > most)
    throw JsonError(fmt::format("'{}' is {}, not a number from 0{}", key, object[key].dump(),
                                std::isinf(most) ? "" : fmt::format(" to {}", most)));
  return value;
}

std::string name_at(const Json& object, const char* key) {
  std::string name = text_at(object, key);
  if (name.empty()) throw JsonError(fmt::format("'{}' is empty", key));
  return name;
}

std::pair<LedgerKey, LedgerEntry> read_family(const Json& json) {
  if (!json.is_object()) throw JsonError("is not an object");
  for (const auto& [key, value] : json.items())
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      throw JsonError(fmt::format("'{}' is an unknown key", key));
  LedgerKey key{name_at(json, "kernel"), name_at(json, "group"),    name_at(json, "output"),
                dtype_at(json, "dtype"), name_at(json, "platform"), name_at(json, "arch")};
  if (std::find(kPlatforms.begin(), kPlatforms.end(), key.platform) == kPlatforms.end())
    throw JsonError(fmt::format("'platform' is '{}', none of {}", key.platform, fmt::join(kPlatforms, ", ")));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  LedgerEntry entry;
  entry.worst_ulp = integer_at(json, "worst_ulp");
  if (entry.worst_ulp < 0)
    throw JsonError(fmt::format("'worst_ulp' is {}, not a number from 0", entry.worst_ulp));
  entry.outliers = number_from_zero(json, "outliers", 1.0);
  entry.bias = number_from_zero(json, "bias", std::numeric_limits<double>::max());
  entry.ratio = number_from_zero(json, "ratio", kInfinity);
  entry.rule = text_at(json, "rule");
  try {
    parse_rule(entry.rule, DType::f32);  // Rule::text() writes plain numbers: the dtype does not matter
  } catch (const std::invalid_argument& error) {
    throw JsonError(fmt::format("'rule': {}", error.what()));
  }
  return {std::move(key), std::move(entry)};
}

}  // namespace

std::string ledger_to_json(const Ledger& ledger) {
  std::string text = fmt::format("{{\n \"schema\": \"kvr-ledger\", \"schema_version\": {},\n \"families\": [",
                                 kSchemaVersion);
  const char* separator = "\n  ";
  for (const auto& [key, entry] : ledger) {
    text += separator + family_line(key, entry);
    separator = ",\n  ";
  }
  return text + "\n ]\n}\n";
}

Ledger ledger_from_json(std::string_view text) {
  const Json json = parse(text);
  if (text_at(json, "schema") != "kvr-ledger")
    throw JsonError(fmt::format("'schema' is '{}', not 'kvr-ledger'", text_at(json, "schema")));
  if (integer_at(json, "schema_version") != kSchemaVersion)
    throw JsonError(fmt::format("'schema_version' is {}, this kvr reads {}",
                                integer_at(json, "schema_version"), kSchemaVersion));
  Ledger ledger;
  std::size_t number = 0;
  for (const Json& each : array_at(json, "families")) {
    ++number;
    try {
      auto [key, entry] = read_family(each);
      if (!ledger.emplace(key, std::move(entry)).second)
        throw JsonError(fmt::format("{}/{} '{}' {} on {} {} is there twice", key.kernel, key.group,
                                    key.output, dtype_name(key.dtype), key.platform, key.arch));
    } catch (const JsonError& error) {
      throw JsonError(fmt::format("family {}: {}", number, error.what()));
    }
  }
  return ledger;
}

Ledger read_ledger(const std::filesystem::path& file) {
  const std::string text = read_text(file);
  try {
    return ledger_from_json(text);
  } catch (const JsonError& error) {
    throw JsonError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace kvr
