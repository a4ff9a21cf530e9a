// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The little arithmetic of `outliers.count`: sums and products of decimal numbers and names. Values are
// doubles; every count that matters is far below 2^53.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "harness/judge/rule.h"

namespace kvr {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// expression = term {("+" | "-") term};  term = factor {("*" | "/") factor};  factor = number | name | "("
// expression ")"
class Parser {
 public:
  using Lookup = std::function<double(std::string_view)>;
  Parser(std::string_view text, Lookup lookup) : text_(text), lookup_(std::move(lookup)) {}

  double parse() {
    const double value = expression();
    if (!at_end()) fail(fmt::format("unexpected '{}'", text_[at_]));
    return value;
  }

 private:
  // Expressions are written by hand; a hundred nested parentheses is an accident or an attack on the stack.
  static constexpr int kMaxDepth = 100;

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument(fmt::format("count '{}': {} at position {}", text_, what, at_ + 1));
  }
  bool at_end() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ == text_.size();
  }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  double expression() {
    if (++depth_ > kMaxDepth) fail("parentheses nested too deeply");
    double value = term();
    for (;;) {
      if (take('+')) {
        value += term();
      } else if (take('-')) {
        value -= term();
      } else {
        --depth_;
        return value;
      }
    }
  }

  double term() {
    double value = factor();
    for (;;) {
      if (take('*')) {
        value *= factor();
      } else if (take('/')) {
        value /= factor();
      } else {
        return value;
      }
    }
  }

  double factor() {
    if (take('(')) {
      const double value = expression();
      if (!take(')')) fail("missing ')'");
      return value;
    }
    if (at_end()) fail("a number or a name is missing");
    const std::size_t begin = at_;
    if (is_letter(text_[at_])) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
      return lookup_(text_.substr(begin, at_ - begin));
    }
    while (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) ++at_;
    if (at_ == begin) fail(fmt::format("unexpected '{}'", text_[at_]));
    const std::string digits(text_.substr(begin, at_ - begin));
    char* end = nullptr;
    const double value = std::strtod(digits.c_str(), &end);
    if (*end != '\0') fail(fmt::format("'{}' is not a number", digits));
    return value;
  }

  std::string_view text_;
  Lookup lookup_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::int64_t evaluate_count(std::string_view expression, const std::map<std::string, double>& names) {
  const auto lookup = [&](std::string_view name) {
    const auto found = names.find(std::string(name));
    if (found != names.end()) return found->second;
    std::string known;
    for (const auto& [key, value] : names) known += (known.empty() ? "" : ", ") + key;
    throw std::invalid_argument(
        fmt::format("count '{}': unknown name '{}' (known: {})", expression, name, known));
  };
  const double value = Parser(expression, lookup).parse();
  // 2^62: leaves room to add one.
  if (!(value < 0x1p62)) {
    throw std::invalid_argument(fmt::format("count '{}' comes to {}", expression, value));
  }
  return value <= 0.0 ? 0 : static_cast<std::int64_t>(std::floor(value));
}

void check_count(std::string_view expression) {
  Parser(expression, [](std::string_view) { return 1.0; }).parse();
}

}  // namespace kvr
