#include "tools/pipeline/synth_grip.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/artefact/describe.h"
#include "database/recording/pose_text.h"
#include "database/store/artefact_file.h"
#include "database/text/json_view.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::InteractionTrajectory;
using artefact::Motion;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

/// Of the prop's shapes' bounding boxes, in the frame that X takes P to.
geometry::Bounds BoundsOf(const model::Prop& prop, const RigidTransform& X) {
  geometry::Bounds bounds;
  for (const model::PropShape& shape : prop.shapes) {
    const geometry::Bounds own = geometry::BoundsOf(shape.shape);
    for (int corner = 0; corner < 8; ++corner) {
      const Vec3 p(corner & 1 ? own.max.x() : own.min.x(), corner & 2 ? own.max.y() : own.min.y(),
                   corner & 4 ? own.max.z() : own.min.z());
      bounds.Include(X * (shape.X_PS * p));
    }
  }
  return bounds;
}

/// 1 x 1 m, its top in the middle below the object.
model::Prop Table() {
  model::Prop table;
  table.name = "table";
  table.source = "Ours: a fixed table of 1 x 1 m; T is the middle of its top, z up.";
  table.shapes.push_back({"top", RigidTransform::Translation(Vec3(0, 0, -0.02)),
                          geometry::Box{Vec3(1, 1, 0.04)}, "ours"});
  return table;
}

/// A mesh file and a fixed prop say no inertia: that of the bounding box, solid.
void GiveMass(model::Prop* prop, double mass_kg) {
  geometry::MassProperties& mass = prop->mass;
  if (mass.mass_kg > 0.0) {
    mass.I_BCom_B *= mass_kg / mass.mass_kg;
  } else {
    const geometry::Bounds bounds = BoundsOf(*prop, {});
    const Vec3 s = (bounds.max - bounds.min).cwiseAbs2();
    mass.p_BCom = bounds.centre();
    mass.I_BCom_B =
        (mass_kg / 12.0 * Vec3(s.y() + s.z(), s.x() + s.z(), s.x() + s.y())).asDiagonal();
  }
  mass.mass_kg = mass_kg;
}

double PeakForce(const Motion& motion) {
  std::vector<double> sum(motion.times.size(), 0.0);
  for (const artefact::ContactRow& row : motion.rows) {
    if (motion.touches[static_cast<size_t>(row.touch)].a.is_hand())
      sum[static_cast<size_t>(row.frame)] += row.f_onA_W.norm();
  }
  return *std::max_element(sum.begin(), sum.end());
}

void Summarise(const TimeRange& hold, double table_top_m, Motion* motion) {
  const artefact::MotionObject& object = motion->objects.back();
  const auto frame = [&](Timestamp t) {
    const auto at = std::lower_bound(motion->times.begin(), motion->times.end(), t);
    return static_cast<size_t>(std::distance(motion->times.begin(), at)) -
           (at == motion->times.end() ? 1 : 0);
  };
  const size_t begin = frame(hold.begin), end = frame(hold.end), half = (begin + end) / 2;
  motion->summary.figures = {
      {"peak_force_N", PeakForce(*motion)},
      {"lcp_failures", synthesis::UnsolvedSteps(*motion)},
      {"table_top_m", table_top_m},
      {"lifted_m", object.pose(end).p.z() - object.pose(0).p.z()},
  };
  if (end > half) {
    motion->summary.figures["creep_m_per_s"] = (object.pose(end).p - object.pose(half).p).norm() /
                                               (motion->times[end] - motion->times[half]).seconds();
  }
  if (synthesis::UnsolvedSteps(*motion) > 0) {
    motion->summary.issues.push_back(
        {"contact", Severity::kLoss,
         std::to_string(synthesis::UnsolvedSteps(*motion)) + " steps of contact were not solved"});
  }
}

}  // namespace

Result<StepResult> SynthReferenceStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundSkeleton skeleton, FindSkeleton(context, hand, &chosen));
  HANDHOLD_ASSIGN(const FoundProp found, FindProp(context, prop, metres_per_unit, &chosen));
  ScriptedPinch made{.X_WProp = {}, .options = options};
  if (X_WProp) {
    made.X_WProp = *X_WProp;
  } else {
    made.X_WProp.p = Vec3(0.3, 0, -BoundsOf(found.prop, {}).min.z());
    chosen.push_back("pose \"" + recording::FormatPose(made.X_WProp) + "\": standing at z = 0");
  }
  const geometry::Bounds bounds = BoundsOf(found.prop, made.X_WProp);
  made.above_middle_m = above_middle_m.value_or(0.35 * (bounds.max - bounds.min).z());
  HANDHOLD_ASSIGN(const synthesis::PinchPlace place,
                  synthesis::PinchAcross(found.prop, made.X_WProp, made.above_middle_m));
  artefact::Provenance provenance =
      ProvenanceOf("synth.reference", synthesis::kScriptedReferenceVersion);
  provenance.inputs = {skeleton.input(), found.input("prop")};
  HANDHOLD_ASSIGN(provenance.parameters_json, Parameters(artefact::ToJson(made)));
  return RunStep(
      context, std::move(provenance), std::move(chosen), [&]() -> Result<InteractionTrajectory> {
        HANDHOLD_ASSIGN(InteractionTrajectory trajectory,
                        synthesis::PinchReference(skeleton.skeleton, place, made.options));
        trajectory.skeleton_hash = skeleton.hash;
        return trajectory;
      });
}

Result<StepResult> SynthGripStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const store::ArtefactInfo scripted,
                  FindArtefact(context.library, trajectory, "interaction_trajectory"));
  if (scripted.provenance.step != "synth.reference") {
    return Error{ErrorCode::kInvalid, "trajectory " + ShortHash(scripted.hash) +
                                          " was captured: only one of 'synth reference' says when "
                                          "its object should be held"};
  }
  const std::string source = "parameters of " + scripted.hash;
  HANDHOLD_ASSIGN(const Json json,
                  text::ParseJson(scripted.provenance.parameters_json, {.source = source}));
  HANDHOLD_ASSIGN(const ScriptedPinch script,
                  artefact::FromJson<ScriptedPinch>(text::JsonView(json, source)));
  HANDHOLD_ASSIGN(const artefact::ProvenanceInput hand, RequireInput(scripted, "skeleton"));
  HANDHOLD_ASSIGN(const artefact::ProvenanceInput pinched, RequireInput(scripted, "prop"));
  HANDHOLD_ASSIGN(const FoundSkeleton skeleton, LoadSkeletonArtefact(context.library, hand.hash));
  FoundProp object;
  if (prop.empty()) {
    HANDHOLD_ASSIGN(object, LoadPropArtefact(context.library, pinched.hash));
    chosen.push_back("prop '" + object.prop.name + "' (the one it was scripted for)");
  } else {
    HANDHOLD_ASSIGN(object, FindProp(context, prop, metres_per_unit, &chosen));
  }
  const RigidTransform X = X_WProp.value_or(script.X_WProp);
  if (mass_kg) GiveMass(&object.prop, *mass_kg);
  HANDHOLD_ASSIGN(const FoundProp table, KeepProp(context, Table()));
  const geometry::Bounds bounds = BoundsOf(object.prop, X);
  const RigidTransform X_WTable =
      RigidTransform::Translation(Vec3(X.p.x(), X.p.y(), bounds.min.z()));
  const TimeRange hold = synthesis::PinchHold(script.options);
  synthesis::VerdictOptions judged = judge;
  judged.object = object.prop.name;
  judged.hold = hold;

  artefact::Provenance provenance = ProvenanceOf("synth.grip", synthesis::kReplayVersion);
  provenance.inputs = {{"trajectory", scripted.hash, ""},
                       skeleton.input(),
                       object.input("prop"),
                       table.input("table")};
  HANDHOLD_ASSIGN(provenance.parameters_json,
                  Parameters(Json::Object({{"X_WProp", artefact::ToJson(X)},
                                           {"X_WTable", artefact::ToJson(X_WTable)},
                                           {"mass_kg", object.prop.mass.mass_kg},
                                           {"friction", friction},
                                           {"contact_margin_m", margin_m},
                                           {"step", artefact::ToJson(step)},
                                           {"judge_version", synthesis::kVerdictVersion},
                                           {"judge", artefact::ToJson(judged)}})));
  return RunStep(context, std::move(provenance), std::move(chosen), [&]() -> Result<Motion> {
    HANDHOLD_ASSIGN(
        const InteractionTrajectory played,
        store::Load<InteractionTrajectory>(context.library.ArtefactPath(scripted.hash)));
    synthesis::ReplayScene scene;
    scene.fixed.push_back({table.prop, X_WTable});
    scene.objects.push_back({object.prop, X});
    synthesis::ReplayOptions options;
    options.form = synthesis::ReplayForm::kDamped;
    options.friction = friction;
    options.margin_m = margin_m;
    options.step = step;
    options.progress = [&](double share) {
      return Report(context, share, "synth.grip").has_value();
    };
    HANDHOLD_ASSIGN(Motion motion,
                    synthesis::ReplayInteraction(skeleton.skeleton, played, scene, options));
    motion.hands.front().skeleton_hash = skeleton.hash;
    motion.objects.front().prop_hash = table.hash;
    motion.objects.back().prop_hash = object.hash;
    judged.object = motion.objects.back().name;
    HANDHOLD_ASSIGN(motion.verdict, synthesis::JudgeHold(skeleton.skeleton, motion, judged));
    Summarise(hold, bounds.min.z(), &motion);
    return motion;
  });
}

}  // namespace handhold::pipeline
