// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
//
// This program, started again as `kvr worker`: lines go back and forth over a socket (descriptor 3 over
// there), and what it writes to its output streams is caught.
//
//   parent -> worker   SEED NAME
//   worker -> parent   "ready", then one line of JSON per case (report/json.h)
//
// The worker ends when the socket does. One that outlives its parent is killed by the kernel.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kvr {

inline constexpr int kWorkerSocket = 3;
inline constexpr std::string_view kWorkerReady = "ready";

class WorkerProcess {
 public:
  struct Answer {
    enum class Kind {
      line,   // `text`: a line, without the newline
      ended,  // `text`: "killed by SIGSEGV", "exited with status 1"
      late,   // the time limit passed
    };
    Kind kind = Kind::late;
    std::string text;
  };

  // Throws std::system_error when no process can be made.
  static std::unique_ptr<WorkerProcess> start(const std::vector<std::string>& arguments);
  ~WorkerProcess();  // closes the socket; kills a worker that does not end by itself soon
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void send(std::string_view line);  // a dead worker is found out by wait()
  // The next line, or what came of the worker. Appends what the worker printed to `printed`.
  Answer wait(std::chrono::milliseconds limit, std::string& printed);
  void kill();
  void drain(std::string& printed);  // what is left to be read without waiting

 private:
  WorkerProcess(pid_t pid, int socket, int output) : pid_(pid), socket_(socket), output_(output) {}
  bool read_output(std::string& printed);  // false at the end
  std::string reap();

  pid_t pid_;  // -1: reaped
  int socket_, output_;
  std::string received_;
};

}  // namespace kvr
