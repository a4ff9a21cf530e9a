// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// An emulated device: its limits, how many host threads run it, in which order it resumes lanes, and the
// error it will report at the next synchronisation. The Stream of the cpu platform is a pointer to one of
// these.
//
// A launch is checked against the limits first ("k: block of 1500 threads exceeds 1024"); a faulty launch
// runs nothing. Then it runs to its end before launch() returns; what a kernel did wrong surfaces at
// synchronize(), as on a GPU. The error reported is that of the lowest block, whatever the number of threads.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/types.h"

namespace kvr::simt {

using Extents = std::array<std::int64_t, 3>;

struct Limits {
  int warp_size = 32;
  std::int64_t threads_per_block = 1024;
  Extents block = {1024, 1024, 64};
  Extents grid = {2147483647, 65535, 65535};
  std::int64_t shared_bytes = 49152;

  static Limits warp32() { return {}; }
  static Limits warp64();  // 64 KiB of LDS
};

// In which order the lanes of a block are resumed. Any order is legal; a kernel whose result depends on it is
// wrong.
struct Schedule {
  enum class Kind : std::uint8_t {
    forward,      // the lowest ready lane of the current warp, then of the lowest warp
    reverse,      // the highest
    round_robin,  // the lowest ready lane of the next warp: warps keep pace with each other
    ahead,        // one warp (seed modulo their number) goes as far as it can before any other does a thing
    last,         // one warp (likewise) does nothing while any other can go on
    random,       // any ready lane of the block, drawn from the seed and the block's index
  };
  Kind kind = Kind::forward;
  std::uint64_t seed = 0;
  std::string_view name() const;
  static std::vector<std::string> names();
  // Throws std::invalid_argument listing the names.
  static Schedule parse(std::string_view name, std::uint64_t seed);
};

struct LaunchRequest {
  const char* kernel = "";  // as written at the launch
  int warp_size = 32;       // what the kernel was compiled for
  Extents grid = {1, 1, 1};
  Extents block = {1, 1, 1};
  std::int64_t shared_bytes = 0;
  void (*thread_main)(const void*) = nullptr;  // runs the kernel for the current lane
  const void* thread_data = nullptr;
  std::uint64_t envelope_seed = 0;  // set by the device
};

// The tensors in a device's memory, so that an error can name the one an address belongs to.
class MemoryMap {
 public:
  void add(const void* data, std::int64_t bytes, std::string name);
  void remove(const void* data);
  // "'k' + 8192 bytes (it has 4096)"; the nearest tensor when the address lies in none.
  std::string describe(std::uintptr_t address) const;

 private:
  struct Entry {
    std::int64_t bytes;
    std::string name;
  };
  std::map<std::uintptr_t, Entry> entries_;  // by the address of the first byte
};

class Observer;

class Device {
 public:
  // threads: host threads, 0 = all cores.
  Device(const Limits& limits, int threads, const Schedule& schedule);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  LaunchStatus launch(const LaunchRequest& request);
  // The first error since the last call, which it clears.
  LaunchStatus synchronize();
  const Limits& limits() const { return limits_; }
  // The arithmetic envelope of the launches to come; 0 is off.
  void set_envelope_seed(std::uint64_t seed) { envelope_seed_ = seed; }
  void set_schedule(const Schedule& schedule) { schedule_ = schedule; }
  // Warps of the largest block launched so far.
  int most_warps() const { return most_warps_; }
  // Not to be changed while a launch runs.
  MemoryMap& memory() { return memory_; }
  // Watches every launch from now on, each of which runs on the launching thread. Must outlive them.
  void observe(Observer* observer) { observer_ = observer; }

 private:
  struct Arena;
  Limits limits_;
  Schedule schedule_;
  MemoryMap memory_;
  std::uint64_t envelope_seed_ = 0;
  int most_warps_ = 0;
  Observer* observer_ = nullptr;
  std::unique_ptr<Arena> arena_;  // none for one thread
  LaunchStatus pending_;
};

// For KVR_LAUNCH: an error when there is no device.
LaunchStatus launch(Device* device, const LaunchRequest& request);

}  // namespace kvr::simt
