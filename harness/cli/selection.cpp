// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "harness/cli/exit_code.h"
#include "harness/cli/nearest.h"

namespace kvr {
namespace {

Filter parse_filter(const std::string& text) {
  try {
    return Filter::parse(text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("filter '{}': {}", text, error.what()));
  }
}

std::vector<Filter> parse_words(const std::vector<std::string>& words) {
  std::vector<std::string> texts(1);
  for (const std::string& word : words) {
    if (word == "or") {
      texts.emplace_back();
    } else {
      texts.back() += (texts.back().empty() ? "" : " ") + word;
    }
  }
  std::vector<Filter> filters;
  for (const std::string& text : texts) {
    if (text.empty() && !words.empty()) throw UsageError("'or' stands between two filters");
    filters.push_back(parse_filter(text));
  }
  return filters;
}

bool matches_any(const Filter& filter) {
  return std::any_of(all_cases().begin(), all_cases().end(),
                     [&](const CaseId& id) { return filter.matches(id); });
}

// Every text that would have been a good term: prefixes of names and their parameters.
std::set<std::string> known_terms() {
  std::set<std::string> terms;
  for (const CaseId& id : all_cases()) {
    for (std::size_t slash = id.name.find('/'); slash != std::string::npos;
         slash = id.name.find('/', slash + 1))
      terms.insert(id.name.substr(0, slash));
    terms.insert(id.name);
    for (const auto& [key, value] : id.params.entries()) terms.insert(fmt::format("{}={}", key, value));
  }
  return terms;
}

[[noreturn]] void fail_unknown(const Filter& filter) {
  for (const std::string& term : filter.terms) {
    Filter alone;
    alone.terms = {term};
    if (matches_any(alone)) continue;
    const auto near = nearest_names(term, known_terms());
    throw UsageError(fmt::format("no case matches '{}'{}", term,
                                 near.empty() ? "; 'kvr list' prints every name"
                                              : fmt::format("; did you mean {}?", fmt::join(near, ", "))));
  }
  throw UsageError(fmt::format("no case matches all of '{}'", fmt::join(filter.terms, "' and '")));
}

}  // namespace

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names) {
  const auto near = nearest_names(wanted, std::set<std::string>(names.begin(), names.end()));
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, ", "));
}

std::vector<SelectedCase> select_cases(const std::vector<std::string>& words, Tier tier,
                                       std::optional<std::uint64_t> seed) {
  if (all_cases().empty()) throw NothingSelected("this program was built without cases");
  const std::vector<Filter> filters = parse_words(words);
  for (const Filter& filter : filters) {
    if (!matches_any(filter)) fail_unknown(filter);
    if (seed && filter.seed && *seed != *filter.seed)
      throw UsageError(fmt::format("--seed {} and '{}' ask for different seeds", *seed, filter.text));
  }

  std::vector<SelectedCase> selected;
  std::size_t in_other_tiers = 0;
  Tier lowest = Tier::soak;
  for (const CaseId& id : all_cases()) {
    std::set<std::uint64_t> seeds;  // several filters may mean the same case, with the same seed or another
    for (const Filter& filter : filters)
      if (filter.matches(id)) seeds.insert(filter.seed.value_or(seed.value_or(0)));
    if (!seeds.empty() && id.tier > tier) {
      ++in_other_tiers;
      lowest = std::min(lowest, id.tier);
      continue;
    }
    for (const std::uint64_t one : seeds) selected.push_back({&id, one});
  }
  if (selected.empty())
    throw NothingSelected(
        fmt::format("nothing selected: {} case{} match, none in tier {} (--tier {} has some)", in_other_tiers,
                    in_other_tiers == 1 ? "" : "s", tier_name(tier), tier_name(lowest)));
  return selected;
}

Tier tier_option(const std::string& text) {
  if (const auto tier = parse_tier(text)) return *tier;
  throw UsageError(fmt::format("--tier '{}' is none of quick, full, soak", text));
}

std::optional<std::uint64_t> seed_option(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  std::uint64_t seed = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, seed);
  if (error != std::errc() || stop != end)
    throw UsageError(
        fmt::format("--seed '{}' is not a number from 0 to 18446744073709551615 (2^64-1)", *text));
  return seed;
}

}  // namespace kvr
