// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Counts outliers per line of five kinds and compares with a binomial tail.
#include "harness/judge/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "harness/judge/element.h"

namespace kvr {
namespace {

constexpr double kChance = 1e-6;         // that evenly scattered outliers are refused by one kind of line
constexpr std::int64_t kTile = 8;        // elements: what a lane of a 16-byte vector kernel owns of bf16
constexpr std::int64_t kAlwaysFine = 2;  // a rotated pair

}  // namespace

std::int64_t scatter_limit(std::int64_t outliers, std::int64_t numel, std::int64_t length,
                           std::int64_t lines) {
  if (outliers <= kAlwaysFine || length >= numel) return std::max(outliers, kAlwaysFine);
  const double p = static_cast<double>(length) / static_cast<double>(numel);
  // From the top: P(X > k) grows as k falls, and is summed smallest terms first. P(X = k) by its logarithm,
  // since p^n may be too small for a double: P(X = k - 1) = P(X = k) * k/(n - k + 1) * (1 - p)/p.
  const auto n = static_cast<double>(outliers);
  double log_term = n * std::log(p);
  double tail = 0.0;
  std::int64_t k = outliers;
  while (k > kAlwaysFine) {
    tail += std::exp(log_term);
    if (static_cast<double>(lines) * tail > kChance) break;
    const auto at = static_cast<double>(k);
    log_term += std::log(at / (n - at + 1)) + std::log1p(-p) - std::log(p);
    --k;
  }
  return k;
}

std::string find_cluster(const std::vector<std::int64_t>& outliers, const Outcome& outcome) {
  const std::int64_t numel = outcome.rows * outcome.row_len;
  const std::int64_t tiles = (outcome.row_len + kTile - 1) / kTile;
  const std::int64_t tile = std::min(kTile, outcome.row_len);
  const auto count = static_cast<std::int64_t>(outliers.size());
  // A selection of rows need not hold all heads alike. As for the last tile of a row, which may be shorter:
  // taking every line for the longest of its kind only widens the limit.
  std::map<std::int64_t, std::int64_t> head_rows;
  for (std::int64_t row = 0; row < outcome.rows && outcome.heads > 1; ++row) {
    ++head_rows[name_of_row(outcome, row) % outcome.heads];
  }
  std::int64_t longest_head = 0;
  for (const auto& [head, rows] : head_rows) longest_head = std::max(longest_head, rows);
  struct Kind {
    const char* name;
    std::int64_t length, lines;
    std::map<std::int64_t, std::int64_t> held;
  };
  std::array<Kind, 5> kinds{{
      {"row", outcome.row_len, outcome.rows, {}},
      {"column", outcome.rows, outcome.row_len, {}},
      {"head", longest_head * outcome.row_len, static_cast<std::int64_t>(head_rows.size()), {}},
      {"tile", tile, outcome.rows * tiles, {}},
      {"lane", outcome.rows * tile, tiles, {}},
  }};
  for (const std::int64_t index : outliers) {
    const std::int64_t row = index / outcome.row_len;
    const std::int64_t column = index % outcome.row_len;
    ++kinds[0].held[row];
    ++kinds[1].held[column];
    ++kinds[2].held[name_of_row(outcome, row) % outcome.heads];
    ++kinds[3].held[row * tiles + column / kTile];
    ++kinds[4].held[column / kTile];
  }
  for (const Kind& kind : kinds) {
    if (kind.lines < 2) continue;  // one line holds everything
    const std::int64_t limit = scatter_limit(count, numel, kind.length, kind.lines);
    for (const auto& [line, held] : kind.held) {
      if (held <= limit) continue;
      const bool is_tile = &kind == &kinds[3];
      const bool is_row = &kind == &kinds[0];
      const std::string where =
          is_tile ? fmt::format("tile {} of row {}", line % tiles, name_of_row(outcome, line / tiles))
                  : fmt::format("{} {}", kind.name, is_row ? name_of_row(outcome, line) : line);
      return fmt::format("{} holds {} of {} outliers, at most {} can be chance", where, held, count, limit);
    }
  }
  return {};
}

}  // namespace kvr
