// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What the registry of kernels holds: one entry per kernel, build and source fault.
#pragma once

#include <typeindex>

#include "kernels/common/types.h"

namespace kvr {

// The stream a launch goes to: cudaStream_t, hipStream_t, or the cpu machine's simt::Device*.
using Stream = void*;

template <class Args>
using Launcher = LaunchStatus (*)(const Args&, Stream);

struct KernelEntry {
  const char* kernel;  // "k_norm_rope"
  const char* build;   // "warp32", "warp64", "cuda", "hip"
  const char* fault;   // "" for the production kernel
  std::type_index args;
  void (*launch)();  // a Launcher<Args>, cast back by whoever names Args
};

// Called during start-up only. Defined by the harness (harness/machine). Returns true, for use as an
// initialiser.
bool register_kernel(const KernelEntry& entry);
// Likewise: the kernel is compiled for machines whose warps have `warp_size` lanes only. kvr_add_kernel(...
// WARP_SIZE 32) says it.
bool limit_kernel_to_warps(const char* kernel, int warp_size);

}  // namespace kvr
