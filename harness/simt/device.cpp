// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/simt/device.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/simt/executor.h"

namespace kvr::simt {
namespace {

std::string kernel_name(const LaunchRequest& request) {
  const std::string name = request.kernel;
  return name.size() > 1 && name.front() == '(' && name.back() == ')' ? name.substr(1, name.size() - 2)
                                                                      : name;
}

// What is wrong with the launch; nothing when all is well.
std::optional<std::string> complaint(const LaunchRequest& request, const Limits& limits) {
  const auto exceeds = [](const std::string& what, std::int64_t value, std::int64_t limit) {
    return what + std::to_string(value) + " exceeds " + std::to_string(limit);
  };
  if (request.warp_size != limits.warp_size) {
    return "built for warps of " + std::to_string(request.warp_size) +
           ", launched on a device with warps of " + std::to_string(limits.warp_size);
  }
  const char axis[] = {'x', 'y', 'z'};
  for (std::size_t a = 0; a < 3; ++a) {
    if (request.grid[a] < 1)
      return std::string("grid ") + axis[a] + " of " + std::to_string(request.grid[a]) + " is empty";
    if (request.block[a] < 1)
      return std::string("block ") + axis[a] + " of " + std::to_string(request.block[a]) + " is empty";
    if (request.grid[a] > limits.grid[a])
      return exceeds(std::string("grid ") + axis[a] + " of ", request.grid[a], limits.grid[a]);
  }
  // The product first: it is what people get wrong. No axis beyond 2^20, so that it cannot wrap.
  const bool small = request.block[0] < 1 << 20 && request.block[1] < 1 << 20 && request.block[2] < 1 << 20;
  const std::int64_t threads = small ? request.block[0] * request.block[1] * request.block[2] : 0;
  if (threads > limits.threads_per_block) {
    return "block of " + std::to_string(threads) + " threads exceeds " +
           std::to_string(limits.threads_per_block);
  }
  for (std::size_t a = 0; a < 3; ++a) {
    if (request.block[a] > limits.block[a])
      return exceeds(std::string("block ") + axis[a] + " of ", request.block[a], limits.block[a]);
  }
  if (request.shared_bytes < 0) {
    return "shared memory of " + std::to_string(request.shared_bytes) + " bytes is negative";
  }
  if (request.shared_bytes > limits.shared_bytes) {
    return "shared memory of " + std::to_string(request.shared_bytes) + " bytes exceeds " +
           std::to_string(limits.shared_bytes);
  }
  return std::nullopt;
}

}  // namespace

Limits Limits::warp64() {
  Limits limits;
  limits.warp_size = 64;
  limits.block = {1024, 1024, 1024};
  limits.shared_bytes = 65536;
  return limits;
}

struct Device::Arena {
  explicit Arena(int threads)
      : workers(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  tbb::global_control workers;  // lets more threads run than there are cores, when asked for
  tbb::task_arena arena;
};

Device::Device(const Limits& limits, int threads, const Schedule& schedule)
    : limits_(limits), schedule_(schedule) {
  if (threads < 0)
    throw std::invalid_argument("threads must be 0 (all cores) or more, not " + std::to_string(threads));
  const int count = threads == 0 ? tbb::info::default_concurrency() : threads;
  if (count > 1) arena_ = std::make_unique<Arena>(count);
}

Device::~Device() = default;

void MemoryMap::add(const void* data, std::int64_t bytes, std::string name) {
  entries_[reinterpret_cast<std::uintptr_t>(data)] = {bytes, std::move(name)};
}

void MemoryMap::remove(const void* data) {
  entries_.erase(reinterpret_cast<std::uintptr_t>(data));
}

std::string MemoryMap::describe(std::uintptr_t address) const {
  // The tensor that begins at or below the address, or the one above when that is nearer.
  const auto above = entries_.upper_bound(address);
  auto nearest = above;
  if (above != entries_.begin()) {
    const auto below = std::prev(above);
    const std::uintptr_t end = below->first + static_cast<std::uintptr_t>(below->second.bytes);
    const std::uintptr_t behind = address < end ? 0 : address - end;
    if (above == entries_.end() || behind < above->first - address) nearest = below;
  }
  if (nearest == entries_.end()) return "memory of no tensor";
  const auto offset = static_cast<std::int64_t>(address - nearest->first);
  return "'" + nearest->second.name + "' " + (offset < 0 ? "- " : "+ ") +
         std::to_string(offset < 0 ? -offset : offset) + " bytes (it has " +
         std::to_string(nearest->second.bytes) + ")";
}

LaunchStatus Device::launch(const LaunchRequest& request) {
  if (const auto wrong = complaint(request, limits_))
    return LaunchStatus::error((observer_ == nullptr ? "" : "launch limit: ") + kernel_name(request) + ": " +
                               *wrong);
  const std::int64_t threads = request.block[0] * request.block[1] * request.block[2];
  most_warps_ =
      std::max(most_warps_, static_cast<int>((threads + limits_.warp_size - 1) / limits_.warp_size));
  LaunchRequest seeded = request;
  seeded.envelope_seed = envelope_seed_;
  LaunchRun run(seeded, schedule_, memory_, observer_);
  const FaultGuard guard;
  if (observer_ != nullptr) {
    observer_->begin_launch(request);
    Executor::local().run(run, 0, run.blocks());
    observer_->end_launch();
  } else if (!arena_) {
    Executor::local().run(run, 0, run.blocks());
  } else {
    arena_->arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, run.blocks()),
                        [&](const tbb::blocked_range<std::int64_t>& range) {
                          Executor::local().run(run, range.begin(), range.end());
                        });
    });
  }
  if (!run.error().empty() && pending_.ok()) pending_ = LaunchStatus::error(run.error());
  return {};
}

LaunchStatus Device::synchronize() {
  return std::exchange(pending_, {});
}

LaunchStatus launch(Device* device, const LaunchRequest& request) {
  if (device == nullptr) return LaunchStatus::error(kernel_name(request) + ": no device to launch on");
  return device->launch(request);
}

}  // namespace kvr::simt
