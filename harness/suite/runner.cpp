// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>

#include "harness/suite/materialise.h"
#include "harness/suite/memory_check.h"
#include "harness/suite/null_answers.h"

namespace kvr {
namespace {

// A verdict reached early; carries it through the steps of one run.
struct Decided {
  Verdict verdict;
  std::string reason;
};

class CaseRun {
 public:
  CaseRun(const CaseId& id, Machine& machine, const PolicyTable& policies, const RunOptions& options)
      : id_(id),
        machine_(machine),
        policies_(policies),
        options_(options),
        builder_(id.params, options.seed, machine.properties(), id.data_id) {}

  void describe();
  void prepare();
  // One launch on freshly laid-out memory, poisoned with the pattern of `run`. Afterwards after_ holds what
  // memory looks like.
  void launch(unsigned run);
  void compute_reference();
  void check_memory() const;
  // Output codes of the rows the reference touched, per tensor; empty for inputs.
  std::vector<std::vector<std::byte>> outputs() const;
  void check_written(const std::vector<std::vector<std::byte>>& first,
                     const std::vector<std::vector<std::byte>>& second) const;
  void check_repeatable(const std::vector<std::vector<std::byte>>& first,
                        const std::vector<std::vector<std::byte>>& second) const;
  OutputReport judge_output(std::size_t t, const std::vector<std::byte>& codes) const;

  const CaseBuilder& builder() const { return builder_; }
  const std::vector<HostTensor>& tensors() const { return tensors_; }
  std::uint64_t input_hash() const { return hash_inputs(tensors_); }
  const Expected* expected(std::size_t t) const;

 private:
  Policy resolve_policy(const TensorDecl& decl) const;
  Outcome outcome(std::size_t t, const std::vector<std::byte>& codes, std::vector<double>& values) const;
  void check_power(std::size_t t, const Outcome& outcome, const Rule& rule) const;
  std::string element_place(const HostTensor& tensor, const Expected& expected, std::size_t element) const;

  const CaseId& id_;
  Machine& machine_;
  const PolicyTable& policies_;
  const RunOptions& options_;
  CaseBuilder builder_;
  std::vector<HostTensor> tensors_;
  std::vector<std::unique_ptr<DeviceMemory>> device_;
  std::vector<HostAllocation> after_;
  Expectations expectations_;
};

void CaseRun::describe() {
  id_.describe(builder_);
  if (builder_.unsupported()) throw Decided{Verdict::unsupported, *builder_.unsupported()};
  if (!builder_.launch()) throw std::logic_error(fmt::format("case '{}' binds no arguments", id_.name));
  if (!builder_.reference() && !builder_.refusal())
    throw std::logic_error(fmt::format("case '{}' has no reference", id_.name));
}

void CaseRun::prepare() {
  tensors_ = materialise(builder_, id_.data_id);
  for (const HostTensor& tensor : tensors_) {
    device_.push_back(machine_.allocate(tensor.decl->spec, tensor.committed, tensor.decl->placement));
    after_.emplace_back(tensor.decl->spec, tensor.committed, tensor.decl->placement);
  }
}

void CaseRun::launch(unsigned run) {
  Bindings at;
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    lay_out(tensors_[t], run);
    device_[t]->upload(tensors_[t].memory);
    at.set(tensors_[t].decl->spec.name, device_[t]->data());
  }
  const LaunchStatus status = builder_.launch()(machine_, id_.kernel, options_.fault, at);
  if (status.kind == LaunchStatus::Kind::error) throw Decided{Verdict::launch_error, status.what};
  for (std::size_t t = 0; t < tensors_.size(); ++t) device_[t]->download(after_[t]);
  if (status.kind != LaunchStatus::Kind::ok) {
    check_memory();  // a refused launch touches nothing
    const auto& refusal = builder_.refusal();
    if (refusal && status.what.find(*refusal) != std::string::npos)
      throw Decided{Verdict::pass, "refused as it must be: " + status.what};
    if (refusal)
      throw Decided{Verdict::fail, fmt::format("refused without naming '{}': {}", *refusal, status.what)};
    if (status.kind == LaunchStatus::Kind::unsupported) throw Decided{Verdict::unsupported, status.what};
    throw Decided{Verdict::fail, "launch refused: " + status.what};
  }
  if (builder_.refusal())
    throw Decided{Verdict::fail, fmt::format("the launch must be refused naming '{}', but it went through",
                                             *builder_.refusal())};
}

void CaseRun::compute_reference() {
  Bindings at;
  for (HostTensor& tensor : tensors_) {
    at.set(tensor.decl->spec.name, tensor.memory.data());
    if (tensor.decl->role != Role::input)
      expectations_.emplace(tensor.decl->spec.name,
                            Expected(tensor.decl->spec.rows(), tensor.decl->spec.row_len()));
  }
  builder_.reference()(builder_.host_args()(at), expectations_);
}

const Expected* CaseRun::expected(std::size_t t) const {
  const auto found = expectations_.find(tensors_[t].decl->spec.name);
  return found == expectations_.end() ? nullptr : &found->second;
}

void CaseRun::check_memory() const {
  for (std::size_t t = 0; t < tensors_.size(); ++t)
    if (const auto stray =
            find_stray_write(tensors_[t], after_[t], writable_ranges(tensors_[t], expected(t))))
      throw Decided{Verdict::fail, *stray};
}

std::vector<std::vector<std::byte>> CaseRun::outputs() const {
  std::vector<std::vector<std::byte>> codes(tensors_.size());
  for (std::size_t t = 0; t < tensors_.size(); ++t)
    if (const Expected* want = expected(t))
      codes[t] = gather(tensors_[t].decl->spec, want->row_ids(), after_[t]);
  return codes;
}

std::string CaseRun::element_place(const HostTensor& tensor, const Expected& want,
                                   std::size_t element) const {
  const auto row_len = static_cast<std::size_t>(want.row_len());
  return fmt::format("'{}' row {}, column {}", tensor.decl->spec.name, want.row_ids()[element / row_len],
                     element % row_len);
}

void CaseRun::check_written(const std::vector<std::vector<std::byte>>& first,
                            const std::vector<std::vector<std::byte>>& second) const {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const Expected* want = expected(t);
    if (want == nullptr || tensors_[t].decl->role != Role::output) continue;
    const std::size_t size = dtype_size(tensors_[t].decl->spec.dtype);
    std::int64_t unwritten = 0;
    std::size_t where = 0;
    for (std::size_t e = 0; e < first[t].size() / size; ++e) {
      const auto holds = [&](const std::vector<std::byte>& codes, unsigned run) {
        return std::all_of(codes.begin() + static_cast<std::ptrdiff_t>(e * size),
                           codes.begin() + static_cast<std::ptrdiff_t>((e + 1) * size),
                           [run](std::byte b) { return b == poison_byte(run); });
      };
      // The pattern of each run left in place by both: no value the kernel computes follows the poison
      // around.
      if (want->is_set()[e] == 0 || !holds(first[t], 0) || !holds(second[t], 1)) continue;
      if (unwritten++ == 0) where = e;
    }
    if (unwritten > 0)
      throw Decided{Verdict::fail, fmt::format("{} element{} of {} never written, first {}", unwritten,
                                               unwritten == 1 ? "" : "s", want->set_count(),
                                               element_place(tensors_[t], *want, where))};
  }
}

void CaseRun::check_repeatable(const std::vector<std::vector<std::byte>>& first,
                               const std::vector<std::vector<std::byte>>& second) const {
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const auto difference = std::mismatch(first[t].begin(), first[t].end(), second[t].begin()).first;
    if (difference == first[t].end()) continue;
    const std::size_t size = dtype_size(tensors_[t].decl->spec.dtype);
    const auto element = static_cast<std::size_t>(difference - first[t].begin()) / size;
    throw Decided{Verdict::fail, fmt::format("a second run differs: {} is {:#x}, then {:#x} (it depends on "
                                             "uninitialised memory, a race or a gap)",
                                             element_place(tensors_[t], *expected(t), element),
                                             load_code(first[t].data() + element * size, size),
                                             load_code(second[t].data() + element * size, size))};
  }
}

Policy CaseRun::resolve_policy(const TensorDecl& decl) const {
  const PolicyKey key{id_.kernel, decl.spec.name, decl.spec.dtype, machine_.properties().platform,
                      machine_.properties().arch};
  if (options_.rule_text) {
    Policy policy;
    policy.rule = parse_rule(*options_.rule_text, decl.spec.dtype);
    policy.name = "command line";
    policy.reason = "given on the command line";
    return policy;
  }
  if (!options_.alternative.empty())
    if (const Policy* named = policies_.alternative(options_.alternative, key)) return *named;
  if (const Policy* row = policies_.resolve(key)) return *row;
  throw PolicyError(fmt::format("no policy row for {}, output '{}', {}, platform {}, arch {}", key.kernel,
                                key.output, dtype_name(key.dtype), key.platform, key.arch));
}

Outcome CaseRun::outcome(std::size_t t, const std::vector<std::byte>& codes,
                         std::vector<double>& values) const {
  const TensorDecl& decl = *tensors_[t].decl;
  const Expected& want = *expected(t);
  values = want.values();
  if (want.set_count() != want.touched_rows() * want.row_len()) {
    // Rows the reference set in part: the rest must hold what it held (check_memory saw to that), so expect
    // just that.
    const std::size_t size = dtype_size(decl.spec.dtype);
    for (std::size_t e = 0; e < values.size(); ++e)
      if (want.is_set()[e] == 0)
        values[e] = decode(decl.spec.dtype, load_code(codes.data() + e * size, size));
  }
  Outcome outcome;
  outcome.dtype = decl.spec.dtype;
  outcome.rows = want.touched_rows();
  outcome.row_len = want.row_len();
  outcome.heads = decl.heads;
  outcome.actual = codes;
  outcome.expected = std::span<const double>(values);
  outcome.budget = want.budgets();
  outcome.overflow = decl.overflow;
  outcome.format_max = decl.format_max;
  outcome.counts = want.counts;
  if (want.touched_rows() != decl.spec.rows()) outcome.row_ids = want.row_ids();
  return outcome;
}

void CaseRun::check_power(std::size_t t, const Outcome& outcome, const Rule& rule) const {
  if (builder_.null_allowed()) return;
  const TensorDecl& decl = *tensors_[t].decl;
  std::vector<double> source;
  for (const HostTensor& other : tensors_) {
    if (decl.null_source.empty() || other.decl->spec.name != decl.null_source) continue;
    const std::size_t size = dtype_size(other.decl->spec.dtype);
    source.reserve(other.codes.size() / size);
    for (std::size_t at = 0; at < other.codes.size(); at += size)
      source.push_back(decode(other.decl->spec.dtype, load_code(other.codes.data() + at, size)));
    if (static_cast<std::int64_t>(source.size()) != outcome.rows * outcome.row_len)
      throw std::logic_error(
          fmt::format("null source '{}' of '{}' has another shape", decl.null_source, decl.spec.name));
  }
  std::vector<std::byte> initial;
  if (decl.role == Role::inout) initial = gather(decl.spec, expected(t)->row_ids(), tensors_[t].memory);
  for (const NullAnswer& answer : null_answers(outcome, decl.null_source, source, initial)) {
    Outcome null = outcome;
    null.actual = answer.codes;
    if (judge(null, rule).accepted)
      throw Decided{Verdict::no_power, fmt::format("the policy accepts a null answer for '{}': {}",
                                                   decl.spec.name, answer.name)};
  }
}

OutputReport CaseRun::judge_output(std::size_t t, const std::vector<std::byte>& codes) const {
  std::vector<double> values;
  const Outcome seen = outcome(t, codes, values);
  OutputReport report;
  report.output = tensors_[t].decl->spec.name;
  report.dtype = seen.dtype;
  report.policy = resolve_policy(*tensors_[t].decl);
  report.comparison = judge(seen, report.policy.rule);
  report.output_hash = hash_bytes(codes, hash_text(report.output));
  if (report.comparison.accepted) check_power(t, seen, report.policy.rule);
  return report;
}

// A case along a presentation axis must equal its baseline bit for bit: same data, other layout.
void check_baseline(const CaseId& id, Machine& machine, const PolicyTable& policies,
                    const RunOptions& options, const std::vector<OutputReport>& outputs) {
  if (id.baseline.empty() || outputs.empty()) return;
  CaseRun baseline(*find_case(id.baseline), machine, policies, options);
  baseline.describe();
  baseline.prepare();
  baseline.launch(0);
  baseline.compute_reference();
  const auto codes = baseline.outputs();
  for (std::size_t t = 0; t < codes.size(); ++t) {
    const std::string& name = baseline.tensors()[t].decl->spec.name;
    for (const OutputReport& output : outputs)
      if (output.output == name && output.output_hash != hash_bytes(codes[t], hash_text(name)))
        throw Decided{Verdict::fail, fmt::format("'{}' differs in bits from the same data in the case '{}'",
                                                 name, id.baseline)};
  }
}

void run(const CaseId& id, Machine& machine, const PolicyTable& policies, const RunOptions& options,
         CaseReport& report) {
  CaseRun run(id, machine, policies, options);
  run.describe();
  run.prepare();
  report.input_hash = run.input_hash();
  run.launch(0);
  run.compute_reference();
  run.check_memory();
  const auto first = run.outputs();
  run.launch(1);
  run.check_memory();
  const auto second = run.outputs();
  run.check_written(first, second);

  std::int64_t judged = 0;
  std::string rejected;
  std::optional<Decided> powerless;
  for (std::size_t t = 0; t < run.tensors().size(); ++t) {
    const Expected* want = run.expected(t);
    if (want == nullptr || want->set_count() == 0) continue;
    judged += want->set_count();
    try {
      report.outputs.push_back(run.judge_output(t, first[t]));
    } catch (const Decided& decided) {
      if (!powerless) powerless = decided;
      continue;
    }
    const OutputReport& output = report.outputs.back();
    if (!output.comparison.accepted && rejected.empty())
      rejected = fmt::format("'{}': {}", output.output, output.comparison.reason);
  }
  run.check_repeatable(first, second);
  if (!rejected.empty()) throw Decided{Verdict::fail, rejected};
  if (powerless) throw Decided{*powerless};
  check_baseline(id, machine, policies, options, report.outputs);
  report.reason =
      judged == 0 ? "no elements; nothing was touched" : fmt::format("{} elements within policy", judged);
}

}  // namespace

CaseReport run_case(const CaseId& id, Machine& machine, const PolicyTable& policies,
                    const RunOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CaseReport report;
  report.name = id.name;
  report.kernel = id.kernel;
  report.group = id.group;
  report.machine = machine.name();
  report.seed = options.seed.value;
  report.fault = options.fault;
  report.replay =
      fmt::format("kvr replay '{}/seed={}' --machine {}", id.name, options.seed.value, machine.name());
  if (!options.fault.empty()) report.replay += fmt::format(" --fault {}", options.fault);
  if (!options.alternative.empty()) report.replay += fmt::format(" --policy {}", options.alternative);
  if (options.rule_text) report.replay += fmt::format(" --policy '{}'", *options.rule_text);
  try {
    run(id, machine, policies, options, report);
    report.verdict = Verdict::pass;
  } catch (const Decided& decided) {
    report.verdict = decided.verdict;
    report.reason = decided.reason;
  } catch (const NoDevice& error) {
    report.verdict = Verdict::skipped;
    report.reason = error.what();
  } catch (const NotEnoughMemory& error) {
    report.verdict = Verdict::skipped;
    report.reason = error.what();
  } catch (const std::bad_alloc&) {
    report.verdict = Verdict::skipped;
    report.reason = "the host has not enough memory for this case";
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace kvr
