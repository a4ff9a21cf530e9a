// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "harness/suite/registry.h"

namespace kvr {
namespace {

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool term_matches(std::string_view term, const CaseId& id) {
  if (term.find_first_of("*?") != std::string_view::npos) return glob_matches(term, id.name);
  const std::string_view name = id.name;
  if (name.starts_with(term) && (name.size() == term.size() || name[term.size()] == '/')) return true;
  for (const auto& [key, value] : id.params.entries())
    if (term.size() == key.size() + 1 + value.size() && term.starts_with(key) && term[key.size()] == '=' &&
        term.ends_with(value))
      return true;
  return false;
}

std::uint64_t parse_seed(std::string_view text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw std::invalid_argument(fmt::format("seed '{}' is not a number from 0 to 2^64-1", text));
  return seed;
}

}  // namespace

Filter Filter::parse(std::string_view text) {
  Filter filter;
  filter.text = std::string(text);
  constexpr std::string_view kSeed = "seed=";
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    std::string_view term = text.substr(0, space);
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    const std::size_t slash = term.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? term : term.substr(slash + 1);
    if (last.starts_with(kSeed)) {
      filter.seed = parse_seed(last.substr(kSeed.size()));
      term = slash == std::string_view::npos ? std::string_view() : term.substr(0, slash);
    }
    while (term.ends_with('/')) term.remove_suffix(1);
    if (!term.empty()) filter.terms.emplace_back(term);
  }
  return filter;
}

bool Filter::matches(const CaseId& id) const {
  for (const std::string& term : terms)
    if (!term_matches(term, id)) return false;
  return true;
}

}  // namespace kvr
