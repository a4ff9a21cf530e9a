// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// Reference of norm_quant (kernels/norm_quant/norm_quant.h), in two forms.
//
// norm_quant_row<Real>: the formulas of that header as plain loops. Real = float: every operation a correctly
// rounded fp32 operation, sums from left to right. Real = double: exact for all practical purposes, except
// that roundings the contract names (to T) are made.
//
// NormQuantBounds: what a kernel that follows the contract can compute, as an interval [lo, hi] of fp32
// numbers per element. Only two things in the contract are not fixed to the bit: the order of the row sums,
// and rsqrt. So there is one uncertain number per row, r (two with LayerNorm: mean), and everything behind it
// is a chain of correctly rounded, monotone operations: applied to both ends of r's interval they give both
// ends of the result, without any further allowance. Where the ends agree - for 16-bit T nearly everywhere,
// since rounding to T swallows the uncertainty - the answer is one number and the judge demands its code
// exactly. The ends differ only where d * r lies so close to a tie of T that r decides to which side it goes
// (spec 2.8's [tie] term), and a scale's ends differ only where that happens to the argmax of its row or
// group.
//
// The interval of r. u = 2^-24, L = roundings along any path through a sum: 3 + (K - 1) + ceil(log2 B), the
// contract's geometry (B = 64 ceil(ceil(H/8) / 256) <= 512 threads of K = ceil(ceil(H/8) / B) chunks; empty
// lanes add exact zeros, so B counts at most ceil(H/8)). S = sum of the squares of d:
//   a sum of non-negative terms:   S^ in S (1 +- (L + 1) u)          the square rounds once (or not, in an
//   FMA) division by H, addition of eps: one u each;   rsqrt: 2 ULP = 4 u (CUDA's bound, the loosest
//   documented) w = var + eps in [(v (1 - (L+2)u) + eps)(1 - u), (v (1 + (L+2)u) + eps)(1 + u)],  r in (1 +-
//   4u) / sqrt(w) For H = 8192: L = 14, so r is known to about 1.25e-6 / 2 + 2.4e-7 relative.
// LayerNorm: |S1^ - S1| <= L u sum|x|, then the division: that is the interval of mean. It is one point when
// no partial sum rounds (all x multiples of some q, sum|x| < 2^24 q): constant rows and small integers. With
// delta = mean^ - mean,
//   sum (d - delta)^2 = S + H delta^2  (sum d = 0),  and (x - mean^) rounds, squared: 2u more:
//   v in [v (1 - (L+4)u), (v + delta^2)(1 + (L+4)u)].
// Second-order terms: u is taken 1 % larger. Squares that underflow: 2^-149 absolute.
//
// What the judge gets per element: a float m in the middle of [lo, hi], and how far the farther end is from
// it, so [m - budget, m + budget] is [lo, hi] but for the rounding of m: half an fp32 ULP beyond the nearer
// end. (The middle differs from the value at the best r only within the interval.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/numeric/vector_clones.h"
#include "kernels/norm_quant/norm_quant.h"

namespace kvr::reference {

template <class Real>
struct NormQuantRow {
  std::vector<Real> sum;    // [H] in + residual before rounding to T; x itself without a residual
  std::vector<Real> v;      // [H] what the quantiser sees
  std::vector<Real> code;   // [H] v in units of the scale, not clamped: what Q rounds
  std::vector<Real> scale;  // [G]; per_tensor: the given one
  // Distance of d * r from the nearest tie of T, in ULP of T (at most 1/2; 1/2 where nothing rounds to T),
  // and of `code` from the nearest tie of the output format, likewise.
  std::vector<double> value_tie;
  std::vector<double> code_tie;
};

template <class Real>
void norm_quant_row(const NormQuantArgs& args, std::int64_t n, NormQuantRow<Real>& row);

// Distance of a value from the nearest midpoint between neighbouring numbers of the format, in units of their
// spacing; 1/2 for a number of the format.
double tie_distance(DType dtype, double value);

// The width of what one scale covers, and how many scales a row has (per_tensor: the row, 1).
std::int64_t scale_width(const NormQuantArgs& args);
std::int64_t scales_per_row(const NormQuantArgs& args);

// RN_T, for every float: an algorithm of its own, faster than the codec (tests compare them).
float round_to(DType dtype, float value);

class NormQuantBounds {
 public:
  // Keeps a copy of the arguments and decodes the weights once. Reads the tensors on each call of row().
  explicit NormQuantBounds(const NormQuantArgs& args);

  struct Judged {
    double value = 0.0;
    double budget = 0.0;
  };
  struct Row {
    std::vector<float> code;            // [H], clamped to +-max
    std::vector<double> code_budget;    // [H]
    std::vector<Judged> scale;          // [G]
    std::vector<float> sum;             // [H] in + residual in fp32: residual is RN_T of it, without budget
    bool clamped = false;               // scale_ub lowered this row's amax
    std::int64_t saturated = 0;         // codes that the clamp to +-max changed
    std::int64_t ambiguous_scales = 0;  // of a row or group whose amax a legal r can move
    std::int64_t ambiguous_codes = 0;   // that have more than one legal value

    // Workspace of row(); of interest to tests.
    std::vector<float> x, lo, hi;  // v's interval in lo, hi
    float mean_lo = 0.0F, mean_hi = 0.0F, r_lo = 0.0F, r_hi = 0.0F;
    float largest = 0.0F;  // |x|; the same with LayerNorm
  };
  void row(std::int64_t n, Row& out) const;
  // As above with codes and budgets stored elsewhere, H of each; a budget of 0 is not written, so they start
  // as 0.
  void row(std::int64_t n, Row& out, std::span<float> code, std::span<double> budget) const;

 private:
  void load(std::int64_t n, Row& out) const;
  // Declared with their clones, too: clang takes them for other functions otherwise.
  KVR_VECTOR_CLONES void statistics(Row& out) const;
  KVR_VECTOR_CLONES void quantise(Row& out, std::span<float> code, std::span<double> budget) const;
  KVR_VECTOR_CLONES void codes(Row& out, std::size_t begin, std::size_t end, float scale_lo, float scale_hi,
                               std::span<float> code, std::span<double> budget) const;

  NormQuantArgs args_;
  std::vector<float> weight_, bias_;
  float largest_weight_ = 1.0F;
};

}  // namespace kvr::reference
