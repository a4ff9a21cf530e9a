// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Runs a program in a fresh folder and keeps what came of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kvr::test {

struct Ran {
  int exit_code = -1;  // 128 + signal when a signal killed it
  std::string out, err;
};

// `arguments` as typed in a shell. The environment has none of kvr's variables but those in `environment`
// ("KVR_SEED=1").
Ran run_program(const std::string& program, const std::string& arguments,
                const std::string& environment = "");

// Whether the machine that commands run on by default is present.
bool kvr_has_device();

// An empty folder that is gone at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const;
  std::vector<std::string> names() const;  // of everything in it

 private:
  std::filesystem::path path_;
};

std::string read_text(const std::string& file);
std::vector<std::string> lines_of(const std::string& text);

}  // namespace kvr::test
