// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

namespace kvr::test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Facts {
  std::uint64_t code = 0, wanted = 0;
  double actual = 0, expected = 0;
  bool special = false;
  Mismatch mismatch = Mismatch::none;
  std::int64_t distance = 0;
  double error = 0, signed_error = 0, ulps = 0;
  double ratio = 0, allowed = 0;
  bool fails = false;
};

class Plain {
 public:
  Plain(const Outcome& outcome, const Rule& rule) : o_(outcome), r_(rule) {
    single_ = o_.expected.index() == 0;
    if (is_floating(o_.dtype)) {
      if (o_.overflow == Overflow::saturate) {
        low_ = -float_format(o_.dtype).max_finite;
        high_ = -low_;
      }
    } else {
      switch (o_.dtype) {
        case DType::int8:
          low_ = -128, high_ = 127;
          break;
        case DType::uint8:
          low_ = 0, high_ = 255;
          break;
        case DType::int32:
          low_ = -0x1p31, high_ = 0x1p31 - 1;
          break;
        default:
          low_ = -0x1p63, high_ = 0x1p63;
          break;
      }
    }
    if (o_.overflow == Overflow::saturate && o_.format_max > 0) {
      low_ = std::max(low_, -o_.format_max);
      high_ = std::min(high_, o_.format_max);
    }
  }

  Facts at(std::int64_t i) const {
    Facts f;
    const std::size_t size = dtype_size(o_.dtype);
    std::memcpy(&f.code, o_.actual.data() + static_cast<std::size_t>(i) * size, size);
    f.actual = decode(o_.dtype, f.code);
    f.expected = single_ ? static_cast<double>(std::get<0>(o_.expected)[static_cast<std::size_t>(i)])
                         : std::get<1>(o_.expected)[static_cast<std::size_t>(i)];
    if (std::isnan(f.expected)) {
      if (!is_floating(o_.dtype)) f.expected = 0;
    } else {
      f.expected = std::min(std::max(f.expected, low_), high_);
    }
    f.wanted = round(f.expected);
    f.distance = ulp_distance(o_.dtype, f.code, f.wanted);
    const bool nan = is_nan_code(o_.dtype, f.code), want_nan = is_nan_code(o_.dtype, f.wanted);
    const bool inf = is_inf_code(o_.dtype, f.code), want_inf = is_inf_code(o_.dtype, f.wanted);
    f.special = nan || want_nan || inf || want_inf;
    if (f.special) {
      if (nan && !want_nan) f.mismatch = Mismatch::unexpected_nan;
      if (!nan && want_nan) f.mismatch = Mismatch::missing_nan;
      if (!nan && !want_nan && f.code != f.wanted) f.mismatch = Mismatch::wrong_infinity;
      f.fails = f.mismatch != Mismatch::none;
      if (f.fails) f.error = kInf;
      return f;
    }
    f.signed_error = f.actual - f.expected;
    f.error = std::fabs(f.signed_error);
    f.ulps = f.signed_error / ulp_at(o_.dtype, f.expected);
    apply(f, i);
    if (f.fails) f.mismatch = Mismatch::tolerance;
    return f;
  }

 private:
  std::uint64_t round(double value) const {
    if (!std::isnan(value)) value = std::min(std::max(value, low_), high_);
    return encode(o_.dtype, value, o_.overflow);
  }

  void key(Facts& f, double ratio, double allowed, bool ok, bool& first) const {
    if (ok && ratio > 1) ratio = 1;
    if (!ok && !(ratio > 1)) ratio = std::nextafter(1.0, 2.0);
    if (!ok) f.fails = true;
    if (first || ratio > f.ratio) {
      f.ratio = ratio;
      f.allowed = allowed;
    }
    first = false;
  }

  void apply(Facts& f, std::int64_t i) const {
    bool first = true;
    const double ulp = ulp_at(o_.dtype, f.expected);
    if (r_.exact) key(f, f.distance == 0 ? 0 : kInf, 0, f.distance == 0, first);
    if (r_.atol || r_.rtol) {
      const double a = r_.atol ? *r_.atol : 0, b = r_.rtol ? *r_.rtol : 0;
      double ratio = 0;
      if (single_) {
        const float error = static_cast<float>(f.error);
        const float allowed =
            static_cast<float>(a) + static_cast<float>(b) * static_cast<float>(std::fabs(f.expected));
        if (error != 0) ratio = static_cast<double>(error / allowed);
      } else if (f.error != 0) {
        ratio = f.error / (a + b * std::fabs(f.expected));
      }
      const double allowed = a + b * std::fabs(f.expected);
      key(f, ratio, allowed, f.error <= allowed, first);
    }
    if (r_.max_ulp) {
      const auto n = static_cast<double>(*r_.max_ulp);
      const auto d = static_cast<double>(f.distance);
      key(f, d == 0 ? 0 : d / n, n * ulp, f.distance <= *r_.max_ulp, first);
    }
    // Where actual's rounding interval ends, on the side of expected.
    double edge = f.expected;
    if (f.distance != 0) {
      const double step = f.actual < decode(o_.dtype, f.wanted) ? 1 : -1;
      edge = (f.actual + next(f.code, step > 0)) / 2;
    }
    const double missing = std::fabs(f.expected - edge);
    if (r_.tie_window) {
      const double window = *r_.tie_window * ulp;
      if (f.distance > 1) {
        key(f, kInf, std::fabs(f.actual - edge) + window, false, first);
      } else {
        key(f, missing == 0 ? 0 : missing / window, std::fabs(f.actual - edge) + window, missing <= window,
            first);
      }
    }
    if (r_.budget) {
      const double b = *r_.budget * o_.budget[static_cast<std::size_t>(i)];
      const std::int64_t here = line_position(o_.dtype, f.code);
      const std::uint64_t below = round(f.expected - b), above = round(f.expected + b);
      const bool ok = (is_nan_code(o_.dtype, below) || line_position(o_.dtype, below) <= here) &&
                      (is_nan_code(o_.dtype, above) || here <= line_position(o_.dtype, above));
      key(f, missing == 0 ? 0 : missing / b, std::fabs(f.actual - edge) + b, ok, first);
    }
  }

  // The neighbouring value above or below, by trying codes.
  double next(std::uint64_t code, bool above) const {
    if (!is_floating(o_.dtype)) return decode(o_.dtype, code) + (above ? 1 : -1);
    const std::uint64_t sign = std::uint64_t{1} << (8 * dtype_size(o_.dtype) - 1);
    const bool negative = (code & sign) != 0;
    const std::uint64_t magnitude = code & (sign - 1);
    if (magnitude == 0) return decode(o_.dtype, above ? 1 : sign | 1);
    return decode(o_.dtype, negative == above ? code - 1 : code + 1);
  }

  const Outcome& o_;
  const Rule& r_;
  bool single_ = false;
  double low_ = -kInf, high_ = kInf;
};

struct Sums {
  std::array<double, 8> ulps{}, error2{}, expected2{};
  static double fold(const std::array<double, 8>& x) {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
  }
};

// P(X > k) for Binomial(n, p), term by term.
double tail(std::int64_t n, std::int64_t k, double p) {
  double sum = 0;
  for (std::int64_t j = n; j > k; --j) {
    const auto a = static_cast<double>(n), b = static_cast<double>(j);
    sum += std::exp(std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(a - b + 1) + b * std::log(p) +
                    (a - b) * std::log(1 - p));
  }
  return sum;
}

bool scattered(const std::vector<std::int64_t>& indices, const Outcome& o) {
  const auto n = static_cast<std::int64_t>(indices.size());
  const std::int64_t numel = o.rows * o.row_len, tiles = (o.row_len + 7) / 8,
                     tile = std::min<std::int64_t>(8, o.row_len);
  const auto head_of = [&](std::int64_t row) {
    return (o.row_ids.empty() ? row : o.row_ids[static_cast<std::size_t>(row)]) % o.heads;
  };
  std::map<std::int64_t, std::int64_t> rows_of_head;
  std::int64_t longest_head = 0;
  for (std::int64_t row = 0; row < o.rows; ++row) {
    longest_head = std::max(longest_head, ++rows_of_head[head_of(row)]);
  }
  const auto check = [&](std::int64_t length, std::int64_t lines, auto line_of) {
    if (lines == 1) return true;
    std::map<std::int64_t, std::int64_t> held;
    for (const std::int64_t i : indices) ++held[line_of(i / o.row_len, i % o.row_len)];
    std::int64_t limit = 2;
    const double p = static_cast<double>(length) / static_cast<double>(numel);
    if (p >= 1) return true;
    while (limit<n&& static_cast<double>(lines) * tail(n, limit, p)> 1e-6) ++limit;
    return std::all_of(held.begin(), held.end(), [limit](const auto& each) { return each.second <= limit; });
  };
  return check(o.row_len, o.rows, [](auto row, auto) { return row; }) &&
         check(o.rows, o.row_len, [](auto, auto column) { return column; }) &&
         check(longest_head * o.row_len, static_cast<std::int64_t>(rows_of_head.size()),
               [&](auto row, auto) { return head_of(row); }) &&
         check(tile, o.rows * tiles, [&](auto row, auto column) { return row * tiles + column / 8; }) &&
         check(tile * o.rows, tiles, [](auto, auto column) { return column / 8; });
}

}  // namespace

PlainElement plain_element(const Outcome& outcome, std::int64_t index) {
  const Rule none;
  const Facts facts = Plain(outcome, none).at(index);
  return {facts.distance, !facts.special, facts.ulps, facts.error};
}

Comparison plain_judge(const Outcome& o, const Rule& r) {
  const Plain plain(o, r);
  Comparison c;
  c.numel = o.rows * o.row_len;
  const bool single = o.expected.index() == 0;
  std::vector<std::int64_t> failing;
  bool excusable = true;
  double all_ulps = 0;
  std::int64_t finite = 0;
  std::int64_t first_mismatch = -1, ratio_at = -1, distance_at = -1, most = 0;

  const auto element = [&](std::int64_t i, const Facts& f) {
    Element e;
    e.index = i;
    e.row = o.row_ids.empty() ? i / o.row_len : o.row_ids[static_cast<std::size_t>(i / o.row_len)];
    e.column = i % o.row_len;
    e.code = f.code;
    e.expected_code = f.wanted;
    e.actual = f.actual;
    e.expected = f.expected;
    e.error = f.error;
    e.allowed = f.allowed;
    e.ulp = f.distance;
    e.mismatch = f.mismatch;
    return e;
  };
  const auto name = [&](std::int64_t row) {
    return o.row_ids.empty() ? row : o.row_ids[static_cast<std::size_t>(row)];
  };
  struct Example {
    double ratio;
    std::int64_t index;
  };
  std::vector<Example> candidates;

  c.worst_row_l2 = -1;
  const std::int64_t block = 65536;
  const std::int64_t rows_per_part = o.row_len < block ? block / o.row_len : 1;
  double part_ulps = 0;
  for (std::int64_t row = 0; row < o.rows; ++row) {
    double error2 = 0, expected2 = 0;
    std::int64_t row_failing = 0;
    for (std::int64_t from = 0; from < o.row_len; from += block) {
      double block_error2 = 0, block_expected2 = 0;
      for (std::int64_t start = from; start < std::min(from + block, o.row_len); start += 1024) {
        Sums sums;
        for (std::int64_t column = start; column < std::min({start + 1024, from + block, o.row_len});
             ++column) {
          const std::int64_t i = row * o.row_len + column;
          const Facts f = plain.at(i);
          const bool want_special = is_nan_code(o.dtype, f.wanted) || is_inf_code(o.dtype, f.wanted);
          c.nan_actual += is_nan_code(o.dtype, f.code);
          c.nan_expected += is_nan_code(o.dtype, f.wanted);
          c.inf_actual += is_inf_code(o.dtype, f.code);
          c.inf_expected += is_inf_code(o.dtype, f.wanted);
          if (!want_special) c.max_abs_expected = std::max(c.max_abs_expected, std::fabs(f.expected));
          if (f.distance != 0) ++c.differing;
          if (f.distance > c.worst_ulp.ulp) {
            c.worst_ulp.ulp = f.distance;
            distance_at = i;
          }
          const std::int64_t d = f.distance;
          const bool bad_special = f.special && f.fails;
          ++c.histogram[bad_special ? 8
                        : d <= 3    ? static_cast<std::size_t>(d)
                        : d <= 7    ? 4
                        : d <= 15   ? 5
                        : d <= 63   ? 6
                                    : 7];
          if (f.fails) {
            failing.push_back(i);
            ++row_failing;
            candidates.push_back({bad_special ? kInf : f.ratio, i});
            if (bad_special && first_mismatch < 0) first_mismatch = i;
            if (bad_special) excusable = false;
            if (r.outliers && r.outliers->max_ulp && d > *r.outliers->max_ulp) excusable = false;
            if (r.outliers && r.outliers->max_magnitude &&
                f.error > *r.outliers->max_magnitude * o.magnitude[static_cast<std::size_t>(i)])
              excusable = false;
          }
          if (f.special) continue;
          ++finite;
          c.max_abs_error = std::max(c.max_abs_error, f.error);
          if (f.expected != 0) {
            const double relative = single ? static_cast<double>(static_cast<float>(f.error) /
                                                                 static_cast<float>(std::fabs(f.expected)))
                                           : f.error / std::fabs(f.expected);
            c.max_rel_error = std::max(c.max_rel_error, relative);
          }
          if (f.ratio > c.worst_ratio) {
            c.worst_ratio = f.ratio;
            ratio_at = i;
          }
          const auto lane = static_cast<std::size_t>((column - start) % 8);
          sums.ulps[lane] += f.ulps;
          sums.error2[lane] += f.signed_error * f.signed_error;
          sums.expected2[lane] += f.expected * f.expected;
        }
        part_ulps += Sums::fold(sums.ulps);
        block_error2 += Sums::fold(sums.error2);
        block_expected2 += Sums::fold(sums.expected2);
      }
      if (o.row_len >= block) {
        all_ulps += part_ulps;
        part_ulps = 0;
      }
      error2 += block_error2;
      expected2 += block_expected2;
    }
    if (o.row_len < block && ((row + 1) % rows_per_part == 0 || row + 1 == o.rows)) {
      all_ulps += part_ulps;
      part_ulps = 0;
    }
    double l2 = 0;
    if (error2 != 0) l2 = std::sqrt(error2) / std::sqrt(expected2);
    if (l2 > c.worst_row_l2) {
      c.worst_row_l2 = l2;
      c.worst_row_l2_row = name(row);
    }
    if (row_failing > 0) ++c.failing_rows;
    if (row_failing > most) {
      most = row_failing;
      c.worst_row = name(row);
    }
  }
  c.worst_row_failing = most;
  c.failing = static_cast<std::int64_t>(failing.size());
  c.mean_signed_ulp = finite == 0 ? 0 : all_ulps / static_cast<double>(finite);
  if (distance_at >= 0) c.worst_ulp = element(distance_at, plain.at(distance_at));
  const std::int64_t worst = first_mismatch >= 0 ? first_mismatch : ratio_at;
  if (worst >= 0) c.worst = element(worst, plain.at(worst));
  std::sort(candidates.begin(), candidates.end(), [](const Example& a, const Example& b) {
    return a.ratio > b.ratio || (a.ratio == b.ratio && a.index < b.index);
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(8, candidates.size()); ++i) {
    c.examples.push_back(element(candidates[i].index, plain.at(candidates[i].index)));
  }

  c.accepted = failing.empty();
  if (r.outliers) {
    std::map<std::string, double> names = o.counts;
    names["numel"] = static_cast<double>(c.numel);
    names["rows"] = static_cast<double>(o.rows);
    names["row_len"] = static_cast<double>(o.row_len);
    c.outlier_limit = std::min(evaluate_count(r.outliers->count, names), c.numel);
    if (!failing.empty() && excusable && c.failing <= c.outlier_limit && scattered(failing, o)) {
      c.accepted = true;
      c.excused = c.failing;
    }
  }
  if (r.row_l2 && c.worst_row_l2 > *r.row_l2) c.accepted = false;
  if (r.bias && std::fabs(c.mean_signed_ulp) > *r.bias) c.accepted = false;
  if (!c.accepted) c.reason = "refused";
  return c;
}

}  // namespace kvr::test
