// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// A case: kernel + parameters + input regime + seed. The description of a case names its tensors, binds them
// to the kernel's argument struct and gives a reference; it loops over nothing and asserts nothing.
#pragma once

#include <any>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "harness/judge/comparison.h"
#include "harness/machine/machine.h"
#include "harness/numeric/codec.h"
#include "harness/random/fill.h"
#include "harness/tensor/tensor.h"

namespace kvr {

// The parameters of one case, in declaration order: n=37, dtype=bf16, ...
class Params {
 public:
  void set(std::string key, std::string value);
  bool has(std::string_view key) const;
  // Each throws std::invalid_argument naming the key and the value when absent or malformed.
  const std::string& text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  DType dtype(std::string_view key) const;
  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

// What the reference says of one output. Stored by rows (the last dimension), and only for rows that set()
// has touched: a paged cache of which a case writes 42 entries costs 42 rows.
class Expected {
 public:
  Expected() = default;
  Expected(std::int64_t rows, std::int64_t row_len);
  // `value`: before the last rounding. `budget`: how far a correct kernel's unrounded value may lie from it.
  // `magnitude`: of the largest term that was added up to give it, for rules that scale with it (rule.h).
  // `index` is in logical order: row * row_len + column. Throws std::logic_error out of range.
  void set(std::int64_t index, double value, double budget = 0.0, double magnitude = 0.0);

  // Sets every element at once, rows in order, for references that compute rows in parallel: write row r to
  // [r * row_len, (r + 1) * row_len) of both. Nothing may have been set before.
  template <class Real>
  struct AllOf {
    std::span<Real> values;
    std::span<double> budgets;
  };
  using All = AllOf<double>;
  All set_all();
  // The same with values that are floats: half the memory to write and to judge.
  using AllSingle = AllOf<float>;
  AllSingle set_all_single();

  std::int64_t row_len() const { return row_len_; }
  std::int64_t touched_rows() const { return static_cast<std::int64_t>(row_ids_.size()); }
  // Of each touched row, in the order of first touch: its number, its values, budgets, and which elements
  // were set. Elements never set must keep their initial bytes (in/out tensors) or stay unwritten (outputs).
  const std::vector<std::int64_t>& row_ids() const { return row_ids_; }
  ExpectedValues values() const;
  double value(std::size_t at) const {
    return singles_.empty() ? values_[at] : static_cast<double>(singles_[at]);
  }
  const std::vector<double>& budgets() const { return budgets_; }
  // Empty when no element was given one.
  const std::vector<double>& magnitudes() const { return magnitudes_; }
  const std::vector<std::uint8_t>& is_set() const { return is_set_; }
  std::int64_t set_count() const { return set_count_; }
  // A count that outlier expressions may use: "flipped_rows".
  std::map<std::string, double> counts;
  // What the case turned out to exercise, for the report: "bound active in 9 of 37 rows".
  std::string note;
  // Why these inputs can prove nothing about the kernel ("bound active in 0 of 37 rows"); empty: they can.
  // Otherwise a case that would pass gets the verdict no_power with this reason.
  std::string powerless;

 private:
  void touch_all();

  std::int64_t row_len_ = 0;
  std::int64_t set_count_ = 0;
  std::vector<std::int64_t> slot_of_row_;  // -1: not touched
  std::vector<std::int64_t> row_ids_;
  std::vector<double> values_, budgets_, magnitudes_;
  std::vector<float> singles_;  // in place of values_ after set_all_single()
  std::vector<std::uint8_t> is_set_;
};

using Expectations = std::map<std::string, Expected, std::less<>>;

enum class Role : std::uint8_t { input, output, inout };

struct TensorDecl {
  TensorSpec spec;
  Role role = Role::input;
  Fill fill;  // input, inout
  std::vector<std::int64_t>
      rows;  // rows that exist; the rest stays poisoned (empty: all). For large tables and paged caches.
  Placement placement = Placement::guarded;
  Overflow overflow = Overflow::ieee;  // outputs: how RN_T treats values beyond the format
  double format_max = 0.0;             // outputs with Overflow::saturate
  std::int64_t heads = 1;              // outputs: rows are (token, head) pairs
  std::string null_source;  // outputs: an input of the same shape; passing it through must be rejected
  // Why reads of it beyond the first are served by a cache, so that each of its sectors counts once in the
  // traffic: "weights, read by every row". Empty: every access of a warp counts.
  std::string cached;
  // outputs: all rows have equal inputs, so their bits must be equal; only one row counts when the case is
  // compared with its baseline, so the number of rows may be a presentation axis (batch invariance).
  bool rows_alike = false;
};

// Pointers to the tensors of a case: to device memory for the launch, to host copies for the reference.
class Bindings {
 public:
  void set(std::string_view name, void* pointer) { pointers_.insert_or_assign(std::string(name), pointer); }
  // Converts to whatever pointer type the argument struct has. Throws std::logic_error naming an undeclared
  // tensor.
  struct Pointer {
    void* value;
    template <class T>
    operator T*() const {  // NOLINT(google-explicit-constructor): reads as args.k = at("k")
      return static_cast<T*>(value);
    }
  };
  Pointer operator()(std::string_view name) const;

 private:
  std::map<std::string, void*, std::less<>> pointers_;
};

class CaseBuilder {
 public:
  CaseBuilder(const Params& params, Seed seed, const MachineProperties& machine, std::string data_id)
      : params_(params), seed_(seed), machine_(machine), data_id_(std::move(data_id)) {}

  const Params& params() const { return params_; }
  const MachineProperties& machine() const { return machine_; }
  Seed seed() const { return seed_; }
  // Values a case needs on the host while it is being described (slot lists, positions): the same stream a
  // tensor of that name gets.
  RandomStream stream(std::string_view tensor) const { return {seed_, data_id_, tensor}; }

  TensorDecl& input(TensorSpec spec, Fill fill);
  TensorDecl& output(TensorSpec spec);
  TensorDecl& inout(TensorSpec spec, Fill fill);

  // What a launch must move at least: each byte of its inputs read once, each of its outputs written once, by
  // the formula in the kernel's header. Cases that say so can be held to it (suite/traffic.h).
  void minimum_traffic(std::int64_t bytes) { minimum_traffic_ = bytes; }
  // Here more than kTrafficLimit times the minimum may be moved, and why. Throws std::logic_error without a
  // reason.
  void traffic_limit(double ratio, std::string reason);

  // Called twice: with device pointers for the launch, with host pointers for the reference.
  template <class Args>
  void bind(std::function<Args(const Bindings&)> bind) {
    launch_ = [bind](Machine& machine, std::string_view kernel, std::string_view fault, const Bindings& at) {
      return machine.launch<Args>(kernel, bind(at), fault);
    };
    host_args_ = [bind](const Bindings& at) { return std::any(bind(at)); };
    bind_ = std::move(bind);
  }
  // A known mistake of a caller or a kernel that can be made by changing arguments: eps a hundred times too
  // large, another pairing, a packed stride. The fault matrix launches with it (some policy must notice), and
  // a failing output is compared with the reference under it (a match names the mistake). Call after bind().
  // The change must stay inside the case's memory. One that addresses elements the case itself does not (a
  // packed stride) says so, and is left out where a tensor has rows that do not exist: large tensors have
  // memory around what the case addresses only.
  enum class Addresses : std::uint8_t { same, others };
  template <class Args>
  void argument_fault(std::string name, std::function<void(Args&)> change,
                      Addresses addresses = Addresses::same) {
    const auto bind = std::any_cast<std::function<Args(const Bindings&)>>(bind_);
    const auto changed = [bind, change](const Bindings& at) {
      Args args = bind(at);
      change(args);
      return args;
    };
    argument_faults_.push_back(
        {std::move(name),
         [changed](Machine& machine, std::string_view kernel, std::string_view fault, const Bindings& at) {
           return machine.launch<Args>(kernel, changed(at), fault);
         },
         [changed](const Bindings& at) { return std::any(changed(at)); }, addresses});
  }
  // Fills an Expected per output. Reads inputs through host pointers; in/out tensors still hold their initial
  // values.
  template <class Args>
  void reference(std::function<void(const Args&, Expectations&)> reference) {
    reference_ = [reference](const std::any& args, Expectations& out) {
      reference(std::any_cast<const Args&>(args), out);
    };
  }
  // This case expects the launch to be refused, with a message that contains `argument`.
  void expect_refusal(std::string argument) { refusal_ = std::move(argument); }
  // The case cannot run here: the verdict is `unsupported` with this reason.
  void unsupported(std::string reason) { unsupported_ = std::move(reason); }
  // The answer is legitimately trivial (no tokens, a zero row only): null answers prove nothing and are not
  // judged.
  void null_answers_allowed(std::string reason) { null_allowed_ = std::move(reason); }

  using Launch = std::function<LaunchStatus(Machine&, std::string_view, std::string_view, const Bindings&)>;
  using HostArgs = std::function<std::any(const Bindings&)>;
  using Reference = std::function<void(const std::any&, Expectations&)>;
  struct ArgumentFault {
    std::string name;
    Launch launch;
    HostArgs host_args;
    Addresses addresses = Addresses::same;
  };
  struct TrafficLimit {
    double ratio;
    std::string reason;
  };

  // For the runner.
  const std::deque<TensorDecl>& tensors() const { return tensors_; }
  const Launch& launch() const { return launch_; }
  const HostArgs& host_args() const { return host_args_; }
  const Reference& reference() const { return reference_; }
  const std::vector<ArgumentFault>& argument_faults() const { return argument_faults_; }
  const std::optional<std::string>& refusal() const { return refusal_; }
  const std::optional<std::string>& unsupported() const { return unsupported_; }
  const std::optional<std::string>& null_allowed() const { return null_allowed_; }
  const std::optional<std::int64_t>& minimum_traffic() const { return minimum_traffic_; }
  const std::optional<TrafficLimit>& traffic_limit() const { return traffic_limit_; }

 private:
  TensorDecl& declare(TensorSpec spec, Role role, Fill fill);

  const Params& params_;
  Seed seed_;
  const MachineProperties& machine_;
  std::string data_id_;
  std::deque<TensorDecl> tensors_;  // a deque: input() hands out references that must survive the next one
  std::any bind_;                   // std::function<Args(const Bindings&)>
  std::vector<ArgumentFault> argument_faults_;
  Launch launch_;
  HostArgs host_args_;
  Reference reference_;
  std::optional<std::string> refusal_, unsupported_, null_allowed_;
  std::optional<std::int64_t> minimum_traffic_;
  std::optional<TrafficLimit> traffic_limit_;
};

}  // namespace kvr
