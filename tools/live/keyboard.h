/// Single keys of the terminal, without Enter, and lines of a program at the other end of stdin.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "tools/live/session.h"

namespace handhold::live {

/// While it lives a terminal on stdin gives keys one by one, without echo; the destructor, and
/// Restore, put it back as it was. One at a time. A job in the background leaves the terminal alone
/// until it comes to the foreground: touching it would stop the job, and a take with it.
///
/// Keys: space or Enter a mark, a acknowledge, r record, s stop the take, q or Escape stop and
/// leave. When `lines` (and stdin is no terminal): one wish per line, `mark [TEXT]`,
/// `event KIND [TEXT]`, `acknowledge`, `record`, `stop`, `quit`; a line that is none of these is
/// kRefused, an empty one no wish, the end of stdin no wish but the end of its last line.
class Keyboard {
 public:
  explicit Keyboard(bool lines);
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  bool terminal() const { return terminal_; }
  /// The oldest wish not yet given, with the time its bytes were read; never waits.
  Wish Next();
  void Restore();  ///< before long work, so that a second Ctrl-C leaves a usable terminal

 private:
  bool terminal_ = false, lines_ = false, raw_ = false;
  bool background_ = false;  ///< the terminal is another job's; asked again by Next
  void TakeTerminal();
  void Read();
  void Take(Timestamp at, bool ended);

  bool ended_ = false;
  std::string pending_;  ///< read, not yet a wish
  std::deque<Wish> wishes_;
  struct State;
  std::unique_ptr<State> saved_;
};

/// The wish of one line of the above, and of one key.
Wish WishOfLine(std::string_view line);
Wish WishOfKey(char key);

}  // namespace handhold::live
