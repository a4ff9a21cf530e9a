// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reading and writing rules. What text() writes, parse_rule() reads back to an equal rule.
#include "harness/judge/rule.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "harness/numeric/codec.h"

namespace kvr {
namespace {

// A plain decimal number, whole text. strtod would also take "0x1p-7", "inf", "nan" and leading blanks.
std::optional<double> parse_decimal(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<int> parse_exponent(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double one_ulp(DType dtype) {
  return is_floating(dtype) ? std::ldexp(1.0, -float_format(dtype).mantissa_bits) : 1.0;
}

struct Item {
  std::string key, value;
};

// Splits "a=1 b='x y'" at blanks outside quotes.
std::vector<Item> split_items(std::string_view text) {
  std::vector<Item> items;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == ' ' || text[at] == '\t') {
      ++at;
      continue;
    }
    Item item;
    while (at < text.size() && text[at] != ' ' && text[at] != '\t' && text[at] != '=') item.key += text[at++];
    if (at < text.size() && text[at] == '=') {
      ++at;
      if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
        const char quote = text[at++];
        const std::size_t close = text.find(quote, at);
        if (close == std::string_view::npos) {
          throw std::invalid_argument(fmt::format("{}: missing closing {}", item.key, quote));
        }
        item.value = text.substr(at, close - at);
        at = close + 1;
        if (at < text.size() && text[at] != ' ' && text[at] != '\t') {
          throw std::invalid_argument(fmt::format("{}: a blank is missing after {}", item.key, quote));
        }
      } else {
        while (at < text.size() && text[at] != ' ' && text[at] != '\t') item.value += text[at++];
      }
      if (item.value.empty()) throw std::invalid_argument(fmt::format("{} has no value", item.key));
    } else if (item.key != "exact") {
      throw std::invalid_argument(fmt::format("'{}' is not key=value", item.key));
    }
    items.push_back(std::move(item));
  }
  return items;
}

double parse_limit(const Item& item, DType dtype) {
  try {
    return parse_number(item.value, dtype);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("{}: {}", item.key, error.what()));
  }
}

std::int64_t parse_codes(const Item& item) {
  std::int64_t value = 0;
  const char* last = item.value.data() + item.value.size();
  const auto [end, error] = std::from_chars(item.value.data(), last, value);
  if (error != std::errc() || end != last || value < 0) {
    throw std::invalid_argument(fmt::format("{}: '{}' is not a whole number >= 0", item.key, item.value));
  }
  return value;
}

// 2^-7 where that is what the number is, the shortest decimal that reads back equal otherwise.
std::string number_text(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  // From 2^-4 up the decimal (0.125, 0.5, 4) is as short and better known.
  if (mantissa == 0.5 && exponent - 1 <= -4) return fmt::format("2^{}", exponent - 1);
  return fmt::format("{}", value);
}

}  // namespace

bool Rule::has_elementwise() const {
  return exact || atol || rtol || max_ulp || tie_window || budget;
}

bool Rule::empty() const {
  return !has_elementwise() && !bias && !row_l2 && !outliers;
}

std::string Rule::text() const {
  std::string line;
  const auto add = [&line](std::string_view key, const std::string& value) {
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", key, value);
  };
  if (exact) line = "exact";
  if (atol) add("atol", number_text(*atol));
  if (rtol) add("rtol", number_text(*rtol));
  if (max_ulp) add("max_ulp", fmt::format("{}", *max_ulp));
  if (tie_window) add("tie_window", number_text(*tie_window));
  if (budget) add("budget", number_text(*budget));
  if (bias) add("bias", number_text(*bias));
  if (row_l2) add("row_l2", number_text(*row_l2));
  if (outliers) {
    add("outliers.count", fmt::format("'{}'", outliers->count));
    if (outliers->max_ulp) add("outliers.max_ulp", fmt::format("{}", *outliers->max_ulp));
    if (outliers->max_magnitude) add("outliers.max_magnitude", number_text(*outliers->max_magnitude));
    if (outliers->anywhere) add("outliers.anywhere", "true");
  }
  return line;
}

double parse_number(std::string_view text, DType dtype) {
  std::optional<double> value;
  if (text.starts_with("2^")) {
    const auto exponent = parse_exponent(text.substr(2));
    // The range of double; beyond it the number would silently become 0 or infinity.
    if (exponent && *exponent >= -1074 && *exponent <= 1023) value = std::ldexp(1.0, *exponent);
  } else if (text.ends_with("ulp")) {
    value = parse_decimal(text.substr(0, text.size() - 3));
    if (value) *value *= one_ulp(dtype);
  } else {
    value = parse_decimal(text);
  }
  if (!value) {
    throw std::invalid_argument(fmt::format("'{}' is not a number (0.06, 1e-3, 2^-7, 2ulp)", text));
  }
  if (std::signbit(*value)) throw std::invalid_argument(fmt::format("'{}' is negative", text));
  return *value;
}

Rule parse_rule(std::string_view text, DType dtype) {
  Rule rule;
  std::optional<std::string> count;
  std::optional<std::int64_t> outlier_ulp;
  std::optional<double> outlier_magnitude;
  bool anywhere = false;
  std::set<std::string> seen;
  for (const Item& item : split_items(text)) {
    if (!seen.insert(item.key).second)
      throw std::invalid_argument(fmt::format("{} is given twice", item.key));
    if (item.key == "exact") {
      if (!item.value.empty() && item.value != "true") {
        throw std::invalid_argument(
            fmt::format("exact: '{}' (leave the key out, or write exact)", item.value));
      }
      rule.exact = true;
    } else if (item.key == "atol") {
      rule.atol = parse_limit(item, dtype);
    } else if (item.key == "rtol") {
      rule.rtol = parse_limit(item, dtype);
    } else if (item.key == "max_ulp") {
      rule.max_ulp = parse_codes(item);
    } else if (item.key == "tie_window") {
      rule.tie_window = parse_limit(item, dtype);
    } else if (item.key == "budget") {
      rule.budget = parse_limit(item, dtype);
    } else if (item.key == "bias") {
      rule.bias = parse_limit(item, dtype);
    } else if (item.key == "row_l2") {
      rule.row_l2 = parse_limit(item, dtype);
    } else if (item.key == "outliers.count") {
      check_count(item.value);
      count = item.value;
    } else if (item.key == "outliers.max_ulp") {
      outlier_ulp = parse_codes(item);
    } else if (item.key == "outliers.max_magnitude") {
      outlier_magnitude = parse_limit(item, dtype);
    } else if (item.key == "outliers.anywhere") {
      if (item.value != "true")
        throw std::invalid_argument(
            fmt::format("outliers.anywhere: '{}' (leave the key out, or write true)", item.value));
      anywhere = true;
    } else {
      throw std::invalid_argument(fmt::format(
          "unknown key '{}' (known: exact, atol, rtol, max_ulp, tie_window, budget, bias, row_l2, "
          "outliers.count, outliers.max_ulp, outliers.max_magnitude, outliers.anywhere)",
          item.key));
    }
  }
  if (count && !outlier_ulp && !outlier_magnitude)
    throw std::invalid_argument("outliers.count without outliers.max_ulp or outliers.max_magnitude");
  if (!count && outlier_ulp) throw std::invalid_argument("outliers.max_ulp without outliers.count");
  if (!count && outlier_magnitude)
    throw std::invalid_argument("outliers.max_magnitude without outliers.count");
  if (!count && anywhere) throw std::invalid_argument("outliers.anywhere without outliers.count");
  if (count) rule.outliers = Outliers{*count, outlier_ulp, outlier_magnitude, anywhere};
  if (rule.empty()) throw std::invalid_argument(fmt::format("'{}' holds no key", text));
  if (rule.outliers && !rule.has_elementwise()) {
    throw std::invalid_argument("outliers without a key that elements could miss");
  }
  return rule;
}

}  // namespace kvr
