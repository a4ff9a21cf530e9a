// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/fault_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "harness/suite/execution.h"
#include "harness/suite/invariance.h"
#include "harness/suite/output_faults.h"

namespace kvr {
namespace {

constexpr std::size_t kShipped = 0;

bool is_wanted(const FaultOptions& options, std::string_view fault) {
  return options.only.empty() ||
         std::find(options.only.begin(), options.only.end(), fault) != options.only.end();
}

std::string fill_label(const CaseId& id) {
  return id.params.has("fill") ? id.params.text("fill") : "normal";
}

// The rule of an output under a policy ("" is the shipped one); nothing when that is an alternative which
// does not cover it.
std::optional<Rule> rule_of(const Execution& execution, std::size_t t, const PolicyTable& policies,
                            const std::string& policy) {
  const TensorDecl& decl = *execution.tensors()[t].decl;
  const MachineProperties& machine = execution.machine().properties();
  const PolicyKey key{execution.id().kernel, decl.spec.name, decl.spec.dtype, machine.platform, machine.arch};
  RunOptions choice;
  choose_policy(choice, policy);
  if (!choice.alternative.empty() && policies.alternative(choice.alternative, key) == nullptr)
    return std::nullopt;
  return resolve_policy(key, policies, choice).rule;
}

// Judges what a fault left behind and books it.
class Booking {
 public:
  Booking(FaultMatrix& matrix, const CaseId& id) : matrix_(matrix), id_(id), fill_(fill_label(id)) {}

  FaultRow& row(FaultKind kind, const std::string& name, const std::string& output) {
    for (FaultRow& row : matrix_.rows)
      if (row.kind == kind && row.name == name && row.output == output) return row;
    FaultRow& row = matrix_.rows.emplace_back();
    row.kind = kind;
    row.name = name;
    row.output = output;
    row.cells.resize(matrix_.policies.size());
    return row;
  }
  bool enough(const FaultRow& row, std::int64_t cases) const {
    const auto found = row.cells[kShipped].find(fill_);
    return found != row.cells[kShipped].end() && found->second.killed > 0 && found->second.applied >= cases;
  }
  void book(FaultRow& row, std::size_t policy, bool killed, const Comparison* seen) {
    FaultCell& cell = row.cells[policy][fill_];
    ++cell.applied;
    cell.killed += killed ? 1 : 0;
    if (killed || seen == nullptr) return;
    if (seen->worst_ulp.ulp > cell.hidden_ulp || cell.hidden_case.empty()) {
      cell.hidden_ulp = seen->worst_ulp.ulp;
      cell.hidden_error = seen->max_abs_error;
      cell.hidden_case = id_.name;
    }
  }

 private:
  FaultMatrix& matrix_;
  const CaseId& id_;
  std::string fill_;
};

class CaseFaults {
 public:
  CaseFaults(const CaseId& id, Machine& machine, const PolicyTable& policies, const FaultOptions& options,
             FaultMatrix& matrix)
      : policies_(policies),
        options_(options),
        matrix_(matrix),
        booking_(matrix, id),
        execution_(id, machine, options.seed) {}

  void run() {
    if (execution_.builder().unsupported()) return;
    execution_.prepare();
    const LaunchStatus status = execution_.launch(0, "");
    if (execution_.builder().refusal() || !status.ok()) return;
    execution_.compute_reference();
    right_ = execution_.outputs();
    if (std::all_of(right_.begin(), right_.end(), [](const auto& codes) { return codes.empty(); })) return;
    ++matrix_.cases;
    if (options_.kinds.contains(FaultKind::output)) apply_output_faults();
    if (options_.kinds.contains(FaultKind::argument))
      for (const CaseBuilder::ArgumentFault& fault : execution_.builder().argument_faults())
        if (execution_.can_try(fault)) launch_fault(FaultKind::argument, fault.name, fault.launch, "");
    if (!options_.kinds.contains(FaultKind::source)) return;
    for (const std::string& name :
         kernel_faults(execution_.id().kernel, execution_.machine().properties().build))
      launch_fault(FaultKind::source, name, execution_.builder().launch(), name);
  }

 private:
  std::optional<Rule> rule(std::size_t t, std::size_t policy) const {
    return rule_of(execution_, t, policies_, policy == kShipped ? "" : matrix_.policies[policy]);
  }
  bool wanted(std::string_view fault) const { return is_wanted(options_, fault); }

  void apply_output_faults() {
    for (std::size_t t = 0; t < right_.size(); ++t) {
      if (right_[t].empty()) continue;
      std::vector<double> values;
      const Outcome right = execution_.outcome(t, right_[t], values);
      for (const OutputFault& fault : output_faults()) {
        if (!wanted(fault.name)) continue;
        FaultRow& row = booking_.row(FaultKind::output, fault.name, execution_.tensors()[t].decl->spec.name);
        if (booking_.enough(row, options_.enough)) continue;
        const auto codes = fault.apply(right);
        if (!codes) continue;
        ++row.tried;
        Outcome wrong = right;
        wrong.actual = *codes;
        for (std::size_t p = 0; p < matrix_.policies.size(); ++p) {
          const auto policy = rule(t, p);
          if (!policy) continue;
          const Comparison seen = judge(wrong, *policy);
          booking_.book(row, p, !seen.accepted, &seen);
        }
      }
    }
  }

  void launch_fault(FaultKind kind, const std::string& name, const CaseBuilder::Launch& launch,
                    std::string_view source_fault) {
    if (!wanted(name)) return;
    FaultRow& row = booking_.row(kind, name, "");
    if (booking_.enough(row, options_.enough)) return;
    ++row.tried;
    const LaunchStatus status = execution_.launch_with(launch, 1, source_fault);
    if (!status.ok()) {  // refused or faulted: nobody can miss that
      for (std::size_t p = 0; p < matrix_.policies.size(); ++p) booking_.book(row, p, true, nullptr);
      return;
    }
    const OutputCodes wrong = execution_.outputs();
    const bool damaged = execution_.stray_write().has_value();
    if (wrong == right_ && !damaged) return;  // this case cannot show the fault
    const auto bits_differ = [&] {
      return find_unlike_rows(execution_, wrong) ||
             (!source_fault.empty() && find_baseline_difference(execution_, wrong, source_fault));
    };
    for (std::size_t p = 0; p < matrix_.policies.size(); ++p) {
      bool killed = p == kShipped && damaged;
      bool seen_here = killed;  // does the policy cover anything that is wrong?
      std::optional<Comparison> worst;
      for (std::size_t t = 0; t < wrong.size(); ++t) {
        if (wrong[t].empty()) continue;
        const auto policy = rule(t, p);
        if (!policy) continue;
        seen_here = seen_here || wrong[t] != right_[t];
        std::vector<double> values;
        const Comparison seen = judge(execution_.outcome(t, wrong[t], values), *policy);
        killed = killed || !seen.accepted;
        if (!worst || seen.worst_ulp.ulp > worst->worst_ulp.ulp) worst = seen;
      }
      if (!seen_here) continue;
      if (p == kShipped && !killed) killed = bits_differ();
      booking_.book(row, p, killed, worst ? &*worst : nullptr);
    }
  }

  const PolicyTable& policies_;
  const FaultOptions& options_;
  FaultMatrix& matrix_;
  Booking booking_;
  Execution execution_;
  OutputCodes right_;
};

// The argument and source faults that these cases have on this machine.
std::set<std::pair<FaultKind, std::string>> declared_faults(const std::vector<const CaseId*>& cases,
                                                            const MachineProperties& machine) {
  std::set<std::pair<FaultKind, std::string>> declared;
  for (const CaseId* id : cases) {
    CaseBuilder builder(id->params, Seed{0}, machine, id->data_id);
    id->describe(builder);
    if (builder.unsupported()) continue;
    for (std::string& name : kernel_faults(id->kernel, machine.build))
      declared.emplace(FaultKind::source, std::move(name));
    for (const CaseBuilder::ArgumentFault& fault : builder.argument_faults())
      declared.emplace(FaultKind::argument, fault.name);
  }
  return declared;
}

// A row for each fault that should have been tried and never was.
void add_untried(FaultMatrix& matrix, const std::set<std::pair<FaultKind, std::string>>& declared,
                 const FaultOptions& options) {
  for (const auto& [kind, name] : declared) {
    const bool known = std::any_of(matrix.rows.begin(), matrix.rows.end(),
                                   [&](const FaultRow& row) { return row.kind == kind && row.name == name; });
    if (known || !options.kinds.contains(kind) || !is_wanted(options, name)) continue;
    FaultRow& row = matrix.rows.emplace_back();
    row.kind = kind;
    row.name = name;
    row.cells.resize(matrix.policies.size());
  }
}

}  // namespace

std::string_view fault_kind_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::output:
      return "output";
    case FaultKind::argument:
      return "argument";
    case FaultKind::source:
      return "source";
  }
  return "?";
}

bool FaultRow::applied(std::size_t policy) const {
  return std::any_of(cells[policy].begin(), cells[policy].end(),
                     [](const auto& cell) { return cell.second.applied > 0; });
}

bool FaultRow::killed(std::size_t policy) const {
  return std::any_of(cells[policy].begin(), cells[policy].end(),
                     [](const auto& cell) { return cell.second.killed > 0; });
}

std::vector<const FaultRow*> FaultMatrix::unproven() const& {
  std::vector<const FaultRow*> silent;
  for (const FaultRow& row : rows)
    if (row.kind != FaultKind::output && !row.applied()) silent.push_back(&row);
  return silent;
}

std::vector<const FaultRow*> FaultMatrix::survivors(std::size_t policy) const& {
  std::vector<const FaultRow*> alive;
  for (const FaultRow& row : rows)
    if (row.applied(policy) && !row.killed(policy)) alive.push_back(&row);
  return alive;
}

FaultMatrix run_fault_matrix(const std::string& kernel, const std::vector<const CaseId*>& cases,
                             const std::string& machine_name, const PolicyTable& policies,
                             const FaultOptions& options,
                             const std::function<void(std::int64_t, std::int64_t)>& progress) {
  MachineOptions machine_options;
  machine_options.threads = options.threads;
  const auto machine = open_machine(machine_name, machine_options);
  FaultMatrix matrix;
  matrix.kernel = kernel;
  matrix.machine = machine_name;
  matrix.policies = {"shipped"};
  matrix.policies.insert(matrix.policies.end(), options.policies.begin(), options.policies.end());
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (progress) progress(static_cast<std::int64_t>(c), static_cast<std::int64_t>(cases.size()));
    if (cases[c]->kernel != kernel)
      throw std::logic_error(fmt::format("case '{}' is not of kernel {}", cases[c]->name, kernel));
    CaseFaults(*cases[c], *machine, policies, options, matrix).run();
  }
  add_untried(matrix, declared_faults(cases, machine->properties()), options);
  return matrix;
}

Sensitivity measure_sensitivity(const Outcome& outcome, const Rule& rule) {
  Sensitivity found;
  const auto rejects = [&](const std::vector<std::byte>& codes) {
    Outcome wrong = outcome;
    wrong.actual = codes;
    return !judge(wrong, rule).accepted;
  };
  const std::int64_t middle = outcome.rows / 2 * outcome.row_len + outcome.row_len / 2;
  for (std::int64_t steps = 1; steps <= std::int64_t{1} << 15 && found.element_ulp == 0; steps *= 2)
    if (rejects(with_element_moved(outcome, middle, steps))) found.element_ulp = steps;
  for (int exponent = -12; exponent <= 0 && found.gain == 0.0; ++exponent)
    if (rejects(with_gain(outcome, 1.0 + std::ldexp(1.0, exponent)))) found.gain = std::ldexp(1.0, exponent);
  for (std::int64_t rows = 1; found.rows_share == 0.0; rows = std::min(2 * rows, outcome.rows)) {
    if (rejects(with_rows_zeroed(outcome, rows)))
      found.rows_share = static_cast<double>(rows) / static_cast<double>(outcome.rows);
    else if (rows >= outcome.rows)
      break;
  }
  return found;
}

std::set<std::string> fault_names(const std::vector<const CaseId*>& cases, const MachineProperties& machine) {
  std::set<std::string> names;
  for (const OutputFault& fault : output_faults()) names.insert(fault.name);
  for (const auto& [kind, name] : declared_faults(cases, machine)) names.insert(name);
  return names;
}

std::vector<SensitivityRow> case_sensitivity(const CaseId& id, Machine& machine, const PolicyTable& policies,
                                             const FaultOptions& options) {
  Execution execution(id, machine, options.seed);
  if (execution.builder().unsupported() || execution.builder().refusal()) return {};
  execution.prepare();
  if (!execution.launch(0, "").ok()) return {};
  execution.compute_reference();
  const OutputCodes codes = execution.outputs();
  std::vector<std::string> columns{""};
  columns.insert(columns.end(), options.policies.begin(), options.policies.end());
  std::vector<SensitivityRow> rows;
  for (std::size_t t = 0; t < codes.size(); ++t) {
    if (codes[t].empty()) continue;
    std::vector<double> values;
    const Outcome outcome = execution.outcome(t, codes[t], values);
    for (const std::string& column : columns)
      if (const auto rule = rule_of(execution, t, policies, column))
        rows.push_back({machine.name(), id.name, execution.tensors()[t].decl->spec.name,
                        column.empty() ? "shipped" : column, measure_sensitivity(outcome, *rule)});
  }
  return rows;
}

}  // namespace kvr
