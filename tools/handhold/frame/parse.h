/// The command line, read against the verbs' descriptions; every mistake is named with the nearest
/// right word.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "tools/handhold/frame/printer.h"
#include "tools/handhold/frame/progress.h"
#include "tools/handhold/verb.h"

namespace handhold::cli {

/// Options that every verb takes.
struct CommonOptions {
  Format format = Format::kText;
  int verbosity = 0;  ///< -1 quiet, 0, 1 -v, 2 -vv
  std::optional<ProgressMode> progress;
};

/// What a command line asks for.
struct Invocation {
  enum class Kind {
    kFrontHelp,  ///< no words at all, or "help"
    kNounHelp,   ///< "help clip", "clip", "clip --help"
    kVerbHelp,   ///< "help clip list", "clip list --help"
    kVersion,    ///< "--version"
    kRun,
  };
  Kind kind = Kind::kRun;
  std::string noun;            ///< of kNounHelp
  const Verb* verb = nullptr;  ///< of kVerbHelp and kRun; points into `verbs`
  Arguments arguments;
  CommonOptions common;
};

/// `words` without the program's name. Options may stand anywhere, those of every verb before it,
/// too; "--name VALUE", "--name=VALUE",
/// "-qv"; after "--" everything is positional, and "-" and negative numbers always are. An error is
/// a usage error (exit 2).
Result<Invocation> ParseCommandLine(std::span<const std::string> words,
                                    const std::vector<Verb>& verbs);

/// Whose help to point at when `words` are no command line: the verb that they name; null: none.
const Verb* VerbMeant(std::span<const std::string> words, const std::vector<Verb>& verbs);

/// The options of CommonOptions, as help and completion show them.
const std::vector<Option>& CommonOptionList();
/// The options a verb takes without the common ones: its own, and --dry-run of a writer.
std::vector<Option> OptionsOf(const Verb& verb);

}  // namespace handhold::cli
