// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/null_answers.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

namespace kvr {
namespace {

double expected_at(const Outcome& outcome, std::int64_t index) {
  return std::visit(
      [index](const auto& values) { return static_cast<double>(values[static_cast<std::size_t>(index)]); },
      outcome.expected);
}

NullAnswer build(const Outcome& outcome, std::string name, const std::function<double(std::int64_t)>& value) {
  const std::size_t size = dtype_size(outcome.dtype);
  const std::int64_t numel = outcome.rows * outcome.row_len;
  NullAnswer answer{std::move(name), std::vector<std::byte>(static_cast<std::size_t>(numel) * size)};
  for (std::int64_t i = 0; i < numel; ++i)
    store_code(answer.codes.data() + static_cast<std::size_t>(i) * size, size, round_to(outcome, value(i)));
  return answer;
}

// The likeliest constant: the rounded mean of the finite expected values.
double mean_expected(const Outcome& outcome) {
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < outcome.rows * outcome.row_len; ++i) {
    const double value = expected_at(outcome, i);
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace

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
                                     const std::vector<double>& source,
                                     const std::vector<std::byte>& initial) {
  std::vector<NullAnswer> answers;
  answers.push_back(build(outcome, "zeros", [](std::int64_t) { return 0.0; }));
  const double mean = mean_expected(outcome);
  answers.push_back(
      build(outcome, fmt::format("constant {:.6g}", mean), [mean](std::int64_t) { return mean; }));
  if (outcome.rows > 1) {
    answers.push_back(build(outcome, "rows shifted by one", [&](std::int64_t i) {
      const std::int64_t row = i / outcome.row_len;
      const std::int64_t from = row == 0 ? outcome.rows - 1 : row - 1;
      return expected_at(outcome, from * outcome.row_len + i % outcome.row_len);
    }));
  }
  if (!source.empty())
    answers.push_back(build(outcome, fmt::format("input '{}' passed through", source_name),
                            [&](std::int64_t i) { return source[static_cast<std::size_t>(i)]; }));
  if (!initial.empty()) answers.push_back({"memory left as it was", initial});
  return answers;
}

}  // namespace kvr
