// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/report/results_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "harness/report/json.h"

namespace kvr {
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view why) {
  throw FileError(fmt::format("cannot write '{}': {}", path, why));
}

// Creates FILE.tmp and removes it again if it is still there when this goes out of scope.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path) : path_(path), name_(path + ".tmp") {
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(path_, std::strerror(errno));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(name_.c_str());
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(path_, std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void rename() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (::close(descriptor) != 0)
      fail(path_, std::strerror(errno));  // some file systems report a full disk only here
    if (std::rename(name_.c_str(), path_.c_str()) != 0) fail(path_, std::strerror(errno));
    renamed_ = true;
  }

 private:
  std::string path_, name_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

ResultsFile::ResultsFile(std::string path) : path_(std::move(path)) {
  if (is_standard_output()) return;
  if (path_.empty()) fail(path_, "the name is empty");
  std::error_code ignored;
  const auto status = std::filesystem::status(path_, ignored);
  if (std::filesystem::is_directory(status)) fail(path_, "is a directory");
  // Renaming over a device or a pipe would replace it.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail(path_, "not a regular file");
  if (std::filesystem::exists(status) && ::access(path_.c_str(), W_OK) != 0)
    fail(path_, std::strerror(errno));
  TemporaryFile probe(path_);
}

void ResultsFile::write(std::string_view text) const {
  if (is_standard_output()) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      fail("standard output", std::strerror(errno));
    return;
  }
  TemporaryFile file(path_);
  file.write(text);
  file.rename();
}

std::string read_text(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw FileError(fmt::format("cannot read '{}': is a directory", file.string()));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw FileError(fmt::format("cannot read '{}': {}", file.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

Results read_results(const std::filesystem::path& file) {
  const std::string text = read_text(file);
  try {
    return results_from_json(text);
  } catch (const JsonError& error) {
    throw JsonError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace kvr
