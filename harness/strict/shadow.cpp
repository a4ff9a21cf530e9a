// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/shadow.h"

#include <algorithm>
#include <bit>

namespace kvr::strict {

void ShadowPage::refine(std::uint64_t wanted) {
  const auto shift = std::min(shift_, static_cast<std::uint32_t>(std::countr_zero(wanted | 16)));
  std::vector<Record> finer(kBytes >> shift);
  if (!records_.empty()) {
    for (std::size_t i = 0; i < finer.size(); ++i) finer[i] = records_[i >> (shift_ - shift)];
  }
  records_ = std::move(finer);
  shift_ = shift;
}

ShadowPage& Shadow::find(std::uint64_t index) {
  std::unique_ptr<ShadowPage>& page = pages_[index];
  if (page == nullptr) page = std::make_unique<ShadowPage>();
  return *page;
}

void Shadow::forget_accesses() {
  for (auto& [index, page] : pages_) page->forget_accesses();
}

void Shadow::clear() {
  pages_.clear();
  recent_ = {};
}

}  // namespace kvr::strict
