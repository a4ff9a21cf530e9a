// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// kvr worker: the other end of worker_process.h.
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>

#include "harness/cli/commands.h"
#include "harness/cli/crash_note.h"
#include "harness/cli/executor.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/policy_choice.h"
#include "harness/cli/schedule_choice.h"
#include "harness/cli/worker_process.h"
#include "harness/report/json.h"

namespace kvr {
namespace {

// False when the parent is gone.
bool send_line(std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::send(kWorkerSocket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool receive_line(std::string& received, std::string& line) {
  for (;;) {
    if (const std::size_t newline = received.find('\n'); newline != std::string::npos) {
      line = received.substr(0, newline);
      received.erase(0, newline + 1);
      return true;
    }
    std::array<char, 4096> buffer;
    const ssize_t count = ::recv(kWorkerSocket, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    received.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

struct Request {
  const CaseId* id = nullptr;
  std::uint64_t seed = 0;
};

// The parent is this very program: a request that makes no sense is a bug, not bad input.
Request parse_request(const std::string& line) {
  Request request;
  const std::size_t blank = line.find(' ');
  if (blank == std::string::npos) throw std::logic_error(fmt::format("worker: '{}' is not a request", line));
  std::from_chars(line.data(), line.data() + blank, request.seed);
  request.id = find_case(line.substr(blank + 1));
  if (request.id == nullptr)
    throw std::logic_error(fmt::format("worker: no case '{}'", line.substr(blank + 1)));
  return request;
}

}  // namespace

int run_worker(const WorkerOptions& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  note_crashes();
  const PolicyChoice policy = choose_policy(options.policy);
  const std::unique_ptr<Machine> machine = open_with_threads(options.machine, options.threads);
  if (!send_line(std::string(kWorkerReady)))
    return kExitUsage;  // started by hand: nobody is at the other end
  Workspace workspace;
  std::string received, line;
  while (receive_line(received, line)) {
    const Request request = parse_request(line);
    RunOptions run;
    run.seed.value = request.seed;
    run.alternative = policy.alternative;
    run.rule_text = policy.rule_text;
    run.fault = options.fault;
    choose_schedules(run, options.schedules);
    const CaseReport report = run_and_report(*request.id, *machine, policy.table, run, workspace);
    std::fflush(nullptr);  // what a case printed belongs to it
    if (!send_line(case_to_json(report))) break;
  }
  return kExitPass;
}

}  // namespace kvr
