// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/simt/device.h"

namespace kvr::simt {
namespace {

using Kind = Schedule::Kind;
constexpr std::array<std::pair<Kind, std::string_view>, 6> kNames{{{Kind::forward, "forward"},
                                                                   {Kind::reverse, "reverse"},
                                                                   {Kind::round_robin, "round_robin"},
                                                                   {Kind::ahead, "ahead"},
                                                                   {Kind::last, "last"},
                                                                   {Kind::random, "random"}}};

}  // namespace

std::string_view Schedule::name() const {
  return kNames[static_cast<std::size_t>(kind)].second;
}

std::vector<std::string> Schedule::names() {
  std::vector<std::string> names;
  for (const auto& [kind, text] : kNames) names.emplace_back(text);
  return names;
}

Schedule Schedule::parse(std::string_view name, std::uint64_t seed) {
  std::string known;
  for (const auto& [kind, text] : kNames) {
    if (name == text) return {kind, seed};
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  throw std::invalid_argument("unknown schedule '" + std::string(name) + "'; known: " + known);
}

}  // namespace kvr::simt
