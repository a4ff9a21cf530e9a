// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Traffic counted by hand: one warp of 32 lanes unless it says otherwise, sectors of 32 bytes.
#include <catch2/catch_test_macros.hpp>

#include "harness/strict/source_place.h"
#include "harness/strict/traffic.h"

namespace kvr::strict {
namespace {

constexpr std::uint32_t kShared = TrafficEvent::kShared;

// Every lane accesses base + lane * stride.
void warp_access(Traffic& traffic, std::uint32_t place, std::uint32_t bytes, std::uintptr_t stride,
                 bool write, std::uint32_t memory) {
  for (std::uint16_t lane = 0; lane < 32; ++lane)
    traffic.note({0x10000 + lane * stride, bytes, place, memory, lane, write, false});
}

TEST_CASE("a warp's access costs the sectors it touches") {
  Traffic traffic;
  const std::uint32_t x = traffic.memory("x");
  traffic.begin_block();
  warp_access(traffic, 1, 16, 16, false, x);  // 512 bytes in a row: 16 sectors
  warp_access(traffic, 2, 4, 128, false, x);  // one word in each of 32 sectors
  warp_access(traffic, 3, 2, 0, true, x);     // one place
  traffic.end_block(32);
  const LaunchTraffic counts = traffic.take();
  REQUIRE(counts.tensors.size() == 1);
  const TensorTraffic& tensor = counts.tensors[0];
  CHECK(tensor.tensor == "x");
  CHECK(tensor.load_sectors == 16 + 32);
  CHECK(tensor.store_sectors == 1);
  CHECK(tensor.bytes_requested == 32 * (16 + 4 + 2));
  CHECK(counts.accesses == 96);
  CHECK(counts.wide_accesses == 32);
  // 0x10000 .. 0x10fff holds 32 words 128 bytes apart; 16 sectors in a row contain 4 of them.
  CHECK(tensor.unique_load_sectors == 16 + 32 - 4);
  CHECK(tensor.unique_store_sectors == 1);
  CHECK(tensor.unique_bytes == 512 + (32 - 4) * 4 + 2);
  CHECK(traffic.take().tensors.empty());  // taken
}

TEST_CASE("executions of one instruction are told apart") {
  Traffic traffic;
  const std::uint32_t x = traffic.memory("x");
  traffic.begin_block();
  // Each lane runs alone: its two executions come one after the other.
  for (std::uint16_t lane = 0; lane < 32; ++lane)
    for (std::uintptr_t round = 0; round < 2; ++round)
      traffic.note({0x10000 + round * 128 + lane * 4U, 4, 1, x, lane, false, false});
  traffic.end_block(32);
  CHECK(traffic.take().tensors[0].load_sectors == 2 * 4);
}

TEST_CASE("one instruction that goes to two tensors is an access of each") {
  Traffic traffic;
  const std::uint32_t x = traffic.memory("x");
  const std::uint32_t y = traffic.memory("y");
  CHECK(traffic.memory("x") == x);
  traffic.begin_block();
  for (std::uint16_t lane = 0; lane < 32; ++lane)
    traffic.note({(lane < 8 ? 0x10000U : 0x20000U) + lane * 4U, 4, 1, lane < 8 ? x : y, lane, false, false});
  traffic.end_block(32);
  const LaunchTraffic counts = traffic.take();
  CHECK(counts.tensors[0].load_sectors == 1);
  CHECK(counts.tensors[1].load_sectors == 3);
}

TEST_CASE("a page's end and a word's end are nothing special") {
  Traffic traffic;
  const std::uint32_t x = traffic.memory("x");
  traffic.begin_block();
  traffic.note({0x10ffc, 8, 1, x, 0, false, false});    // into the next page
  traffic.note({0x1203c, 16, 2, x, 0, true, false});    // over the 64th byte
  traffic.note({0x30000, 4096, 3, x, 0, true, false});  // as memset() does
  traffic.end_block(32);
  const TensorTraffic tensor = traffic.take().tensors[0];
  CHECK(tensor.unique_bytes == 8 + 16 + 4096);
  CHECK(tensor.unique_load_sectors == 2);
  CHECK(tensor.unique_store_sectors == 2 + 128);
}

TEST_CASE("warps do not share an access, and a warp of 64 lanes is one") {
  for (const int warp_size : {32, 64}) {
    Traffic traffic;
    const std::uint32_t x = traffic.memory("x");
    traffic.begin_block();
    for (std::uint16_t lane = 0; lane < 64; ++lane) traffic.note({0x10000, 4, 1, x, lane, false, false});
    traffic.end_block(warp_size);
    CHECK(traffic.take().tensors[0].load_sectors == 64 / warp_size);
  }
}

TEST_CASE("shared memory has 32 banks of 4 bytes") {
  Traffic traffic;
  traffic.begin_block();
  warp_access(traffic, 1, 4, 4, false, kShared);  // each lane its bank
  warp_access(traffic, 2, 4, 0, false, kShared);  // one word for all
  traffic.end_block(32);
  CHECK(traffic.take().bank_conflicts == 0);
  traffic.begin_block();
  warp_access(traffic, 3, 4, 8, false, kShared);    // two words in each even bank
  warp_access(traffic, 4, 4, 128, false, kShared);  // all in one bank
  warp_access(traffic, 5, 16, 16, false, kShared);  // four lots of 8 lanes, each of them all banks once
  traffic.end_block(32);
  const LaunchTraffic counts = traffic.take();
  CHECK(counts.bank_conflicts == 1 + 31);
  CHECK(counts.tensors.empty());
}

TEST_CASE("a place is named by the kernel's own line, and the helper's that was inlined there") {
  // addr2line -i, innermost first.
  CHECK(
      describe_frames(parse_frames("/s/kernels/common/vec.h:72\n/s/kernels/k/k.cu:57 (discriminator 3)\n")) ==
      "k.cu:57 (in vec.h:72)");
  // llvm-symbolizer -i prints names, columns and an empty line.
  CHECK(describe_frames(
            parse_frames("load_vec\n/s/kernels/common/vec.h:72:9\nk\n/s/kernels/k/k.cu:57:3\n\n")) ==
        "k.cu:57 (in vec.h:72)");
  CHECK(describe_frames(parse_frames("/s/k.cu:5\n")) == "k.cu:5");
  CHECK(describe_frames(parse_frames("??:0\n")).empty());
}

}  // namespace
}  // namespace kvr::strict
