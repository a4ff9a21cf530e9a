// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/traffic.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace kvr::strict {

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
  std::stable_sort(ordered.begin(), ordered.end(), [](const Ordered& a, const Ordered& b) {
    return std::tie(a.warp, a.place, a.event->thread) < std::tie(b.warp, b.place, b.event->thread);
  });
  for (std::size_t i = 1; i < ordered.size(); ++i) {
    const Ordered& previous = ordered[i - 1];
    if (ordered[i].warp == previous.warp && ordered[i].place == previous.place &&
        ordered[i].event->thread == previous.event->thread)
      ordered[i].execution = previous.execution + 1;
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const Ordered& a, const Ordered& b) {
    return std::tie(a.warp, a.place, a.execution) < std::tie(b.warp, b.place, b.execution);
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
}

void Traffic::count_instruction(const TrafficEvent* const* lanes, std::size_t count) {
  const TrafficEvent& first = **lanes;
  if (first.atomic) atomics += static_cast<std::int64_t>(count);
  if (first.shared) {
    // Lanes that read one word share a pass. Wide accesses are served a quarter (half) warp at a time: as
    // many lanes as fill 128 bytes.
    const std::size_t at_once = std::max<std::size_t>(1, 128 / std::max<std::size_t>(first.bytes, 4));
    for (std::size_t begin = 0; begin < count; begin += at_once) {
      std::array<std::set<std::uintptr_t>, 32> words;
      for (std::size_t i = begin; i < std::min(count, begin + at_once); ++i)
        for (std::uintptr_t word = lanes[i]->address / 4;
             word <= (lanes[i]->address + lanes[i]->bytes - 1) / 4; ++word)
          words[word % 32].insert(word);
      std::size_t passes = 1;
      for (const auto& bank : words) passes = std::max(passes, bank.size());
      bank_conflicts += static_cast<std::int64_t>(passes - 1);
    }
    return;
  }
  std::vector<std::uintptr_t> sectors;
  for (std::size_t i = 0; i < count; ++i) {
    const TrafficEvent& event = *lanes[i];
    bytes_requested += event.bytes;
    ++accesses;
    if (event.bytes == 16) ++wide_accesses;
    for (std::uintptr_t sector = event.address / kSectorBytes;
         sector <= (event.address + event.bytes - 1) / kSectorBytes; ++sector)
      sectors.push_back(sector);
  }
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  (first.write ? store_sectors : load_sectors) += static_cast<std::int64_t>(sectors.size());
  (first.write ? stored_ : loaded_).insert(sectors.begin(), sectors.end());
}

}  // namespace kvr::strict
