// SPDX-FileCopyrightText: 2026 The kvr authors
// SPDX-License-Identifier: MIT
#include "harness/cli/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

namespace kvr {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kFarewell = std::chrono::seconds(10);  // a GPU runtime may take its time to let go of a device

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

void close_if_open(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

struct SpawnActions {
  posix_spawn_file_actions_t value;
  SpawnActions() { check(posix_spawn_file_actions_init(&value), "posix_spawn_file_actions_init"); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&value); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
};

}  // namespace

std::unique_ptr<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& arguments) {
  std::array<int, 2> sockets{-1, -1}, pipe{-1, -1};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0 ? 0 : errno, "socketpair");
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    const int error = errno;
    for (int& descriptor : sockets) close_if_open(descriptor);
    check(error, "pipe");
  }
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);

  SpawnActions actions;
  // Descriptors above the ones that are replaced here, so that no step overwrites the source of a later one.
  const int far_socket = ::fcntl(sockets[1], F_DUPFD_CLOEXEC, 10);
  const int far_pipe = ::fcntl(pipe[1], F_DUPFD_CLOEXEC, 10);
  posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.value, far_pipe, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions.value, far_pipe, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions.value, far_socket, kWorkerSocket);

  std::vector<std::string> words{"kvr", "worker"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  // The very file this process runs, even if it has been rebuilt since.
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions.value, nullptr, argv.data(), environ);
  for (const int descriptor : {far_socket, far_pipe, sockets[1], pipe[1]}) ::close(descriptor);
  if (error != 0) {
    ::close(sockets[0]);
    ::close(pipe[0]);
    check(error, "starting a worker process");
  }
  return std::unique_ptr<WorkerProcess>(new WorkerProcess(pid, sockets[0], pipe[0]));
}

WorkerProcess::~WorkerProcess() {
  close_if_open(socket_);
  for (const auto deadline = Clock::now() + kFarewell; pid_ > 0 && Clock::now() < deadline;) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
    std::string ignored;  // a full pipe would keep it from ending
    read_output(ignored);
    if (pid_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kill();
  close_if_open(output_);
}

void WorkerProcess::send(std::string_view line) {
  std::string text(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

bool WorkerProcess::read_output(std::string& printed) {
  std::array<char, 4096> buffer;
  while (output_ >= 0) {
    const ssize_t count = ::read(output_, buffer.data(), buffer.size());
    if (count > 0) {
      printed.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      if (count == 0) close_if_open(output_);
      return count != 0;
    }
  }
  return false;
}

void WorkerProcess::drain(std::string& printed) {
  read_output(printed);
}

WorkerProcess::Answer WorkerProcess::wait(std::chrono::milliseconds limit, std::string& printed) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (const std::size_t newline = received_.find('\n'); newline != std::string::npos) {
      std::string line = received_.substr(0, newline);
      received_.erase(0, newline + 1);
      read_output(printed);  // written before the line was sent, so it is here already
      return {Answer::Kind::line, std::move(line)};
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return {Answer::Kind::late, ""};
    std::array<pollfd, 2> watched{pollfd{socket_, POLLIN, 0}, pollfd{output_, POLLIN, 0}};
    const auto patience = static_cast<int>(std::min<std::int64_t>(left.count() + 1, 1000));
    if (::poll(watched.data(), watched.size(), patience) < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "poll");
    if (watched[1].revents != 0) read_output(printed);
    if (watched[0].revents == 0) continue;
    std::array<char, 65536> buffer;
    const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (count > 0) {
      received_.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      // Closed (or reset): the worker is ending. A half line is lost with it.
      std::string ending = reap();
      read_output(printed);
      return {Answer::Kind::ended, std::move(ending)};
    }
  }
}

void WorkerProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  reap();
}

std::string WorkerProcess::reap() {
  int status = 0;
  while (pid_ > 0 && ::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (!WIFSIGNALED(status)) return fmt::format("exited with status {}", WEXITSTATUS(status));
  const char* name = ::sigabbrev_np(WTERMSIG(status));
  return name == nullptr ? fmt::format("killed by signal {}", WTERMSIG(status))
                         : fmt::format("killed by SIG{}", name);
}

}  // namespace kvr
