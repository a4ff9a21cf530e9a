// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Columns of text, as wide as their widest cell, two blanks apart.
#pragma once

#include <string>
#include <vector>

namespace kvr {

class TextTable {
 public:
  enum class Align { left, right };

  void column(std::string title, Align align = Align::left);
  // One cell per column. Throws std::logic_error otherwise.
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // Title line (unless every title is empty) and rows, each ending in a newline and none in a blank.
  std::string text(int indent = 0) const;

 private:
  struct Column {
    std::string title;
    Align align;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace kvr
