// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// How a block ends with an error, and what the error says.
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include "harness/simt/executor.h"

namespace kvr::simt {
namespace {

std::string triple(const uint3& v) {
  return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
}

std::string hex(std::uint64_t value, int digits) {
  std::string text(static_cast<std::size_t>(digits), '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4)
    *digit = "0123456789abcdef"[value & 15];
  return "0x" + text;
}

std::string_view file_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

// "__shfl_xor_sync(mask 0xffffffff) at k.cu:12", "__syncthreads() at k.cu:20"
std::string call_text(const Call& call, int warp_size) {
  std::string text = call.name;
  text += call.complete == nullptr ? "()" : "(mask " + hex(call.mask, warp_size / 4) + ")";
  text += " at ";
  text += file_name(call.site.file);
  return text + ":" + std::to_string(call.site.line);
}

}  // namespace

std::string Executor::describe(const Lane& lane) const {
  std::string kernel = run_->request().kernel;
  if (kernel.size() > 1 && kernel.front() == '(' && kernel.back() == ')')
    kernel = kernel.substr(1, kernel.size() - 2);
  return kernel + ": block " + triple(block_.index) + ", thread " + triple(lane.thread) + " (warp " +
         std::to_string(lane.warp->index) + ", lane " + std::to_string(lane.index) + ")";
}

std::string Executor::classified(const char* name, std::string text) const {
  return observer_ == nullptr ? text : std::string(name) + ": " + text;
}

void Executor::fail(const Call& call, const char* what) {
  end_block(
      classified("divergence", describe(*current.lane) + ": " + call_text(call, warp_size_) + " " + what));
  throw Unwind{};
}

void Executor::end_with_fault(const Lane& lane) {
  if (observer_ != nullptr) {
    std::string complaint = observer_->complaint(describe(lane));
    if (!complaint.empty()) return end_block(std::move(complaint));
  }
  const MemoryFault fault = last_fault();
  std::string text = describe(lane) + ": ";
  switch (fault.access) {
    case FaultAccess::division:
      text += "integer division by zero";
      break;
    case FaultAccess::read:
      text += "illegal read of ";
      break;
    case FaultAccess::write:
      text += "illegal write to ";
      break;
    case FaultAccess::unknown:
      text += "illegal access to ";
      break;
  }
  if (fault.access != FaultAccess::division) text += run_->describe_address(fault.address);
  end_block(std::move(text));
}

void Executor::stall() {
  end_block(classified("divergence", explain_stall()));
}

// The first waiting thread, and the first thread that it waits for in vain.
std::string Executor::explain_stall() const {
  const auto waits = [](const Lane& lane) { return (lane.warp->waiting >> lane.index & 1) != 0; };
  const Lane* first = lane_;
  while (!waits(*first)) ++first;
  const Call& call = *first->call;
  for (int i = 0; i < threads_; ++i) {
    const Lane& other = lane_[i];
    const bool named =
        call.complete == nullptr || (other.warp == first->warp && (call.mask >> other.index & 1) != 0);
    if (!named || (waits(other) && same_call(call, *other.call))) continue;
    std::string text = describe(*first) + ": " + call_text(call, warp_size_) + " is never reached by ";
    text += call.complete == nullptr
                ? "thread " + triple(other.thread)
                : "lane " + std::to_string(other.index) + ", thread " + triple(other.thread);
    if (waits(other)) return text + ", which waits in " + call_text(*other.call, warp_size_);
    return text + ", which has returned from the kernel";
  }
  return describe(*first) + ": " + call_text(call, warp_size_) + " never completes";
}

// Lanes that have a stack become ready and unwind when they are resumed; the others are done.
void Executor::end_block(std::string text) {
  if (!ended_) run_->report(block_number_, std::move(text));
  ended_ = true;
  ready_warps_ = 0;
  for (int w = 0; w < warps_; ++w) {
    Warp& warp = warp_[w];
    unfinished_ -= std::popcount(warp.unstarted);
    warp.ready = (warp.ready & ~warp.unstarted) | warp.waiting;
    warp.unstarted = warp.waiting = 0;
    if (warp.ready != 0) ready_warps_ |= std::uint64_t{1} << w;
  }
}

}  // namespace kvr::simt
