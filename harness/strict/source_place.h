// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Where in the program an instruction lies, and which source line it came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvr::strict {

// Return addresses as offsets within the program's image, which fit in 32 bits.
std::uint32_t place_of(std::uintptr_t return_address);

struct SourceFrame {
  std::string file;
  int line = 0;
};

// The frames of what addr2line or llvm-symbolizer printed with -i (innermost first): every second line, or
// every line, that ends in ":<number>".
std::vector<SourceFrame> parse_frames(std::string_view printed);
// "norm_quant.cu:221 (in warp.h:140)": the kernel's own line, and the helper's that was inlined there.
std::string describe_frames(const std::vector<SourceFrame>& frames);
// The above for a place, by means of addr2line or llvm-symbolizer; "program + 0x1234" when neither is there.
std::string source_line(std::uint32_t place);

}  // namespace kvr::strict
