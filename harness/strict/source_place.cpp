// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/source_place.h"

#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>

namespace kvr::strict {
namespace {

std::uintptr_t program_base() {
  static const std::uintptr_t base = [] {
    std::uintptr_t address = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
          *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;
          return 1;  // the first object is the program
        },
        &address);
    return address;
  }();
  return base;
}

std::string program_path() {
  std::array<char, 4096> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length < 0 ? "" : std::string(path.data(), static_cast<std::size_t>(length));
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  std::array<char, 1024> part;
  while (pipe && std::fgets(part.data(), static_cast<int>(part.size()), pipe.get()) != nullptr)
    text += part.data();
  return text;
}

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Headers that kernels share and the machine's own: a finding belongs to whoever used them.
bool is_helper(std::string_view file) {
  return file.find("kernels/common/") != std::string_view::npos ||
         file.find("harness/simt/") != std::string_view::npos ||
         file.find("/include/c++/") != std::string_view::npos;
}

}  // namespace

std::uint32_t place_of(std::uintptr_t return_address) {
  return static_cast<std::uint32_t>(return_address - program_base());
}

std::vector<SourceFrame> parse_frames(std::string_view printed) {
  std::vector<SourceFrame> frames;
  while (!printed.empty()) {
    const std::size_t end = std::min(printed.find('\n'), printed.size());
    std::string_view line = printed.substr(0, end);
    printed.remove_prefix(std::min(end + 1, printed.size()));
    // addr2line: "k.cu:12 (discriminator 2)"; llvm-symbolizer: "k.cu:12:5"
    line = line.substr(0, line.find(" (discriminator"));
    for (int numbers = 0; numbers < 2; ++numbers) {
      const std::size_t colon = line.rfind(':');
      if (colon == std::string_view::npos || colon == 0 || colon + 1 == line.size()) break;
      int number = 0;
      const std::string_view digits = line.substr(colon + 1);
      const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc{} || stop != digits.data() + digits.size()) break;
      const std::string_view file = line.substr(0, colon);
      const std::size_t earlier = file.rfind(':');
      const bool column = earlier != std::string_view::npos && earlier + 1 < file.size() &&
                          std::all_of(file.begin() + static_cast<std::ptrdiff_t>(earlier) + 1, file.end(),
                                      [](char c) { return c >= '0' && c <= '9'; });
      line = file;
      if (column) continue;
      if (number > 0) frames.push_back({std::string(file), number});
      break;
    }
  }
  return frames;
}

std::string describe_frames(const std::vector<SourceFrame>& frames) {
  if (frames.empty()) return "";
  const auto text = [](const SourceFrame& frame) {
    return fmt::format("{}:{}", base_name(frame.file), frame.line);
  };
  const auto own = std::find_if(frames.begin(), frames.end(),
                                [](const SourceFrame& frame) { return !is_helper(frame.file); });
  if (own == frames.end()) return text(frames.front());
  if (own == frames.begin()) return text(*own);
  return fmt::format("{} (in {})", text(*own), text(frames.front()));
}

std::string source_line(std::uint32_t place) {
  // One byte back: the return address may belong to the next line.
  const std::string program = shell_quoted(program_path());
  for (const std::string& command :
       {fmt::format("addr2line -i -e {} {:#x} 2>/dev/null", program, place - 1),
        fmt::format("llvm-symbolizer -i -e {} {:#x} 2>/dev/null", program, place - 1)}) {
    const std::string text = describe_frames(parse_frames(output_of(command)));
    if (!text.empty()) return text;
  }
  return fmt::format("program + {:#x}", place);
}

}  // namespace kvr::strict
