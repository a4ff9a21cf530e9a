// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// The commands, and what each is told. Options are texts as typed where a command checks them itself, so that
// messages name the option and the value. Each returns an exit code and throws UsageError, NothingSelected,
// PolicyError or FileError.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/cli/project_files.h"

namespace kvr {

struct ListOptions {
  std::vector<std::string> filter;
  bool machines = false;
  bool faults = false;
  std::string tier = "soak";  // everything
  std::optional<std::string> json;
};

// What decides how outputs are judged.
struct PolicyOptions {
  std::optional<std::string> policy;  // name of an alternative, or a rule
  std::optional<std::string> file;    // else KVR_POLICY_FILE, else the project's
  ProjectFiles project;
};

// Launches under other orders of lanes and warps than forward.
struct ScheduleOptions {
  std::optional<std::string> schedules;  // all there are, and so many drawn ones
  std::optional<std::string> schedule;   // this one
  std::optional<std::string> seed;       // of this one
};

struct CheckOptions {
  std::vector<std::string> filter;
  std::vector<std::string> machines;  // empty: all of this build
  std::string tier = "quick";
  std::optional<std::string> seed;
  int threads = 0;  // 0: all cores
  int jobs = 0;     // cases at a time on cpu machines; 0: as many as threads and memory allow
  std::optional<std::string> json;
  PolicyOptions policy;
  std::optional<std::string> ledger;  // else KVR_LEDGER_FILE, else the one of policy.project, else none
  bool no_ledger = false;
  bool update_ledger = false;
  std::string fail_on;  // "ledger": remarks are failures
  std::string fault;
  ScheduleOptions schedules;
  double timeout = 60.0;  // seconds per case
  bool isolation = true;
  bool fail_fast = false;
  bool quiet = false;
  bool verbose = false;
};

struct PolicyCommandOptions {
  std::vector<std::string> filter;
  PolicyOptions policy;
};

// What the parent process tells a worker: already checked.
struct WorkerOptions {
  std::string machine;
  int threads = 0;
  PolicyOptions policy;
  std::string fault;
  ScheduleOptions schedules;
};

struct StudyCommandOptions {
  std::vector<std::string> filter;
  std::string machine;  // empty: the first that is present
  std::string draws = "10000";
  std::optional<std::string> seed;
  std::vector<std::string> policies;  // empty: the shipped one
  int threads = 0;
  std::string shard = "0/1";  // i/n
  bool envelope = false;
  std::string fault;
  std::optional<std::string> json;
  bool resume = false;
  std::vector<std::string> merge;  // files; nothing is run
  PolicyOptions policy_file;
};

struct FaultsOptions {
  std::vector<std::string> filter;
  std::vector<std::string> machines;  // empty: all that are present
  std::vector<std::string> policies;  // columns beside the shipped policy
  bool published = false;             // every alternative of the table that covers the kernel
  std::vector<std::string> faults;    // only these; empty: all
  std::vector<std::string> kinds;     // output, argument, source; empty: all
  std::string tier = "quick";
  std::optional<std::string> seed;
  int threads = 0;
  bool sensitivity = false;
  std::optional<std::string> json;
  PolicyOptions policy_file;
};

struct TightenOptions {
  std::vector<std::string> filter;
  std::vector<std::string> machines;
  std::string draws = "200";
  std::optional<std::string> seed;
  int threads = 0;
  double margin = 1.5;
  bool envelope = false;
  std::optional<std::string> fail_on;  // "expired", "loose" or both
  PolicyOptions policy_file;
};

struct BenchOptions {
  std::vector<std::string> filter;
  std::vector<std::string> machines;  // empty: all that count
  bool traffic = false;
  std::optional<std::string> seed;
  std::optional<std::string> json;
};

int run_bench(const BenchOptions& options);
int run_study_command(const StudyCommandOptions& options);
int run_faults(const FaultsOptions& options);
int run_tighten(const TightenOptions& options);
int run_list(const ListOptions& options);
int run_check(const CheckOptions& options);
// `options.filter` is the name of one case.
int run_replay(CheckOptions options);
int run_policy(const PolicyCommandOptions& options);
int run_worker(const WorkerOptions& options);

}  // namespace kvr
