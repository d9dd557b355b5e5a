/// What a verb of the command line is: its words, arguments and examples as data, and one function
/// that runs it. Help, completion, the generated README and the parser all read this description.
///
/// One file per verb, no logic in it: it takes arguments from `Context`, calls tools/pipeline, and
/// prints rows. To add `handhold clip list`: write tools/handhold/clip_list.cc with
/// `Verb ClipListVerb()`, declare it in verbs.h, put it into the list in verbs.cc and the file into
/// CMakeLists.txt. Nothing registers itself.
///
///   Verb ClipListVerb() {
///     return {.noun = "clip", .name = "list", .summary = "list the clips of a library",
///             .examples = {"handhold clip list --library lab"},
///             .options = {LibraryOption()},
///             .run = [](Context& context) -> Outcome {
///               HANDHOLD_ASSIGN(const auto clips,
///               pipeline::ListClips(context.arguments.Text("--library"))); Table table =
///               context.printer.BeginTable({{.name = "id"}, {.name = "length_ns", .heading =
///               "length"}}); for (const auto& clip : clips) table.Row({clip.id.ToString(),
///               clip.length}); return Outcome::Done();
///             }};
///   }
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "tools/handhold/frame/printer.h"
#include "tools/handhold/frame/progress.h"

namespace handhold::cli {

/// How a verb ended; frame/run.cc maps it to the exit code, after results are flushed.
class Outcome {
 public:
  static Outcome Done() { return Outcome(); }
  /// Finished, but something was dropped or discarded (exit 3). `what` goes to stderr.
  static Outcome Loss(std::string what);
  /// Done, or Loss when any issue is one; every issue goes to stderr.
  static Outcome FromIssues(const Issues& issues);
  /// The command line asks for what cannot be (exit 2), for what the description cannot express:
  /// two options that exclude each other.
  static Outcome Usage(std::string message);
  /// Failed (exit 1; 130 when the code is kCancelled), so that HANDHOLD_TRY works in a verb.
  Outcome(Error error);
  template <typename T>
  Outcome(const Result<T>& failed) : Outcome(failed.error()) {}

  enum class Kind { kDone, kLoss, kUsage, kFailed };
  Kind kind() const { return kind_; }
  const Error& error() const { return error_; }  ///< message of kLoss, kUsage, kFailed

 private:
  Outcome() = default;
  Kind kind_ = Kind::kDone;
  Error error_;
};

/// Whether an option takes a value, and what it must be; checked before the verb runs.
enum class ValueKind {
  kFlag,      ///< no value
  kText,      ///< anything
  kPath,      ///< a file or folder (completed as such)
  kInteger,   ///< int64
  kNumber,    ///< finite double
  kDuration,  ///< 1.25s, 200ms, 20min, 60: a number with ns, us, ms, s, min, h, or none: seconds
  kChoice,    ///< one of `choices`
};

/// What a number (kInteger, kNumber) or a time (kDuration, in seconds) must lie within; checked
/// before the verb runs, shown by its help and by the refusal.
struct Range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool above = false;     ///< `least` itself lies outside
  std::string unit = {};  ///< " s", as shown

  bool Holds(double value) const {
    return (above ? value > least : value >= least) && value <= most;
  }
  /// "0 to 10", "at least 0 s", "above 0, at most 1"; empty when everything lies within.
  std::string Text() const;
};

struct Option {
  std::string name;             ///< "--library"
  std::string value_name = {};  ///< "DIR", shown in help; empty for a flag
  std::string help = {};        ///< one line, no full stop
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices = {};  ///< of kChoice
  std::string fallback = {};              ///< the value when neither given nor in the environment
  std::string environment = {};           ///< variable that gives it when the command line does not
  bool required = false;                  ///< and not empty
  bool repeated = false;                  ///< may be given several times: Arguments::All
  Range range = {};                       ///< of kInteger, kNumber and kDuration
};

struct Positional {
  std::string name;  ///< "CLIP"
  std::string help = {};
  bool required = true;   ///< optional ones come after required ones
  bool repeated = false;  ///< the last one only: takes all that are left
  ValueKind kind = ValueKind::kText;
  std::vector<std::string> choices = {};  ///< of kChoice
  bool may_be_empty = false;              ///< an empty word is a value, no slip
};

/// The checked values of one command line. Names are those of the description; asking for another
/// is a CHECK, so a misspelled name in a verb shows in its first test.
class Arguments {
 public:
  bool Flag(std::string_view name) const;
  /// True when given on the command line or by the environment; a fallback does not count.
  bool Has(std::string_view name) const;
  /// True when given on the command line: what is in the environment is not meant for every verb.
  bool Typed(std::string_view name) const;
  /// The value, else the fallback, else "". For positionals too: Text("CLIP").
  std::string Text(std::string_view name) const;
  std::vector<std::string> All(std::string_view name) const;
  /// CHECKs that there is a value (given or fallback); ask Has first where there may be none.
  double Number(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  Duration Time(std::string_view name) const;

  struct Value {
    ValueKind kind = ValueKind::kText;
    bool given = false;
    bool from_environment = false;
    std::vector<std::string> texts;
  };
  std::map<std::string, Value, std::less<>> values;  ///< filled by the parser
};

/// What a running verb may use. Results go to `printer` (stdout) only; all else to `progress` and
/// the log (stderr).
struct Context {
  const Arguments& arguments;
  Printer& printer;
  Progress& progress;
  bool dry_run = false;  ///< of a verb that writes: do everything but write, and say what would be
  /// True after the first Ctrl-C or SIGTERM, in a verb with handles_interrupt; any thread.
  bool interrupted() const;
  /// The callback that pipeline steps take: shows the fraction as progress of `what`, answers false
  /// once interrupted.
  std::function<bool(double fraction, std::string_view what)> StepProgress(std::string what);
};

struct Verb {
  std::string noun;                        ///< "clip"; alone when `name` is empty ("query")
  std::string name = {};                   ///< "list"
  std::string summary = {};                ///< one line, lower case, no full stop
  std::vector<std::string> examples = {};  ///< whole command lines that work, the plainest first
  std::vector<Positional> positionals = {};
  std::vector<Option> options = {};
  bool writes = false;  ///< adds --dry-run
  /// True: Ctrl-C and SIGTERM set Context::interrupted(), and a second one ends the program; the
  /// verb must look, end in order and return Done or a kCancelled error. False: they end the
  /// program at once, which is safe for every reader and for writers of the store.
  bool handles_interrupt = false;
  bool needs_library = true;  ///< false: runs even when the start checks fail (help)
  bool hidden = false;        ///< not in help and completion
  bool headline = false;      ///< its first example is shown by bare `handhold`
  /// Options of before, each with what says it now: refused with that.
  std::vector<std::pair<std::string, std::string>> renamed = {};
  std::string details = {};  ///< further paragraphs of help, wrapped by hand
  std::function<Outcome(Context&)> run = {};

  std::string words() const { return name.empty() ? noun : noun + " " + name; }
};

/// --library DIR, from HANDHOLD_LIBRARY, else the current folder: the same in every verb.
Option LibraryOption();

/// "1.25s", "200ms", "-3us", "60" (seconds): exact to the nanosecond, ties away from 0.
Result<Duration> ParseDuration(std::string_view text);

}  // namespace handhold::cli
