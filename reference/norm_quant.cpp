// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "reference/norm_quant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "harness/numeric/codec.h"
#include "harness/numeric/vector_clones.h"

namespace kvr::reference {
namespace {

constexpr std::size_t kBlock = 256;       // elements that share one decision whether anything is open
constexpr double kUnit = 0x1p-24 * 1.01;  // u, and 1 % for second-order terms

std::vector<float> decode_table(DType dtype) {
  std::vector<float> table(65536);
  for (std::uint32_t code = 0; code < 65536; ++code) table[code] = static_cast<float>(decode(dtype, code));
  return table;
}

// Elements [first, first + count) of a tensor of dtype f32, fp16 or bf16.
void load_floats(const void* from, DType dtype, std::int64_t first, std::int64_t count, float* to) {
  static const std::vector<float> fp16_table = decode_table(DType::fp16);
  if (dtype == DType::f32) {
    const float* values = static_cast<const float*>(from) + first;
    std::copy(values, values + count, to);
    return;
  }
  const std::uint16_t* codes = static_cast<const std::uint16_t*>(from) + first;
  if (dtype == DType::bf16) {  // the upper half of an fp32
    for (std::int64_t j = 0; j < count; ++j)
      to[j] = std::bit_cast<float>(static_cast<std::uint32_t>(codes[j]) << 16);
    return;
  }
  const float* table = fp16_table.data();
  for (std::int64_t j = 0; j < count; ++j) to[j] = table[codes[j]];
}

std::int64_t in_offset(const NormQuantArgs& args, std::int64_t n) {
  if (args.rows_per_batch == 0) return n * args.in_row_stride;
  return n / args.rows_per_batch * args.in_batch_stride + n % args.rows_per_batch * args.in_row_stride;
}

bool is_fp8(const NormQuantArgs& args) {
  return args.out_format.encoding != DType::int8;
}

bool divides(const NormQuantArgs& args) {
  return args.quantiser != Quantiser::per_tensor && is_fp8(args);
}

float scale_floor(const NormQuantArgs& args) {
  return is_fp8(args) ? 1.0F / (args.out_format.max * 512.0F) : 0x1p-23F;
}

float given_scale(const NormQuantArgs& args) {
  return args.scale_at != nullptr ? *args.scale_at : args.scale;
}
float given_bound(const NormQuantArgs& args) {
  return args.scale_ub_at != nullptr ? *args.scale_ub_at : args.scale_ub;
}

bool rounds(const NormQuantArgs& args) {
  return args.rounding == RoundingContract::per_op && args.dtype != DType::f32;
}

// Round to nearest even with the floating-point adder: adding 1.5 * 2^23 quanta of the format leaves no bit
// below the quantum. Mantissa: stored bits of the format. For |value| < 2^100: beyond it the sum may
// overflow.
template <int Mantissa>
[[gnu::always_inline]] inline float round_moderate(float value) {
  constexpr float kMinNormal = Mantissa == 7 ? 0x1p-126F : 0x1p-14F;
  constexpr float kMaxFinite = Mantissa == 7 ? 0x1.FEp127F : 65504.0F;
  const float power = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0x7F800000U);
  const float magic = (power < kMinNormal ? kMinNormal : power) * (0x1.8p23F / (1 << Mantissa));
  const float rounded = (value + magic) - magic;
  return std::fabs(rounded) > kMaxFinite ? std::numeric_limits<float>::infinity() * rounded : rounded;
}

// For every float: the same in double, where nothing overflows; the sign of zero is kept.
template <int Mantissa>
[[gnu::always_inline]] inline float round_any(float value) {
  constexpr double kMinNormal = Mantissa == 7 ? 0x1p-126 : 0x1p-14;
  constexpr float kMaxFinite = Mantissa == 7 ? 0x1.FEp127F : 65504.0F;
  if (!(std::fabs(value) <= std::numeric_limits<float>::max())) return value;
  const double x = value;
  const double power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000ULL);
  const double magic = (power < kMinNormal ? kMinNormal : power) * (0x1.8p52 / (1 << Mantissa));
  const auto rounded = static_cast<float>((x + magic) - magic);
  return std::copysign(std::fabs(rounded) > kMaxFinite ? std::numeric_limits<float>::infinity() : rounded,
                       value);
}

// A stretch of a row on its way through the normalisation.
struct Stretch {
  const float *x, *weight, *bias;  // bias: null without LayerNorm
  float *lo, *hi;
  std::size_t count;
  float mean_lo, mean_hi, r_lo, r_hi;
  bool rounds;
};

// Both ends of v. Where both ends of d * r round to one number, which is nearly everywhere for 16-bit T, the
// second end is a copy.
template <class Round>
[[gnu::always_inline]] inline void normalise(const Stretch& s, Round round) {
  const float* const __restrict x = s.x;
  const float* const __restrict w = s.weight;
  const float* const __restrict b = s.bias;
  float* const __restrict lo = s.lo;
  float* const __restrict hi = s.hi;
  const float mean_lo = s.mean_lo;
  const float mean_hi = s.mean_hi;
  const float r_lo = s.r_lo;
  const float r_hi = s.r_hi;
  const std::size_t count = s.count;
  const bool layer = b != nullptr;
  int different = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const float d_lo = x[j] - mean_hi;
    const float d_hi = x[j] - mean_lo;
    lo[j] = round(d_lo * (d_lo >= 0.0F ? r_lo : r_hi));
    hi[j] = round(d_hi * (d_hi >= 0.0F ? r_hi : r_lo));
    different |= lo[j] != hi[j] ? 1 : 0;
  }
  if (different == 0 && (!layer || s.rounds)) {
    for (std::size_t j = 0; j < count; ++j) lo[j] = round(lo[j] * w[j]);
    if (layer)
      for (std::size_t j = 0; j < count; ++j) lo[j] = round(lo[j] + b[j]);
    std::copy(lo, lo + count, hi);
    return;
  }
  for (std::size_t j = 0; j < count; ++j) {
    const float low = w[j] >= 0.0F ? lo[j] : hi[j];
    const float high = w[j] >= 0.0F ? hi[j] : lo[j];
    lo[j] = round(low * w[j]);
    hi[j] = round(high * w[j]);
    if (!layer) continue;
    if (s.rounds) {
      lo[j] = round(lo[j] + b[j]);
      hi[j] = round(hi[j] + b[j]);
    } else {  // the product may or may not be rounded before the addition: a compiler may contract the two
      lo[j] = std::min(lo[j] + b[j], std::fma(low, w[j], b[j]));
      hi[j] = std::max(hi[j] + b[j], std::fma(high, w[j], b[j]));
    }
  }
}

KVR_VECTOR_CLONES void normalise_unrounded(const Stretch& s) {
  normalise(s, [](float value) { return value; });
}
KVR_VECTOR_CLONES void normalise_bf16_moderate(const Stretch& s) {
  normalise(s, [](float value) { return round_moderate<7>(value); });
}
KVR_VECTOR_CLONES void normalise_fp16_moderate(const Stretch& s) {
  normalise(s, [](float value) { return round_moderate<10>(value); });
}
KVR_VECTOR_CLONES void normalise_bf16_any(const Stretch& s) {
  normalise(s, [](float value) { return round_any<7>(value); });
}
KVR_VECTOR_CLONES void normalise_fp16_any(const Stretch& s) {
  normalise(s, [](float value) { return round_any<10>(value); });
}

// The Real version of RN_T, for the plain loops.
template <class Real>
Real round_real(DType dtype, Real value) {
  return static_cast<Real>(decode(dtype, encode(dtype, static_cast<double>(value))));
}

// Roundings along any path through a row sum; see the header.
double sum_depth(std::int64_t width) {
  const std::int64_t chunks = (width + 7) / 8;
  const std::int64_t threads = std::min<std::int64_t>(64 * ((chunks + 255) / 256), 512);
  const std::int64_t per_thread = (chunks + threads - 1) / threads;
  const auto used = static_cast<std::uint64_t>(std::min(chunks, threads));
  return 3.0 + static_cast<double>(per_thread - 1) + static_cast<double>(std::bit_width(used - 1));
}

// Does adding these up in fp32, in any order, never round? All are multiples of the smallest bit that any of
// them has.
bool sums_exactly(const std::vector<float>& x, double sum_abs) {
  double quantum = std::numeric_limits<double>::infinity();
  for (const float value : x) {
    if (value == 0.0F) continue;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(std::fabs(static_cast<double>(value)));
    const int trailing = std::min(std::countr_zero(bits), 52);
    const double power = std::bit_cast<double>(bits & 0x7FF0000000000000ULL);
    quantum = std::min(quantum, std::ldexp(power, trailing - 52));
  }
  return sum_abs < 0x1p24 * quantum;
}

float float_at_least(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) < x ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
}
float float_at_most(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) > x ? std::nextafter(f, -std::numeric_limits<float>::infinity()) : f;
}

}  // namespace

float round_to(DType dtype, float value) {
  if (dtype == DType::f32) return value;
  return dtype == DType::bf16 ? round_any<7>(value) : round_any<10>(value);
}

double tie_distance(DType dtype, double value) {
  if (!std::isfinite(value)) return 0.5;
  const double magnitude = std::fabs(value);
  if (is_floating(dtype) && magnitude >= float_format(dtype).max_finite) return 0.5;
  const double in_steps = magnitude / ulp_at(dtype, magnitude);
  return std::fabs(in_steps - std::floor(in_steps) - 0.5);
}

std::int64_t scale_width(const NormQuantArgs& args) {
  return args.quantiser == Quantiser::per_group ? args.group : args.width;
}
std::int64_t scales_per_row(const NormQuantArgs& args) {
  return args.width / scale_width(args);
}

template <class Real>
void norm_quant_row(const NormQuantArgs& args, std::int64_t n, NormQuantRow<Real>& row) {
  const std::int64_t H = args.width;
  const auto size = static_cast<std::size_t>(H);
  const auto real = [](float x) { return static_cast<Real>(x); };
  std::vector<float> in(size), more(size), w(size), b(size);
  load_floats(args.in, args.dtype, in_offset(args, n), H, in.data());
  if (args.residual != nullptr)
    load_floats(args.residual, args.dtype, n * args.residual_row_stride, H, more.data());
  load_floats(args.weight, args.weight_dtype, 0, H, w.data());
  if (args.bias != nullptr) load_floats(args.bias, args.weight_dtype, 0, H, b.data());

  row.sum.assign(size, Real(0));
  row.v.assign(size, Real(0));
  row.code.assign(size, Real(0));
  row.value_tie.assign(size, 0.5);
  row.code_tie.assign(size, 0.5);
  std::vector<Real> x(size);
  for (std::size_t j = 0; j < size; ++j) {
    // The contract makes this one fp32 addition, also where everything else is double.
    row.sum[j] = real(args.residual != nullptr ? in[j] + more[j] : in[j]);
    x[j] = row.sum[j];
    if (args.residual != nullptr && args.residual_contract == ResidualContract::rounded_sum)
      x[j] = round_real(args.dtype, x[j]);
  }

  Real mean = 0;
  if (args.norm == Norm::layer) {
    for (std::size_t j = 0; j < size; ++j) mean += x[j];
    mean /= static_cast<Real>(H);
  }
  Real squares = 0;
  for (std::size_t j = 0; j < size; ++j) squares += (x[j] - mean) * (x[j] - mean);
  if (static_cast<double>(squares) > static_cast<double>(std::numeric_limits<float>::max()))
    squares = std::numeric_limits<Real>::infinity();  // fp32 ends here, whatever Real is
  const Real r = Real(1) / std::sqrt(squares / static_cast<Real>(H) + real(args.eps));

  for (std::size_t j = 0; j < size; ++j) {
    Real v = (x[j] - mean) * r;
    if (rounds(args)) {
      row.value_tie[j] = tie_distance(args.dtype, static_cast<double>(v));
      v = round_real(args.dtype, v);
    }
    v *= real(w[j]);
    if (rounds(args)) v = round_real(args.dtype, v);
    if (args.norm == Norm::layer) {
      v += real(b[j]);
      if (rounds(args)) v = round_real(args.dtype, v);
    }
    row.v[j] = v;
  }

  const std::int64_t length = scale_width(args);
  row.scale.assign(static_cast<std::size_t>(scales_per_row(args)), Real(0));
  for (std::size_t g = 0; g < row.scale.size(); ++g) {
    const std::size_t begin = g * static_cast<std::size_t>(length);
    const std::size_t end = begin + static_cast<std::size_t>(length);
    Real scale = real(given_scale(args));
    if (args.quantiser != Quantiser::per_tensor) {
      Real amax = 0;
      for (std::size_t j = begin; j < end; ++j)
        if (std::isnan(row.v[j]) || std::fabs(row.v[j]) > amax) amax = std::fabs(row.v[j]);
      for (std::size_t j = begin; j < end; ++j)
        if (std::isnan(row.v[j])) amax = row.v[j];
      const Real bound = real(given_bound(args));
      if (std::isnan(bound) || amax > bound) amax = bound;
      scale = amax / real(args.out_format.max);
      if (scale < real(scale_floor(args))) scale = real(scale_floor(args));
    }
    row.scale[g] = scale;
    for (std::size_t j = begin; j < end; ++j) {
      row.code[j] = divides(args) ? row.v[j] / scale : row.v[j] * (Real(1) / scale);
      row.code_tie[j] = tie_distance(args.out_format.encoding, static_cast<double>(row.code[j]));
    }
  }
}
template void norm_quant_row<float>(const NormQuantArgs&, std::int64_t, NormQuantRow<float>&);
template void norm_quant_row<double>(const NormQuantArgs&, std::int64_t, NormQuantRow<double>&);

NormQuantBounds::NormQuantBounds(const NormQuantArgs& args) : args_(args) {
  const auto size = static_cast<std::size_t>(args.width);
  weight_.resize(size);
  load_floats(args.weight, args.weight_dtype, 0, args.width, weight_.data());
  largest_weight_ = 1.0F;
  for (const float w : weight_) largest_weight_ = std::max(largest_weight_, std::fabs(w));
  bias_.resize(size);
  if (args.bias != nullptr) load_floats(args.bias, args.weight_dtype, 0, args.width, bias_.data());
}

void NormQuantBounds::row(std::int64_t n, Row& out) const {
  out.code.assign(static_cast<std::size_t>(args_.width), 0.0F);
  out.code_budget.assign(static_cast<std::size_t>(args_.width), 0.0);
  row(n, out, out.code, out.code_budget);
}

void NormQuantBounds::row(std::int64_t n, Row& out, std::span<float> code, std::span<double> budget) const {
  load(n, out);
  statistics(out);
  out.lo.resize(out.x.size());
  out.hi.resize(out.x.size());
  const bool moderate = out.largest * out.r_hi * largest_weight_ < 0x1p100F && out.r_hi < 0x1p100F;
  const auto pass = !rounds(args_)               ? normalise_unrounded
                    : args_.dtype == DType::bf16 ? (moderate ? normalise_bf16_moderate : normalise_bf16_any)
                                                 : (moderate ? normalise_fp16_moderate : normalise_fp16_any);
  for (std::size_t begin = 0; begin < out.x.size(); begin += kBlock)
    pass({out.x.data() + begin, weight_.data() + begin,
          args_.norm == Norm::layer ? bias_.data() + begin : nullptr, out.lo.data() + begin,
          out.hi.data() + begin, std::min(kBlock, out.x.size() - begin), out.mean_lo, out.mean_hi, out.r_lo,
          out.r_hi, rounds(args_)});
  quantise(out, code, budget);
}

void NormQuantBounds::load(std::int64_t n, Row& out) const {
  const auto size = static_cast<std::size_t>(args_.width);
  out.x.resize(size);
  load_floats(args_.in, args_.dtype, in_offset(args_, n), args_.width, out.x.data());
  out.sum.clear();
  if (args_.residual == nullptr) return;
  out.sum.resize(size);
  load_floats(args_.residual, args_.dtype, n * args_.residual_row_stride, args_.width, out.sum.data());
  for (std::size_t j = 0; j < size; ++j) out.sum[j] = out.x[j] + out.sum[j];
  out.x = out.sum;
  if (args_.residual_contract == ResidualContract::rounded_sum)
    for (float& x : out.x) x = round_to(args_.dtype, x);
}

KVR_VECTOR_CLONES void NormQuantBounds::statistics(Row& out) const {
  const auto H = static_cast<double>(args_.width);
  const double depth = sum_depth(args_.width);
  double mean = 0.0;
  double delta = 0.0;
  out.mean_lo = out.mean_hi = 0.0F;
  if (args_.norm == Norm::layer) {
    double sum = 0.0;
    double sum_abs = 0.0;
    for (const float x : out.x) {
      sum += static_cast<double>(x);
      sum_abs += std::fabs(static_cast<double>(x));
    }
    mean = sum / H;
    const double error = sums_exactly(out.x, sum_abs) ? 0.0 : depth * kUnit * sum_abs;
    out.mean_lo = static_cast<float>((sum - error) / H);
    out.mean_hi = static_cast<float>((sum + error) / H);
    delta = std::max(std::fabs(static_cast<double>(out.mean_hi) - mean),
                     std::fabs(static_cast<double>(out.mean_lo) - mean));
  }
  // Eight sums side by side: one chain of additions would decide how long the whole reference takes.
  constexpr std::size_t kParts = 8;
  double parts[kParts] = {};
  std::int32_t sizes[kParts] = {};
  const auto add = [&](std::size_t j, std::size_t part) {
    const double d = static_cast<double>(out.x[j]) - mean;
    parts[part] += d * d;
    sizes[part] = std::max(sizes[part], std::bit_cast<std::int32_t>(out.x[j]) & INT32_MAX);
  };
  const std::size_t whole = out.x.size() / kParts * kParts;
  for (std::size_t j = 0; j < whole; j += kParts)
    for (std::size_t part = 0; part < kParts; ++part) add(j + part, part);
  for (std::size_t j = whole; j < out.x.size(); ++j) add(j, 0);
  const double squares =
      ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
  out.largest = std::bit_cast<float>(*std::max_element(std::begin(sizes), std::end(sizes)));
  const double variance = squares / H;
  const double error = (depth + (args_.norm == Norm::layer ? 4.0 : 2.0)) * kUnit;
  const double eps = static_cast<double>(args_.eps);
  const double v_lo = std::max(0.0, variance * (1.0 - error) - 0x1p-149);
  const double v_hi = (variance + delta * delta) * (1.0 + error) + 0x1p-149;
  const double w_lo = (v_lo + eps) * (1.0 - kUnit);
  const double w_hi = (v_hi + eps) * (1.0 + kUnit);
  out.r_lo = float_at_least((1.0 - 4.0 * kUnit) / std::sqrt(w_hi));
  out.r_hi = float_at_most((1.0 + 4.0 * kUnit) / std::sqrt(w_lo));
  constexpr double kFp32Max = std::numeric_limits<float>::max();
  if (v_hi * H > kFp32Max) out.r_lo = 0.0F;  // the sum may overflow, and rsqrt(infinity) = 0
  if (v_lo * H > kFp32Max) out.r_hi = 0.0F;
  if (std::isnan(variance)) out.r_lo = out.r_hi = std::numeric_limits<float>::quiet_NaN();
}

KVR_VECTOR_CLONES void NormQuantBounds::quantise(Row& out, std::span<float> code,
                                                 std::span<double> budget) const {
  const auto length = static_cast<std::size_t>(scale_width(args_));
  const auto groups = static_cast<std::size_t>(scales_per_row(args_));
  out.scale.resize(groups);
  out.clamped = false;
  out.saturated = out.ambiguous_scales = out.ambiguous_codes = 0;
  const auto scale_of = [this](float amax) {
    const float scale = amax / args_.out_format.max;
    return scale < scale_floor(args_) ? scale_floor(args_) : scale;
  };
  for (std::size_t g = 0; g < groups; ++g) {
    float scale_lo = given_scale(args_);
    float scale_hi = scale_lo;
    if (args_.quantiser != Quantiser::per_tensor) {
      // Bits of magnitudes are ordered as the numbers are, and every NaN lies above infinity.
      std::int32_t least = 0;
      std::int32_t most = 0;
      for (std::size_t j = g * length; j < (g + 1) * length; ++j) {
        const auto lo = std::bit_cast<std::int32_t>(out.lo[j]);
        const auto hi = std::bit_cast<std::int32_t>(out.hi[j]);
        const std::int32_t size_lo = lo & INT32_MAX;
        const std::int32_t size_hi = hi & INT32_MAX;
        const std::int32_t smaller = (lo ^ hi) < 0 ? 0 : std::min(size_lo, size_hi);  // 0 lies between them
        least = std::max(least, smaller);
        most = std::max(most, std::max(size_lo, size_hi));
      }
      auto amax_lo = std::bit_cast<float>(least);
      auto amax_hi = std::bit_cast<float>(most);
      if (amax_hi != amax_hi) amax_lo = amax_hi;
      const float bound = given_bound(args_);
      out.clamped |= amax_lo > bound;
      if (bound != bound || amax_lo > bound) amax_lo = bound;
      if (bound != bound || amax_hi > bound) amax_hi = bound;
      scale_lo = scale_of(amax_lo);
      scale_hi = scale_of(amax_hi);
    }
    const double middle = (static_cast<double>(scale_lo) + static_cast<double>(scale_hi)) / 2.0;
    const bool open = scale_lo < scale_hi;
    out.ambiguous_scales += open ? 1 : 0;
    out.scale[g] = {open ? middle : static_cast<double>(scale_lo),
                    open ? static_cast<double>(scale_hi) - middle : 0.0};
    for (std::size_t begin = g * length; begin < (g + 1) * length; begin += kBlock)
      codes(out, begin, std::min(begin + kBlock, (g + 1) * length), scale_lo, scale_hi, code, budget);
  }
}

KVR_VECTOR_CLONES void NormQuantBounds::codes(Row& out, std::size_t begin, std::size_t end, float scale_lo,
                                              float scale_hi, std::span<float> code,
                                              std::span<double> budget) const {
  const float max = args_.out_format.max;
  const auto clamp = [max](float q) { return q > max ? max : q < -max ? -max : q; };
  const float beyond =
      max * (1.0F + 0x1p-20F);  // the largest element of a row may come out an ULP or two above max
  const std::size_t count = end - begin;
  const float* const lo = out.lo.data() + begin;
  const float* const hi = out.hi.data() + begin;
  float* const to = code.data() + begin;
  const float inverse_lo = 1.0F / scale_hi;
  const float inverse_hi = 1.0F / scale_lo;
  const bool by_division = divides(args_);
  int saturated = 0;
  // Bytes, not values: a NaN is equal to itself here.
  if (!(scale_lo < scale_hi) && std::memcmp(lo, hi, count * sizeof(float)) == 0) {
    const auto quantise_all = [&](auto quotient) {
      for (std::size_t j = 0; j < count; ++j) {
        const float q = quotient(lo[j]);
        saturated += std::fabs(q) > beyond ? 1 : 0;
        to[j] = clamp(q);
      }
    };
    if (by_division)
      quantise_all([scale_lo](float v) { return v / scale_lo; });
    else
      quantise_all([inverse_lo](float v) { return v * inverse_lo; });
    out.saturated += saturated;
    return;
  }
  int ambiguous = 0;
  double* const allowed = budget.data() + begin;
  // Towards lo: a positive v shrinks with a larger scale, a negative one with a smaller.
  const auto quantise_all = [&](auto least, auto most) {
    for (std::size_t j = 0; j < count; ++j) {
      const float below = least(lo[j]);
      const float above = most(hi[j]);
      const float q_lo = clamp(below);
      const float q_hi = clamp(above);
      saturated += below > beyond || above < -beyond ? 1 : 0;
      ambiguous += q_lo < q_hi ? 1 : 0;
      const float middle = 0.5F * (q_lo + q_hi);
      const double down = static_cast<double>(middle) - static_cast<double>(q_lo);
      const double up = static_cast<double>(q_hi) - static_cast<double>(middle);
      to[j] = middle;
      allowed[j] = q_lo < q_hi ? (up > down ? up : down) : 0.0;
    }
  };
  if (by_division)
    quantise_all([&](float v) { return v / (v >= 0.0F ? scale_hi : scale_lo); },
                 [&](float v) { return v / (v >= 0.0F ? scale_lo : scale_hi); });
  else
    quantise_all([&](float v) { return v * (v >= 0.0F ? inverse_lo : inverse_hi); },
                 [&](float v) { return v * (v >= 0.0F ? inverse_hi : inverse_lo); });
  out.saturated += saturated;
  out.ambiguous_codes += ambiguous;
}

}  // namespace kvr::reference
