#include "synthesis/grasp_control/approach.h"

#include <algorithm>
#include <cmath>

#include "database/base/units.h"
#include "database/model/configuration.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "synthesis/grasp_control/hand_world.h"

namespace handhold::synthesis {

using artefact::Grasp;
using geometry::RigidTransform;
using geometry::Vec3;

namespace {

constexpr double kClearWay_m = 1e-3;

/// The hand and the prop, fixed, in an engine that answers the gap between them.
Result<std::unique_ptr<HandWorld>> WorldOf(const model::Skeleton& hand, const model::Prop& prop) {
  HANDHOLD_ASSIGN(auto world, HandWorld::Create());
  HANDHOLD_TRY(world->AddHand(hand));
  HANDHOLD_TRY(world->AddProp(artefact::Placed(prop, {})));
  return world;
}

}  // namespace

Grasp MirroredGrasp(const model::Skeleton& hand, Grasp grasp) {
  const geometry::Mat3 S = Vec3(1, -1, 1).asDiagonal();
  for (Eigen::VectorXd* q : {&grasp.q, &grasp.q_open, &grasp.q_squeeze}) {
    if (q->size() != 0) *q = model::MirrorConfiguration(hand, *q);
  }
  grasp.X_PH.R = S * grasp.X_PH.R * S;
  grasp.X_PH.p = S * grasp.X_PH.p;
  return grasp;
}

int PalmOf(const model::Skeleton& hand) {
  for (int b = 1; b < hand.body_count(); ++b)
    if (hand.body(b).parent == 0) return b;
  return 1;
}

RigidTransform PoseOfBody(const model::Skeleton& hand, const Eigen::VectorXd& q, int body) {
  model::KinematicsData data(hand);
  model::ComputePoses(hand, q, &data);
  return data.X_WB[static_cast<size_t>(body)];
}

Result<RigidTransform> ClosedIn(const model::Skeleton& hand, const Eigen::VectorXd& q_open,
                                const model::Prop& prop, RigidTransform X_PPalm) {
  HANDHOLD_ASSIGN(const auto world, WorldOf(hand, prop));
  const RigidTransform X_PalmH = PoseOfBody(hand, q_open, PalmOf(hand)).Inverse();
  const RigidTransform wanted = X_PPalm;
  X_PPalm.p += kReachFrom_m * X_PPalm.R.col(2);
  for (int i = 0; i < 200; ++i) {
    HANDHOLD_TRY(world->SetHand(0, world->Placed(0, q_open, X_PPalm * X_PalmH)));
    HANDHOLD_ASSIGN(const double gap, world->HandGap(0, 0));
    const double past = (wanted.p - X_PPalm.p).dot(X_PPalm.R.col(2));
    if (gap < kReachClearance_m + 2e-4 || past > kReachFrom_m) return X_PPalm;
    X_PPalm.p -= std::max(gap - kReachClearance_m, 1e-4) * X_PPalm.R.col(2);
  }
  return X_PPalm;
}

Result<Vec3> ClearWay(const model::Skeleton& hand, const Eigen::VectorXd& q_open,
                      const model::Prop& prop, const RigidTransform& X_PPalm) {
  HANDHOLD_ASSIGN(const auto world, WorldOf(hand, prop));
  const RigidTransform X_PalmH = PoseOfBody(hand, q_open, PalmOf(hand)).Inverse();
  Vec3 best = Vec3::UnitZ();
  double clearest_m = -1.0;
  for (const double tilt_deg : {0.0, 20.0, 40.0, 60.0, 80.0}) {
    for (const double turn_deg : {180.0, 90.0, 270.0, 0.0}) {
      const double tilt = DegreesToRadians(tilt_deg), turn = DegreesToRadians(turn_deg);
      const Vec3 way(std::sin(tilt) * std::cos(turn), std::sin(tilt) * std::sin(turn),
                     std::cos(tilt));
      double gap_m = 1.0;
      for (const double away_m : {0.005, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08}) {
        RigidTransform X = X_PPalm;
        X.p += away_m * X.R * way;
        HANDHOLD_TRY(world->SetHand(0, world->Placed(0, q_open, X * X_PalmH)));
        HANDHOLD_ASSIGN(const double gap, world->HandGap(0, 0));
        gap_m = std::min(gap_m, gap);
      }
      if (gap_m > kClearWay_m) return way;
      if (gap_m > clearest_m) clearest_m = gap_m, best = way;
      if (tilt_deg == 0.0) break;  // turns are all the same
    }
  }
  return best;
}

}  // namespace handhold::synthesis
