/// The scenes of scripted pinches that tests, studies and marks share: hand27, a box or a wedge on
/// a table, the program, and the replay's options for them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "database/geometry/rotation.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/interaction/replay.h"
#include "synthesis/interaction/scripted_reference.h"

namespace handhold::testing {

inline const model::Skeleton& PinchHand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

/// Thumb, index, middle: the bodies of the three fingertips.
inline std::vector<int> PinchFingers() {
  return {PinchHand().FindBody("thumb.dst"), PinchHand().FindBody("index.dst"),
          PinchHand().FindBody("middle.dst")};
}

/// Kry & Pai 2006, section 8: 3 x 5 x 7 cm; theirs has 12 g.
inline model::Prop PinchBox(double mass_kg) {
  model::Prop box = *model::LoadLibraryProp("box_3x5x7");
  box.mass.I_BCom_B *= mass_kg / box.mass.mass_kg;
  box.mass.mass_kg = mass_kg;
  return box;
}
inline geometry::RigidTransform PinchBoxPose() {
  return geometry::RigidTransform::Translation({0.3, 0.1, 0.035});
}

/// A wedge as large as the box at the height where it is pinched: each of its two faces leans in by
/// half of `angle_rad`, so that it is narrower above. Of three boxes: engines that differ in their
/// hulls and meshes agree on boxes.
inline model::Prop PinchWedge(double mass_kg, double angle_rad) {
  model::Prop wedge = PinchBox(mass_kg);
  wedge.name = "wedge";
  wedge.shapes.clear();
  const double lean = 0.5 * angle_rad, half = 0.015, pinched = 0.025, plate = 0.008;
  for (const double side : {1.0, -1.0}) {
    // Outside of the plate through (side half, 0, pinched), leaning inwards.
    const geometry::RigidTransform X{
        geometry::AxisAngle<double>(geometry::Vec3::UnitY(), -side * lean),
        geometry::Vec3(side * half, 0, pinched)};
    wedge.shapes.push_back(
        {side > 0 ? "right" : "left",
         X * geometry::RigidTransform::Translation({-side * 0.5 * plate, 0, -0.02}),
         geometry::Box{geometry::Vec3(plate, 0.05, 0.06)}, ""});
  }
  wedge.shapes.push_back({"foot", geometry::RigidTransform::Translation({0, 0, -0.03}),
                          geometry::Box{geometry::Vec3(0.04, 0.05, 0.01)}, ""});
  return wedge;
}

/// 25 mm above the middle: only fingertips touch.
inline synthesis::PinchPlace PinchBoxPlace() {
  return *synthesis::PinchAcross(PinchBox(0.012), PinchBoxPose(), 0.025);
}

inline synthesis::PinchOptions PinchProgram(double depth_m, double hold_s) {
  synthesis::PinchOptions o;
  o.depth_m = depth_m;
  o.hold_s = hold_s;
  return o;
}

/// The table's top at z = 0, as wide as ours; things in this order: table, object.
inline artefact::Stage OnTable(const model::Prop& object,
                               const geometry::RigidTransform& X_WP = PinchBoxPose()) {
  artefact::Stage stage;
  stage.Add(artefact::TableAt(geometry::Vec3(0.3, 0, 0)));
  stage.Add(artefact::Placed(object, X_WP, artefact::StageThing::Is::kFree));
  return stage;
}

/// The same with the hand that plays.
inline artefact::Stage Played(const artefact::InteractionTrajectory& trajectory,
                              artefact::Stage stage) {
  stage.Add(synthesis::Following(PinchHand(), trajectory));
  return stage;
}

inline synthesis::ReplayOptions PinchReplay(const synthesis::GripOptions& grip = {}) {
  synthesis::ReplayOptions options;
  options.form = synthesis::ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.step.root_compliance_m_per_N = 0.0;  // the free root yields by its own
  options.grip = grip;
  return options;
}

}  // namespace handhold::testing
