/// Runs the built `handhold` as a user would and returns what it wrote and how it ended.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/support/paths.h"

namespace handhold::testing {

struct RunResult {
  int exit_code = -1;  ///< 128 + signal when it died of one, as a shell says it
  std::string out, err;
};

struct RunOptions {
  std::vector<std::string> environment = {};  ///< "NAME=value", added to ours
  bool close_out = false;                     ///< stdout is a pipe whose reader has gone
  std::string out_file = {};                  ///< stdout goes there instead: "/dev/full"
  int64_t file_limit_bytes = 0;               ///< > 0: writing a file beyond this fails
};

/// Runs the program of this build with these words; its test says DEPENDS handhold.
inline RunResult RunHandhold(const std::vector<std::string>& words,
                             const RunOptions& options = {}) {
  int out[2], err[2];
  EXPECT_EQ(pipe(out), 0);
  EXPECT_EQ(pipe(err), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(options.out_file.empty() ? out[1] : open(options.out_file.c_str(), O_WRONLY),
         STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const int fd : {out[0], out[1], err[0], err[1]}) close(fd);
    if (options.file_limit_bytes > 0) {
      const auto limit = static_cast<rlim_t>(options.file_limit_bytes);
      const rlimit both{limit, limit};
      setrlimit(RLIMIT_FSIZE, &both);
      signal(SIGXFSZ, SIG_IGN);  // it fails instead of dying
    }
    for (const std::string& entry : options.environment) {
      const size_t equals = entry.find('=');
      setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
    }
    std::vector<char*> argv = {const_cast<char*>("handhold")};
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(support::Binary().c_str(), argv.data());
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  if (options.close_out) close(out[0]);
  RunResult result;
  // Both at once: a child that fills one pipe must not wait for us reading the other.
  struct pollfd fds[2] = {{options.close_out ? -1 : out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (poll(fds, 2, -1) < 0) continue;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t got = read(fds[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        (i == 0 ? result.out : result.err).append(buffer, static_cast<size_t>(got));
      } else {
        close(fds[i].fd);
        fds[i].fd = -1;
      }
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace handhold::testing
