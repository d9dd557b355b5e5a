/// Protocols in ODE: a GraspScene on a HandWorld, made once for a hand and a prop and given one
/// grasp after another.
///
/// Forming a grasp: the hand is put at the grasp's q round the prop, its springs pull to q_squeeze;
/// the prop is held still for `hold_s`, let go for `settle_s`, and what is left is the scene's
/// start. W is the prop's frame as the grasp is formed, turned so that a table (if any) is level.
/// Gains, step, stepper, mass and friction are options and stand in results. One thread, one at a
/// time per process (world.h). Pinned by tests/synthesis/evaluate/hand_scene_test.cc: a grasp that
/// must hold, one that must fail, with its cause.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "database/artefact/grasp.h"
#include "database/base/result.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"
#include "synthesis/evaluate/grasp_fault.h"
#include "synthesis/evaluate/grasp_scene.h"
#include "synthesis/grasp_control/hand_world.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns how a grasp is formed.
inline constexpr int kHandSceneVersion = 2;

struct HandSceneOptions {
  double mass_kg = 0.1, friction = 0.6;
  bool quick = false;  ///< QuickStep instead of the exact stepper
  int quick_iterations = 50;
  double step_s = 2e-3;
  double stiffness_per_s2 = 4000.0, damping_per_s = 316.0;  ///< PullGains: ten times Table 1
  double inertia_floor_kgm2 = 1e-5;  ///< 0: the paper's, with which fingertips hold nothing
  double hold_s = 0.1, settle_s = 0.4;
  int min_contacts = 3;           ///< fewer after settling is loose
  double loose_m = 0.1;           ///< and so is a prop that went further
  double gravity_m_per_s2 = 0.0;  ///< downwards in W, from the start
  /// A table that touches the prop's lowest point, normal to that axis of P which is nearest to the
  /// back of the hand, or to table_up_P where that is not zero. W's Z is its normal.
  bool table = false;
  geometry::Vec3 table_up_P = geometry::Vec3::Zero();
};

class HandScene : public GraspScene {
 public:
  /// kInvalid as HandWorld's AddHand and AddProp.
  static Result<std::unique_ptr<HandScene>> Create(const model::Skeleton& hand,
                                                   const model::Prop& prop,
                                                   const HandSceneOptions& options);

  /// Forms this grasp: kNone, kLoose, kNotTouched (no contact while the prop was held) or kLost.
  /// kInvalid: q is not the hand's, or neither q_squeeze nor tau_squeeze_Nm is there. A grasp with
  /// torques alone squeezes towards q + K^-1 tau.
  Result<GraspFault> Form(const artefact::Grasp& grasp);
  /// The grasp as it stands right after a Form that answered kNone: joints, place in the prop and
  /// contacts where hand and prop have come to rest. What is tested is this.
  artefact::Grasp Settled(artefact::Grasp grasp) const;
  /// In words, of the last Form that was not kNone.
  const std::string& cause() const { return cause_; }

  const HandSceneOptions& options() const { return options_; }
  HandWorld& world() { return *world_; }
  /// As built: nothing formed yet.
  Status Reset();
  /// Where prop, palm and table were when the grasp was formed, and what the springs pull to (q of
  /// world().hand(0)). After a Form that did not answer an error.
  const geometry::RigidTransform& X_WP_start() const { return X_WP_; }
  const geometry::RigidTransform& X_WPalm_start() const { return X_WPalm_; }
  const geometry::RigidTransform& X_WTable() const { return X_WTable_; }
  const Eigen::VectorXd& squeeze() const { return squeeze_; }
  /// Hand (root free), prop and table as the last Form put them.
  artefact::Stage stage() const;

  std::string engine() const override { return options_.quick ? "ode quick" : "ode exact"; }
  double step_s() const override { return options_.step_s; }
  double mass_kg() const override { return options_.mass_kg; }
  double friction() const override { return options_.friction; }
  GraspDepths depths() const override { return depths_; }
  Status Restart() override;
  Status Step(const geometry::Vec3& f_onObject_W, double rise_m) override;
  geometry::RigidTransform X_WO() const override { return world_->X_WP(0); }
  geometry::Vec3 p_OCom() const override { return p_PCom_; }
  int hand_contacts() const override { return world_->GripOn(0, 0).contacts; }
  bool on_table() const override;

 private:
  HandScene(const HandSceneOptions& options, const model::Skeleton& hand, const model::Prop& prop)
      : options_(options), hand_(hand), prop_(prop) {}
  PullGains gains() const {
    return {options_.stiffness_per_s2, options_.damping_per_s, options_.inertia_floor_kgm2};
  }
  Status Settle(double seconds);
  Result<Eigen::VectorXd> SqueezeOf(const artefact::Grasp& grasp);

  HandSceneOptions options_;
  model::Skeleton hand_;  ///< as loaded
  model::Prop prop_;
  artefact::Stage stage_;  ///< as built
  std::unique_ptr<HandWorld> world_;
  HandWorld::Saved built_, formed_;
  Eigen::VectorXd squeeze_;  ///< placed
  geometry::RigidTransform X_WP_, X_WPalm_, X_WTable_;
  geometry::Vec3 p_PCom_ = geometry::Vec3::Zero();
  GraspDepths depths_;
  std::string cause_;
};

template <typename A>
void Visit(A& a, HandSceneOptions& o) {
  a.Field("mass_kg", o.mass_kg);
  a.Field("friction", o.friction);
  a.Field("quick", o.quick);
  a.Field("quick_iterations", o.quick_iterations);
  a.Field("step_s", o.step_s);
  a.Field("stiffness_per_s2", o.stiffness_per_s2);
  a.Field("damping_per_s", o.damping_per_s);
  a.Field("inertia_floor_kgm2", o.inertia_floor_kgm2);
  a.Field("hold_s", o.hold_s);
  a.Field("settle_s", o.settle_s);
  a.Field("min_contacts", o.min_contacts);
  a.Field("loose_m", o.loose_m);
  a.Field("gravity_m_per_s2", o.gravity_m_per_s2);
  a.Field("table", o.table);
  a.Field("table_up_P", o.table_up_P);
}

}  // namespace handhold::synthesis
