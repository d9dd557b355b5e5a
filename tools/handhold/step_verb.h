/// The verb of a step: options, help, completion and recipe from its description; a verb's file
/// says what is said to a person, and nothing else.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "database/text/json.h"
#include "tools/handhold/steps.h"
#include "tools/handhold/verb.h"
#include "tools/pipeline/registry.h"

namespace handhold::cli {

/// What a step's description does not say. All of it may be left out.
struct StepWords {
  std::string noun = {}, name = {};  ///< empty: the step's own, parted at its dot
  std::string summary = {};          ///< empty: the step's
  std::vector<std::string> examples = {};
  std::string details = {};
  std::string doing = {};   ///< for the progress line; empty: the verb
  std::string record = {};  ///< name of the result's first record; empty: "result"
  bool headline = false;
  std::vector<Option> more = {};  ///< options that are no member of the step
  /// What the description cannot express, asked before anything is done: options that exclude each
  /// other. May change the recipe.
  std::function<std::optional<Outcome>(const Arguments&, text::Json* recipe)> look = {};
  /// Says all of a result, instead of what PrintStep prints.
  std::function<Outcome(Context&, const store::Library&, const pipeline::StepResult&)> say = {};
  /// Prints a result beyond its first record; answers its issues. Not called where a dry run leaves
  /// nothing to print.
  std::function<Result<Issues>(Printer&, const store::Library&, const pipeline::StepResult&)>
      print = {};
};

/// `entry` must outlive the verb.
Verb StepVerb(const pipeline::StepEntry& entry, StepWords words = {});
/// The same of a step of the program's registry; CHECKs that there is one.
Verb StepVerb(const char* step, StepWords words = {});

/// The words of a list: "tripod,large-diameter" and repeated options alike.
std::vector<std::string> WordsOf(const std::vector<std::string>& given);

/// The recipe that a command line asks for; what it cannot be is an error of the command line.
Result<text::Json> RecipeFrom(const pipeline::StepDescription& step, const Arguments& given);

/// Prints a result: its first record, then as `words` say; the outcome by its issues.
Outcome PrintStep(Context& context, const store::Library& library,
                  const pipeline::StepResult& result, const StepWords& words);

/// An artefact of the result, loaded and printed: what most verbs of one artefact do.
template <typename T>
auto PrintLoaded(Result<Issues> (*print)(Printer&, const T&)) {
  return [print](Printer& out, const store::Library& library,
                 const pipeline::StepResult& result) -> Result<Issues> {
    HANDHOLD_ASSIGN(const T value, store::Load<T>(library.ArtefactPath(result.hash)));
    return print(out, value);
  };
}

}  // namespace handhold::cli
