// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/execution.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "harness/suite/memory_check.h"
#include "harness/suite/null_answers.h"

namespace kvr {

Execution::Execution(const CaseId& id, Machine& machine, Seed seed, Workspace* workspace)
    : id_(id), machine_(machine), workspace_(workspace) {
  builder_.emplace(id.params, seed, machine.properties(), id.data_id);
  id.describe(*builder_);
  if (builder_->unsupported()) return;
  if (!builder_->launch()) throw std::logic_error(fmt::format("case '{}' binds no arguments", id.name));
  if (!builder_->reference() && !builder_->refusal())
    throw std::logic_error(fmt::format("case '{}' has no reference", id.name));
}

Execution::~Execution() {
  if (workspace_ == nullptr || failed_) return;
  workspace_->tensors = std::move(tensors_);
  workspace_->device = std::move(device_);
  workspace_->after = std::move(after_);
}

void Execution::redraw(Seed seed) {
  expectations_.clear();
  builder_.emplace(id_.params, seed, machine_.properties(), id_.data_id);
  id_.describe(*builder_);
  prepare();
}

void Execution::prepare() {
  std::shared_ptr<MappingPool> pool = workspace_ != nullptr ? workspace_->pool : nullptr;
  Workspace previous{pool, std::move(tensors_), std::move(device_), std::move(after_)};
  if (previous.tensors.empty() && workspace_ != nullptr) std::swap(previous, *workspace_);
  tensors_ = materialise(*builder_, id_.data_id, std::move(previous.tensors), pool);
  device_.resize(tensors_.size());
  after_.resize(tensors_.size());
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (const auto from = tensors_[t].taken_from) {
      device_[t] = std::move(previous.device[*from]);
      after_[t] = std::move(previous.after[*from]);
    }
  }
  previous = {};
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (device_[t] != nullptr) continue;
    const HostTensor& tensor = tensors_[t];
    device_[t] = machine_.allocate(tensor.spec, tensor.committed, tensor.placement);
    if (device_[t]->on_host() == nullptr)
      after_[t] = HostAllocation(tensor.spec, tensor.committed, tensor.placement, pool);
  }
}

Bindings Execution::bind_device() const {
  Bindings at;
  for (std::size_t t = 0; t < tensors_.size(); ++t) at.set(tensors_[t].decl->spec.name, device_[t]->data());
  return at;
}

bool Execution::can_try(const CaseBuilder::ArgumentFault& fault) const {
  return fault.addresses == CaseBuilder::Addresses::same ||
         std::all_of(tensors_.begin(), tensors_.end(), [](const HostTensor& tensor) {
           return tensor.committed == std::vector<ByteRange>{{0, tensor.spec.bytes()}};
         });
}

LaunchStatus Execution::launch_with(const CaseBuilder::Launch& launch, unsigned run, std::string_view fault) {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    lay_out(tensors_[t], run);
    device_[t]->upload(tensors_[t].memory);
  }
  return launch_laid_out(launch, fault);
}

LaunchStatus Execution::launch_again(unsigned run, std::string_view fault) {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (tensors_[t].decl->role == Role::input) {
      poison_around(tensors_[t], run);
      device_[t]->upload(tensors_[t].memory, tensors_[t].around);
    } else {
      lay_out(tensors_[t], run);
      device_[t]->upload(tensors_[t].memory);
    }
  }
  return launch_laid_out(builder_->launch(), fault);
}

LaunchStatus Execution::launch_laid_out(const CaseBuilder::Launch& launch, std::string_view fault) {
  for (std::size_t t = 0; t < tensors_.size(); ++t)
    device_[t]->describe_contents(tensors_[t].addressed, tensors_[t].decl->role != Role::output);
  LaunchStatus status = launch(machine_, id_.kernel, fault, bind_device());
  if (status.kind == LaunchStatus::Kind::error) {  // memory of a failed device cannot be read
    failed_ = true;
    return status;
  }
  for (std::size_t t = 0; t < tensors_.size(); ++t) download(t, tensors_[t].memory.committed());
  return status;
}

void Execution::download(std::size_t t, std::span<const ByteRange> ranges) {
  if (device_[t]->on_host() == nullptr) device_[t]->download(after_[t], ranges);
}

LaunchStatus Execution::launch_quickly(std::string_view fault) {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    if (tensors_[t].decl->role == Role::output) continue;
    lay_out_rows(tensors_[t]);
    device_[t]->upload(tensors_[t].memory, tensors_[t].addressed);
    device_[t]->describe_contents(tensors_[t].addressed, true);
  }
  LaunchStatus status = builder_->launch()(machine_, id_.kernel, fault, bind_device());
  if (status.kind == LaunchStatus::Kind::error) {
    failed_ = true;
    return status;
  }
  for (std::size_t t = 0; t < tensors_.size(); ++t)
    if (tensors_[t].decl->role != Role::input) download(t, tensors_[t].addressed);
  return status;
}

Expectations Execution::reference_with(const CaseBuilder::HostArgs& args) {
  Bindings at;
  Expectations expectations;
  for (HostTensor& tensor : tensors_) {
    at.set(tensor.decl->spec.name, tensor.memory.data());
    if (tensor.decl->role != Role::input)
      expectations.emplace(tensor.decl->spec.name,
                           Expected(tensor.decl->spec.rows(), tensor.decl->spec.row_len()));
  }
  builder_->reference()(args(at), expectations);
  return expectations;
}

const Expected* Execution::expected(std::size_t t) const {
  const auto found = expectations_.find(tensors_[t].decl->spec.name);
  return found == expectations_.end() ? nullptr : &found->second;
}

std::optional<std::string> Execution::stray_write() const {
  for (std::size_t t = 0; t < tensors_.size(); ++t)
    if (auto stray = find_stray_write(tensors_[t], after(t), writable_ranges(tensors_[t], expected(t))))
      return stray;
  return std::nullopt;
}

OutputCodes Execution::outputs() const {
  OutputCodes codes(tensors_.size());
  for (std::size_t t = 0; t < tensors_.size(); ++t)
    if (const Expected* want = expected(t))
      codes[t] = gather(tensors_[t].decl->spec, want->row_ids(), after(t));
  return codes;
}

Outcome Execution::outcome(std::size_t t, const std::vector<std::byte>& codes,
                           std::vector<double>& values) const {
  const TensorDecl& decl = *tensors_[t].decl;
  const Expected& want = *expected(t);
  ExpectedValues expected_values = want.values();
  if (want.set_count() != want.touched_rows() * want.row_len()) {
    // Rows the reference set in part: the rest must hold what it held (the memory check sees to that), so
    // expect just that.
    values.resize(want.is_set().size());
    const std::size_t size = dtype_size(decl.spec.dtype);
    for (std::size_t e = 0; e < values.size(); ++e)
      values[e] = want.is_set()[e] != 0 ? want.value(e)
                                        : decode(decl.spec.dtype, load_code(codes.data() + e * size, size));
    expected_values = std::span<const double>(values);
  }
  Outcome outcome;
  outcome.dtype = decl.spec.dtype;
  outcome.rows = want.touched_rows();
  outcome.row_len = want.row_len();
  outcome.heads = decl.heads;
  outcome.actual = codes;
  outcome.expected = expected_values;
  outcome.budget = want.budgets();
  outcome.magnitude = want.magnitudes();
  outcome.overflow = decl.overflow;
  outcome.format_max = decl.format_max;
  outcome.counts = want.counts;
  if (want.touched_rows() != decl.spec.rows()) outcome.row_ids = want.row_ids();
  return outcome;
}

}  // namespace kvr
