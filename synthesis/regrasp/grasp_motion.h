/// A grasp as a motion to look at: the open hand reaches the prop, closes, lifts it and holds.
///
/// In ODE, with weight, by the springs that the trials use. W is the scene's (hand_scene.h): Z up,
/// the prop standing on a table where asked. Pinned by
/// tests/synthesis/regrasp/grasp_motion_test.cc.
#pragma once

#include "database/artefact/grasp.h"
#include "database/artefact/motion.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/evaluate/hand_scene.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns these motions.
inline constexpr int kGraspMotionVersion = 2;

struct GraspMotionOptions {
  HandSceneOptions scene = {.gravity_m_per_s2 = 9.81};  ///< `table`: it stands on one
  double reach_m = 0.12;                                ///< along the back of the hand
  double reach_s = 0.8, close_s = 0.5, squeeze_s = 0.3, settle_s = 0.3;
  double rise_m = 0.1, rise_s = 0.8, hold_s = 1.0;
  double frame_s = 0.01;
};

struct RecordedGrasp {
  /// With its verdict over the hold; hash fields empty. Figures "moved_in_hand_m" and
  /// "turned_in_hand_rad": what the prop did in the hand from letting go to the end.
  artefact::Motion motion;
  model::Skeleton hand;  ///< of the motion: with a free root
};

/// kInvalid without q_open, or as HandScene. A hand that drops the prop is a verdict, not an error;
/// a grasp that cannot be formed at all still reaches and closes.
Result<RecordedGrasp> RecordGrasp(const model::Skeleton& hand, const model::Prop& prop,
                                  const artefact::Grasp& grasp,
                                  const GraspMotionOptions& options = {});

template <typename A>
void Visit(A& a, GraspMotionOptions& o) {
  a.Field("scene", o.scene);
  a.Field("reach_m", o.reach_m);
  a.Field("reach_s", o.reach_s);
  a.Field("close_s", o.close_s);
  a.Field("squeeze_s", o.squeeze_s);
  a.Field("settle_s", o.settle_s);
  a.Field("rise_m", o.rise_m);
  a.Field("rise_s", o.rise_s);
  a.Field("hold_s", o.hold_s);
  a.Field("frame_s", o.frame_s);
}

}  // namespace handhold::synthesis
