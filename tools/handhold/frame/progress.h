/// Progress of a long job on stderr: what, how far, how fast, how long still. stdout stays the
/// result's, so that a pipe of it is never disturbed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "database/base/time.h"

namespace handhold::cli {

/// How it is shown; chosen from --format and from whether stderr is a terminal.
enum class ProgressMode {
  kOff,   ///< not at all
  kLine,  ///< one line, redrawn in place: a terminal
  kJson,  ///< one object per line: {"progress":"import","done":3,"total":20,"unit":"file",...}
};

/// Thread-safe. Redraws at most five times a second, so it may be called per item.
class Progress {
 public:
  /// `err` is not owned. `now` gives monotonic time; tests inject it.
  Progress(FILE* err, ProgressMode mode, std::function<Timestamp()> now = HostNow);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Begins a job of `total` units (0: unknown), named for people: ("importing", 20, "file").
  void Begin(std::string what, int64_t total, std::string unit);
  /// `done` units of the job are ready; more than the total is shown as given.
  void Update(int64_t done);
  /// Ends the job and takes the line away; says nothing more.
  void End();
  /// A line for people that stays, above the progress line. Not printed when `quiet`.
  void Note(std::string_view text);
  /// --quiet: neither notes nor progress.
  void set_quiet(bool quiet) { quiet_ = quiet; }

 private:
  void Draw(bool last);

  std::mutex mutex_;
  FILE* err_;
  const ProgressMode mode_;
  const std::function<Timestamp()> now_;
  std::string what_, unit_;
  int64_t total_ = 0, done_ = 0;
  Timestamp begin_, drawn_;
  bool active_ = false, line_shown_ = false, quiet_ = false;
};

/// For people, rounded down to seconds; not for files.
/// "1:05", "2:03:00": minutes and seconds, with hours when there are any.
std::string FormatClock(Duration d);

}  // namespace handhold::cli
