#include "tools/pipeline/synth_reference.h"

#include <algorithm>
#include <cstdio>

#include "database/artefact/describe.h"
#include "database/base/names.h"
#include "database/recording/pose_text.h"
#include "tools/pipeline/forms.h"
#include "tools/pipeline/grip_script.h"
#include "tools/pipeline/step_runner.h"

namespace handhold::pipeline {
namespace {

using artefact::InteractionTrajectory;
using geometry::RigidTransform;
using geometry::Vec3;
using text::Json;

/// Open fingertips off the faces of a prop that is no box: narrow ones stand close to its rest.
constexpr double kFacesClearance_m = 0.008;
}  // namespace

Result<StepResult> SynthReferenceStep::Run(const StepContext& context) const {
  std::vector<std::string> chosen;
  HANDHOLD_ASSIGN(const FoundSkeleton skeleton, FindSkeleton(context, hand, &chosen));
  HANDHOLD_ASSIGN(const FoundProp found, FindProp(context, prop, metres_per_unit, &chosen));
  ScriptedProgram made{.program = program,
                       .X_WProp = {},
                       .along_faces_m = along_faces_m,
                       .options = options,
                       .ball_radius_m = ball_radius_m,
                       .gaiting = gaiting};
  const std::vector<std::string> programs = {"pinch", "tripod", "power", "gaiting"};
  const auto known = std::find(programs.begin(), programs.end(), program);
  if (known == programs.end()) {
    return Error{ErrorCode::kInvalid,
                 "no program '" + program + "'" + DidYouMean(program, programs)};
  }
  const bool gaits = program == "gaiting";
  if (!gaits) made.options.grip = static_cast<synthesis::ScriptedGrip>(known - programs.begin());
  if (X_WProp) {
    made.X_WProp = *X_WProp;
  } else {
    made.X_WProp.p = Vec3(0.3, 0, -model::LowestAlong(found.prop, {}, Vec3::UnitZ()));
    chosen.push_back("pose \"" + recording::FormatPose(made.X_WProp) + "\": standing at z = 0");
  }
  const geometry::Bounds bounds = model::BoundsOf(found.prop, made.X_WProp);
  made.above_middle_m = above_middle_m.value_or(gaits ? 0.0 : 0.35 * (bounds.max - bounds.min).z());
  HANDHOLD_ASSIGN(synthesis::PinchPlace place,
                  synthesis::PinchAcross(found.prop, made.X_WProp, made.above_middle_m));
  const bool is_box = found.prop.shapes.size() == 1 &&
                      std::holds_alternative<geometry::Box>(found.prop.shapes.front().shape);
  if (!gaits && !is_box && !above_middle_m) {
    // Its bounding box says little of what is round or crooked: two faces of it, where there are.
    if (auto faces = synthesis::PinchBetweenFaces(found.prop, made.X_WProp)) {
      place = *faces;
      if (made.options.clearance_m == synthesis::PinchOptions().clearance_m)
        made.options.clearance_m = kFacesClearance_m;
      char text[120];
      std::snprintf(text, sizeof text, "faces %.0f mm apart, %.0f mm above its lowest point",
                    1e3 * place.width_m, 1e3 * (place.p_W.z() - bounds.min.z()));
      chosen.emplace_back(text);
    }
  }
  place.p_W += along_faces_m * Vec3::UnitZ().cross(place.axis_W);
  artefact::Provenance provenance =
      ProvenanceOf("synth.reference", synthesis::kScriptedReferenceVersion);
  provenance.inputs = {skeleton.input(), found.input("prop")};
  const TimeRange hold = gaits ? TimeRange() : synthesis::PinchHold(made.options);
  Json parameters = artefact::ToJson(made);
  parameters.Set("place", artefact::ToJson(place));
  HANDHOLD_ASSIGN(provenance.parameters_json,
                  Parameters(ScriptParameters(parameters, made.X_WProp, hold)));
  return RunStep(
      context, std::move(provenance), std::move(chosen), [&]() -> Result<InteractionTrajectory> {
        const synthesis::GaitingPlace ball{.p_W = made.X_WProp.p + Vec3(0, 0, made.above_middle_m),
                                           .radius_m = made.ball_radius_m};
        HANDHOLD_ASSIGN(InteractionTrajectory trajectory,
                        gaits ? synthesis::GaitingReference(skeleton.skeleton, ball, made.gaiting)
                              : synthesis::PinchReference(skeleton.skeleton, place, made.options));
        trajectory.skeleton_hash = skeleton.hash;
        return trajectory;
      });
}

}  // namespace handhold::pipeline
