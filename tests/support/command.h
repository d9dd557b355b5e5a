/// Runs a shell command from a test and keeps what it said.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace handhold::support {

struct CommandResult {
  int exit_code = -1;  ///< 128 + signal when it was killed; -1 when it could not be started
  std::string output;  ///< stdout and stderr, interleaved
};

/// `command` is given to sh; blocks until it ends.
inline CommandResult RunCommand(const std::string& command) {
  CommandResult result;
  std::FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  if (!pipe) return result;
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.output.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace handhold::support
