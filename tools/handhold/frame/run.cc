#include "tools/handhold/frame/run.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>

#include "database/base/log.h"
#include "database/base/utf8.h"
#include "tools/handhold/frame/help.h"
#include "tools/handhold/frame/interrupt.h"
#include "tools/handhold/frame/parse.h"

namespace handhold::cli {
namespace {

/// "handhold: error: MESSAGE", each further line of the message indented. Messages name what stands
/// in foreign files and on the command line: they are printed as text, not as controls.
void Say(const Streams& streams, const char* what, const char* colour, const std::string& message) {
  std::string text =
      streams.err_colour ? std::string(colour) + what + "\x1b[0m: " : std::string(what) + ": ";
  for (size_t begin = 0; begin <= message.size();) {
    const size_t end = std::min(message.find('\n', begin), message.size());
    text +=
        (begin > 0 ? "\n  " : "") + Printable(std::string_view(message).substr(begin, end - begin));
    begin = end + 1;
  }
  std::fprintf(streams.err, "handhold: %s\n", text.c_str());
}

constexpr const char* kRed = "\x1b[1;31m";
constexpr const char* kYellow = "\x1b[1;33m";

/// The one place where an outcome becomes an exit code.
int ExitCode(const Outcome& outcome, const Status& results_written) {
  if (!results_written) return kExitFailed;
  switch (outcome.kind()) {
    case Outcome::Kind::kDone:
      return kExitDone;
    case Outcome::Kind::kLoss:
      return kExitLoss;
    case Outcome::Kind::kUsage:
      return kExitUsage;
    case Outcome::Kind::kFailed:
      return outcome.error().code == ErrorCode::kCancelled ? kExitInterrupted : kExitFailed;
  }
  return kExitFailed;
}

void SayOutcome(const Streams& streams, const Outcome& outcome, const Status& results_written,
                const Verb& verb) {
  switch (outcome.kind()) {
    case Outcome::Kind::kDone:
      if (!outcome.error().message.empty()) Say(streams, "note", kYellow, outcome.error().message);
      break;
    case Outcome::Kind::kLoss:
      Say(streams, "finished with loss", kYellow, outcome.error().message);
      break;
    case Outcome::Kind::kUsage:
      Say(streams, "error", kRed, outcome.error().message);
      std::fprintf(streams.err, "See: handhold help %s\n", verb.words().c_str());
      break;
    case Outcome::Kind::kFailed:
      if (outcome.error().code == ErrorCode::kCancelled) {
        Say(streams, "interrupted", kYellow, outcome.error().message);
      } else {
        Say(streams, "error", kRed, outcome.error().message);
      }
      break;
  }
  if (!results_written) Say(streams, "error", kRed, results_written.error().message);
}

Outcome RunVerb(const Verb& verb, Context& context) {
  try {
    return verb.run(context);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kIo, "out of memory"};
  } catch (const std::exception& e) {
    return Error{ErrorCode::kUnsupported,
                 std::string("an error nobody handled, a bug of this program: ") + e.what()};
  }
}

int Execute(const Program& program, const Invocation& invocation, const Streams& streams) {
  const Verb& verb = *invocation.verb;
  if (verb.needs_library) {
    for (const auto& check : program.start_checks) {
      if (const Status status = check(); !status) {
        Say(streams, "error", kRed, status.error().message);
        return kExitFailed;
      }
    }
  }
  const int verbosity = invocation.common.verbosity;
  SetLogLevel(verbosity < 0    ? LogLevel::kError
              : verbosity == 0 ? LogLevel::kWarning
              : verbosity == 1 ? LogLevel::kInfo
                               : LogLevel::kDebug);
  const ProgressMode automatic = streams.err_terminal ? ProgressMode::kLine : ProgressMode::kOff;
  Progress progress(streams.err, invocation.common.progress.value_or(automatic));
  progress.set_quiet(verbosity < 0);
  Printer printer(streams.out, invocation.common.format, streams.out_colour, streams.out_columns);
  Context context{.arguments = invocation.arguments,
                  .printer = printer,
                  .progress = progress,
                  .dry_run = verb.writes && invocation.arguments.Flag("--dry-run")};
  // A reader of our results that goes away (| head) must not end a recording: writes fail instead.
  std::signal(SIGPIPE, SIG_IGN);
  if (verb.handles_interrupt) CatchInterrupts();
  const Outcome outcome = RunVerb(verb, context);
  progress.End();
  const Status written = printer.Finish();
  SayOutcome(streams, outcome, written, verb);
  return ExitCode(outcome, written);
}

int PrintHelp(const std::string& text, const Streams& streams) {
  Printer printer(streams.out, Format::kText, false);
  printer.Raw(text);
  return printer.Finish() ? kExitDone : kExitFailed;
}

}  // namespace

Streams Streams::Detect() {
  Streams out;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool colour =
      !(no_colour && *no_colour != '\0') && !(terminal && std::string(terminal) == "dumb");
  out.err_terminal = isatty(STDERR_FILENO) == 1;
  out.out_colour = colour && isatty(STDOUT_FILENO) == 1;
  winsize window{};
  if (isatty(STDOUT_FILENO) == 1)
    out.out_columns =
        ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
  out.err_colour = colour && out.err_terminal;
  return out;
}

int Run(const Program& program, std::span<const std::string> words, const Streams& streams) {
  const Result<Invocation> invocation = ParseCommandLine(words, program.verbs);
  int code = kExitUsage;
  if (!invocation) {
    Say(streams, "error", kRed, invocation.error().message);
    const Verb* meant = VerbMeant(words, program.verbs);
    std::fprintf(streams.err, "See: handhold help%s%s\n", meant != nullptr ? " " : "",
                 meant != nullptr ? meant->words().c_str() : "");
  } else {
    switch (invocation->kind) {
      case Invocation::Kind::kFrontHelp:
        code = PrintHelp(FrontHelp(program.verbs), streams);
        break;
      case Invocation::Kind::kNounHelp:
        code = PrintHelp(NounHelp(invocation->noun, program.verbs), streams);
        break;
      case Invocation::Kind::kVerbHelp:
        code = PrintHelp(VerbHelp(*invocation->verb), streams);
        break;
      case Invocation::Kind::kVersion:
        code = PrintHelp("handhold " + program.version + "\n", streams);
        break;
      case Invocation::Kind::kRun:
        code = Execute(program, *invocation, streams);
        break;
    }
  }
  std::fflush(streams.err);
  return code;
}

}  // namespace handhold::cli
