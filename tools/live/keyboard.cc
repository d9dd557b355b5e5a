#include "tools/live/keyboard.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "database/base/utf8.h"

namespace handhold::live {

struct Keyboard::State {
  termios before{};
};

Keyboard::Keyboard(bool lines) : lines_(lines) {
  terminal_ = isatty(STDIN_FILENO) == 1;
  if (terminal_) TakeTerminal();
}

void Keyboard::TakeTerminal() {
  // A terminal that is not the one of our session (-1) belongs to no job.
  const pid_t foreground = tcgetpgrp(STDIN_FILENO);
  background_ = foreground >= 0 && foreground != getpgrp();
  if (background_) return;
  saved_ = std::make_unique<State>();
  if (tcgetattr(STDIN_FILENO, &saved_->before) != 0) return;
  termios keys = saved_->before;
  // Ctrl-C stays a signal.
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  // Ctrl-Z would stop the recorder, with samples on their way.
  keys.c_cc[VSUSP] = _POSIX_VDISABLE;
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  raw_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

Keyboard::~Keyboard() { Restore(); }

void Keyboard::Restore() {
  if (raw_) tcsetattr(STDIN_FILENO, TCSANOW, &saved_->before);
  raw_ = background_ = false;
}

Wish WishOfKey(char key) {
  switch (key) {
    case ' ':
    case '\n':
    case '\r':
      return {Wish::kMark, ""};
    case 'a':
      return {Wish::kAcknowledge, ""};
    case 'r':
      return {Wish::kRecord, ""};
    case 's':
      return {Wish::kStop, ""};
    case 'q':
    case '\x1b':
      return {Wish::kQuit, ""};
    default:
      return {};
  }
}

Wish WishOfLine(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.empty()) return {};
  if (!IsUtf8(line)) return {Wish::kRefused, "a line that is not UTF-8"};
  const std::string_view word = line.substr(0, line.find(' '));
  const std::string_view rest = word.size() < line.size() ? line.substr(word.size() + 1) : "";
  if (word == "mark") return {Wish::kMark, std::string(rest)};
  if (word == "event" && !rest.empty() && rest.front() != ' ') {
    const std::string_view kind = rest.substr(0, rest.find(' '));
    const std::string_view text = kind.size() < rest.size() ? rest.substr(kind.size() + 1) : "";
    if (const Status named = CheckName("event", kind); !named)
      return {Wish::kRefused, named.error().message};
    return {Wish::kMark, std::string(text), std::string(kind)};
  }
  if (word == "acknowledge") return {Wish::kAcknowledge, ""};
  if (word == "record") return {Wish::kRecord, ""};
  if (word == "stop") return {Wish::kStop, ""};
  if (word == "quit") return {Wish::kQuit, ""};
  if (word == "event") return {Wish::kRefused, "an event needs its kind: event KIND [TEXT]"};
  return {Wish::kRefused, "unknown line '" + std::string(line.substr(0, 60)) +
                              "'; lines are mark [TEXT], event KIND [TEXT], acknowledge, record, "
                              "stop, quit"};
}

/// Of what a key beyond letters sends, Escape first: "\x1b[A", "\x1b[15~", "\x1bOP", "\x1bx".
static size_t LengthOfSequence(std::string_view keys) {
  if (keys[1] != '[' && keys[1] != 'O') return 2;
  size_t end = 2;
  while (end < keys.size() && (keys[end] < '@' || keys[end] > '~')) ++end;
  return std::min(end + 1, keys.size());
}

// Until nothing is left: what came together is stamped together. Bounded, for a writer without end.
void Keyboard::Read() {
  constexpr int kMostReads = 16;
  const Timestamp at = HostNow();
  for (int i = 0; i < kMostReads && !ended_; ++i) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (poll(&ready, 1, 0) <= 0 || ready.revents == 0) break;
    std::array<char, 4096> bytes{};
    const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got > 0) pending_.append(bytes.data(), static_cast<size_t>(got));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) break;
    // With VMIN 0 a terminal without keys reads as an end, and is none.
    if (got <= 0) ended_ = !raw_;
    if (got <= 0) break;
  }
  Take(at, ended_);
}

void Keyboard::Take(Timestamp at, bool ended) {
  constexpr size_t kMostLine = 4096;
  const auto give = [&](Wish wish) {
    if (wish.kind == Wish::kNothing) return;
    wish.at = at;
    wishes_.push_back(std::move(wish));
  };
  while (!pending_.empty()) {
    if (raw_) {
      const char key = pending_.front();
      // An arrow key begins as Escape does, and is no wish to leave; keys after it are.
      const bool sequence = key == '\x1b' && pending_.size() > 1;
      pending_.erase(0, sequence ? LengthOfSequence(pending_) : 1);
      if (!sequence) give(WishOfKey(key));
      continue;
    }
    size_t end = pending_.find('\n');
    if (end == std::string::npos) {
      if (pending_.size() > kMostLine) {
        pending_.clear();
        give({Wish::kRefused, "a line of more than 4096 bytes"});
      }
      if (!ended) return;
      end = pending_.size();
    }
    give(WishOfLine(std::string_view(pending_).substr(0, end)));
    pending_.erase(0, end + 1);
  }
}

Wish Keyboard::Next() {
  if (background_) TakeTerminal();
  if (background_ || (!raw_ && !lines_)) return {};
  if (wishes_.empty()) Read();
  if (wishes_.empty()) return {};
  Wish wish = std::move(wishes_.front());
  wishes_.pop_front();
  return wish;
}

}  // namespace handhold::live
