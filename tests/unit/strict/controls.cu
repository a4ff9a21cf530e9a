// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// "finds: NAME" marks the line that strict mode must name for the faulty kernel.
#include "tests/unit/strict/controls.h"

#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/vec.h"

namespace kvr::KVR_BUILD {
namespace {

constexpr int kThreads = 128;

template <bool Faulty>
KVR_GLOBAL void tail_store(const ControlArgs a) {
  const std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * 4;
  if (column >= a.width) return;
  const std::int64_t at = blockIdx.x * a.pitch + column;
  if (Faulty || column + 4 <= a.width) {
    store_vec<8>(a.out + at, load_vec<8, 4>(a.in + blockIdx.x * a.pitch));  // finds: tail_store next_row
  } else {
    for (std::int64_t c = column; c < a.width; ++c) a.out[blockIdx.x * a.pitch + c] = 1.0F;
  }
}

template <bool Faulty>
KVR_GLOBAL void negative_slot(const ControlArgs a) {
  const std::int64_t slot = a.slots[blockIdx.x];
  if (!Faulty && slot < 0) return;
  if (threadIdx.x < 8) a.out[slot * a.pitch + threadIdx.x] = 1.0F;  // finds: negative_slot
}

template <bool Faulty>
KVR_GLOBAL void shared_end(const ControlArgs a) {
  __shared__ float scratch[kThreads];
  scratch[threadIdx.x + (Faulty ? 1 : 0)] = 1.0F;  // finds: shared_end
  __syncthreads();
  if (threadIdx.x == 0) a.out[blockIdx.x * a.pitch] = scratch[1];
}

template <bool Faulty>
KVR_GLOBAL void dynamic_shared_end(const ControlArgs a) {
  KVR_DYNAMIC_SHARED(float, scratch);
  scratch[threadIdx.x + (Faulty ? 1 : 0)] = 1.0F;  // finds: dynamic_shared_end
  __syncthreads();
  if (threadIdx.x == 0) a.out[blockIdx.x * a.pitch] = scratch[1];
}

template <bool Faulty>
KVR_GLOBAL void strided_rows(const ControlArgs a) {
  if (threadIdx.x >= a.width) return;
  const std::int64_t at = blockIdx.x * a.pitch + threadIdx.x;
  a.out[at - (Faulty && blockIdx.x == 2 ? a.width : 0)] = a.in[at];  // finds: strided_rows
}

template <bool Faulty>
KVR_GLOBAL void wrapped(const ControlArgs a) {
  if (threadIdx.x != 0) return;
  const auto last = reinterpret_cast<const float*>(~std::uintptr_t{0} - 3);
  const float* const from = Faulty ? last : a.in;
  a.out[blockIdx.x * a.pitch] = *from;  // finds: wrapped
}

template <bool Faulty>
KVR_GLOBAL void host_heap(const ControlArgs a) {
  const float* const from = Faulty ? a.heap : a.in;
  if (threadIdx.x == 0) a.out[blockIdx.x * a.pitch] = from[1];  // finds: host_heap
}

constexpr float kConstants[8] = {8, 7, 6, 5, 4, 3, 2, 1};

struct Shape {
  virtual ~Shape() = default;
  virtual float area(const float* sides) const = 0;
};
struct Square final : Shape {
  float area(const float* sides) const override { return sides[0] * sides[0]; }
};
struct Rectangle final : Shape {
  float area(const float* sides) const override { return sides[0] * sides[1]; }
};

// Indices that the compiler does not know keep everything in memory.
template <bool Faulty>
KVR_GLOBAL void host_memory(const ControlArgs a) {
  static const float table[8] = {0.5F, 1.5F, 2.5F, 3.5F, 4.5F, 5.5F, 6.5F, 7.5F};
  float local[64];
  for (int i = 0; i < 64; ++i) local[(i * 7 + static_cast<int>(threadIdx.x)) % 64] = static_cast<float>(i);
  float copy[64];
  __builtin_memcpy(copy, local, sizeof copy);
  const int at = static_cast<int>(threadIdx.x + blockIdx.x) % 8;
  const Square square;
  const Rectangle rectangle;
  const Shape* const shapes[2] = {&square, &rectangle};
  const auto weigh = [&](int i) { return a.captured[i] * kConstants[i] + table[i] + copy[i * 8]; };
  float x = weigh(at) + shapes[threadIdx.x % 2]->area(local + at);
  x += __shfl_xor_sync(kFullMask, x, 1);
  if (threadIdx.x < a.width) a.out[blockIdx.x * a.pitch + threadIdx.x] = x;
}

template <bool Faulty>
KVR_GLOBAL void global_vector(const ControlArgs a) {
  if (threadIdx.x != 0) return;
  const float* from = a.in + blockIdx.x * a.pitch + (Faulty ? 2 : 4);
  const auto x = load_vec<16, 4>(from);  // finds: global_vector
  a.out[blockIdx.x * a.pitch] = (x[0] + x[1]) + (x[2] + x[3]);
}

template <bool Faulty>
KVR_GLOBAL void shared_vector(const ControlArgs a) {
  KVR_DYNAMIC_SHARED(float, scratch);
  // 2 of blockDim.x / 32 + 2 are wanted; the twin rounds up.
  const unsigned first = Faulty ? blockDim.x / 32 + 2 : (blockDim.x / 32 + 2 + 3) / 4 * 4;
  if (threadIdx.x != 0) return;
  store_vec<16>(scratch + first, load_vec<16, 4>(a.in));  // finds: shared_vector
}

template <bool Faulty>
KVR_GLOBAL void shared_unwritten(const ControlArgs a) {
  __shared__ float total;
  if (!Faulty && threadIdx.x == 0) total = 0.0F;
  __syncthreads();
  if (threadIdx.x == 0) a.out[blockIdx.x * a.pitch] = total;  // finds: shared_unwritten
}

template <bool Faulty>
KVR_GLOBAL void masked_maximum(const ControlArgs a) {
  __shared__ float values[kThreads];
  if (threadIdx.x < a.width) values[threadIdx.x] = a.in[blockIdx.x * a.pitch + threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  float most = -1.0F;
  const std::int64_t end = Faulty ? kThreads : a.width;
  for (std::int64_t t = 0; t < end; ++t) most = values[t] > most ? values[t] : most;  // finds: masked_maximum
  a.out[blockIdx.x * a.pitch] = most;
}

template <bool Faulty>
KVR_GLOBAL void output_read(const ControlArgs a) {
  if (threadIdx.x >= a.width) return;
  const std::int64_t at = blockIdx.x * a.pitch + threadIdx.x;
  if (!Faulty) a.out[at] = 0.0F;
  a.out[at] += a.in[at];  // finds: output_read
}

template <bool Faulty>
KVR_GLOBAL void scratch_reused(const ControlArgs a) {
  __shared__ float scratch[kThreads];
  scratch[threadIdx.x] = a.in[threadIdx.x % 32];
  __syncthreads();
  const float mean = scratch[0] / kThreads;  // finds: scratch_reused
  if (!Faulty) __syncthreads();
  scratch[threadIdx.x] = mean * mean;  // finds: scratch_reused
  __syncthreads();
  if (threadIdx.x < a.width) a.out[blockIdx.x * a.pitch + threadIdx.x] = mean + scratch[threadIdx.x];
}

template <bool Faulty>
KVR_GLOBAL void missing_syncwarp(const ControlArgs a) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = a.in[threadIdx.x % 32];
  if (!Faulty) __syncwarp();
  const float other = values[threadIdx.x ^ 1];  // finds: missing_syncwarp
  if (threadIdx.x < a.width) a.out[blockIdx.x * a.pitch + threadIdx.x] = other;
}

template <bool Faulty>
KVR_GLOBAL void two_writers(const ControlArgs a) {
  const unsigned column = Faulty ? threadIdx.x / 2 : threadIdx.x;
  if (column < 32) a.out[blockIdx.x * a.pitch + column] = a.in[column];  // finds: two_writers
}

template <bool Faulty>
KVR_GLOBAL void read_other_block(const ControlArgs a) {
  if (threadIdx.x != 0) return;
  a.out[blockIdx.x * a.pitch] = a.in[0];
  if (!Faulty) return;
  a.out[blockIdx.x * a.pitch + 1] = blockIdx.x == 0 ? 0.0F : a.out[0];  // finds: read_other_block
}

template <bool Faulty>
KVR_GLOBAL void branch_shuffle(const ControlArgs a) {
  float x = a.in[threadIdx.x % 32];
  if (!Faulty || threadIdx.x % 32 < 16) x = __shfl_xor_sync(kFullMask, x, 8);  // finds: branch_shuffle
  if (threadIdx.x < a.width) a.out[blockIdx.x * a.pitch + threadIdx.x] = x;
}

template <bool Faulty>
KVR_GLOBAL void branch_barrier(const ControlArgs a) {
  if (Faulty && threadIdx.x >= a.width) return;
  __syncthreads();  // finds: branch_barrier
  if (threadIdx.x < a.width) a.out[blockIdx.x * a.pitch + threadIdx.x] = 1.0F;
}

template <bool Faulty>
KVR_GLOBAL void narrow_mask(const ControlArgs a) {
  float x = a.in[threadIdx.x % 32];
  for (int offset = 16; offset > 0; offset /= 2)
    x += __shfl_xor_sync(Faulty ? 0xffffffffU : kFullMask, x, offset);  // finds: narrow_mask
  if (threadIdx.x < a.width) a.out[blockIdx.x * a.pitch + threadIdx.x] = x;
}

template <bool Faulty>
KVR_GLOBAL void rows_of_32(const ControlArgs a) {
  float x = a.in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) {
    if (Faulty) {
      x += __shfl_down_sync(0xffffffffU, x, offset);  // finds: rows_of_32
    } else {
      x += __shfl_down_sync(kFullMask, x, offset, 32);
    }
  }
  if (threadIdx.x == 0) a.out[blockIdx.x * a.pitch + threadIdx.y] = x;
}

KVR_GLOBAL void one_per_block(const ControlArgs a) {
  if (threadIdx.x + threadIdx.y == 0) a.out[(blockIdx.x + blockIdx.y) % a.rows * a.pitch] = 1.0F;
}

#define KVR_CONTROL(name, block, shared)                                       \
  case Control::name:                                                          \
    return a.faulty ? KVR_LAUNCH(name<true>, a.rows, block, shared, stream, a) \
                    : KVR_LAUNCH(name<false>, a.rows, block, shared, stream, a);

LaunchStatus launch_strict_control(const ControlArgs& a, Stream stream) {
  constexpr std::int64_t kFloats = kThreads * static_cast<std::int64_t>(sizeof(float));
  switch (a.control) {
    KVR_CONTROL(tail_store, kThreads, 0)
    KVR_CONTROL(negative_slot, kThreads, 0)
    KVR_CONTROL(shared_end, kThreads, 0)
    KVR_CONTROL(dynamic_shared_end, kThreads, kFloats)
    KVR_CONTROL(global_vector, kThreads, 0)
    KVR_CONTROL(shared_vector, kThreads, kFloats)
    KVR_CONTROL(shared_unwritten, kThreads, 0)
    KVR_CONTROL(masked_maximum, kThreads, 0)
    KVR_CONTROL(output_read, kThreads, 0)
    KVR_CONTROL(scratch_reused, kThreads, 0)
    KVR_CONTROL(missing_syncwarp, kThreads, 0)
    KVR_CONTROL(two_writers, kThreads, 0)
    KVR_CONTROL(read_other_block, kThreads, 0)
    KVR_CONTROL(branch_shuffle, kThreads, 0)
    KVR_CONTROL(branch_barrier, kThreads, 0)
    KVR_CONTROL(narrow_mask, kThreads, 0)
    KVR_CONTROL(rows_of_32, (Extent{32, 4}), 0)
    case Control::next_row: {
      // The same kernel on packed rows.
      return a.faulty ? KVR_LAUNCH(tail_store<true>, a.rows, kThreads, 0, stream, a)
                      : KVR_LAUNCH(tail_store<false>, a.rows, kThreads, 0, stream, a);
    }
      KVR_CONTROL(strided_rows, kThreads, 0)
      KVR_CONTROL(wrapped, kThreads, 0)
      KVR_CONTROL(host_heap, kThreads, 0)
      KVR_CONTROL(host_memory, kThreads, 0)
    case Control::block_threads:
      return a.faulty ? KVR_LAUNCH(one_per_block, a.rows, (Extent{32, 33}), 0, stream, a)
                      : KVR_LAUNCH(one_per_block, a.rows, (Extent{32, 32}), 0, stream, a);
    case Control::shared_size:
      return a.faulty ? KVR_LAUNCH(one_per_block, a.rows, 32, 65536 + 16, stream, a)
                      : KVR_LAUNCH(one_per_block, a.rows, 32, 49152, stream, a);
    case Control::grid_y:
      return a.faulty ? KVR_LAUNCH(one_per_block, (Extent{1, 65536}), 32, 0, stream, a)
                      : KVR_LAUNCH(one_per_block, (Extent{2, 1}), 32, 0, stream, a);
  }
  return LaunchStatus::refused("control: unknown");
}

}  // namespace

KVR_REGISTER_KERNEL(strict_control, ControlArgs)

}  // namespace kvr::KVR_BUILD
