#include "synthesis/interaction/reference_step.h"

#include <algorithm>
#include <cstdio>
#include <variant>

#include "database/base/names.h"
#include "database/recording/pose_text.h"

namespace handhold::synthesis {
namespace {

using geometry::Vec3;

/// Open fingertips off the faces of a prop that is no box: narrow ones stand close to its rest.
constexpr double kFacesClearance_m = 0.008;

bool Gaits(const SynthReferenceStep& s) { return s.program == "gaiting"; }

PinchOptions GripOf(const SynthReferenceStep& s) {
  PinchOptions options = s.options;
  options.grip = s.program == "tripod"  ? ScriptedGrip::kTripod
                 : s.program == "power" ? ScriptedGrip::kPower
                                        : ScriptedGrip::kPinch;
  options.depth_m = s.depth_m.value_or(options.depth_m);
  options.clearance_m = s.clearance_m.value_or(options.clearance_m);
  return options;
}

double AboveMiddle(const SynthReferenceStep& s) {
  const geometry::Bounds bounds = model::BoundsOf(*s.prop, *s.X_WProp);
  return s.above_middle_m.value_or(Gaits(s) ? 0.0 : 0.35 * (bounds.max - bounds.min).z());
}

/// Where and how a prop is gripped.
struct Grip {
  PinchPlace place;
  PinchOptions options;
  std::string said;  ///< empty, or that its faces were taken
};

Result<Grip> GripOn(const SynthReferenceStep& s) {
  Grip grip{.place = {}, .options = GripOf(s), .said = {}};
  HANDHOLD_ASSIGN(grip.place, PinchAcross(*s.prop, *s.X_WProp, AboveMiddle(s)));
  const bool is_box = s.prop->shapes.size() == 1 &&
                      std::holds_alternative<geometry::Box>(s.prop->shapes.front().shape);
  if (!Gaits(s) && !is_box && !s.above_middle_m) {
    // Its bounding box says little of what is round or crooked: two faces of it, where there are.
    if (auto faces = PinchBetweenFaces(*s.prop, *s.X_WProp)) {
      grip.place = *faces;
      if (!s.clearance_m && s.options.clearance_m == PinchOptions().clearance_m)
        grip.options.clearance_m = kFacesClearance_m;
      const double lowest_m = model::BoundsOf(*s.prop, *s.X_WProp).min.z();
      char text[120];
      std::snprintf(text, sizeof text, "faces %.0f mm apart, %.0f mm above its lowest point",
                    1e3 * grip.place.width_m, 1e3 * (grip.place.p_W.z() - lowest_m));
      grip.said = text;
    }
  }
  grip.place.p_W += s.along_faces_m * Vec3::UnitZ().cross(grip.place.axis_W);
  return grip;
}

}  // namespace

Status Complete(SynthReferenceStep& s, step::Work& work) {
  if (!Gaits(s) && s.hold.length() == Duration()) s.hold = PinchHold(GripOf(s));
  if (s.X_WProp) return {};
  HANDHOLD_TRY(s.prop.Load());
  s.X_WProp = geometry::RigidTransform::Translation(
      Vec3(0.3, 0, -model::LowestAlong(*s.prop, {}, Vec3::UnitZ())));
  work.Note("pose \"" + recording::FormatPose(*s.X_WProp) + "\": standing at z = 0");
  return {};
}

Status Check(const SynthReferenceStep& s) {
  const std::vector<std::string> programs = {"pinch", "tripod", "power", "gaiting"};
  if (std::ranges::find(programs, s.program) == programs.end()) {
    return Error{ErrorCode::kInvalid,
                 "no program '" + s.program + "'" + DidYouMean(s.program, programs)};
  }
  HANDHOLD_TRY(s.prop.Load());
  HANDHOLD_TRY(GripOn(s));
  return {};
}

Result<artefact::InteractionTrajectory> Compute(const SynthReferenceStep& s, step::Work& work) {
  HANDHOLD_ASSIGN(const Grip grip, GripOn(s));
  if (!grip.said.empty()) work.Note(grip.said);
  GaitingOptions gaiting = s.gaiting;
  gaiting.depth_m = s.depth_m.value_or(gaiting.depth_m);
  gaiting.clearance_m = s.clearance_m.value_or(gaiting.clearance_m);
  const GaitingPlace ball{.p_W = s.X_WProp->p + Vec3(0, 0, AboveMiddle(s)),
                          .radius_m = s.ball_radius_m};
  HANDHOLD_ASSIGN(artefact::InteractionTrajectory trajectory,
                  Gaits(s) ? GaitingReference(s.skeleton->skeleton, ball, gaiting)
                           : PinchReference(s.skeleton->skeleton, grip.place, grip.options));
  trajectory.skeleton_hash = s.skeleton.hash;
  return trajectory;
}

}  // namespace handhold::synthesis
