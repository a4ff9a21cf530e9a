// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// One case on one machine, step by step: describe, lay out, launch, read back, reference. The runner verifies
// with it, the study draws many seeds with it. Memory is kept from one draw to the next.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/judge/comparison.h"
#include "harness/machine/machine.h"
#include "harness/suite/materialise.h"
#include "harness/suite/registry.h"

namespace kvr {

// Output codes of the rows the reference touched, per tensor in declaration order; empty for inputs.
using OutputCodes = std::vector<std::vector<std::byte>>;

// Memory and inputs of the last case on a machine, for the next one that can use them: neighbouring cases
// have shapes, and often inputs, in common. Dies before the machine does.
struct Workspace {
  std::shared_ptr<MappingPool> pool = std::make_shared<MappingPool>();
  std::vector<HostTensor> tensors;
  std::vector<std::unique_ptr<DeviceMemory>> device;
  std::vector<HostAllocation> after;
};

class Execution {
 public:
  // Describes the case; nothing is allocated yet. Takes what it can use out of `workspace` and leaves its own
  // there, unless a launch ended in an error (a failed device's memory is of no use to anybody).
  Execution(const CaseId& id, Machine& machine, Seed seed, Workspace* workspace = nullptr);
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  // The same case under another seed. Memory is reused where the tensors kept their shape.
  void redraw(Seed seed);
  // Generates the inputs and allocates. Throws NotEnoughMemory, std::bad_alloc.
  void prepare();
  // Lays memory out afresh, poisoned with the pattern of `run`, and launches; afterwards after(t) shows what
  // memory became.
  LaunchStatus launch(unsigned run, std::string_view fault) {
    return launch_with(builder_->launch(), run, fault);
  }
  // The same once more after a launch that left the inputs as they were: they are not laid out again, only
  // what lies around them.
  LaunchStatus launch_again(unsigned run, std::string_view fault);
  // Whether this case has the memory that the fault addresses.
  bool can_try(const CaseBuilder::ArgumentFault& fault) const;
  // With other arguments: one of builder().argument_faults() that can be tried.
  LaunchStatus launch_with(const CaseBuilder::Launch& launch, unsigned run, std::string_view fault);
  // Inputs only are laid out and outputs only are read back: what a study needs.
  LaunchStatus launch_quickly(std::string_view fault);
  // Runs the reference on the host copies. in/out tensors must hold their initial contents, which they do
  // after launch().
  void compute_reference() { expectations_ = reference_with(builder_->host_args()); }
  // What the reference says under other arguments.
  Expectations reference_with(const CaseBuilder::HostArgs& args);

  const CaseId& id() const { return id_; }
  Machine& machine() const { return machine_; }
  const CaseBuilder& builder() const { return *builder_; }
  const std::vector<HostTensor>& tensors() const { return tensors_; }
  // The memory of tensor t as the last launch left it.
  const HostAllocation& after(std::size_t t) const {
    const HostAllocation* const here = device_[t]->on_host();
    return here != nullptr ? *here : after_[t];
  }
  // What the reference says of tensor t; nullptr for inputs and before compute_reference().
  const Expected* expected(std::size_t t) const;
  // Where the launch wrote though it may not (memory_check.h): outside what the reference sets. Before
  // compute_reference(): anywhere.
  std::optional<std::string> stray_write() const;
  OutputCodes outputs() const;
  std::uint64_t input_hash() const { return hash_inputs(tensors_); }

  // Tensor t as the judge sees it. `codes` must outlive the outcome; `values` is storage for it.
  Outcome outcome(std::size_t t, const std::vector<std::byte>& codes, std::vector<double>& values) const;

 private:
  Bindings bind_device() const;
  LaunchStatus launch_laid_out(const CaseBuilder::Launch& launch, std::string_view fault);
  void download(std::size_t t, std::span<const ByteRange> ranges);

  const CaseId& id_;
  Machine& machine_;
  Workspace* workspace_;
  bool failed_ = false;  // a launch ended in an error
  std::optional<CaseBuilder> builder_;
  std::vector<HostTensor> tensors_;
  std::vector<std::unique_ptr<DeviceMemory>> device_;
  std::vector<HostAllocation> after_;  // where the host cannot read device memory
  Expectations expectations_;
};

}  // namespace kvr
