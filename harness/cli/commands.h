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
  std::optional<std::string> file;    // else KVR_POLICY_FILE, else the one of the source tree
};

struct CheckOptions {
  std::vector<std::string> filter;
  std::vector<std::string> machines;  // empty: all of this build
  std::string tier = "quick";
  std::optional<std::string> seed;
  int threads = 0;  // 0: all cores
  std::optional<std::string> json;
  PolicyOptions policy;
  std::string fault;
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
};

int run_list(const ListOptions& options);
int run_check(const CheckOptions& options);
// `options.filter` is the name of one case.
int run_replay(CheckOptions options);
int run_policy(const PolicyCommandOptions& options);
int run_worker(const WorkerOptions& options);

}  // namespace kvr
