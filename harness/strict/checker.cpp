// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/strict/checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/strict/source_place.h"

namespace kvr::strict {
namespace {

constinit thread_local Checker* active_checker [[gnu::tls_model("initial-exec")]] = nullptr;

std::uint16_t this_thread() {
  return static_cast<std::uint16_t>(simt::current.lane->linear);
}

std::string triple(std::int64_t linear, const uint3& extents) {
  return fmt::format("({},{},{})", linear % extents.x, linear / extents.x % extents.y,
                     linear / extents.x / extents.y);
}

}  // namespace

Checker* Checker::active() {
  return active_checker;
}

// ---- what the machine tells

void Checker::begin_launch(const simt::LaunchRequest&) {
  shared_shadow_.clear();
  host_.emplace();
  memory_.begin_launch();
  if (!variables_) variables_.emplace();
  finding_.reset();
  block_mark_ = 0;
}

void Checker::end_launch() {
  active_checker = nullptr;
  variables_.reset();  // another host thread may launch next
}

void Checker::begin_block(const simt::BlockView& block) {
  block_ = block;
  ++block_mark_;
  order_.begin_block(block_mark_, block.threads, block.warp_size);
  if (records_traffic_) traffic_.begin_block();
  active_checker = this;
}

void Checker::end_block(bool completed) {
  active_checker = nullptr;
  if (records_traffic_ && completed) traffic_.end_block(block_.warp_size);
}

void Checker::at_barrier() {
  order_.at_barrier();
  if (records_traffic_) traffic_.note_barrier();
}

void Checker::at_meeting(const simt::Warp& warp, const simt::Call& call) {
  if (records_traffic_) traffic_.note_collective();
  if (std::string_view(call.name) == "__syncwarp") order_.at_syncwarp(warp.index, call.mask);
}

// ---- judging an access

void Checker::check(const Access& access) {
  // Most frequent first. The machine's own state and the lane's stack are nobody's business.
  if (host_->is_hot(access.address, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)))) return;
  if (Tensor* const tensor = memory_.find(access.address)) return check_global(*tensor, access);
  const auto dynamic = reinterpret_cast<std::uintptr_t>(block_.dynamic_shared);
  const auto dynamic_bytes = static_cast<std::uintptr_t>(block_.dynamic_bytes);
  if (access.address - dynamic < dynamic_bytes)
    return check_shared(dynamic, dynamic + dynamic_bytes, nullptr, access);
  if (variables_->contains(access.address)) {
    if (const SharedVariable* const variable = variables_->find(access.address)) {
      if (variable->shared) check_shared(variable->begin, variable->end, &variable->name, access);
      return;
    }
  }
  if (!host_->contains(access.address)) check_outside(access);
}

void Checker::check_global(Tensor& tensor, const Access& access) {
  const std::uint64_t offset = access.address - tensor.begin;
  if (!tensor.addresses(offset, access.bytes)) {
    const bool behind = offset + access.bytes > tensor.bytes;
    stop("bounds", access, global_place(tensor, static_cast<std::int64_t>(offset)),
         behind ? fmt::format("reaches behind its end: it has {} bytes", tensor.bytes)
                : std::string("lies in a gap between its elements"));
  }
  check_alignment(access, offset, &tensor, nullptr);
  if (records_traffic_) {
    if (tensor.traffic == Tensor::kNoTraffic) tensor.traffic = traffic_.memory(tensor.name);
    note_traffic(access, tensor.traffic);
  }
  for (std::uint64_t done = 0; done < access.bytes;) {
    const std::uint64_t at = offset + done;
    const std::uint64_t in_page = at % ShadowPage::kBytes;
    const std::uint64_t bytes = std::min(access.bytes - done, ShadowPage::kBytes - in_page);
    check_order(tensor.shadow.page(at / ShadowPage::kBytes), in_page, bytes, access, Space::global, &tensor,
                nullptr, at);
    done += bytes;
  }
}

void Checker::check_shared(std::uintptr_t begin, std::uintptr_t end, const std::string* name,
                           const Access& access) {
  const std::uint64_t offset = access.address - begin;
  if (access.address + access.bytes > end) {
    stop("bounds", access, shared_place(name, static_cast<std::int64_t>(offset)),
         fmt::format("reaches behind its end: it has {} bytes", end - begin));
  }
  check_alignment(access, offset, nullptr, name);
  if (records_traffic_) note_traffic(access, TrafficEvent::kShared);
  for (std::uint64_t done = 0; done < access.bytes;) {
    const std::uint64_t at = access.address + done;
    const std::uint64_t in_page = at % ShadowPage::kBytes;
    const std::uint64_t bytes = std::min(access.bytes - done, ShadowPage::kBytes - in_page);
    check_order(shared_shadow_.page(at / ShadowPage::kBytes), in_page, bytes, access, Space::shared, nullptr,
                name, offset + done);
    done += bytes;
  }
}

void Checker::note_traffic(const Access& access, std::uint32_t memory) {
  traffic_.note({access.address, static_cast<std::uint32_t>(access.bytes), place_of(access.return_address),
                 memory, this_thread(), access.write, access.atomic});
}

std::string Checker::global_place(const Tensor& tensor, std::int64_t offset) {
  return fmt::format("global '{}' {}", tensor.name, tensor.element(offset));
}

// In nothing that a kernel may touch. Shared memory is named when the address is close to it.
void Checker::check_outside(const Access& access) {
  constexpr std::uintptr_t kNear = 4096;
  const auto dynamic = reinterpret_cast<std::uintptr_t>(block_.dynamic_shared);
  const std::uintptr_t dynamic_end = dynamic + static_cast<std::uintptr_t>(block_.dynamic_bytes);
  if (block_.dynamic_bytes > 0 && access.address - (dynamic - kNear) < dynamic_end - dynamic + 2 * kNear) {
    stop("bounds", access, shared_place(nullptr, static_cast<std::int64_t>(access.address - dynamic)),
         fmt::format("outside the block's {} bytes", block_.dynamic_bytes));
  }
  if (variables_->contains(access.address)) {
    const SharedVariable* const below = variables_->below(access.address);
    if (below != nullptr && below->shared) {
      stop("bounds", access,
           shared_place(&below->name, static_cast<std::int64_t>(access.address - below->begin)),
           fmt::format("behind its end: it has {} bytes", below->end - below->begin));
    }
    stop("bounds", access, "shared memory", "belongs to no variable");
  }
  const Tensor* const nearest = memory_.nearest(access.address);
  if (nearest == nullptr)
    stop("bounds", access, fmt::format("address {:#x}", access.address), "no tensor exists");
  const auto offset = static_cast<std::int64_t>(access.address - nearest->begin);
  stop("bounds", access, global_place(*nearest, offset),
       fmt::format("outside every tensor; this one, the nearest, has {} bytes", nearest->bytes));
}

void Checker::check_alignment(const Access& access, std::uint64_t offset, const Tensor* tensor,
                              const std::string* name) {
  if (!access.natural || (access.address & (access.bytes - 1)) == 0) return;
  const auto position = static_cast<std::int64_t>(offset);
  stop("misaligned", access,
       tensor != nullptr ? global_place(*tensor, position) : shared_place(name, position),
       fmt::format("the address is a multiple of {} only", access.address & -access.address));
}

void Checker::check_order(ShadowPage& page, std::uint64_t offset, std::uint64_t bytes, const Access& access,
                          Space space, const Tensor* tensor, const std::string* name,
                          std::uint64_t position) {
  const auto where = [&](std::uint64_t byte) {
    const auto at = static_cast<std::int64_t>(position + byte);
    return tensor != nullptr ? global_place(*tensor, at) : shared_place(name, at);
  };
  const std::uint16_t thread = this_thread();
  const Mark now = order_.mark(thread, place_of(access.return_address), access.atomic);
  std::size_t count = 0;
  Record* const records = page.records(offset, bytes, count);
  const std::uint64_t each = page.record_bytes();

  if (access.read) {
    if (space == Space::shared) {
      // Shared memory lives as long as its block.
      for (std::size_t i = 0; i < count; ++i)
        if (records[i].writer.block != order_.block())
          stop("uninitialised read", access, where(i * each), "no thread of the block has written it");
    } else if (!tensor->initialised) {
      for (std::uint64_t i = 0; i < bytes; ++i)
        if (!page.written(offset + i))
          stop("uninitialised read", access, where(i), "nothing has been written there");
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    Record& record = records[i];
    // What another block left in shared memory does not exist for this one.
    const auto ordered = [&](const Mark& earlier) {
      return order_.before(earlier, thread) || (earlier.atomic != 0 && access.atomic) ||
             (space == Space::shared && earlier.block != order_.block());
    };
    if (!ordered(record.writer)) stop("race", access, where(i * each), describe(record.writer, true));
    if (access.write) {
      for (const Mark& reader : record.reader)
        if (!ordered(reader)) stop("race", access, where(i * each), describe(reader, false));
      record.writer = now;
      record.reader = {};
      continue;
    }
    auto& [first, second] = record.reader;
    if (space == Space::shared) {
      if (first.block != order_.block()) first = {};
      if (second.block != order_.block()) second = {};
    }
    if (order_.before(first, thread)) {
      first = now;
    } else if (order_.before(second, thread)) {
      second = now;
    } else if (order_.same_warp(first, second) && !order_.same_warp(first, now)) {
      second = now;
    }
  }
  if (access.write && tensor != nullptr && !tensor->initialised) page.set_written(offset, bytes);
}

// ---- findings

void Checker::stop(const char* what, const Access& access, std::string where, std::string why) {
  finding_ = Finding{what, access, std::move(where), std::move(why)};
  // The frames that are skipped hold nothing that must be destroyed: these strings have been moved, and
  // callers pass what functions returned, so that no temporary waits for the end of their expression.
  active_checker = nullptr;
  simt::stop_lane();
}

std::string Checker::shared_place(const std::string* name, std::int64_t offset) const {
  return name == nullptr ? fmt::format("dynamic shared memory byte {}", offset)
                         : fmt::format("shared '{}' byte {}", *name, offset);
}

// "not ordered with the read by block (0,0,0), thread (32,0,0) at k.cu:12"
std::string Checker::describe(const Mark& mark, bool write) const {
  const simt::Block& block = *simt::current.block;
  return fmt::format("not ordered with the {} by block {}, thread {} at {}",
                     mark.atomic != 0 ? "atomic update"
                     : write          ? "write"
                                      : "read",
                     triple(mark.block - 1, block.grid), triple(mark.thread, block.dim),
                     source_line(mark.place));
}

std::string Checker::complaint(const std::string& lane) {
  if (!finding_) return "";
  const Finding finding = *std::exchange(finding_, std::nullopt);
  const Access& access = finding.access;
  const char* const action = access.atomic ? "atomic access to" : access.write ? "write to" : "read of";
  std::string text = fmt::format("{}: {}: {}-byte {} {} at {}", finding.what, lane, access.bytes, action,
                                 finding.where, source_line(place_of(access.return_address)));
  if (!finding.why.empty()) text += ": " + finding.why;
  return text;
}

}  // namespace kvr::strict
