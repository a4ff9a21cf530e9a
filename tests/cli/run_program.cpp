// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "tests/cli/run_program.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

namespace kvr::test {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "kvr-cli-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder at " + name);
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name) << text;
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_text(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Ran run_program(const std::string& program, const std::string& arguments, const std::string& environment) {
  const Folder folder;
  const std::string command = fmt::format(
      "env -u KVR_POLICY_FILE -u KVR_LEDGER_FILE -u KVR_REQUIRE_DEVICE -u KVR_SEED {} '{}' {} >'{}' 2>'{}'",
      environment, program, arguments, folder.path("out"), folder.path("err"));
  const int status = std::system(command.c_str());
  Ran ran;
  ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ran.out = read_text(folder.path("out"));
  ran.err = read_text(folder.path("err"));
  return ran;
}

bool kvr_has_device() {
  // A title line, then a line per machine; a strict machine that was not built says "no device" too.
  const std::vector<std::string> machines = lines_of(run_program(KVR_PROGRAM, "list --machines").out);
  return machines.size() > 1 && machines[1].find("no device: ") == std::string::npos;
}

}  // namespace kvr::test
