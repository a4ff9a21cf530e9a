// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/null_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

namespace kvr {
namespace {

// The first `rows` rows of the outcome, with this answer in them.
std::vector<std::byte> codes_of(const Outcome& outcome, const NullAnswer& answer, std::int64_t rows) {
  const std::size_t size = dtype_size(outcome.dtype);
  const std::int64_t numel = rows * outcome.row_len;
  std::vector<std::byte> codes(static_cast<std::size_t>(numel) * size);
  for (std::int64_t i = 0; i < numel; ++i)
    store_code(codes.data() + static_cast<std::size_t>(i) * size, size, answer.code(i));
  return codes;
}

Outcome first_rows(const Outcome& outcome, std::int64_t rows) {
  const auto count = static_cast<std::size_t>(rows * outcome.row_len);
  Outcome head = outcome;
  head.rows = rows;
  std::visit([&head, count](auto values) { head.expected = values.first(count); }, outcome.expected);
  if (!head.budget.empty()) head.budget = head.budget.first(count);
  if (!head.magnitude.empty()) head.magnitude = head.magnitude.first(count);
  if (!head.row_ids.empty()) head.row_ids = head.row_ids.first(static_cast<std::size_t>(rows));
  return head;
}

}  // namespace

double expected_at(const Outcome& outcome, std::int64_t index) {
  return std::visit(
      [index](const auto& values) { return static_cast<double>(values[static_cast<std::size_t>(index)]); },
      outcome.expected);
}

double mean_expected(const Outcome& outcome) {
  // Of every k-th row, about a million elements: what is sought is a constant in the middle of things, and
  // reading all of a large output again would take as long as judging it.
  constexpr std::int64_t kEnough = std::int64_t{1} << 20;
  const std::int64_t step = std::max<std::int64_t>(1, outcome.rows * outcome.row_len / kEnough);
  double sum = 0.0;
  std::int64_t count = 0;
  std::visit(
      [&](const auto& values) {
        for (std::int64_t row = 0; row < outcome.rows; row += step) {
          for (std::int64_t i = row * outcome.row_len; i < (row + 1) * outcome.row_len; ++i) {
            const auto value = static_cast<double>(values[static_cast<std::size_t>(i)]);
            if (!(std::fabs(value) <= std::numeric_limits<double>::max())) continue;
            sum += value;
            ++count;
          }
        }
      },
      outcome.expected);
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

std::uint64_t round_to(const Outcome& outcome, double value) {
  if (outcome.format_max > 0.0)
    return encode(Fp8Format{outcome.dtype, static_cast<float>(outcome.format_max)}, value);
  return encode(outcome.dtype, value, outcome.overflow);
}

void store_code(std::byte* at, std::size_t size, std::uint64_t code) {
  std::memcpy(at, &code, size);
}

std::uint64_t load_code(const std::byte* at, std::size_t size) {
  std::uint64_t code = 0;
  std::memcpy(&code, at, size);
  return code;
}

std::vector<NullAnswer> null_answers(const Outcome& outcome, const std::string& source_name,
                                     const std::function<double(std::int64_t)>& source,
                                     const std::vector<std::byte>& initial) {
  std::vector<NullAnswer> answers;
  const std::uint64_t zero = round_to(outcome, 0.0);
  answers.push_back({"zeros", [zero](std::int64_t) { return zero; }, false});
  const double mean = mean_expected(outcome);
  const std::uint64_t constant = round_to(outcome, mean);
  answers.push_back(
      {fmt::format("constant {:.6g}", mean), [constant](std::int64_t) { return constant; }, true});
  if (outcome.rows > 1) {
    const auto shifted = [&outcome](std::int64_t i) {
      const std::int64_t from =
          i < outcome.row_len ? i + (outcome.rows - 1) * outcome.row_len : i - outcome.row_len;
      return round_to(outcome, expected_at(outcome, from));
    };
    answers.push_back({"rows shifted by one", shifted, true});
  }
  if (source)
    answers.push_back({fmt::format("input '{}' passed through", source_name),
                       [&outcome, source](std::int64_t i) { return round_to(outcome, source(i)); }, false});
  if (!initial.empty()) {
    const std::size_t size = dtype_size(outcome.dtype);
    const auto untouched = [&initial, size](std::int64_t i) {
      return load_code(initial.data() + static_cast<std::size_t>(i) * size, size);
    };
    answers.push_back({"memory left as it was", untouched, false});
  }
  return answers;
}

bool accepts_null(const Outcome& outcome, const Rule& rule, const NullAnswer& answer) {
  if (answer.from_expected) {
    std::int64_t i = 0;
    const std::int64_t numel = outcome.rows * outcome.row_len;
    while (i < numel && answer.code(i) == round_to(outcome, expected_at(outcome, i))) ++i;
    if (i == numel) return false;
  }
  // Without an allowance for outliers one bad element decides, so a few rows usually do.
  constexpr std::int64_t kHead = 4096;
  const std::int64_t head_rows =
      std::min(outcome.rows, kHead / std::max<std::int64_t>(outcome.row_len, 1) + 1);
  if (rule.has_elementwise() && !rule.outliers && head_rows < outcome.rows) {
    const std::vector<std::byte> codes = codes_of(outcome, answer, head_rows);
    Outcome head = first_rows(outcome, head_rows);
    head.actual = codes;
    if (judge(head, rule).failing > 0) return false;
  }
  const std::vector<std::byte> codes = codes_of(outcome, answer, outcome.rows);
  Outcome null = outcome;
  null.actual = codes;
  return judge(null, rule).accepted;
}

}  // namespace kvr
