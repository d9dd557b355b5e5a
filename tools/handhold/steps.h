/// What the verbs that run a step of the pipeline share: options, notes, progress, how a result is
/// said.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "database/artefact/motion.h"
#include "database/artefact/pose_track.h"
#include "database/geometry/transform.h"
#include "database/store/library.h"
#include "tools/handhold/verb.h"
#include "tools/pipeline/inputs.h"
#include "tools/pipeline/step.h"

namespace handhold::cli {

/// CLIP: "name, id, or the beginning of an id".
Positional ClipPositional();
/// --mesh-unit: one rule for every verb that takes a mesh file.
Option MeshUnitOption();
/// Why --mesh-unit has nothing to say of a prop that is no mesh file. Empty: it has, or was not
/// given.
std::optional<Outcome> MeshUnitRefusal(const Arguments& given, const std::string& prop);
/// Metres per unit that --mesh-unit says.
double MetresPerUnit(const Arguments& given);
/// --side, --marker-set, --free-base, --marker-map, --map-hand: how a hand is changed before a fit.
std::vector<Option> HandOptions();
pipeline::HandVariant HandVariantOf(const Arguments& given);
/// --from and --to, clip time.
std::vector<Option> RangeOptions();

/// The option's pose; empty when it was not given.
Result<std::optional<geometry::RigidTransform>> PoseOption(const Arguments& given,
                                                           std::string_view name);
/// Of --from and --to; empty when neither was given. An end that was not given is the clip's.
/// kInvalid when nothing lies between them.
Result<std::optional<TimeRange>> RangeOf(const Arguments& given);

/// A step's surroundings: progress on stderr, Ctrl-C cancels, --dry-run.
pipeline::StepContext StepContextOf(Context& context, store::Library& library, std::string what);
/// Ends the progress line and tells on stderr what was chosen.
void Tell(Context& context, const pipeline::StepResult& result);
/// The record that every step begins its result with: artefact, step, whether it was new.
std::vector<Field> ResultFields(const Context& context, const pipeline::StepResult& result);

/// What a verb of a step does around its step.
struct StepRun {
  const char* doing;   ///< for the progress line: "fitting poses"
  const char* record;  ///< name of the result's first record: "pose"
  /// Runs the step.
  std::function<Result<pipeline::StepResult>(const pipeline::StepContext&)> run;
  /// Prints the artefact at a path, beyond the first record; answers its issues. Not called where
  /// a dry run leaves nothing to print.
  std::function<Result<Issues>(Printer&, const std::string& path)> print;
};
/// Opens the library of --library, runs, tells what was chosen and prints; the summary's issues
/// decide the outcome.
Outcome RunAndPrint(Context& context, const StepRun& step);

/// Why no page can be written to `to` (a folder, or in a folder that is not there): to be asked
/// before long work. Empty: it can.
std::optional<Outcome> PageRefusal(const std::string& to);

/// Text for people without -v: the answer first, in 10 to 20 lines; rows in other formats and with
/// -v are all there.
bool IsBrief(const Printer& out);

/// The record "verdict": what was judged, when and why; no time where nothing was judged.
void PrintVerdict(Printer& out, const artefact::Verdict& verdict);

/// Worst first; for people the worst five.
std::vector<artefact::MarkerAgreement> WorstMarkers(const Printer& out,
                                                    std::vector<artefact::MarkerAgreement> markers);

}  // namespace handhold::cli
