/// A grasp in MuJoCo by the scene that database/exchange writes: the second opinion on protocols
/// that shares neither contacts, nor joints, nor solver with ours.
///
/// The same hand, prop, posture, squeeze target and per-axis gains as HandScene; no self-contact;
/// the palm stays where it is, so no lift.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/geometry/mesh.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/evaluate/grasp_fault.h"
#include "synthesis/evaluate/hand_scene.h"

namespace handhold::testing {

/// The scene of a grasp with the springs of HandSceneOptions, at its inertias where it grasps.
Result<std::string> MjcfOf(const model::Skeleton& hand, const model::Prop& prop,
                           const artefact::Grasp& grasp, const synthesis::HandSceneOptions& options,
                           const std::vector<geometry::Mesh>& convex_pieces = {});

class MujocoHand : public synthesis::GraspScene {
 public:
  /// CHECKs that MuJoCo compiles it.
  MujocoHand(const std::string& mjcf, const synthesis::HandSceneOptions& options);
  ~MujocoHand() override;

  /// As HandScene::Form: held, let go, settled.
  synthesis::GraspFault Form();

  std::string engine() const override { return "mujoco"; }
  double step_s() const override;
  double mass_kg() const override;
  double friction() const override { return options_.friction; }
  synthesis::GraspDepths depths() const override { return depths_; }
  Status Restart() override;
  Status Step(const geometry::Vec3& f_onObject_W, double rise_m) override;
  geometry::RigidTransform X_WO() const override;
  geometry::Vec3 p_OCom() const override;
  int hand_contacts() const override;
  bool on_table() const override { return false; }

  int actuators() const;
  geometry::RigidTransform BodyPose(const std::string& name) const;
  double TotalMass() const;

 private:
  struct Impl;
  synthesis::HandSceneOptions options_;
  synthesis::GraspDepths depths_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace handhold::testing
