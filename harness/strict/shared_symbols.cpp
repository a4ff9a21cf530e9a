// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/shared_symbols.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kvr::strict {
namespace {

struct Symbol {
  std::uint64_t offset;  // within the thread-local memory
  std::uint64_t size;
  std::string name;  // mangled
};

std::vector<Symbol> read_thread_local_symbols() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const std::vector<char> image{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto at = [&image]<class T>(std::uint64_t offset, T& value) {
    if (offset + sizeof value > image.size()) throw std::runtime_error("the program's file is cut short");
    std::memcpy(&value, image.data() + offset, sizeof value);
  };
  ElfW(Ehdr) header;
  at(0, header);
  std::vector<Symbol> symbols;
  bool found = false;
  for (unsigned s = 0; s < header.e_shnum; ++s) {
    ElfW(Shdr) section;
    at(header.e_shoff + s * sizeof section, section);
    if (section.sh_type != SHT_SYMTAB) continue;
    found = true;
    ElfW(Shdr) names;
    at(header.e_shoff + section.sh_link * sizeof names, names);
    for (std::uint64_t o = 0; o < section.sh_size; o += sizeof(ElfW(Sym))) {
      ElfW(Sym) symbol;
      at(section.sh_offset + o, symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) continue;
      symbols.push_back({symbol.st_value, symbol.st_size, image.data() + names.sh_offset + symbol.st_name});
    }
  }
  if (!found)
    throw std::runtime_error("strict machines need the program's symbol table; it has been stripped");
  return symbols;
}

const std::vector<Symbol>& thread_local_symbols() {
  static const std::vector<Symbol> symbols = read_thread_local_symbols();
  return symbols;
}

// A variable within a function is "_ZZ <function> E <length> <name> [_<n>]"; its name is the last part. A
// kernel's shared variables are all like that; of the harness's own, kernels touch "kvr::simt::current" only,
// which is not.
bool is_static_local(std::string_view mangled) {
  return mangled.starts_with("_ZZ");
}

std::string plain_name(std::string_view mangled) {
  // From the back: the shortest <length><name> whose length fits.
  for (std::size_t at = mangled.size(); at-- > 0;) {
    if (mangled[at] < '0' || mangled[at] > '9') continue;
    std::size_t first = at;
    while (first > 0 && mangled[first - 1] >= '0' && mangled[first - 1] <= '9') --first;
    for (std::size_t digit = first; digit <= at; ++digit) {
      const std::size_t length = std::stoul(std::string(mangled.substr(digit, at - digit + 1)));
      const std::size_t rest = mangled.size() - at - 1;
      if (length > 0 && (length == rest || (length < rest && mangled[at + 1 + length] == '_')))
        return std::string(mangled.substr(at + 1, length));
    }
    at = first;
  }
  return std::string(mangled);
}

// dl_iterate_phdr's first object is the program.
int note_program(dl_phdr_info* info, std::size_t, void* out) {
  auto& range = *static_cast<std::pair<std::uintptr_t, std::uintptr_t>*>(out);
  for (int h = 0; h < info->dlpi_phnum; ++h) {
    const ElfW(Phdr)& header = info->dlpi_phdr[h];
    if (header.p_type != PT_TLS || info->dlpi_tls_data == nullptr) continue;
    range.first = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
    range.second = range.first + header.p_memsz;
  }
  return 1;
}

}  // namespace

SharedVariables::SharedVariables() {
  std::pair<std::uintptr_t, std::uintptr_t> range{0, 0};
  ::dl_iterate_phdr(note_program, &range);
  begin_ = range.first;
  end_ = range.second;
  for (const Symbol& symbol : thread_local_symbols()) {
    std::string name = plain_name(symbol.name);
    if (name.starts_with("kvr_shared_gap_")) continue;  // vocabulary.h puts one in front of each variable
    const std::uintptr_t begin = begin_ + symbol.offset;
    variables_.push_back({begin, begin + symbol.size, std::move(name), is_static_local(symbol.name)});
  }
  std::sort(variables_.begin(), variables_.end(),
            [](const SharedVariable& a, const SharedVariable& b) { return a.begin < b.begin; });
}

const SharedVariable* SharedVariables::below(std::uintptr_t address) const {
  const auto above = std::upper_bound(
      variables_.begin(), variables_.end(), address,
      [](std::uintptr_t value, const SharedVariable& variable) { return value < variable.begin; });
  return above == variables_.begin() ? nullptr : &*std::prev(above);
}

const SharedVariable* SharedVariables::find(std::uintptr_t address) {
  if (recent_ != nullptr && address >= recent_->begin && address < recent_->end) return recent_;
  const SharedVariable* const candidate = below(address);
  if (candidate == nullptr || address >= candidate->end) return nullptr;
  return recent_ = candidate;
}

}  // namespace kvr::strict
