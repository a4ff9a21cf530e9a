// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A file that is either written whole or not touched: the text goes to FILE.tmp, which is then renamed.
// Whether that can work is found out before anything runs.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/report/results.h"

namespace kvr {

// "cannot write 'out/r.json': No such file or directory".
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ResultsFile {
 public:
  // "-" is standard output. Throws FileError when the file could not be written; leaves nothing behind.
  explicit ResultsFile(std::string path);
  void write(std::string_view text) const;
  bool is_standard_output() const { return path_ == "-"; }

 private:
  std::string path_;
};

// The whole file. Throws FileError.
std::string read_text(const std::filesystem::path& file);
// Throws FileError or JsonError, both naming the file.
Results read_results(const std::filesystem::path& file);

}  // namespace kvr
