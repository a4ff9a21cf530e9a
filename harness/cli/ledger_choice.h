// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The ledger a run is compared with, or raises. Found like the policy table: --ledger FILE, else
// KVR_LEDGER_FILE, else the project's. A project need not have one.
#pragma once

#include <optional>
#include <string>

#include "harness/cli/commands.h"
#include "harness/report/results.h"
#include "harness/report/results_file.h"

namespace kvr {

class LedgerChoice {
 public:
  // Reads the ledger now, so that a bad one stops a run before it starts. Throws UsageError for options that
  // exclude each other or need a ledger where there is none, FileError or JsonError for the file. With
  // --update-ledger the file need not exist.
  explicit LedgerChoice(const CheckOptions& options);

  // With --update-ledger raises the file first; it is written only when every case ran without failure and
  // something changed. Returns what to report; nothing without a ledger.
  std::optional<LedgerReport> finish(const Results& results);
  // One line: what became of the file with --update-ledger, or that there is none; else empty.
  const std::string& note() const { return note_; }
  bool fails(const LedgerReport& report) const { return fail_on_remarks_ && !report.review.remarks.empty(); }

 private:
  void do_without(const CheckOptions& options);

  bool used_ = true, update_ = false, fail_on_remarks_ = false;
  std::string path_, name_;  // as it is opened, and as reports call it
  Ledger ledger_;
  std::optional<ResultsFile> file_;
  std::string note_;
};

}  // namespace kvr
