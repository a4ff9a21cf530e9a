// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// What KVR_LAUNCH expands to. Included by simt.h only.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "kernels/common/simt.h"

namespace kvr {

#if defined(KVR_PLATFORM_cpu)

inline namespace KVR_SIMT_WARP_NAMESPACE {

template <class... Params>
LaunchStatus launch_kernel(const char* name, void (*kernel)(Params...), Extent grid, Extent block,
                           std::int64_t shared_bytes, void* stream, std::type_identity_t<Params>... args) {
  struct Call {
    void (*kernel)(Params...);
    std::tuple<Params...> args;
  };
  const Call call{kernel, {args...}};
  simt::LaunchRequest request;
  request.kernel = name;
  request.warp_size = KVR_SIMT_WARP_SIZE;
  request.grid = {grid.x, grid.y, grid.z};
  request.block = {block.x, block.y, block.z};
  request.shared_bytes = shared_bytes;
  request.thread_main = [](const void* data) {
    const Call& c = *static_cast<const Call*>(data);
    std::apply(c.kernel, c.args);
  };
  request.thread_data = &call;
  return simt::launch(static_cast<simt::Device*>(stream), request);
}

}  // namespace KVR_SIMT_WARP_NAMESPACE

#elif defined(__CUDACC__) || defined(__HIPCC__)

#if defined(KVR_PLATFORM_cuda)
#define KVR_RUNTIME(name) cuda##name
#else
#define KVR_RUNTIME(name) hip##name
#endif

namespace detail {

inline std::string runtime_text(const char* kernel, KVR_RUNTIME(Error_t) error) {
  return std::string(kernel) + ": " + KVR_RUNTIME(GetErrorName)(error) + ": " +
         KVR_RUNTIME(GetErrorString)(error);
}

// The runtime takes 32-bit extents and checks its limits; what would wrap before it sees them is caught here.
inline bool wraps(std::int64_t n) {
  return n < 0 || n > INT64_C(0xffffffff);
}

inline dim3 to_dim3(const Extent& e) {
  return dim3(static_cast<unsigned>(e.x), static_cast<unsigned>(e.y), static_cast<unsigned>(e.z));
}

}  // namespace detail

template <class... Params>
LaunchStatus launch_kernel(const char* name, void (*kernel)(Params...), Extent grid, Extent block,
                           std::int64_t shared_bytes, void* stream, std::type_identity_t<Params>... args) {
  for (const std::int64_t n : {grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes}) {
    if (detail::wraps(n)) {
      return LaunchStatus::error(std::string(name) + ": launch extent " + std::to_string(n) +
                                 " does not fit in 32 bits");
    }
  }
  (void)KVR_RUNTIME(GetLastError)();
  constexpr std::int64_t kSharedWithoutOptIn =
      49152;  // more dynamic shared memory than this must be asked for
  if (shared_bytes > kSharedWithoutOptIn) {
    const auto error = KVR_RUNTIME(FuncSetAttribute)(reinterpret_cast<const void*>(kernel),
                                                     KVR_RUNTIME(FuncAttributeMaxDynamicSharedMemorySize),
                                                     static_cast<int>(shared_bytes));
    if (error != KVR_RUNTIME(Success)) {
      (void)KVR_RUNTIME(GetLastError)();
      return LaunchStatus::error(detail::runtime_text(name, error) + " (" + std::to_string(shared_bytes) +
                                 " bytes of shared memory)");
    }
  }
  kernel<<<detail::to_dim3(grid), detail::to_dim3(block), static_cast<std::size_t>(shared_bytes),
           static_cast<KVR_RUNTIME(Stream_t)>(stream)>>>(args...);
  const auto error = KVR_RUNTIME(GetLastError)();
  return error == KVR_RUNTIME(Success) ? LaunchStatus{}
                                       : LaunchStatus::error(detail::runtime_text(name, error));
}

#undef KVR_RUNTIME

#endif

}  // namespace kvr
