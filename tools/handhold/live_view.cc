#include "tools/handhold/live_view.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "tools/live/screen.h"

namespace handhold::cli {
namespace {

constexpr Duration kLinePeriod = Duration::Seconds(5);

live::ScreenOptions SizeOfTerminal() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return {.columns = 79};
  return {.columns = std::clamp<int>(size.ws_col - 1, 20, 200), .rows = size.ws_row};
}

/// Room for a screen or a line of health: a terminal that is not stopped, a pipe at most half full.
bool CanWrite(int descriptor) {
  pollfd ready{descriptor, POLLOUT, 0};
  if (poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return false;
  int held = 0;
  const int capacity = fcntl(descriptor, F_GETPIPE_SZ);
  return capacity <= 0 || ioctl(descriptor, FIONREAD, &held) != 0 || 2 * held <= capacity;
}

/// More than an operator says in an hour; a program that marks without end and never reads is told.
constexpr size_t kMostWaiting = 10'000;

void Keep(std::string_view text, std::deque<std::string>* waiting) {
  if (waiting->size() < kMostWaiting) {
    waiting->emplace_back(text);
  } else {
    waiting->back() = "more was said while nobody read";
  }
}

bool WantsColour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(descriptor) == 1 && !(no_colour != nullptr && *no_colour != '\0') &&
         !(terminal != nullptr && std::string_view(terminal) == "dumb");
}

}  // namespace

LiveView::LiveView(Context& context, std::string keys, bool control, Duration seconds)
    : context_(context),
      keyboard_(control),
      keys_(std::move(keys)),
      seconds_(seconds),
      screen_(isatty(STDERR_FILENO) == 1),
      colour_(WantsColour(STDERR_FILENO)),
      next_line_(HostNow() + kLinePeriod) {}

LiveView::~LiveView() { Close(); }

live::Operator LiveView::MakeOperator() {
  live::Operator op;
  op.wish = [this] {
    if (seconds_ > Duration() && HostNow() - begun_ >= seconds_)
      return live::Wish{live::Wish::kQuit, ""};
    return keyboard_.Next();
  };
  op.interrupted = [this] { return context_.interrupted(); };
  op.watch = [this](const capture::HealthSnapshot& health) {
    if (publisher_) publisher_->Say(health);
    Watch(health);
  };
  op.say = [this](std::string_view text) { Say(text); };
  return op;
}

Status LiveView::PublishAt(int64_t port) {
  HANDHOLD_ASSIGN(publisher_, live::LivePublisher::Open(static_cast<uint16_t>(port)));
  return {};
}

void LiveView::Erase() {
  if (drawn_lines_ > 1) std::fprintf(stderr, "\x1b[%dA", drawn_lines_ - 1);
  if (drawn_lines_ > 0) std::fputs("\r\x1b[J", stderr);
  drawn_lines_ = 0;
}

void LiveView::Redraw() {
  std::fputs(last_.c_str(), stderr);
  std::fflush(stderr);
  drawn_lines_ = 1 + static_cast<int>(std::count(last_.begin(), last_.end(), '\n'));
}

void LiveView::Say(std::string_view text) {
  if (ndjson()) Keep(text, &said_objects_);
  Keep(text, &said_);
  PourObjects(false);
  PourLines(false);
}

void LiveView::PourObjects(bool all) {
  for (; !said_objects_.empty() && (all || CanWrite(STDOUT_FILENO)); said_objects_.pop_front())
    Write(text::Json::Object({{"type", "said"}, {"text", said_objects_.front()}}));
}

void LiveView::PourLines(bool all) {
  if (said_.empty() || !(all || CanWrite(STDERR_FILENO))) return;
  const bool drawn = drawn_lines_ > 0;
  Erase();
  for (; !said_.empty() && (all || CanWrite(STDERR_FILENO)); said_.pop_front())
    context_.progress.Note(said_.front());
  if (drawn && CanWrite(STDERR_FILENO)) Redraw();
  std::fflush(stderr);
}

void LiveView::Write(const text::Json& object) {
  if (const Result<std::string> text = text::WriteJson(object)) context_.printer.Raw(*text + "\n");
  (void)context_.printer.Finish().has_value();  // at once: somebody watches
}

void LiveView::Tell(const text::Json& object) {
  if (!ndjson()) return;
  PourObjects(true);
  Write(object);
}

// A reader that does not read (a pager, a stopped terminal) costs it figures, never the operator
// his keys, a mark its time or a take its end: figures that cannot be written at once are left out.
void LiveView::Watch(const capture::HealthSnapshot& health) {
  PourObjects(false);
  PourLines(false);
  if (ndjson() && said_objects_.empty() && CanWrite(STDOUT_FILENO)) Write(live::HealthJson(health));
  if (!said_.empty() || !CanWrite(STDERR_FILENO)) return;
  if (screen_) {
    Erase();
    live::ScreenOptions options = SizeOfTerminal();
    options.colour = colour_;
    options.keys = keys_;
    options.last = last_take_;
    options.last_is_good = last_take_is_good_;
    last_ = live::Screen(health, options);
    Redraw();
  } else if (HostNow() >= next_line_) {
    next_line_ += kLinePeriod;
    context_.progress.Note(live::ScreenLine(health));
  }
}

void LiveView::ShowLast(std::string text, bool good) {
  last_take_ = std::move(text);
  last_take_is_good_ = good;
}

void LiveView::Clear() {
  PourObjects(true);
  PourLines(true);
  Erase();
  std::fflush(stderr);
}

void LiveView::Close() {
  Clear();
  keyboard_.Restore();
}

void PrintCheck(Context& context, const std::vector<capture::CheckLine>& lines) {
  if (context.printer.format() != Format::kText) {
    Table table = context.printer.BeginTable({{.name = "source"},
                                              {.name = "stream"},
                                              {.name = "ok"},
                                              {.name = "required"},
                                              {.name = "text"}});
    for (const capture::CheckLine& line : lines)
      table.Row({line.source, line.stream, line.ok, line.required, line.text});
    return;
  }
  const bool colour = WantsColour(STDOUT_FILENO);
  size_t widest = 0;
  for (const capture::CheckLine& line : lines)
    widest = std::max(widest, line.stream.empty() ? line.source.size() : line.stream.size() + 2);
  for (const capture::CheckLine& line : lines) {
    std::string name = line.stream.empty() ? line.source : "  " + line.stream;
    name.resize(widest, ' ');
    const bool red = !line.ok && line.required;
    const std::string mark = line.ok ? "ok     " : red ? "RED    " : "absent ";
    const char* paint = line.ok ? "\x1b[32m" : red ? "\x1b[1;31m" : "\x1b[33m";
    std::string text = mark + name + "  " + line.text;
    if (!line.required && line.ok) text += " (not required)";
    context.printer.Prose(colour ? paint + text + "\x1b[0m\n" : text + "\n");
  }
}

Error MissingError(const capture::Rig& rig, const std::vector<capture::CheckLine>& lines) {
  std::string names;
  for (const capture::CheckLine& line : lines) {
    if (line.ok || !line.required) continue;
    const std::string& name = line.stream.empty() ? line.source : line.stream;
    if (("," + names + ",").find("," + name + ",") == std::string::npos)
      names += (names.empty() ? "" : ",") + name;
  }
  // Only a device that did not answer is one to start; one without a stream of that name did.
  const bool silent = std::any_of(lines.begin(), lines.end(), [](const capture::CheckLine& line) {
    return line.required && !line.ok && line.stream.empty() && line.code != ErrorCode::kCorrupt;
  });
  std::string advice = silent ? live::Session::Advice(rig) : "";
  // A device that another program holds is there: what the claim says of it is the advice.
  for (const capture::CheckLine& line : lines)
    if (!line.ok && line.required && line.code == ErrorCode::kBusy) advice = line.text;
  return {ErrorCode::kNotFound,
          "required and missing: " + names +
              (advice.empty() ? "; the red lines say why and what to do" : "; " + advice)};
}

Option PublishOption() {
  return {.name = "--publish",
          .value_name = "PORT",
          .help = "of this machine: tell a live page ('handhold view') what is seen; 0: nobody",
          .kind = ValueKind::kInteger,
          .fallback = std::to_string(live::kLivePort),
          .range = {.least = 0, .most = 65535}};
}

Option RigOption() {
  return {.name = "--rig",
          .value_name = "RIG",
          .help = "rig file, or a built-in rig: demo, lab",
          .kind = ValueKind::kPath,
          .fallback = "demo",
          .environment = "HANDHOLD_RIG"};
}

}  // namespace handhold::cli
