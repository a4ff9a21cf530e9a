// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/host_memory.h"

#include <link.h>
#include <pthread.h>

#include "harness/simt/observer.h"

namespace kvr::strict {

HostMemory::HostMemory() {
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int h = 0; h < info->dlpi_phnum; ++h) {
          const ElfW(Phdr)& header = info->dlpi_phdr[h];
          if (header.p_type != PT_LOAD) continue;
          const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          static_cast<std::vector<Range>*>(out)->push_back({begin, begin + header.p_memsz});
        }
        return 0;
      },
      &ranges_);
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
    void* base = nullptr;
    std::size_t size = 0;
    if (::pthread_attr_getstack(&attributes, &base, &size) == 0) {
      const auto begin = reinterpret_cast<std::uintptr_t>(base);
      ranges_.push_back({begin, begin + size});
    }
    ::pthread_attr_destroy(&attributes);
  }
}

void HostMemory::find_stack(std::uintptr_t frame) {
  if (!simt::is_machine_memory(frame, stack_.begin, stack_.end)) stack_ = {};
  const auto lane = reinterpret_cast<std::uintptr_t>(simt::current.lane);
  simt::is_machine_memory(lane, machine_.begin, machine_.end);
}

bool HostMemory::search(std::uintptr_t address) {
  for (const Range& range : ranges_) {
    if (address - range.begin >= range.end - range.begin) continue;
    recent_ = range;
    return true;
  }
  Range range;
  if (!simt::is_machine_memory(address, range.begin, range.end)) return false;
  recent_ = range;
  return true;
}

}  // namespace kvr::strict
