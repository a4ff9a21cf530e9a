// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr policy: which row applies to which output, why, and where it stands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/cli/commands.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/selection.h"
#include "harness/machine/machine.h"
#include "harness/suite/policy_coverage.h"

namespace kvr {
namespace {

// What one row decides: everything that resolves to it is one entry.
struct Entry {
  std::string kernel, output;
  const Policy* row = nullptr;
  std::vector<std::string> dtypes, machines;
};

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(std::move(text));
}

std::vector<Entry> resolve_all(const std::vector<SelectedCase>& cases, const PolicyChoice& choice) {
  std::vector<Entry> entries;
  for (const MachineInfo& machine : list_machines())
    for (const SelectedCase& one : cases)
      for (const PolicyKey& key : policy_keys(*one.id, machine.properties)) {
        const Policy* row =
            choice.alternative.empty() ? nullptr : choice.table.alternative(choice.alternative, key);
        if (row == nullptr) row = choice.table.resolve(key);
        auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) {
          return e.kernel == key.kernel && e.output == key.output && e.row == row;
        });
        if (entry == entries.end())
          entry = entries.insert(entries.end(), {key.kernel, key.output, row, {}, {}});
        add_once(entry->dtypes, std::string(dtype_name(key.dtype)));
        add_once(entry->machines, machine.properties.name);
      }
  return entries;
}

void print_row(const Policy& row) {
  fmt::print("  rule      {}\n  because   {}\n", row.rule.text(), row.reason);
  if (!row.evidence.empty()) fmt::print("  evidence  {}\n", row.evidence);
  if (!row.expires.empty()) fmt::print("  expires   {}\n", row.expires);
  fmt::print("  at        {}\n", row.place());
}

}  // namespace

int run_policy(const PolicyCommandOptions& options) {
  const PolicyChoice choice = choose_policy(options.policy);
  if (choice.rule_text)
    throw UsageError(fmt::format("--policy '{}' is a rule; this command takes the name of an alternative",
                                 *choice.rule_text));
  const std::vector<SelectedCase> cases = select_cases(options.filter, Tier::soak, std::nullopt);

  bool complete = true;
  for (const Entry& entry : resolve_all(cases, choice)) {
    const bool alternative = entry.row != nullptr && !entry.row->name.empty();
    fmt::print("{} '{}' {} on {}{}\n", entry.kernel, entry.output, fmt::join(entry.dtypes, ", "),
               fmt::join(entry.machines, ", "), alternative ? fmt::format("  [{}]", entry.row->name) : "");
    if (entry.row == nullptr) {
      fmt::print("  NO ROW: its cases fail\n");
      complete = false;
    } else {
      print_row(*entry.row);
    }
    fmt::print("\n");
  }

  bool titled = false;
  for (const Policy& row : choice.table.alternatives()) {
    const bool wanted = std::any_of(cases.begin(), cases.end(),
                                    [&](const SelectedCase& one) { return one.id->kernel == row.kernel; });
    if (!wanted || !choice.alternative.empty()) continue;
    if (!titled) fmt::print("Alternatives, used only when asked for (--policy NAME):\n\n");
    titled = true;
    std::vector<std::string_view> dtypes;
    for (const DType dtype : row.dtypes) dtypes.push_back(dtype_name(dtype));
    fmt::print("{}: {}{}{}\n", row.name, row.kernel,
               row.output.empty() ? "" : fmt::format(" '{}'", row.output),
               dtypes.empty() ? "" : fmt::format(" {}", fmt::join(dtypes, ", ")));
    print_row(row);
    fmt::print("\n");
  }
  if (options.filter.empty()) {
    for (const Policy* row : unused_rows(choice.table, all_cases())) {
      fmt::print("{}: NO CASE resolves to this row{}\n", row->place(),
                 row->name.empty() ? "" : fmt::format(" of '{}'", row->name));
      complete = false;
    }
  }
  return complete ? kExitPass : kExitFail;
}

}  // namespace kvr
