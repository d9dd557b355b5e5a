/// How the live verbs show a session: a screen that is redrawn on a terminal, lines on a pipe, or
/// objects for programs with --format ndjson; and the operator's keys. Shared by them, no verb.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/handhold/verb.h"
#include "tools/live/keyboard.h"
#include "tools/live/publish.h"
#include "tools/live/session.h"

namespace handhold::cli {

class LiveView {
 public:
  /// `control`: wishes come as lines on stdin. `seconds` > 0: the wish to leave comes after that
  /// time (monitor, simulate).
  LiveView(Context& context, std::string keys, bool control, Duration seconds = {});
  ~LiveView();

  live::Operator MakeOperator();
  /// Every look goes to the live page too (live/publish.h); port 0: not.
  Status PublishAt(int64_t port);
  /// A line for people, above the screen. Never waits for a reader: what a stopped terminal or a
  /// full pipe does not take is kept until it does.
  void Say(std::string_view text);
  /// One JSON object on stdout, after what waits; with --format ndjson only. Waits for the reader:
  /// for results.
  void Tell(const text::Json& object);
  /// Writes what waits and takes the screen away until the next look: before results that stay
  /// above it. Waits for the reader.
  void Clear();
  /// Clears and gives the terminal back: before long work and before the last results.
  void Close();
  /// What became of the last take: on the screen until the next, when its page has scrolled away.
  void ShowLast(std::string text, bool good);
  bool ndjson() const { return context_.printer.format() == Format::kNdjson; }

 private:
  void Watch(const capture::HealthSnapshot& health);
  void Erase();
  void Redraw();
  void Write(const text::Json& object);
  /// What waits for stdout and stderr, as far as they take it at once; `all`: however long it
  /// takes.
  void PourObjects(bool all);
  void PourLines(bool all);

  Context& context_;
  live::Keyboard keyboard_;
  const std::string keys_;
  const Duration seconds_;
  const Timestamp begun_ = HostNow();
  bool screen_ = false, colour_ = false, quiet_ = false;
  int drawn_lines_ = 0;
  std::optional<live::LivePublisher> publisher_;
  std::string last_;       ///< look
  std::string last_take_;  ///< empty: none
  bool last_take_is_good_ = true;
  std::deque<std::string> said_, said_objects_;  ///< not written yet: to stderr, to stdout
  Timestamp next_line_;
};

/// Rows of a check: red ones first to the eye, with their cause and fix.
void PrintCheck(Context& context, const std::vector<capture::CheckLine>& lines);
/// The error of a check that misses what is required: names it.
Error MissingError(const capture::Rig& rig, const std::vector<capture::CheckLine>& lines);

/// The longest take, monitor and simulation: a week. The longest wait.
inline constexpr double kLongest_s = 7 * 24 * 3600, kLongestWait_s = 3600;

Option RigOption();
/// --publish PORT: where a live page listens.
Option PublishOption();

}  // namespace handhold::cli
