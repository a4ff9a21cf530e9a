// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/text_table.h"

#include <algorithm>
#include <stdexcept>

namespace kvr {

void TextTable::column(std::string title, Align align) {
  columns_.push_back({std::move(title), align});
}

void TextTable::row(std::vector<std::string> cells) {
  if (cells.size() != columns_.size())
    throw std::logic_error("a table row with another number of cells than columns");
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(int indent) const {
  std::vector<std::size_t> width;
  bool titled = false;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    titled = titled || !columns_[c].title.empty();
    width.push_back(columns_[c].title.size());
    for (const auto& cells : rows_) width[c] = std::max(width[c], cells[c].size());
  }

  std::string out;
  const auto append = [&](auto cell_of) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& cell = cell_of(c);
      const std::string padding(width[c] - cell.size(), ' ');
      if (c > 0) line += "  ";
      line += columns_[c].align == Align::left ? cell + padding : padding + cell;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  if (titled) append([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& cells : rows_) append([&](std::size_t c) -> const std::string& { return cells[c]; });
  return out;
}

}  // namespace kvr
