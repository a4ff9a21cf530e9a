// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/suite/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>

#include "harness/suite/diagnosis.h"
#include "harness/suite/execution.h"
#include "harness/suite/invariance.h"
#include "harness/suite/memory_check.h"
#include "harness/suite/null_answers.h"
#include "harness/suite/schedules.h"

namespace kvr {
namespace {

// A verdict reached early; carries it through the steps of one run.
struct Decided {
  Verdict verdict;
  std::string reason;
};

void decide_launch(const LaunchStatus& status, const CaseBuilder& builder) {
  const auto& refusal = builder.refusal();
  if (status.kind == LaunchStatus::Kind::error) throw Decided{Verdict::launch_error, status.what};
  if (!status.ok()) {
    if (refusal && status.what.find(*refusal) != std::string::npos)
      throw Decided{Verdict::pass, "refused as it must be: " + status.what};
    if (refusal)
      throw Decided{Verdict::fail, fmt::format("refused without naming '{}': {}", *refusal, status.what)};
    if (status.kind == LaunchStatus::Kind::unsupported) throw Decided{Verdict::unsupported, status.what};
    throw Decided{Verdict::fail, "launch refused: " + status.what};
  }
  if (refusal)
    throw Decided{Verdict::fail,
                  fmt::format("the launch must be refused naming '{}', but it went through", *refusal)};
}

void check_memory(const Execution& execution) {
  const auto stray = execution.stray_write();
  if (!stray) return;
  std::optional<std::string> likely;
  for (std::size_t t = 0; t < execution.tensors().size() && !likely; ++t)
    likely = explain_stray_write(execution, t);
  throw Decided{Verdict::fail, likely ? fmt::format("{}; likely: {}", *stray, *likely) : *stray};
}

// `run` 1 follows a run 0 that left the inputs alone.
void launch(Execution& execution, unsigned run, const RunOptions& options) {
  const LaunchStatus status =
      run == 0 ? execution.launch(run, options.fault) : execution.launch_again(run, options.fault);
  const bool refused =
      status.kind == LaunchStatus::Kind::refused || status.kind == LaunchStatus::Kind::unsupported;
  if (refused) check_memory(execution);  // no reference yet: a refused launch may touch nothing at all
  decide_launch(status, execution.builder());
}

// Elements that hold the pattern of run 0 after the first launch and that of run 1 after the second: no value
// the kernel computes follows the poison around.
struct Unwritten {
  std::int64_t count = 0;
  std::size_t first = 0;
};
template <class Word>
Unwritten find_unwritten(const std::vector<std::byte>& first, const std::vector<std::byte>& second,
                         const std::vector<std::uint8_t>& is_set) {
  Word pattern[2];
  std::memset(&pattern[0], static_cast<int>(poison_byte(0)), sizeof(Word));
  std::memset(&pattern[1], static_cast<int>(poison_byte(1)), sizeof(Word));
  Unwritten unwritten;
  for (std::size_t e = 0; e < first.size() / sizeof(Word); ++e) {
    Word before;
    Word after;
    std::memcpy(&before, first.data() + e * sizeof(Word), sizeof(Word));
    std::memcpy(&after, second.data() + e * sizeof(Word), sizeof(Word));
    if (before == pattern[0] && after == pattern[1] && is_set[e] != 0 && unwritten.count++ == 0)
      unwritten.first = e;
  }
  return unwritten;
}

void check_written(const Execution& execution, const OutputCodes& first, const OutputCodes& second) {
  for (std::size_t t = 0; t < execution.tensors().size(); ++t) {
    const HostTensor& tensor = execution.tensors()[t];
    const Expected* want = execution.expected(t);
    if (want == nullptr || tensor.decl->role != Role::output) continue;
    const std::size_t size = dtype_size(tensor.decl->spec.dtype);
    const auto find = size == 1   ? find_unwritten<std::uint8_t>
                      : size == 2 ? find_unwritten<std::uint16_t>
                      : size == 4 ? find_unwritten<std::uint32_t>
                                  : find_unwritten<std::uint64_t>;
    const Unwritten unwritten = find(first[t], second[t], want->is_set());
    if (unwritten.count > 0)
      throw Decided{Verdict::fail, fmt::format("{} element{} of {} never written, first {}", unwritten.count,
                                               unwritten.count == 1 ? "" : "s", want->set_count(),
                                               element_place(tensor, *want, unwritten.first))};
  }
}

void check_repeatable(const Execution& execution, const OutputCodes& first, const OutputCodes& second) {
  for (std::size_t t = 0; t < execution.tensors().size(); ++t) {
    if (first[t].empty() || std::memcmp(first[t].data(), second[t].data(), first[t].size()) == 0) continue;
    const auto difference = std::mismatch(first[t].begin(), first[t].end(), second[t].begin()).first;
    const std::size_t size = dtype_size(execution.tensors()[t].decl->spec.dtype);
    const auto element = static_cast<std::size_t>(difference - first[t].begin()) / size;
    throw Decided{Verdict::fail,
                  fmt::format("a second run differs: {} is {:#x}, then {:#x} (it depends on uninitialised "
                              "memory, a race or a gap)",
                              element_place(execution.tensors()[t], *execution.expected(t), element),
                              load_code(first[t].data() + element * size, size),
                              load_code(second[t].data() + element * size, size))};
  }
}

void check_power(const Execution& execution, std::size_t t, const Outcome& outcome, const Rule& rule) {
  if (execution.builder().null_allowed()) return;
  const TensorDecl& decl = *execution.tensors()[t].decl;
  std::function<double(std::int64_t)> source;
  for (const HostTensor& other : execution.tensors()) {
    if (decl.null_source.empty() || other.decl->spec.name != decl.null_source) continue;
    const DType dtype = other.decl->spec.dtype;
    const std::size_t size = dtype_size(dtype);
    if (other.codes.size() / size != static_cast<std::size_t>(outcome.rows * outcome.row_len))
      throw std::logic_error(
          fmt::format("null source '{}' of '{}' has another shape", decl.null_source, decl.spec.name));
    source = [&codes = other.codes, dtype, size](std::int64_t i) {
      return decode(dtype, load_code(codes.data() + static_cast<std::size_t>(i) * size, size));
    };
  }
  std::vector<std::byte> initial;
  if (decl.role == Role::inout)
    initial = gather(decl.spec, execution.expected(t)->row_ids(), execution.tensors()[t].memory);
  for (const NullAnswer& answer : null_answers(outcome, decl.null_source, source, initial))
    if (accepts_null(outcome, rule, answer))
      throw Decided{Verdict::no_power, fmt::format("the policy accepts a null answer for '{}': {}",
                                                   decl.spec.name, answer.name)};
}

OutputReport judge_output(Execution& execution, std::size_t t, const std::vector<std::byte>& codes,
                          const PolicyTable& policies, const RunOptions& options) {
  std::vector<double> values;
  const Outcome seen = execution.outcome(t, codes, values);
  OutputReport report;
  report.output = execution.tensors()[t].decl->spec.name;
  report.dtype = seen.dtype;
  report.policy =
      resolve_policy({execution.id().kernel, report.output, seen.dtype,
                      execution.machine().properties().platform, execution.machine().properties().arch},
                     policies, options);
  report.comparison = judge(seen, report.policy.rule);
  report.output_hash = hash_output(execution, t, codes);
  if (report.comparison.accepted) {
    report.spread = measure_spread(seen, report.comparison);
    check_power(execution, t, seen, report.policy.rule);
  } else {
    report.explanation = explain(execution, t, seen, report.policy.rule).value_or("");
  }
  return report;
}

// Under the schedules that were asked for, the same bits. A failure's replay line asks for that schedule.
void check_schedules(Execution& execution, const OutputCodes& forward, const RunOptions& options,
                     CaseReport& report) {
  std::vector<ScheduleChoice> schedules;
  if (options.random_schedules >= 0)
    schedules = execution.machine().other_schedules(options.random_schedules);
  if (options.schedule) schedules.push_back(*options.schedule);
  const auto difference = find_schedule_difference(execution, forward, schedules, options.fault);
  if (!difference) return;
  RunOptions again = options;
  again.schedule = difference->schedule;
  again.random_schedules = -1;
  report.replay = unrun_report(execution.id(), report.machine, again, Verdict::pass, "").replay;
  throw Decided{difference->verdict, difference->reason};
}

void run(const CaseId& id, Machine& machine, const PolicyTable& policies, const RunOptions& options,
         Workspace* workspace, CaseReport& report) {
  Execution execution(id, machine, options.seed, workspace);
  if (execution.builder().unsupported())
    throw Decided{Verdict::unsupported, *execution.builder().unsupported()};
  execution.prepare();
  report.input_hash = execution.input_hash();
  launch(execution, 0, options);
  execution.compute_reference();
  check_memory(execution);
  const OutputCodes first = execution.outputs();
  launch(execution, 1, options);
  check_memory(execution);
  const OutputCodes second = execution.outputs();
  check_written(execution, first, second);

  std::int64_t judged = 0;
  std::string rejected, notes;
  std::optional<Decided> powerless;
  for (std::size_t t = 0; t < execution.tensors().size(); ++t) {
    const Expected* want = execution.expected(t);
    if (want == nullptr || want->set_count() == 0) continue;
    judged += want->set_count();
    if (!want->note.empty()) notes += "; " + want->note;
    if (!want->powerless.empty() && !powerless)
      powerless = Decided{Verdict::no_power,
                          fmt::format("'{}': {}", execution.tensors()[t].decl->spec.name, want->powerless)};
    try {
      report.outputs.push_back(judge_output(execution, t, first[t], policies, options));
    } catch (const Decided& decided) {
      if (!powerless) powerless = decided;
      continue;
    }
    const OutputReport& output = report.outputs.back();
    if (!output.comparison.accepted && rejected.empty())
      rejected = fmt::format("'{}': {}", output.output, output.comparison.reason);
  }
  check_repeatable(execution, first, second);
  if (const auto different = find_unlike_rows(execution, first)) throw Decided{Verdict::fail, *different};
  if (!rejected.empty()) throw Decided{Verdict::fail, rejected};
  if (powerless) throw Decided{*powerless};
  if (!report.outputs.empty())
    if (const auto different = find_baseline_difference(execution, first, options.fault))
      throw Decided{Verdict::fail, *different};
  check_schedules(execution, first, options, report);
  report.reason = judged == 0 ? "no elements; nothing was touched"
                              : fmt::format("{} elements within policy{}", judged, notes);
}

}  // namespace

void choose_policy(RunOptions& options, std::string_view text) {
  options.alternative.clear();
  options.rule_text.reset();
  if (text.find('=') != std::string_view::npos || text == "exact")
    options.rule_text = std::string(text);
  else
    options.alternative = std::string(text);
}

Policy resolve_policy(const PolicyKey& key, const PolicyTable& policies, const RunOptions& options) {
  if (options.rule_text) {
    Policy policy;
    policy.rule = parse_rule(*options.rule_text, key.dtype);
    policy.name = "command line";
    policy.reason = "given on the command line";
    return policy;
  }
  if (!options.alternative.empty())
    if (const Policy* named = policies.alternative(options.alternative, key)) return *named;
  if (const Policy* row = policies.resolve(key)) return *row;
  throw PolicyError(fmt::format("no policy row for {}, output '{}', {}, platform {}, arch {} in {}",
                                key.kernel, key.output, dtype_name(key.dtype), key.platform, key.arch,
                                policies.file()));
}

CaseReport unrun_report(const CaseId& id, std::string_view machine, const RunOptions& options,
                        Verdict verdict, std::string reason) {
  CaseReport report;
  report.name = id.name;
  report.kernel = id.kernel;
  report.group = id.group;
  report.machine = machine;
  report.seed = options.seed.value;
  report.fault = options.fault;
  report.verdict = verdict;
  report.reason = std::move(reason);
  report.replay = fmt::format("kvr replay '{}/seed={}' --machine {}", id.name, options.seed.value, machine);
  if (!options.fault.empty()) report.replay += fmt::format(" --fault {}", options.fault);
  if (!options.alternative.empty()) report.replay += fmt::format(" --policy {}", options.alternative);
  if (options.rule_text) {
    // A rule may hold single quotes itself: outliers.count='numel/100000 + 8'.
    const char quote = options.rule_text->find('\'') == std::string::npos ? '\'' : '"';
    report.replay += fmt::format(" --policy {}{}{}", quote, *options.rule_text, quote);
  }
  if (options.random_schedules >= 0)
    report.replay += fmt::format(" --schedules {}", options.random_schedules);
  if (options.schedule)
    report.replay +=
        fmt::format(" --schedule {} --schedule-seed {}", options.schedule->name, options.schedule->seed);
  return report;
}

CaseReport run_case(const CaseId& id, Machine& machine, const PolicyTable& policies,
                    const RunOptions& options, Workspace* workspace) {
  const auto start = std::chrono::steady_clock::now();
  CaseReport report = unrun_report(id, machine.name(), options, Verdict::pass, "");
  try {
    run(id, machine, policies, options, workspace, report);
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
