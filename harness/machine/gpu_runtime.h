// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// One name for the CUDA and the HIP runtime: KVR_GPU(Malloc) is cudaMalloc or hipMalloc, which take the same
// arguments. KVR_GPU_CHECK(call) makes the call and throws a GpuError that names the expression, the place,
// the error and its text.
#pragma once

#if defined(KVR_PLATFORM_cuda)
#include <cuda_runtime_api.h>
#define KVR_GPU(name) cuda##name
#elif defined(KVR_PLATFORM_hip)
#include <hip/hip_runtime_api.h>
#define KVR_GPU(name) hip##name
#else
#error "harness/machine/gpu_* is built on cuda and hip only"
#endif

#include <stdexcept>
#include <string>

namespace kvr::gpu {

#if defined(KVR_PLATFORM_cuda)
inline constexpr const char* kPlatform = "cuda";
using DeviceProperties = cudaDeviceProp;
#else
inline constexpr const char* kPlatform = "hip";
using DeviceProperties = hipDeviceProp_t;
#endif

using Error = KVR_GPU(Error_t);

class GpuError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// "cudaErrorIllegalAddress: an illegal memory access was encountered"
inline std::string error_text(Error error) {
  const std::string name = KVR_GPU(GetErrorName)(error);
  const std::string text = KVR_GPU(GetErrorString)(error);
  return name == text ? name : name + ": " + text;  // older HIP has no text but the name
}

inline void check(Error error, const char* expression, const char* file, int line) {
  if (error == KVR_GPU(Success)) return;
  (void)KVR_GPU(GetLastError)();  // reported here, so not again by the next launch
  throw GpuError(std::string(file) + ":" + std::to_string(line) + ": " + expression + ": " +
                 error_text(error));
}

}  // namespace kvr::gpu

#define KVR_GPU_CHECK(...) \
  KVR_GPU_CHECK_EXPANDED(__VA_ARGS__)  // the text then says cudaMalloc, not KVR_GPU(Malloc)
#define KVR_GPU_CHECK_EXPANDED(...) ::kvr::gpu::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
