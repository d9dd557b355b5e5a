/// A light bulb on its pivot, turned by finger gaiting: the scene that tests and studies share, and
/// what is asked of its motion.
#pragma once

#include <string>

#include "database/artefact/motion.h"
#include "database/geometry/rotation.h"
#include "database/model/hand_library.h"
#include "database/model/prop.h"
#include "synthesis/interaction/gaiting_reference.h"
#include "synthesis/interaction/replay.h"

namespace handhold::testing {

constexpr double kBulbRadius_m = 0.03;

inline const model::Skeleton& BulbHand() {
  static const model::Skeleton hand = *model::LoadHand("hand27");
  return hand;
}

/// The bulb stands cap down, its round part's middle 20 cm up.
inline synthesis::GaitingPlace BulbPlace() { return {.p_W = geometry::Vec3(0.3, 0, 0.2)}; }

/// `as_sphere`: the glass alone, exact, instead of the mesh; mass and pivot stay.
inline artefact::Stage BulbOnPivot(double friction, double damping_Nms_per_rad = 2e-3,
                                   bool as_sphere = false) {
  model::Prop bulb = *model::LoadLibraryProp("light_bulb");
  bulb.friction = friction;
  if (as_sphere) bulb.shapes = {{"glass", {}, geometry::Sphere{kBulbRadius_m}, ""}};
  artefact::StageThing turns =
      artefact::Placed(bulb, geometry::RigidTransform::Translation(BulbPlace().p_W),
                       artefact::StageThing::Is::kPivot);
  turns.pivot.damping_Nms_per_rad = damping_Nms_per_rad;
  artefact::Stage stage;
  stage.Add(turns);
  return stage;
}

inline synthesis::ReplayOptions BulbReplay() {
  synthesis::ReplayOptions options;
  options.form = synthesis::ReplayForm::kDamped;
  options.margin_m = 4e-3;
  options.step.root_compliance_m_per_N = 0.0;
  return options;
}

/// The first object's angle about the vertical, unwrapped.
inline double BulbTurned_rad(const artefact::Motion& motion) {
  double angle = 0;
  const auto& X = motion.objects[0].X_WP;
  for (size_t k = 1; k < X.size(); ++k)
    angle += geometry::Log(geometry::Mat3(X[k - 1].R.transpose() * X[k].R)).z();
  return angle;
}

/// Times that bodies of `finger` come to touch, breaks shorter than 50 ms overlooked; frames of
/// 2 ms.
inline int BulbContactsOf(const artefact::Motion& motion, const std::string& finger) {
  int count = 0, last = -1000;
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Side& side = motion.touches[static_cast<size_t>(row.touch)].a;
    if (!BulbHand().body(side.body).name.starts_with(finger)) continue;
    if (row.frame - last > 25) ++count;
    last = row.frame;
  }
  return count;
}

}  // namespace handhold::testing
