// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/ledger_choice.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "harness/cli/exit_code.h"
#include "harness/report/ledger_file.h"

namespace kvr {
namespace {

void check_options(const CheckOptions& options) {
  if (!options.fail_on.empty() && options.fail_on != "ledger")
    throw UsageError(fmt::format("--fail-on '{}' is unknown; it takes: ledger", options.fail_on));
  const auto exclude = [](bool both, const char* a, const char* b, const char* why) {
    if (both) throw UsageError(fmt::format("{} and {} exclude each other{}", a, b, why));
  };
  exclude(options.no_ledger && options.ledger, "--no-ledger", "--ledger", "");
  exclude(options.no_ledger && options.update_ledger, "--no-ledger", "--update-ledger", "");
  exclude(options.no_ledger && !options.fail_on.empty(), "--no-ledger", "--fail-on ledger", "");
  constexpr const char* kWhy = ": the ledger holds what right kernels came to under the shipped policies";
  exclude(options.update_ledger && !options.fault.empty(), "--update-ledger", "--fault", kWhy);
  exclude(options.update_ledger && options.policy.policy, "--update-ledger", "--policy", kWhy);
}

}  // namespace

LedgerChoice::LedgerChoice(const CheckOptions& options)
    : used_(!options.no_ledger), update_(options.update_ledger), fail_on_remarks_(!options.fail_on.empty()) {
  check_options(options);
  if (!used_) return;
  const char* environment = std::getenv("KVR_LEDGER_FILE");
  if (options.ledger)
    path_ = name_ = *options.ledger;
  else if (environment != nullptr && *environment != '\0')
    path_ = name_ = environment;
  else if (const ProjectFiles& project = options.policy.project; !project.ledger.empty()) {
    path_ = project.path(project.ledger);
    name_ = project.ledger;
  } else {
    do_without(options);
    return;
  }
  if (update_) file_.emplace(path_);
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path_, ignored);
  if (!exists && !update_)
    throw FileError(
        fmt::format("ledger '{}' does not exist; 'kvr check --update-ledger' makes one, --no-ledger does "
                    "without",
                    path_));
  if (exists) ledger_ = read_ledger(path_);
}

void LedgerChoice::do_without(const CheckOptions& options) {
  const auto needs = [&](bool asked, const char* option) {
    if (asked)
      throw UsageError(fmt::format("{} needs a ledger, and {} was built without one; --ledger FILE names one",
                                   option, options.policy.project.command));
  };
  needs(update_, "--update-ledger");
  needs(fail_on_remarks_, "--fail-on ledger");
  used_ = false;
  note_ = "ledger: none is used (kvr_add_command's LEDGER, --ledger FILE or KVR_LEDGER_FILE names one)";
}

std::optional<LedgerReport> LedgerChoice::finish(const Results& results) {
  if (!used_) return std::nullopt;
  if (update_) {
    Counts counts;
    for (const CaseReport& report : results.cases) counts.add(report.verdict);
    const std::size_t before = ledger_.size();
    if (counts.failed() > 0) {
      note_ = fmt::format("ledger {}: not updated, {} cases failed", name_, counts.failed());
    } else if (!update_ledger(ledger_, results.cases, results.info.machines)) {
      note_ = fmt::format("ledger {}: nothing new", name_);
    } else {
      file_->write(ledger_to_json(ledger_));
      note_ = fmt::format("ledger {}: updated, {} families of outputs, {} of them new", name_, ledger_.size(),
                          ledger_.size() - before);
    }
  }
  return LedgerReport{name_, review(ledger_, results.cases, results.info.machines)};
}

}  // namespace kvr
