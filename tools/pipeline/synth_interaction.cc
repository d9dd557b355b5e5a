#include "tools/pipeline/synth_interaction.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <utility>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "database/geometry/rotation.h"
#include "database/recording/pose_text.h"
#include "synthesis/interaction/retarget.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/interaction_findings.h"
#include "tools/pipeline/stage_models.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::InteractionTrajectory;
using artefact::Motion;
using artefact::ProvenanceInput;
using artefact::Stage;
using artefact::StageThing;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;
using Is = StageThing::Is;

/// A push of the closing grip that is smaller than this is none.
constexpr double kNoPush_m = 5e-4;

// ---------------------------------------------------------------------------------------------
// What is on stage

Result<artefact::ContactTrack> TouchedBy(const StepContext& context, const Script& script) {
  HANDHOLD_ASSIGN(const ProvenanceInput contact, RequireInput(script.info, "contact"));
  HANDHOLD_ASSIGN(auto track,
                  store::Load<artefact::ContactTrack>(context.library.ArtefactPath(contact.hash)));
  if (!track.things.empty()) return track;
  return Error{ErrorCode::kCorrupt, "contact track " + ShortHash(contact.hash) +
                                        " does not say where the touched surface stood"};
}

/// The top middle of the prop's bounding box at the middle of the captured contacts.
Result<RigidTransform> UnderTheHand(const artefact::ContactTrack& track, const model::Prop& prop) {
  Vec3 middle = Vec3::Zero(), normal = Vec3::Zero();
  double count = 0;
  for (const artefact::ContactRow& row : track.rows) {
    if (!row.p_W.allFinite() || !row.normal_W.allFinite()) continue;
    middle += row.p_W;
    normal += row.normal_W;
    count += 1;
  }
  if (count == 0 || normal.norm() < 1e-6 * count) {
    return Error{ErrorCode::kUnidentifiable,
                 "the captured contacts do not say where the hand is: give --prop-pose"};
  }
  const geometry::Bounds bounds = model::BoundsOf(prop);
  RigidTransform X;
  X.R = Eigen::Quaterniond::FromTwoVectors(Vec3::UnitZ(), normal.normalized()).toRotationMatrix();
  const Vec3 top(bounds.centre().x(), bounds.centre().y(), bounds.max.z());
  X.p = middle / count - X.R * top;
  return X;
}

/// What of the surface nobody said, m/N: a mesh file says nothing of it, nor of its friction.
Status SaySurface(const StepContext& context, const Script& script, bool from_mesh,
                  std::vector<std::string>* chosen, StageThing* thing) {
  char text[160];
  if (from_mesh && !thing->friction) {
    std::snprintf(text, sizeof text, "friction %g, assumed: a mesh does not say (--friction)",
                  thing->prop->friction);
    chosen->push_back(text);
  }
  if (thing->compliance_m_per_N) return {};
  double compliance_m_per_N = thing->prop->surface_compliance_m_per_N;
  if (from_mesh) {
    HANDHOLD_ASSIGN(const FoundProp touched, LoadPropArtefact(context.library, script.prop_hash));
    compliance_m_per_N = touched.prop.surface_compliance_m_per_N;
    std::snprintf(text, sizeof text,
                  "surface compliance %g m/N, the captured surface's: a mesh does not say "
                  "(--surface-compliance)",
                  compliance_m_per_N);
    chosen->push_back(text);
  } else if (compliance_m_per_N == 0.0) {
    compliance_m_per_N = synthesis::SurfaceLaw{}.compliance_m_per_N();
    std::snprintf(text, sizeof text,
                  "surface compliance %g m/N, assumed: '%s' does not say (--surface-compliance)",
                  compliance_m_per_N, thing->prop->name.c_str());
    chosen->push_back(text);
  }
  thing->compliance_m_per_N = compliance_m_per_N;
  return {};
}

class Staging {
 public:
  Staging(const StepContext& context, const SynthInteractionStep& step, const Script& script,
          std::vector<std::string>* chosen)
      : context_(context), step_(step), script_(script), chosen_(*chosen) {}

  /// The scene's things looked up, where the script has its prop if they say no place.
  Status Scene(Stage* stage) {
    for (StageThing& thing : stage->things) {
      if (step_.friction) thing.friction = step_.friction;
      if (!thing.X_WP && thing.is != Is::kTrack)
        thing.X_WP = script_.X_WProp.value_or(RigidTransform());
      if (const Status found = FindStaged(context_, &chosen_, &thing); !found)
        return found.error().Within("object '" + thing.name + "'");
    }
    return {};
  }

  /// One free prop on a table.
  Status OnTable(Stage* stage) {
    HANDHOLD_ASSIGN(StageThing thing, PropOf(Is::kFree));
    thing.X_WP = step_.X_WProp ? step_.X_WProp : script_.X_WProp;
    if (!thing.X_WP) {
      return Error{ErrorCode::kInvalid,
                   "the trajectory was captured: say where '" + thing.prop->name + "' stands"};
    }
    StageThing table = artefact::TableUnder(thing);
    if (step_.friction) table.friction = step_.friction;
    HANDHOLD_TRY(FindStaged(context_, &chosen_, &table));
    stage->Add(std::move(table));
    stage->Add(std::move(thing));
    return {};
  }

  /// One that does not move, where the captured surface stood; answers whether it is that surface,
  /// as it was.
  Result<bool> Fixed(Stage* stage) {
    HANDHOLD_ASSIGN(const artefact::ContactTrack track, TouchedBy(context_, script_));
    const RigidTransform& stood = track.things.front().X_WT;
    const bool from_mesh = IsMeshFile(step_.prop);
    HANDHOLD_ASSIGN(StageThing thing, PropOf(Is::kFixed));
    const bool as_rough = !step_.friction || *step_.friction == captured_friction_;
    if (step_.X_WProp) {
      thing.X_WP = step_.X_WProp;
    } else if (from_mesh) {
      HANDHOLD_ASSIGN(thing.X_WP, UnderTheHand(track, *thing.prop));
      chosen_.push_back("pose \"" + recording::FormatPose(*thing.X_WP) +
                        "\": its top under the middle of the captured contacts");
    } else {
      thing.X_WP = stood;
    }
    const bool same = thing.prop.hash == script_.prop_hash && step_.prop_scale == 1.0 &&
                      artefact::ToJson(*thing.X_WP) == artefact::ToJson(stood) && as_rough &&
                      (!step_.surface_compliance_m_per_N ||
                       *step_.surface_compliance_m_per_N == captured_compliance_m_per_N_);
    stage->Add(std::move(thing));
    return same;
  }

 private:
  Result<StageThing> PropOf(Is is) {
    StageThing thing{.is = is,
                     .metres_per_unit = step_.metres_per_unit,
                     .scale = step_.prop_scale,
                     .mass_kg = step_.mass_kg,
                     .friction = step_.friction};
    if (is == Is::kFixed) thing.compliance_m_per_N = step_.surface_compliance_m_per_N;
    thing.prop.key = step_.prop;
    if (step_.prop.empty()) {
      if (script_.prop_hash.empty() || (script_.captured && is != Is::kFixed)) {
        return Error{ErrorCode::kInvalid,
                     "the trajectory was captured: say what it shall meet, a prop or a scene"};
      }
      thing.prop.key = script_.prop ? script_.prop->prop.name : script_.prop_hash;
    }
    StageThing plain = thing;
    plain.friction = {}, plain.compliance_m_per_N = {};
    HANDHOLD_TRY(FindStaged(context_, &chosen_, &plain));
    captured_friction_ = *plain.friction;
    captured_compliance_m_per_N_ = *plain.compliance_m_per_N;
    thing.prop = plain.prop;
    if (is == Is::kFixed)
      HANDHOLD_TRY(SaySurface(context_, script_, IsMeshFile(step_.prop), &chosen_, &thing));
    HANDHOLD_TRY(Dress(*plain.prop, &thing));
    if (step_.prop.empty()) {
      chosen_.push_back("prop '" + thing.prop->name + "' (the " +
                        (script_.captured ? "captured surface)" : "one it was scripted for)"));
    }
    return thing;
  }

  const StepContext& context_;
  const SynthInteractionStep& step_;
  const Script& script_;
  std::vector<std::string>& chosen_;
  double captured_friction_ = 0.0, captured_compliance_m_per_N_ = 0.0;
};

bool HasFreeRoot(const model::Skeleton& hand) {
  return hand.body_count() > 1 && hand.body(1).joint.type == model::JointType::kFree;
}

/// Time constants that were asked for, by velocity; NaN: the trajectory's.
Result<Eigen::VectorXd> TimeConstants(const Script& script,
                                      const std::map<std::string, double>& asked_s) {
  const model::Skeleton& hand = script.skeleton.skeleton;
  Eigen::VectorXd T_s = Eigen::VectorXd::Constant(asked_s.empty() ? 0 : hand.nv(),
                                                  std::numeric_limits<double>::quiet_NaN());
  if (!asked_s.empty() && script.trajectory.q_reference_dynamic.cols() == 0) {
    return Error{ErrorCode::kInvalid,
                 "time constants are of the damped form, and the trajectory has no dynamic "
                 "reference"};
  }
  for (const auto& [dof, T] : asked_s) {
    const int d = hand.FindDof(dof);
    if (d < 0) {
      return Error{ErrorCode::kInvalid, "time constant: '" + hand.name() + "' has no joint '" +
                                            dof + "'" + DidYouMean(dof, hand.dof_names())};
    }
    T_s[d] = T;
  }
  return T_s;
}

/// Section 8.3: pushes the judged thing to where the first hand's grip expects it; says how far,
/// and whether anything was won.
Status PlaceJudged(const synthesis::ReplayOptions& options,
                   const synthesis::PlacementOptions& placement, Stage* stage,
                   artefact::MotionSummary* summary) {
  if (stage->Judged() == nullptr) {
    return Error{ErrorCode::kInvalid,
                 "nothing to place: no object is free, or the one that is judged is not"};
  }
  StageThing& object = stage->things[static_cast<size_t>(stage->Judged() - stage->things.data())];
  HANDHOLD_ASSIGN(const synthesis::PlacedObject found,
                  synthesis::PlaceObject(*stage, object.name, options, placement));
  const double before_m = found.rounds.front().shift_m, after_m = found.rounds.back().shift_m;
  summary->figures["placed_m"] = (found.X_WP.p - object.X_WP->p).norm();
  summary->figures["placed_turn_rad"] =
      geometry::Log(object.X_WP->R.transpose() * found.X_WP.R).norm();
  summary->figures["pushed_before_m"] = before_m;
  summary->figures["pushed_after_m"] = after_m;
  object.X_WP = found.X_WP;
  if (before_m < kNoPush_m || after_m < 0.5 * before_m) return {};
  char text[200];
  std::snprintf(
      text, sizeof text,
      "placing won nothing: the closing grip pushes '%s' by %.1f mm, and by %.1f mm as it "
      "stood: it tips or turns instead of sliding; grip it lower, or place it by hand",
      object.name.c_str(), 1e3 * after_m, 1e3 * before_m);
  summary->issues.push_back({"placement", Severity::kWarning, text});
  return {};
}

// ---------------------------------------------------------------------------------------------
// Playing

/// Everything a motion is made from but the first hand's trajectory, which the halved and doubled
/// replays change.
struct Play {
  std::vector<Script> scripts;
  std::optional<FoundSkeleton> other_hand;  ///< that plays the first
  Stage stage;                              ///< things only
  bool damped = false, as_captured = false;
  Eigen::VectorXd time_constant_s;
  std::vector<ProvenanceInput> lenders;
  std::vector<std::string> chosen;

  const FoundSkeleton& first_hand() const {
    return other_hand ? *other_hand : scripts.front().skeleton;
  }
  bool moves() const {
    return std::ranges::any_of(stage.things, [](const auto& thing) { return thing.yields(); });
  }
};

class Maker {
 public:
  using Variants = std::function<Result<std::vector<artefact::MotionVariant>>(const Motion&)>;

  Maker(const StepContext& context, const SynthInteractionStep& step, Play play)
      : context_(context), step_(step), play_(std::move(play)) {}

  /// The motion of one trajectory of the first hand; `variants` go into its summary.
  Result<StepResult> Make(const std::string& trajectory, const Variants& variants) const {
    artefact::Provenance provenance = ProvenanceOf("synth.interaction", synthesis::kReplayVersion);
    provenance.inputs = InputsOf(trajectory);
    HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(ParametersJson()));
    return RunStep(context_, std::move(provenance), play_.chosen, [&]() -> Result<Motion> {
      InteractionTrajectory played = play_.scripts.front().trajectory;
      if (trajectory != play_.scripts.front().hash) {
        HANDHOLD_ASSIGN(
            played, store::Load<InteractionTrajectory>(context_.library.ArtefactPath(trajectory)));
      }
      return MotionOf(played, trajectory, variants);
    });
  }

  const Play& play() const { return play_; }

 private:
  std::vector<ProvenanceInput> InputsOf(const std::string& trajectory) const {
    std::vector<ProvenanceInput> inputs = {{"trajectory", trajectory, ""},
                                           play_.first_hand().input()};
    for (size_t i = 1; i < play_.scripts.size(); ++i) {
      const std::string number = "_" + std::to_string(i + 1);
      inputs.push_back({"trajectory" + number, play_.scripts[i].hash, ""});
      inputs.push_back(play_.scripts[i].skeleton.input("skeleton" + number));
    }
    std::map<std::string, int> count;
    for (const StageThing& thing : play_.stage.things) {
      const std::string role = thing.yields()          ? "prop"
                               : thing.name == "table" ? "table"
                               : play_.moves()         ? "fixed"
                                                       : "surface";
      const int n = ++count[role];
      inputs.push_back(
          {role + (n > 1 ? "_" + std::to_string(n) : ""), thing.prop.hash, thing.prop->name});
    }
    inputs.insert(inputs.end(), play_.lenders.begin(), play_.lenders.end());
    return inputs;
  }

  synthesis::VerdictOptions Judge() const {
    synthesis::VerdictOptions judge = step_.judge;
    if (play_.stage.hold) judge.hold = *play_.stage.hold;
    if (const StageThing* judged = play_.stage.Judged()) judge.object = judged->name;
    return judge;
  }

  synthesis::ReplayOptions Options() const {
    synthesis::ReplayOptions options;
    options.form =
        play_.damped ? synthesis::ReplayForm::kDamped : synthesis::ReplayForm::kQuasiStatic;
    if (step_.range) options.range = *step_.range;
    options.compliance_scale = step_.compliance_scale;
    options.margin_m = step_.margin_m;
    // Nought was asked for, or is what the surface says: rigid.
    if (!play_.moves() && !play_.stage.things.empty() &&
        play_.stage.things.front().compliance_m_per_N == 0.0)
      options.stiffness_N_per_m = synthesis::kRigid_N_per_m;
    options.step = step_.step;
    options.step.limits = step_.step.limits || play_.moves();
    options.grip = step_.grip;
    options.progress = [this](double share) {
      return Report(context_, share, "synth.interaction").has_value();
    };
    return options;
  }

  Json ParametersJson() const {
    const synthesis::ReplayOptions options = Options();
    return Json::Object({{"form", play_.damped ? "damped" : "quasi-static"},
                         {"things", artefact::ToJson(play_.stage.things)},
                         {"gravity_W", artefact::ToJson(play_.stage.gravity_W)},
                         {"touches_itself", play_.stage.touches_itself},
                         {"compliance_scale", step_.compliance_scale},
                         {"range_ns", artefact::ToJson(step_.range)},
                         {"contact_margin_m", step_.margin_m},
                         {"step", artefact::ToJson(options.step)},
                         {"grip", artefact::ToJson(step_.grip)},
                         {"time_constant_s", artefact::ToJson(step_.time_constant_s)},
                         {"placed", step_.place ? artefact::ToJson(step_.placement) : Json()},
                         {"judge_version", synthesis::kVerdictVersion},
                         {"judge", artefact::ToJson(Judge())}});
  }

  artefact::StageHand HandOf(const FoundSkeleton& skeleton, const std::string& hash,
                             const InteractionTrajectory& trajectory) const {
    artefact::StageHand hand = synthesis::Following(skeleton.skeleton, trajectory);
    hand.skeleton.key = skeleton.name, hand.skeleton.hash = skeleton.hash;
    hand.trajectory.hash = hash;
    if (HasFreeRoot(skeleton.skeleton)) hand.root_compliance_m_per_N = 0.0;
    return hand;
  }

  Result<Motion> MotionOf(InteractionTrajectory played, const std::string& hash,
                          const Variants& variants) const {
    const Script& first = play_.scripts.front();
    if (play_.other_hand) {
      HANDHOLD_ASSIGN(
          played, synthesis::OntoHand(first.skeleton.skeleton, played, play_.other_hand->skeleton));
    }
    Stage stage = play_.stage;
    stage.Add(HandOf(play_.first_hand(), hash, played)).time_constant_s = play_.time_constant_s;
    for (size_t i = 1; i < play_.scripts.size(); ++i) {
      const Script& script = play_.scripts[i];
      stage.Add(HandOf(script.skeleton, script.hash, script.trajectory));
    }
    const synthesis::ReplayOptions options = Options();
    artefact::MotionSummary placed;
    if (step_.place) HANDHOLD_TRY(PlaceJudged(options, step_.placement, &stage, &placed));
    HANDHOLD_ASSIGN(Motion motion, synthesis::ReplayInteraction(stage, options));
    motion.summary = std::move(placed);
    HANDHOLD_ASSIGN(motion.summary.variants, variants(motion));
    HANDHOLD_TRY(Verdict(&motion));
    HANDHOLD_TRY(AddFigures(&motion));
    if (play_.as_captured) TellAsCaptured(&motion);
    std::optional<artefact::ContactTrack> captured;
    if (first.captured) {
      HANDHOLD_ASSIGN(captured, TouchedBy(context_, first));
    }
    AddFindings(first.captured ? &played : nullptr, captured ? &*captured : nullptr, &motion);
    for (const std::string& sentence : play_.chosen) {
      if (sentence.find(" borrowed (") != std::string::npos)
        motion.summary.issues.push_back({"compliance", Severity::kNote, sentence});
    }
    return motion;
  }

  Status Verdict(Motion* motion) const {
    const synthesis::VerdictOptions judge = Judge();
    if (judge.object.empty() || !play_.stage.hold) {
      motion->verdict.cause = judge.object.empty() ? "no thing is free to be held or dropped"
                                                   : "no time is named in which it is to be held";
      return {};
    }
    motion->stage.judged = judge.object;
    motion->phases = {{artefact::phase::kHold, judge.hold}};
    HANDHOLD_ASSIGN(motion->verdict,
                    synthesis::JudgeHold(play_.first_hand().skeleton, *motion, judge));
    return {};
  }

  const StepContext& context_;
  const SynthInteractionStep& step_;
  Play play_;
};

/// Hands, things and form, all looked up and checked.
Result<Play> Prepare(const StepContext& context, const SynthInteractionStep& step,
                     Completed* completed) {
  HANDHOLD_TRY(synthesis::CheckGrip(step.grip));
  Play play;
  HANDHOLD_ASSIGN(
      Script first,
      FindScript(context, step.trajectory.empty() ? step.clip : step.trajectory, &play.chosen));
  if (step.range) {
    synthesis::ReplayOptions asked;
    asked.range = *step.range, asked.step = step.step;
    HANDHOLD_TRY(synthesis::CheckRange(first.trajectory, asked));
  }
  if (!step.hand.key.empty() || step.hand.scale != 1.0) {
    HandChoice choice = step.hand;
    if (choice.key.empty()) choice.key = first.prop ? first.skeleton.name : first.skeleton.hash;
    HANDHOLD_ASSIGN(play.other_hand, FindSkeleton(context, choice, &play.chosen));
    // Whether it has the same joints is known before anything is computed.
    HANDHOLD_TRY(
        synthesis::OntoHand(first.skeleton.skeleton, first.trajectory, play.other_hand->skeleton));
  }
  if (step.scene) play.stage = *step.scene;
  for (const artefact::StageHand& beside : std::exchange(play.stage.hands, {})) {
    if (beside.trajectory.key.empty()) {
      return Error{ErrorCode::kUnsupported,
                   "hand '" + beside.name + "' follows no trajectory: it cannot play here yet"};
    }
    HANDHOLD_ASSIGN(Script script, FindScript(context, beside.trajectory.key, &play.chosen));
    HANDHOLD_TRY(Complete(context, {}, &script, &play.lenders, &play.chosen));
    play.scripts.push_back(std::move(script));
  }
  Staging staging(context, step, first, &play.chosen);
  if (step.scene) {
    HANDHOLD_TRY(staging.Scene(&play.stage));
  } else if (step.on_table || !first.captured) {
    HANDHOLD_TRY(staging.OnTable(&play.stage));
  } else {
    HANDHOLD_ASSIGN(const bool same, staging.Fixed(&play.stage));
    play.as_captured = same && step.compliance_scale == 1.0 && !play.other_hand;
  }
  if (!play.stage.hold) play.stage.hold = first.hold;
  HANDHOLD_ASSIGN(play.time_constant_s, TimeConstants(first, step.time_constant_s));
  const AssumeWishes wishes{step.assume_compliance, step.assume_table1, step.borrow};
  HANDHOLD_ASSIGN(*completed, Complete(context, wishes, &first, &play.lenders, &play.chosen));
  play.scripts.insert(play.scripts.begin(), std::move(first));
  const bool dynamic = std::ranges::all_of(play.scripts, [](const Script& script) {
    return script.trajectory.q_reference_dynamic.cols() > 0;
  });
  using Form = SynthInteractionStep::Form;
  play.damped = step.form == Form::kDamped || (step.form == Form::kBest && dynamic);
  if (step.form == Form::kBest && play.scripts.front().captured) {
    play.chosen.push_back(dynamic ? "damped replay with the dynamic reference"
                                  : "quasi-static replay (the fit gave no dynamic reference)");
  }
  return play;
}

}  // namespace

Result<SynthInteractionResult> SynthInteractionStep::Run(const StepContext& context) const {
  Completed completed;
  HANDHOLD_ASSIGN(Play play, Prepare(context, *this, &completed));
  SynthInteractionResult result;
  result.assumed = completed.values;
  for (const std::string& dof : play.scripts.front().skeleton.skeleton.dof_names()) {
    if (completed.given.contains(dof) || completed.within_bounds.contains(dof))
      result.assumed_dofs.push_back(dof);
  }
  const Maker maker(context, *this, std::move(play));
  const auto none = [](const Motion&) -> Result<std::vector<artefact::MotionVariant>> {
    return std::vector<artefact::MotionVariant>();
  };
  const auto others = [&](const Motion& motion) -> Result<std::vector<artefact::MotionVariant>> {
    std::vector<artefact::MotionVariant> list;
    if (!completed.any() || !replay_assumed) return list;
    for (const double factor : {0.5, 2.0}) {
      HANDHOLD_ASSIGN(const StepResult other, Assumed(context, completed, factor));
      HANDHOLD_ASSIGN(const StepResult made, maker.Make(other.hash, none));
      HANDHOLD_ASSIGN(const Motion changed,
                      store::Load<Motion>(context.library.ArtefactPath(made.hash)));
      list.push_back(Difference(motion, changed, factor, made.hash));
    }
    return list;
  };
  HANDHOLD_ASSIGN(static_cast<StepResult&>(result),
                  maker.Make(maker.play().scripts.front().hash, others));
  if (context.dry_run && !result.reused) return result;
  HANDHOLD_ASSIGN(const Motion motion,
                  store::Load<Motion>(context.library.ArtefactPath(result.hash)));
  result.replays = motion.summary.variants;
  return result;
}

}  // namespace handhold::pipeline
