/// One run of the program: parse, check, run the verb, flush, and the one place where an outcome
/// becomes an exit code.
#pragma once

#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "tools/handhold/verb.h"

namespace handhold::cli {

/// The documented exit codes.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitLoss = 3;
inline constexpr int kExitInterrupted = 130;  ///< ctrl-C ended it, as shells say it: 128 + SIGINT

/// What the program consists of.
struct Program {
  std::vector<Verb> verbs;
  std::string version;
  /// Conditions without which no verb that needs the library may run, such as SQLite's version. A
  /// failing one ends the program with exit code 1 and its message.
  std::vector<std::function<Status()>> start_checks;
};

/// Where output goes and what may be done to it.
struct Streams {
  FILE* out = stdout;
  FILE* err = stderr;
  bool out_colour = false;  ///< stdout is a terminal that wants colour
  bool err_colour = false;
  int out_columns = 0;        ///< of a terminal; 0: stdout is none
  bool err_terminal = false;  ///< progress may redraw a line

  /// stdout and stderr as they are: terminals or not, NO_COLOR (any value) and TERM=dumb obeyed.
  static Streams Detect();
};

/// Runs `words` (without the program's name); returns the exit code, with everything flushed.
int Run(const Program& program, std::span<const std::string> words, const Streams& streams);

}  // namespace handhold::cli
