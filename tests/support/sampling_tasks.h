/// Inputs of contact sampling as its criteria name them: a mug lifted and tilted, a box turned on a
/// table, a box turned further than a wrist follows. Wrist poses come from the library's grasps.
///
/// Shares no code with synthesis/contact_sampling but its input type. For tests and benches.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "database/artefact/grasp_file.h"
#include "database/geometry/rotation.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "database/model/prop.h"
#include "synthesis/contact_sampling/hand_task.h"

namespace handhold::testing {

inline geometry::RigidTransform Turned(const geometry::Vec3& axis, double degrees) {
  return {geometry::AxisAngle<double>(axis, degrees * std::numbers::pi / 180), {0, 0, 0}};
}

/// 0 .. 1 with velocity and acceleration 0 at both ends (least jerk).
inline double Smoothly(double s) {
  s = std::min(1.0, std::max(0.0, s));
  return s * s * s * (10 - 15 * s + 6 * s * s);
}

/// The palm in the prop's frame, of a grasp of our library.
inline geometry::RigidTransform PalmOfGrasp(const std::string& name) {
  const artefact::Grasp grasp = artefact::LoadLibraryGrasp(name).value();
  const model::Skeleton hand = model::LoadHand(grasp.skeleton_name).value();
  model::KinematicsData data(hand);
  model::ComputePoses<double>(hand, grasp.q, &data);
  return grasp.X_PH * data.X_WB[static_cast<size_t>(hand.FindBody("palm"))];
}

inline synthesis::HandTask EmptyTask(const std::string& prop, int frames) {
  synthesis::HandTask task;
  task.prop = model::LoadLibraryProp(prop).value();
  for (int t = 0; t < frames; ++t) task.times.push_back(Timestamp{} + Duration::OfSamples(t, 60.0));
  task.hands.push_back({"R",
                        std::make_shared<const model::Skeleton>(model::LoadHand("hand29").value()),
                        "palm",
                        {}});
  task.supports.push_back({geometry::Vec3::UnitZ(), 0.0, 0.5});
  return task;
}

/// *mug*: 15 cm up and 70 degrees over, the wrist rigid on it; 150 frames at 60 Hz.
inline synthesis::HandTask MugTask() {
  synthesis::HandTask task = EmptyTask("mug", 150);
  // The cylinder's grasp, 11 mm further out for the mug's wall, at half its height, its handle
  // between thumb and fingertips.
  geometry::RigidTransform X_OR = PalmOfGrasp("hand27_cylinder");
  const geometry::Vec3 out = geometry::Vec3(-X_OR.R.col(2).x(), -X_OR.R.col(2).y(), 0).normalized();
  X_OR.p += -0.011 * out + geometry::Vec3(0, 0, 0.05);
  X_OR = Turned(geometry::Vec3::UnitZ(), -90) * X_OR;
  for (int t = 0; t < 150; ++t) {
    const double s = t / 60.0;
    geometry::RigidTransform X_WO = Turned(geometry::Vec3::UnitX(), 70 * Smoothly((s - 0.9) / 1.4));
    X_WO.p.z() = 0.15 * Smoothly((s - 0.25) / 1.1);
    task.X_WO.push_back(X_WO);
    task.hands[0].X_WR.push_back(X_WO * X_OR);
  }
  return task;
}

/// A box turned about the vertical on the table while the wrist turns less.
inline synthesis::HandTask TurnTask(int frames, double box_degrees, double wrist_degrees) {
  synthesis::HandTask task = EmptyTask("box_3x5x7", frames);
  const geometry::RigidTransform X_OR = PalmOfGrasp("hand27_pinch");
  // The box lies so that the back of the hand is up.
  geometry::RigidTransform X_WO = Turned(geometry::Vec3::UnitX(), -90);
  X_WO.p.z() = 0.025;
  const geometry::RigidTransform X_WR = X_WO * X_OR;
  for (int t = 0; t < frames; ++t) {
    const double s = Smoothly((t / 60.0 - 0.2) / (frames / 60.0 - 0.4));
    task.X_WO.push_back(Turned(geometry::Vec3::UnitZ(), box_degrees * s) * X_WO);
    task.hands[0].X_WR.push_back(Turned(geometry::Vec3::UnitZ(), wrist_degrees * s) * X_WR);
  }
  return task;
}

/// *box*: 90 degrees, the wrist 45; 150 frames.
inline synthesis::HandTask BoxTask() { return TurnTask(150, 90, 45); }
/// *gait*: 150 degrees, the wrist 20; 300 frames.
inline synthesis::HandTask GaitTask() { return TurnTask(300, 150, 20); }

}  // namespace handhold::testing
