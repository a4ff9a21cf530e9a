// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The quantile as a function of t = 2 m + 1 (p = t / 2^33) is smooth on each octave of t and self-similar
// between octaves, so each octave [2^k, 2^(k+1)), k = 0 .. 31, is cut into 32 equal segments with a cubic
// each. The exponent and the upper five mantissa bits of t as a double are the number of the segment, the
// remaining bits are the place in it.
//
// Error of a cubic through the nodes 0, 1/4, 3/4, 1 of a segment of length h: max |f''''| h^4 / 24 * 1/64.
// With h = t/32 at the start of an octave and t^4 f'''' <= 6 (f behaves like sqrt(-2 log t), or flatter),
// that is 6 / (32^4 * 24 * 64) = 3.7e-9. The ends are nodes: the curve is continuous, and exactly zero at p =
// 1/2, so small values keep their sign.
#include "harness/random/normal.h"

#include <array>
#include <bit>
#include <cmath>

#include "harness/random/elementary.h"

namespace kvr {
namespace {

constexpr int kOctaves = 32;
constexpr int kSegmentBits = 5;
constexpr int kSegments = 1 << kSegmentBits;

struct Cubic {
  double c0, c1, c2, c3;  // c0 + c1 s + c2 s^2 + c3 s^3, s in [0, 1)
};

// Coefficients of the polynomial through (0, f0), (1/4, f1), (3/4, f2), (1, f3), by divided differences.
Cubic interpolate(double f0, double f1, double f2, double f3) {
  const double d01 = (f1 - f0) * 4.0;
  const double d12 = (f2 - f1) * 2.0;
  const double d23 = (f3 - f2) * 4.0;
  const double d012 = (d12 - d01) / 0.75;
  const double d123 = (d23 - d12) / 0.75;
  const double d = d123 - d012;
  return {f0, (d01 - d012 * 0.25) + d * 0.1875, d012 - d, d};
}

class QuantileTable {
 public:
  QuantileTable() {
    double start = 0x1p-33;  // p at the start of the octave
    for (int octave = 0; octave < kOctaves; ++octave, start *= 2) {
      for (int segment = 0; segment < kSegments; ++segment) {
        const auto value = [&](double s) {
          return -normal_quantile(start * (1.0 + (segment + s) / kSegments));
        };
        cubics_[static_cast<std::size_t>(octave * kSegments + segment)] =
            interpolate(value(0.0), value(0.25), value(0.75), value(1.0));
      }
    }
  }

  float operator()(std::uint32_t word) const {
    constexpr int kFractionBits = 52;
    const auto t = static_cast<double>(static_cast<std::int64_t>(word << 1 | 1U));
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(t);
    // The exponent is biased by 1023, whose lower five bits are 31: t = 1 has segment number 1023 * 32.
    const std::uint64_t number =
        (bits >> (kFractionBits - kSegmentBits)) - (std::uint64_t{1023} << kSegmentBits);
    const std::uint64_t place = (bits << kSegmentBits) & ((std::uint64_t{1} << kFractionBits) - 1);
    const double s = std::bit_cast<double>(place | std::uint64_t{1023} << kFractionBits) - 1.0;
    const Cubic& c = cubics_[number];
    const double magnitude = c.c0 + s * (c.c1 + s * (c.c2 + s * c.c3));
    const auto narrow = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude));
    return std::bit_cast<float>(narrow | (word & 0x80000000U));
  }

 private:
  std::array<Cubic, static_cast<std::size_t>(kOctaves* kSegments)>
      cubics_;  // 32 KiB; half of all draws use 1 KiB of it
};

const QuantileTable& quantile_table() {
  static const QuantileTable table;
  return table;
}

template <std::size_t N>
double polynomial(const std::array<double, N>& ascending, double x) {
  double sum = ascending[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + ascending[i];
  return sum;
}

// Coefficients of AS 241, PPND16, in the paper's letters.
constexpr std::array kA{3.3871328727963666080e0,  1.3314166789178437745e+2, 1.9715909503065514427e+3,
                        1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
                        3.3430575583588128105e+4, 2.5090809287301226727e+3};
constexpr std::array kB{1.0,
                        4.2313330701600911252e+1,
                        6.8718700749205790830e+2,
                        5.3941960214247511077e+3,
                        2.1213794301586595867e+4,
                        3.9307895800092710610e+4,
                        2.8729085735721942674e+4,
                        5.2264952788528545610e+3};
constexpr std::array kC{1.42343711074968357734e0,  4.63033784615654529590e0, 5.76949722146069140550e0,
                        3.64784832476320460504e0,  1.27045825245236838258e0, 2.41780725177450611770e-1,
                        2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr std::array kD{1.0,
                        2.05319162663775882187e0,
                        1.67638483018380384940e0,
                        6.89767334985100004550e-1,
                        1.48103976427480074590e-1,
                        1.51986665636164571966e-2,
                        5.47593808499534494600e-4,
                        1.05075007164441684324e-9};
constexpr std::array kE{6.65790464350110377720e0,  5.46378491116411436990e0,  1.78482653991729133580e0,
                        2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                        2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr std::array kF{1.0,
                        5.99832206555887937690e-1,
                        1.36929880922735805310e-1,
                        1.48753612908506148525e-2,
                        7.86869131145613259100e-4,
                        1.84631831751005468180e-5,
                        1.42151175831644588870e-7,
                        2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  const double tail = q < 0 ? p : 1.0 - p;
  const double r = std::sqrt(-portable_log(tail));
  const double z = r <= 5.0 ? polynomial(kC, r - 1.6) / polynomial(kD, r - 1.6)
                            : polynomial(kE, r - 5.0) / polynomial(kF, r - 5.0);
  return q < 0 ? -z : z;
}

float normal_from_word(std::uint32_t word) {
  return quantile_table()(word);
}

void normal_from_words(const std::uint32_t* words, float* out, std::size_t count) {
  const QuantileTable& table = quantile_table();
  for (std::size_t i = 0; i < count; ++i) out[i] = table(words[i]);
}

}  // namespace kvr
