// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Strict mode: sees every load and store of the launches it observes and stops the first that a GPU would not
// forgive. Kernels built for it call the __tsan_* functions of entry_points.cpp before each access; the
// active checker of the host thread judges it:
//
//   bounds              the bytes belong to no tensor's elements and not to the block's shared memory
//   misaligned          the address is no multiple of the access's width
//   uninitialised read  a byte of an output or of shared memory that nobody wrote
//   race                two accesses of one byte, one of them a write, not both atomic, that no barrier or
//                       __syncwarp orders (order.h)
//   divergence          a barrier or collective that not all its lanes reach (found by the executor)
//   launch limit        block, grid or shared memory beyond the device's
//
// A finding is the error of its launch and begins with its class.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/simt/device.h"
#include "harness/simt/observer.h"
#include "harness/strict/device_memory.h"
#include "harness/strict/host_memory.h"
#include "harness/strict/order.h"
#include "harness/strict/shared_symbols.h"
#include "harness/strict/traffic.h"

namespace kvr::strict {

struct Access {
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
  bool write = false;
  bool read = true;  // an atomic update is both
  bool atomic = false;
  bool natural = true;  // must be aligned to its width
  std::uintptr_t return_address = 0;
};

class Checker final : public simt::Observer {
 public:
  DeviceMap& memory() { return memory_; }
  // Traffic is recorded from the next launch on; it costs time and memory per access.
  void record_traffic(bool on) { records_traffic_ = on; }
  // Of the launches since the last call. Blocks that end with a finding do not count.
  LaunchTraffic take_traffic() { return traffic_.take(); }

  // Of this host thread; null when no block runs here.
  static Checker* active();
  void check(const Access& access);

  void begin_launch(const simt::LaunchRequest& request) override;
  void end_launch() override;
  void begin_block(const simt::BlockView& block) override;
  void end_block(bool completed) override;
  void at_barrier() override;
  void at_meeting(const simt::Warp& warp, const simt::Call& call) override;
  std::string complaint(const std::string& lane) override;

 private:
  struct Finding {
    const char* what;  // the class
    Access access;
    std::string where;  // "global 'k' element 3 (byte 6)"
    std::string why;    // "", or what it contradicts
  };
  enum class Space : std::uint8_t { global, shared };

  void check_global(Tensor& tensor, const Access& access);
  void check_shared(std::uintptr_t begin, std::uintptr_t end, const std::string* name, const Access& access);
  void check_outside(const Access& access);
  void check_alignment(const Access& access, std::uint64_t offset, const Tensor* tensor,
                       const std::string* name);
  // One run of bytes within a page.
  void check_order(ShadowPage& page, std::uint64_t offset, std::uint64_t bytes, const Access& access,
                   Space space, const Tensor* tensor, const std::string* name, std::uint64_t position);
  [[noreturn]] void stop(const char* what, const Access& access, std::string where, std::string why = "");
  void note_traffic(const Access& access, std::uint32_t memory);
  static std::string global_place(const Tensor& tensor, std::int64_t offset);
  std::string shared_place(const std::string* name, std::int64_t offset) const;
  std::string describe(const Mark& mark, bool write) const;

  DeviceMap memory_;
  Shadow shared_shadow_;  // pages by address, since static and dynamic shared memory lie apart
  Traffic traffic_;
  bool records_traffic_ = false;

  // The launch being observed.
  std::optional<HostMemory> host_;
  std::optional<SharedVariables> variables_;
  Order order_;
  simt::BlockView block_;
  std::uint32_t block_mark_ = 0;
  std::optional<Finding> finding_;
};

}  // namespace kvr::strict
