// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Bug report A9 in small: the cell that holds the mean is written again while a slow warp may still read it.
// Right as long as warp 0 is not ahead of warp 1, which it is not under forward: there, who arrives last at a
// barrier goes on first, at the first and third barrier warp 1.
#include "tests/cli/conduct_schedule.h"

#include "kernels/common/registry.h"
#include "kernels/common/simt.h"
#include "kernels/common/warp.h"

namespace kvr::KVR_BUILD {
namespace {

KVR_GLOBAL void reused_cell(const ConductScheduleArgs a) {
  __shared__ float row[64];
  __shared__ float sums[2];
  __shared__ float cell;
  const int t = static_cast<int>(threadIdx.x);
  row[t] = a.x[t];
  __syncthreads();
  const float sum = group_sum<32>(row[63 - t]);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t == 0) cell = (sums[0] + sums[1]) / 64.0F;
  __syncthreads();
  const float d = row[t] - cell;
  const float squares = group_sum<32>(d * d);
  if (a.barrier) __syncthreads();
  if (t == 0) cell = squares;
  __syncthreads();
  a.y[t] = d * cell;
}

LaunchStatus launch_conduct_schedule(const ConductScheduleArgs& a, Stream stream) {
  return KVR_LAUNCH(reused_cell, 1, 64, 0, stream, a);
}

}  // namespace

KVR_REGISTER_KERNEL(conduct_schedule, ConductScheduleArgs)

}  // namespace kvr::KVR_BUILD
