/// The contacts of a run in the engine against exact distances (database/geometry) at the run's own
/// poses: tells what is the engine's colliders' from what is its solver's.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "database/artefact/motion.h"
#include "database/geometry/distance.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::testing {

/// Of a bone, or of the whole hand, the nearest to a prop; negative: inside.
struct Nearest {
  int body = 0;
  double distance_m = std::numeric_limits<double>::infinity();
  geometry::Vec3 p_W = geometry::Vec3::Zero();  ///< on the prop
};
inline Nearest NearestOfBone(const model::Skeleton& hand, const model::KinematicsData& data,
                             int body, const model::Prop& prop,
                             const geometry::RigidTransform& X_WP) {
  Nearest nearest;
  for (const model::BodyShape& bone : hand.body(body).shapes) {
    for (const model::PropShape& shape : prop.shapes) {
      const auto d =
          geometry::Distance(bone.shape, data.X_WB[static_cast<size_t>(body)] * bone.X_BS,
                             shape.shape, X_WP * shape.X_PS);
      if (d && d->distance_m < nearest.distance_m) nearest = {body, d->distance_m, d->p_WB};
    }
  }
  return nearest;
}
inline Nearest NearestOfHand(const model::Skeleton& hand, const model::KinematicsData& data,
                             const model::Prop& prop, const geometry::RigidTransform& X_WP) {
  Nearest nearest;
  for (int b = 1; b < hand.body_count(); ++b) {
    const Nearest bone = NearestOfBone(hand, data, b, prop, X_WP);
    if (bone.distance_m < nearest.distance_m) nearest = bone;
  }
  return nearest;
}

struct ContactAudit {
  int touches = 0;       ///< frames x bones of the hand on the prop
  int wrong = 0;         ///< whose force is not stiffness x exact depth, by 10 % and 0.15 N
  double worst_N = 0.0;  ///< the largest such difference
  double jump_m = 0.0;   ///< of a contact point on the prop from frame to frame, above 0.1 N
};

/// `truth`: of one hand and one object, its last; surfaces of `stiffness_N_per_m`.
inline ContactAudit AuditContacts(const model::Skeleton& hand, const model::Prop& prop,
                                  const artefact::Motion& truth, double stiffness_N_per_m = 5000) {
  ContactAudit audit;
  model::KinematicsData data(hand);
  std::map<int, std::pair<int, geometry::Vec3>> last;  // by bone: frame, point in P
  size_t r = 0;
  for (size_t k = 0; k < truth.times.size(); ++k) {
    const auto frame = static_cast<int>(k);
    const geometry::RigidTransform& X_WP = truth.objects.back().pose(k);
    model::ComputePoses<double>(hand, truth.hands.front().q.col(static_cast<Eigen::Index>(k)),
                                &data);
    for (; r < truth.rows.size() && truth.rows[r].frame == frame; ++r) {
      const artefact::ContactRow& row = truth.rows[r];
      const artefact::Touch& touch = truth.touches[static_cast<size_t>(row.touch)];
      if (!touch.a.is_hand() || touch.b.name != truth.objects.back().name) continue;
      const double normal_N = row.f_onA_W.dot(row.normal_W);
      const Nearest near = NearestOfBone(hand, data, touch.a.body, prop, X_WP);
      const double exact_N = stiffness_N_per_m * std::max(0.0, -near.distance_m);
      ++audit.touches;
      const double off_N = std::abs(normal_N - exact_N);
      audit.wrong += off_N > 0.15 + 0.1 * exact_N;
      audit.worst_N = std::max(audit.worst_N, off_N);
      if (normal_N < 0.1) continue;
      const geometry::Vec3 p_P = X_WP.Inverse() * row.p_W;
      const auto before = last.find(touch.a.body);
      if (before != last.end() && before->second.first == frame - 1)
        audit.jump_m = std::max(audit.jump_m, (p_P - before->second.second).norm());
      last[touch.a.body] = {frame, p_P};
    }
  }
  return audit;
}

}  // namespace handhold::testing
