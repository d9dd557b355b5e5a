/// A grasp in MuJoCo: the published protocol's own engine, as a GraspScene. Shares no contact and
/// no dynamics with ours.
///
/// The hand's capsules on joint servos (kp and torque limit below), its root fixed; the prop free,
/// as convex pieces (their hull is what MuJoCo collides); no self-contact. Options are those of
/// DexGraspBench: 4 ms, implicitfast, elliptic cones, impratio 10, 2 noslip iterations, condim 4.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "database/artefact/grasp.h"
#include "database/model/skeleton.h"
#include "synthesis/evaluate/grasp_scene.h"

namespace handhold::test_support {

struct MujocoGraspOptions {
  double mass_kg = 0.1, friction = 0.6;
  double kp_Nm_per_rad = 5.0, most_Nm = 2.0, damping_Nms_per_rad = 0.1;
  double squeeze_s = 0.4;  ///< from the grasp to the squeeze
  double shift_m = 0.05;   ///< gone farther while squeezed: lost
  double turn_rad = 15 * M_PI / 180;
};

class MujocoGrasp : public synthesis::GraspScene {
 public:
  /// `pieces`: paths of convex meshes in the prop's frame, metres.
  MujocoGrasp(const model::Skeleton& hand, const std::vector<std::string>& pieces,
              const MujocoGraspOptions& options = {});
  ~MujocoGrasp() override;

  /// Takes q and tau_squeeze_Nm of a grasp with its root in q (X_PH the identity); squeezes. False:
  /// the prop was lost meanwhile.
  bool Form(const artefact::Grasp& grasp);

  std::string engine() const override { return "mujoco"; }
  double step_s() const override { return 0.004; }
  double mass_kg() const override { return options_.mass_kg; }
  double friction() const override { return options_.friction; }
  synthesis::GraspDepths depths() const override { return depths_; }
  Status Restart() override;
  Status Step(const geometry::Vec3& f_onObject_W, double rise_m) override;
  geometry::RigidTransform X_WO() const override;
  geometry::Vec3 p_OCom() const override;
  int hand_contacts() const override;
  bool on_table() const override { return false; }

 private:
  struct Impl;
  MujocoGraspOptions options_;
  synthesis::GraspDepths depths_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace handhold::test_support
