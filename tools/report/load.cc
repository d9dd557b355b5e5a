#include "tools/report/load.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "database/base/shell.h"
#include "database/store/query.h"
#include "tools/pipeline/inputs.h"
#include "tools/report/criteria.h"
#include "tools/report/measure.h"

namespace handhold::report {
namespace {

using store::ArtefactInfo;

// The verb that makes a step's result, for the page's list of commands. Of its options only
// the template's scale and --inertia are told; every parameter stands beside.
std::string OptionsOf(const artefact::Provenance& made) {
  const auto parameters = text::ParseJson(made.parameters_json, {.source = made.step});
  if (!parameters) return "";
  std::string options;
  const text::Json* scale = parameters->Find("template_scale");
  if (scale != nullptr && scale->number() && *scale->number() != 1.0) {
    char text[40];
    std::snprintf(text, sizeof text, " --scale %.6g", *scale->number());
    options += text;
  }
  const text::Json* inertia = parameters->Find("correct_inertia_and_gravity");
  if (inertia != nullptr && inertia->boolean().value_or(false)) options += " --inertia";
  return options;
}

std::string CommandOf(const artefact::Provenance& made, const std::string& clip,
                      const std::string& library) {
  static constexpr std::pair<std::string_view, std::string_view> verbs[] = {
      {"fit.skeleton", "fit skeleton"},
      {"fit.pose", "fit pose"},
      {"fit.contact", "fit contact"},
      {"fit.compliance", "fit compliance"},
      {"synth.interaction", "synth interaction"}};
  for (const auto& [name, verb] : verbs) {
    if (made.step == name) {
      return "handhold " + std::string(verb) + " " + ShellWord(clip) + " --library " +
             ShellWord(library) + OptionsOf(made);
    }
  }
  return "";
}

class Loader {
 public:
  Loader(const pipeline::StepContext& context, const pipeline::FoundClip& clip, LoadedReport* out)
      : context_(context), clip_(clip), out_(*out) {}

  Status Run(const std::string& trajectory) {
    HANDHOLD_ASSIGN(const std::optional<ArtefactInfo> newest,
                    Newest("interaction_trajectory", trajectory, "fit compliance"));
    std::string contact, pose, skeleton, surface;
    if (newest) {
      HANDHOLD_ASSIGN(auto value, store::Load<artefact::InteractionTrajectory>(Path(newest->hash)));
      out_.trajectory = std::make_unique<artefact::InteractionTrajectory>(std::move(value));
      Follow(*newest, &contact, &pose, &skeleton, &surface);
      HANDHOLD_TRY(Step(newest->hash));
      const artefact::ProvenanceInput* fitted =
          pipeline::FindInput(newest->provenance, "trajectory");
      if (fitted) {  // an assumed one: the fit it was made from belongs to the lineage
        HANDHOLD_TRY(Step(fitted->hash));
      }
    }
    if (contact.empty()) {
      HANDHOLD_ASSIGN(const auto info,
                      Newest(artefact::KindOf<artefact::ContactTrack>::name, "", "fit contact"));
      if (info) contact = info->hash, Follow(*info, nullptr, &pose, &skeleton, &surface);
    }
    if (!contact.empty()) {
      HANDHOLD_ASSIGN(auto value, store::Load<artefact::ContactTrack>(Path(contact)));
      out_.contact = std::make_unique<artefact::ContactTrack>(std::move(value));
      HANDHOLD_TRY(Step(contact));
    }
    if (pose.empty()) {
      HANDHOLD_ASSIGN(const auto info, Newest("pose_track", "", "fit pose"));
      if (info) pose = info->hash, Follow(*info, nullptr, nullptr, &skeleton, nullptr);
    }
    if (!pose.empty()) {
      HANDHOLD_ASSIGN(auto value, store::Load<artefact::PoseTrack>(Path(pose)));
      out_.pose = std::make_unique<artefact::PoseTrack>(std::move(value));
      HANDHOLD_TRY(Step(pose));
    }
    if (skeleton.empty()) {
      HANDHOLD_ASSIGN(const auto info, Newest("skeleton", "", "fit skeleton"));
      if (info) skeleton = info->hash;
    }
    return Models(skeleton, surface);
  }

 private:
  std::string Path(const std::string& hash) const { return context_.library.ArtefactPath(hash); }

  // The artefact asked for, else the clip's newest of a kind; empty when there is none.
  Result<std::optional<ArtefactInfo>> Newest(const std::string& kind, const std::string& key,
                                             const std::string& made_by) {
    if (key.empty()) {
      // An assumed trajectory is made from a trajectory, not from the clip: look through both.
      const Result<ArtefactInfo> found =
          pipeline::FindResult(context_, "", kind, clip_, made_by, &out_.chosen);
      if (!found && found.error().code == ErrorCode::kNotFound)
        return std::optional<ArtefactInfo>();
      if (!found) return found.error();
      if (kind != "interaction_trajectory") return std::optional(*found);
      HANDHOLD_ASSIGN(const std::vector<std::string> children,
                      context_.library.MadeFrom(found->hash));
      // Of those, Table 1's values before any that somebody tried by name; then the newest.
      std::optional<ArtefactInfo> best;
      bool best_named = false;
      for (const std::string& hash : children) {
        HANDHOLD_ASSIGN(ArtefactInfo info, store::ReadArtefactInfo(Path(hash)));
        if (info.provenance.step != "fit.assume") continue;
        HANDHOLD_ASSIGN(const auto trajectory,
                        store::Load<artefact::InteractionTrajectory>(Path(hash)));
        const artefact::ReferenceOptions& made_with = trajectory.made_with;
        if (made_with.assumed_factor != 1.0) continue;  // halved or doubled, to see what it does
        const bool named = !made_with.assume_compliance.empty();
        const bool better =
            !best || (best_named && !named) ||
            (best_named == named && info.provenance.made_utc > best->provenance.made_utc);
        if (better) best = std::move(info), best_named = named;
      }
      if (!best) return std::optional(*found);
      out_.chosen.push_back("its refused joints as assumed in " + pipeline::ShortHash(best->hash) +
                            (best_named ? ", by name" : ""));
      return best;
    }
    HANDHOLD_ASSIGN(ArtefactInfo info, pipeline::FindArtefact(context_.library, key, kind));
    return std::optional(std::move(info));
  }

  static void Follow(const ArtefactInfo& info, std::string* contact, std::string* pose,
                     std::string* skeleton, std::string* surface) {
    const auto take = [&](const char* role, std::string* to) {
      const artefact::ProvenanceInput* input = pipeline::FindInput(info.provenance, role);
      if (to && input) *to = input->hash;
    };
    take("contact", contact), take("pose", pose), take("skeleton", skeleton),
        take("surface", surface);
  }

  Status Step(const std::string& hash) {
    HANDHOLD_ASSIGN(ArtefactInfo info, store::ReadArtefactInfo(Path(hash)));
    out_.steps.push_back({std::move(info.provenance), hash});
    return {};
  }

  /// Where the contacts were found; without them, where the take's only fixed prop stood.
  std::optional<geometry::RigidTransform> SurfacePose() const {
    if (out_.contact && !out_.contact->things.empty()) return out_.contact->things.front().X_WT;
    std::optional<geometry::RigidTransform> only;
    for (const recording::Thing& thing : out_.clip->info().things) {
      if (thing.kind != recording::Thing::Kind::kProp ||
          thing.pose != recording::Thing::Pose::kFixed)
        continue;
      if (only) return std::nullopt;
      only = thing.X_WT;
    }
    return only;
  }

  Status Models(const std::string& skeleton, const std::string& surface) {
    if (!skeleton.empty()) {
      HANDHOLD_ASSIGN(pipeline::FoundSkeleton found,
                      pipeline::LoadSkeletonArtefact(context_.library, skeleton));
      out_.skeleton = std::make_unique<model::Skeleton>(std::move(found.skeleton));
      HANDHOLD_TRY(Step(skeleton));
    }
    const std::optional<geometry::RigidTransform> pose = SurfacePose();
    if (!surface.empty() && pose) {
      HANDHOLD_ASSIGN(pipeline::FoundProp found,
                      pipeline::LoadPropArtefact(context_.library, surface));
      out_.surface = std::make_unique<model::Prop>(std::move(found.prop));
      out_.X_WSurface = *pose;
    }
    // Steps were met from the last one back; the page tells them forwards.
    std::reverse(out_.steps.begin(), out_.steps.end());
    for (const ReportSources::Step& step : out_.steps) {
      const std::string command =
          CommandOf(step.provenance, clip_.row.name, context_.library.path());
      if (!command.empty()) out_.commands.push_back(command);
    }
    return {};
  }

  const pipeline::StepContext& context_;
  const pipeline::FoundClip& clip_;
  LoadedReport& out_;
};

Result<std::vector<ReportSources::Answer>> AskForHardStrokes(const store::Library& library,
                                                             const std::string& clip,
                                                             const lab::Truth& truth) {
  std::vector<double> peaks;
  for (const auto& [stroke, peak_N] : HardnessOfStrokes(truth)) peaks.push_back(peak_N);
  std::vector<ReportSources::Answer> answers;
  if (peaks.size() < 4) return answers;
  for (const double share : {0.25, 0.5, 0.75}) {
    ReportSources::Answer answer{Quantile(peaks, share), {}};
    char text[120];
    std::snprintf(text, sizeof text, "peak(normal_force) > %.6f N within %g s of contact_on",
                  answer.more_than_N, criteria::kQueryWithin_s);
    HANDHOLD_ASSIGN(const store::Query query, store::Query::Parse(text, library));
    HANDHOLD_ASSIGN(const store::QueryResult found, query.Run());
    for (const store::QueryRow& row : found.rows) {
      if (row.clip_name == clip) answer.strokes.insert(row.stroke);
    }
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace

ReportSources LoadedReport::sources() const {
  ReportSources s;
  s.clip = clip.get(), s.skeleton = skeleton.get(), s.pose = pose.get(), s.contact = contact.get();
  s.trajectory = trajectory.get(), s.surface = surface.get(), s.X_WSurface = X_WSurface;
  s.truth = truth.get(), s.truth_name = truth_directory;
  s.answers = answers;
  s.steps = steps, s.commands = commands;
  return s;
}

Result<LoadedReport> LoadReport(const pipeline::StepContext& context, const std::string& clip,
                                const std::string& trajectory, const std::string& truth_directory) {
  LoadedReport loaded;
  HANDHOLD_ASSIGN(const pipeline::FoundClip found, pipeline::FindClip(context, clip));
  HANDHOLD_ASSIGN(auto reader, context.library.OpenClip(found.row.id));
  loaded.clip = std::move(reader);
  HANDHOLD_TRY(Loader(context, found, &loaded).Run(trajectory));
  std::string report = "handhold lab report " + ShellWord(found.row.name) + " --library " +
                       ShellWord(context.library.path());
  if (!truth_directory.empty()) {
    HANDHOLD_ASSIGN(lab::Truth truth, lab::ReadTruth(truth_directory));
    loaded.truth = std::make_unique<lab::Truth>(std::move(truth));
    loaded.truth_directory = truth_directory;
    report += " --truth " + ShellWord(truth_directory);
    HANDHOLD_ASSIGN(loaded.answers,
                    AskForHardStrokes(context.library, found.row.name, *loaded.truth));
  }
  loaded.commands.push_back(report);
  return loaded;
}

}  // namespace handhold::report
