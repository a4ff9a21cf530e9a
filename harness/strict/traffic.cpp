// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/traffic.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

namespace kvr::strict {

std::uint32_t Traffic::memory(const std::string& tensor) {
  std::uint32_t index = 0;
  while (index < counts_.tensors.size() && counts_.tensors[index].tensor != tensor) ++index;
  if (index == counts_.tensors.size()) {
    counts_.tensors.emplace_back().tensor = tensor;
    touched_.emplace_back();
  }
  return index;
}

void Traffic::end_block(int warp_size) {
  // The lanes of a warp run one after the other. Their n-th executions of an instruction belong together.
  struct Ordered {
    std::uint32_t warp;
    std::uint32_t place;
    std::uint32_t execution;
    const TrafficEvent* event;
  };
  std::vector<Ordered> ordered;
  ordered.reserve(events_.size());
  for (const TrafficEvent& event : events_)
    ordered.push_back({event.thread / static_cast<std::uint32_t>(warp_size), event.place, 0, &event});
  // Events of one thread lie in the order of execution: in that of their addresses, since a vector holds
  // them.
  std::sort(ordered.begin(), ordered.end(), [](const Ordered& a, const Ordered& b) {
    return std::tie(a.warp, a.place, a.event->thread, a.event) <
           std::tie(b.warp, b.place, b.event->thread, b.event);
  });
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    const Ordered& previous = ordered[i - 1];
    if (ordered[i].warp == previous.warp && ordered[i].place == previous.place &&
        ordered[i].event->thread == previous.event->thread)
      ordered[i].execution = previous.execution + 1;
  }
  std::sort(ordered.begin(), ordered.end(), [](const Ordered& a, const Ordered& b) {
    return std::tie(a.warp, a.place, a.execution, a.event->thread) <
           std::tie(b.warp, b.place, b.execution, b.event->thread);
  });
  std::vector<const TrafficEvent*> lanes;
  for (std::size_t i = 0; i < ordered.size();) {
    lanes.clear();
    std::size_t j = i;
    for (; j < ordered.size() && ordered[j].warp == ordered[i].warp && ordered[j].place == ordered[i].place &&
           ordered[j].execution == ordered[i].execution;
         ++j)
      lanes.push_back(ordered[j].event);
    count_instruction(lanes.data(), lanes.size());
    i = j;
  }
  events_.clear();
}

// One instruction may go to several memories (a pointer chosen per lane): each is an access of its own.
void Traffic::count_instruction(const TrafficEvent* const* lanes, std::size_t count) {
  std::vector<const TrafficEvent*> rest(lanes, lanes + count);
  while (!rest.empty()) {
    const std::uint32_t memory = rest.front()->memory;
    const auto others = std::stable_partition(
        rest.begin(), rest.end(), [memory](const TrafficEvent* e) { return e->memory == memory; });
    const auto here = static_cast<std::size_t>(others - rest.begin());
    if (rest.front()->atomic && rest.front()->write) counts_.atomics += static_cast<std::int64_t>(here);
    if (memory == TrafficEvent::kShared)
      count_shared(rest.data(), here);
    else
      count_global(rest.data(), here);
    rest.erase(rest.begin(), others);
  }
}

void Traffic::count_shared(const TrafficEvent* const* lanes, std::size_t count) {
  // Lanes that access one word share a pass. Wide accesses are served a quarter (half) warp at a time: as
  // many lanes as fill 128 bytes.
  const std::size_t at_once = std::max<std::size_t>(1, 128 / std::max<std::size_t>((*lanes)->bytes, 4));
  for (std::size_t begin = 0; begin < count; begin += at_once) {
    std::array<std::set<std::uintptr_t>, 32> words;
    for (std::size_t i = begin; i < std::min(count, begin + at_once); ++i)
      for (std::uintptr_t word = lanes[i]->address / 4; word <= (lanes[i]->address + lanes[i]->bytes - 1) / 4;
           ++word)
        words[word % 32].insert(word);
    std::size_t passes = 1;
    for (const auto& bank : words) passes = std::max(passes, bank.size());
    counts_.bank_conflicts += static_cast<std::int64_t>(passes - 1);
  }
}

void Traffic::count_global(const TrafficEvent* const* lanes, std::size_t count) {
  constexpr std::uintptr_t kSector = kSectorBytes;
  const TrafficEvent& first = **lanes;
  TensorTraffic& tensor = counts_.tensors[first.memory];
  std::vector<std::uintptr_t> sectors;
  for (std::size_t i = 0; i < count; ++i) {
    const TrafficEvent& event = *lanes[i];
    tensor.bytes_requested += event.bytes;
    ++counts_.accesses;
    if (event.bytes == 16) ++counts_.wide_accesses;
    for (std::uintptr_t sector = event.address / kSector;
         sector <= (event.address + event.bytes - 1) / kSector; ++sector)
      sectors.push_back(sector);
    touched_[first.memory].mark(event.address, event.bytes, event.write);
  }
  std::sort(sectors.begin(), sectors.end());
  const auto distinct = std::unique(sectors.begin(), sectors.end()) - sectors.begin();
  (first.write ? tensor.store_sectors : tensor.load_sectors) += static_cast<std::int64_t>(distinct);
}

void Traffic::Touched::mark(std::uintptr_t address, std::uint64_t bytes, bool write) {
  while (bytes > 0) {
    const std::uintptr_t index = address / kPageBytes;
    if (index != recent_index) {
      std::unique_ptr<Page>& page = pages[index];
      if (page == nullptr) page = std::make_unique<Page>();
      recent = page.get();
      recent_index = index;
    }
    const std::uintptr_t bit = address % 64;
    const std::uint64_t here = std::min<std::uint64_t>(bytes, 64 - bit);
    const std::uint64_t mask = (here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1) << bit;
    (write ? recent->stored : recent->loaded)[address % kPageBytes / 64] |= mask;
    address += here;
    bytes -= here;
  }
}

LaunchTraffic Traffic::take() {
  const auto sectors = [](std::uint64_t word) {
    return std::int64_t{(word & 0xffffffffU) != 0} + std::int64_t{(word >> 32) != 0};
  };
  for (std::size_t t = 0; t < touched_.size(); ++t) {
    TensorTraffic& tensor = counts_.tensors[t];
    for (const auto& [index, page] : touched_[t].pages) {
      for (std::size_t w = 0; w < page->loaded.size(); ++w) {
        tensor.unique_load_sectors += sectors(page->loaded[w]);
        tensor.unique_store_sectors += sectors(page->stored[w]);
        tensor.unique_bytes += std::popcount(page->loaded[w]) + std::popcount(page->stored[w]);
      }
    }
  }
  touched_.clear();
  return std::exchange(counts_, {});
}

}  // namespace kvr::strict
