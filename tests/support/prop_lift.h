/// One script for every prop: a pinch or a power grasp where its surface allows one, 10 cm up, held
/// for 1 s; and what becomes of it in a replay.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/interaction/replay.h"
#include "synthesis/interaction/scripted_reference.h"

namespace handhold::testing {

/// The inertia in proportion; of a prop that says none, a uniform solid's, where its first shape
/// has an inside; else its bounding box's.
inline model::Prop WithMass(model::Prop prop, double mass_kg) {
  if (!(prop.mass.mass_kg > 0.0)) {
    const geometry::Shape& shape = prop.shapes.front().shape;
    const geometry::Bounds own = geometry::BoundsOf(shape);
    const auto solid = geometry::MassOf(shape, 1000.0, geometry::OpenMesh::kUseHull);
    if (solid && geometry::CheckMass(*solid)) {
      prop.mass = geometry::Transformed(prop.shapes.front().X_PS, *solid);
    } else {
      prop.mass = *geometry::MassOf(geometry::Box{own.max - own.min}, 1000.0);
      prop.mass.p_BCom = own.centre();
    }
  }
  prop.mass = geometry::WithTotalMass(prop.mass, mass_kg);
  return prop;
}

struct PropLift {
  synthesis::PinchOptions program;
  artefact::InteractionTrajectory script;
  artefact::Stage stage;
};

inline synthesis::PinchOptions LiftProgram(synthesis::ScriptedGrip grip) {
  synthesis::PinchOptions program;
  program.grip = grip;
  program.depth_m = grip == synthesis::ScriptedGrip::kPower ? 0.008 : 0.012;
  program.hold_s = 1.0;
  program.clearance_m = 0.008;
  return program;
}

/// kNotFound or kInvalid where the hand cannot be scripted there: no upright faces, or out of
/// reach.
inline Result<PropLift> ScriptLift(const model::Skeleton& hand, const model::Prop& prop,
                                   synthesis::ScriptedGrip grip, double depth_share = 1.0) {
  PropLift lift;
  const double lowest_m = model::LowestAlong(prop, {}, geometry::Vec3::UnitZ());
  const auto X_WP = geometry::RigidTransform::Translation(geometry::Vec3(0.3, 0, -lowest_m));
  HANDHOLD_ASSIGN(const synthesis::PinchPlace place, synthesis::PinchBetweenFaces(prop, X_WP));
  lift.program = LiftProgram(grip);
  lift.program.depth_m *= depth_share;
  HANDHOLD_ASSIGN(lift.script, synthesis::PinchReference(hand, place, lift.program));
  lift.stage.Add(artefact::TableAt(geometry::Vec3(0.3, 0, 0)));
  lift.stage.Add(artefact::Placed(prop, X_WP, artefact::StageThing::Is::kFree));
  return lift;
}

inline synthesis::ReplayOptions LiftOptions() {
  synthesis::ReplayOptions options;
  options.form = synthesis::ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.step.root_compliance_m_per_N = 0.0;
  options.step.limits = true;
  return options;
}

/// What is left of how far the hand lifts, at the end of the hold: near 1 when it was lifted.
inline double LiftedShare(const artefact::Motion& motion, const synthesis::PinchOptions& program) {
  const TimeRange hold = synthesis::PinchHold(program);
  const auto at = std::lower_bound(motion.times.begin(), motion.times.end(), hold.end);
  const size_t k = static_cast<size_t>(at - motion.times.begin()) - 1;
  const artefact::MotionObject& object = motion.objects.back();
  return (object.pose(k).p.z() - object.pose(0).p.z()) / program.lift_m;
}

}  // namespace handhold::testing
