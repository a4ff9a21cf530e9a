// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// How a kernel makes itself known. A kernel source is compiled once per build (cuda, hip, warp32, warp64, and
// again for each source fault); KVR_BUILD is the namespace its symbols live in and KVR_BUILD_NAME the build's
// name, so all of them link into one program. A kernel needs one line: KVR_REGISTER_KERNEL(k_norm_rope,
// KNormRopeArgs).
#pragma once

#include <typeinfo>

#include "kernels/common/registry_types.h"

#if !defined(KVR_BUILD) || !defined(KVR_BUILD_NAME)
#error "KVR_BUILD and KVR_BUILD_NAME name the build a kernel is compiled for; kvr_add_kernel() defines them"
#endif
#ifndef KVR_FAULT
#define KVR_FAULT ""  // the production kernel; a source fault's name otherwise
#endif

// In namespace kvr::KVR_BUILD, after `LaunchStatus launch_<kernel>(const Args&, Stream)` has been defined.
// KVR_BUILD, KVR_BUILD_NAME and KVR_FAULT are read where the macro is expanded: a file that holds many faults
// includes this header once and defines KVR_BUILD and KVR_FAULT anew before each.
#define KVR_REGISTER_KERNEL(kernel, Args)                                                    \
  namespace {                                                                                \
  [[maybe_unused]] const bool registered_##kernel = ::kvr::register_kernel(                  \
      {#kernel, KVR_BUILD_NAME, KVR_FAULT, std::type_index(typeid(Args)),                    \
       reinterpret_cast<void (*)()>(static_cast<::kvr::Launcher<Args>>(&launch_##kernel))}); \
  }
