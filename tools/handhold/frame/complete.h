/// Shell completion: the candidates for a half-written command line, and the scripts that ask for
/// them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "database/base/result.h"
#include "tools/handhold/verb.h"

namespace handhold::cli {

/// Candidates (word, description) for the last of `words`, which may be empty; the words before it
/// are what has been written after "handhold". Empty where a file name or free text is expected:
/// the shell then offers files.
std::vector<std::pair<std::string, std::string>> Complete(std::span<const std::string> words,
                                                          const std::vector<Verb>& verbs);

/// The script for "bash", "zsh" or "fish"; it calls `handhold __complete`, so it need not be
/// renewed when verbs change.
Result<std::string> CompletionScript(const std::string& shell);

}  // namespace handhold::cli
