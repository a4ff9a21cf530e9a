// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What is known of every byte of a memory: who wrote it last, who read it since, whether it was ever written.
// Kept in pages that come into being when they are touched, so a stride of 2^31 elements costs what its
// elements cost. Within a page, bytes that are always accessed together share one record: a page begins with
// records of 16 bytes and is refined when a smaller access comes along.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "harness/strict/order.h"

namespace kvr::strict {

struct Record {
  Mark writer;
  // Two unordered readers, of two warps if there are: every writer that is unordered with any of all readers
  // is unordered with one of these. (Not so for readers of one warp that meet in partial __syncwarps only.)
  std::array<Mark, 2> reader;
};

class ShadowPage {
 public:
  static constexpr std::uint64_t kBytes = 4096;

  // The records of [offset, offset + size), which lies within the page and becomes whole records.
  Record* records(std::uint64_t offset, std::uint64_t size, std::size_t& count) {
    if (((offset | size) & ((std::uint64_t{1} << shift_) - 1)) != 0 || records_.empty())
      refine(offset | size);
    count = static_cast<std::size_t>(size >> shift_);
    return records_.data() + (offset >> shift_);
  }
  std::uint64_t record_bytes() const { return std::uint64_t{1} << shift_; }
  void forget_accesses() {
    records_.clear();
    shift_ = 4;
  }

  bool written(std::uint64_t byte) const { return written_[byte]; }
  void set_written(std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t i = 0; i < size; ++i) written_.set(offset + i);
  }

 private:
  void refine(std::uint64_t wanted);

  std::uint32_t shift_ = 4;
  std::vector<Record> records_;
  std::bitset<kBytes> written_;  // since the memory was last declared uninitialised
};

class Shadow {
 public:
  ShadowPage& page(std::uint64_t index) {
    Recent& recent = recent_[index % recent_.size()];
    if (recent.page == nullptr || recent.index != index) recent = {index, &find(index)};
    return *recent.page;
  }
  // Forgets who accessed what; what was written stays written.
  void forget_accesses();
  void clear();
  std::size_t page_count() const { return pages_.size(); }

 private:
  struct Recent {
    std::uint64_t index = 0;
    ShadowPage* page = nullptr;
  };
  ShadowPage& find(std::uint64_t index);

  std::unordered_map<std::uint64_t, std::unique_ptr<ShadowPage>> pages_;
  std::array<Recent, 64> recent_{};
};

}  // namespace kvr::strict
