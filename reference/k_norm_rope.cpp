// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "reference/k_norm_rope.h"

#include <cmath>

#include "harness/numeric/codec.h"

namespace kvr::reference {
namespace {

double load(const KNormRopeArgs& args, std::int64_t n, std::int64_t j) {
  const auto* k = static_cast<const std::uint16_t*>(args.k);
  return decode(args.dtype, k[n * args.k_row_stride + j]);
}

std::int64_t position(const KNormRopeArgs& args, std::int64_t n) {
  return args.position_dtype == DType::int64 ? static_cast<const std::int64_t*>(args.positions)[n]
                                             : static_cast<const std::int32_t*>(args.positions)[n];
}

}  // namespace

template <class Real>
void k_norm_rope_row(const KNormRopeArgs& args, std::int64_t n, Real* y, double* budget) {
  const std::int64_t D = args.head_dim;
  const std::int64_t R = args.rotary_dim;
  Real d[256];
  Real z[256];

  Real sum = 0;
  double sum_abs = 0.0;
  for (std::int64_t j = 0; j < D; ++j) {
    d[j] = static_cast<Real>(load(args, n, j));
    sum += d[j];
    sum_abs += std::fabs(static_cast<double>(d[j]));
  }
  const Real mean = sum / static_cast<Real>(D);
  Real squares = 0;
  for (std::int64_t j = 0; j < D; ++j) {
    d[j] -= mean;
    squares += d[j] * d[j];
  }
  const Real variance = squares / static_cast<Real>(D);
  const Real inv = Real(1) / std::sqrt(variance + static_cast<Real>(args.eps));
  for (std::int64_t j = 0; j < D; ++j)
    z[j] = d[j] * inv * static_cast<Real>(args.weight[j]) + static_cast<Real>(args.bias[j]);

  // How far fp32 may take each z: see the header.
  const double u = 0x1p-24;
  const double kUnderflow =
      0x1p-147;  // four roundings among the subnormals of fp32, half a step of 2^-149 each
  const double L = 7.0 + std::log2(static_cast<double>(D) / 8.0);
  const double dm = L * u * sum_abs / static_cast<double>(D);
  const double v = static_cast<double>(variance);
  const double rho = ((L + 3.0) * u * v + dm * dm) / (2.0 * (v + static_cast<double>(args.eps))) + 4.5 * u;
  double dz[256];
  for (std::int64_t j = 0; j < D; ++j) {
    const double dj = std::fabs(static_cast<double>(d[j]));
    const double gain = std::fabs(static_cast<double>(inv) * static_cast<double>(args.weight[j]));
    dz[j] = gain * (dm + u * dj) + dj * gain * (rho + 2.0 * u) + u * std::fabs(static_cast<double>(z[j])) +
            kUnderflow;
  }

  for (std::int64_t j = 0; j < D; ++j) {
    y[j] = z[j];
    if (budget != nullptr) budget[j] = 1.01 * dz[j];
  }
  const float* cos = args.cos_sin + position(args, n) * args.cos_sin_row_stride;
  const float* sin = cos + R / 2;
  for (std::int64_t i = 0; i < R / 2; ++i) {
    const std::int64_t a = args.pairing == Pairing::interleaved ? 2 * i : i;
    const std::int64_t b = args.pairing == Pairing::interleaved ? 2 * i + 1 : i + R / 2;
    const Real c = static_cast<Real>(cos[i]);
    const Real s = static_cast<Real>(sin[i]);
    y[a] = z[a] * c - z[b] * s;
    y[b] = z[a] * s + z[b] * c;
    if (budget == nullptr) continue;
    const double ac = std::fabs(static_cast<double>(c));
    const double as = std::fabs(static_cast<double>(s));
    const double za = std::fabs(static_cast<double>(z[a]));
    const double zb = std::fabs(static_cast<double>(z[b]));
    budget[a] =
        1.01 * (ac * dz[a] + as * dz[b] + u * (za * ac + zb * as) + u * std::fabs(static_cast<double>(y[a])));
    budget[b] =
        1.01 * (as * dz[a] + ac * dz[b] + u * (za * as + zb * ac) + u * std::fabs(static_cast<double>(y[b])));
  }
}

template void k_norm_rope_row<float>(const KNormRopeArgs&, std::int64_t, float*, double*);
template void k_norm_rope_row<double>(const KNormRopeArgs&, std::int64_t, double*, double*);

}  // namespace kvr::reference
