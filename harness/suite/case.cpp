// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/case.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

namespace kvr {

void Params::set(std::string key, std::string value) {
  entries_.emplace_back(std::move(key), std::move(value));
}

bool Params::has(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return true;
  return false;
}

const std::string& Params::text(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name == key) return value;
  throw std::invalid_argument(fmt::format("case has no parameter '{}'", key));
}

std::int64_t Params::integer(std::string_view key) const {
  const std::string& value = text(key);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size())
    throw std::invalid_argument(fmt::format("parameter {}={} is not an integer", key, value));
  return number;
}

DType Params::dtype(std::string_view key) const {
  const std::string& value = text(key);
  if (const auto dtype = parse_dtype(value)) return *dtype;
  throw std::invalid_argument(
      fmt::format("parameter {}={} is not a dtype; known: {}", key, value, dtype_names()));
}

Expected::Expected(std::int64_t rows, std::int64_t row_len)
    : row_len_(row_len), slot_of_row_(static_cast<std::size_t>(rows), -1) {}

void Expected::set(std::int64_t index, double value, double budget, double magnitude) {
  const std::int64_t row = row_len_ == 0 ? -1 : index / row_len_;
  if (index < 0 || row < 0 || row >= static_cast<std::int64_t>(slot_of_row_.size()))
    throw std::logic_error(fmt::format("reference sets element {} of an output of {} rows of {}", index,
                                       slot_of_row_.size(), row_len_));
  if (!singles_.empty()) throw std::logic_error("set() on an output of which everything was set");
  std::int64_t& slot = slot_of_row_[static_cast<std::size_t>(row)];
  if (slot < 0) {
    slot = touched_rows();
    row_ids_.push_back(row);
    const auto size = static_cast<std::size_t>(touched_rows() * row_len_);
    values_.resize(size);
    budgets_.resize(size);
    is_set_.resize(size);
    if (!magnitudes_.empty()) magnitudes_.resize(size);
  }
  const auto at = static_cast<std::size_t>(slot * row_len_ + (index - row * row_len_));
  values_[at] = value;
  budgets_[at] = budget;
  if (magnitude != 0.0 && magnitudes_.empty()) magnitudes_.resize(values_.size());
  if (!magnitudes_.empty()) magnitudes_[at] = magnitude;
  set_count_ += is_set_[at] == 0 ? 1 : 0;
  is_set_[at] = 1;
}

void Expected::touch_all() {
  if (!row_ids_.empty()) throw std::logic_error("set_all() on an output that was set before");
  const auto rows = static_cast<std::int64_t>(slot_of_row_.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    slot_of_row_[static_cast<std::size_t>(row)] = row;
    row_ids_.push_back(row);
  }
  set_count_ = rows * row_len_;
  budgets_.resize(static_cast<std::size_t>(set_count_));
  is_set_.assign(static_cast<std::size_t>(set_count_), 1);
}

Expected::All Expected::set_all() {
  touch_all();
  values_.resize(static_cast<std::size_t>(set_count_));
  return {values_, budgets_};
}

Expected::AllSingle Expected::set_all_single() {
  touch_all();
  singles_.resize(static_cast<std::size_t>(set_count_));
  return {singles_, budgets_};
}

ExpectedValues Expected::values() const {
  if (!singles_.empty()) return std::span<const float>(singles_);
  return std::span<const double>(values_);
}

Bindings::Pointer Bindings::operator()(std::string_view name) const {
  const auto found = pointers_.find(name);
  if (found == pointers_.end())
    throw std::logic_error(fmt::format("case binds undeclared tensor '{}'", name));
  return {found->second};
}

TensorDecl& CaseBuilder::declare(TensorSpec spec, Role role, Fill fill) {
  spec.validate();
  for (const TensorDecl& other : tensors_)
    if (other.spec.name == spec.name)
      throw std::logic_error(fmt::format("case declares tensor '{}' twice", spec.name));
  TensorDecl decl;
  decl.spec = std::move(spec);
  decl.role = role;
  decl.fill = std::move(fill);
  return tensors_.emplace_back(std::move(decl));
}

void CaseBuilder::traffic_limit(double ratio, std::string reason) {
  if (reason.empty())
    throw std::logic_error(fmt::format("case allows {} x the minimum traffic without a reason", ratio));
  traffic_limit_ = TrafficLimit{ratio, std::move(reason)};
}

TensorDecl& CaseBuilder::input(TensorSpec spec, Fill fill) {
  return declare(std::move(spec), Role::input, std::move(fill));
}

TensorDecl& CaseBuilder::output(TensorSpec spec) {
  return declare(std::move(spec), Role::output, Fill{});
}

TensorDecl& CaseBuilder::inout(TensorSpec spec, Fill fill) {
  return declare(std::move(spec), Role::inout, std::move(fill));
}

}  // namespace kvr
