/// One hand grasps one prop over time: the palm along its path, the state machine by distance or by
/// a person's keys, the controller's torques, and what became of it as a Motion.
///
/// Everything that a person does while it runs (open, close, release, alpha) is kept with its step;
/// the same options and keys make the same motion to the bit. Pinned by
/// tests/synthesis/grasp_control/grasp_run_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database/artefact/motion.h"
#include "database/artefact/setpoint_set.h"
#include "synthesis/grasp_control/controller.h"
#include "synthesis/grasp_control/palm_path.h"

namespace handhold::synthesis {

/// Raised with each [numbers] line of the CHANGELOG that concerns grasp control.
inline constexpr int kGraspControlVersion = 2;

/// What somebody did before a step.
struct GraspKey {
  std::int64_t step = 0;
  /// "auto", "neutral", "open", "close", "release": a GraspCommand; "alpha": its value; "x", "y",
  /// "z": the palm that much further along an axis of W than its path says, from where it is.
  std::string what;
  double value = 0.0;  ///< of alpha; m of x, y, z
  bool operator==(const GraspKey&) const = default;
};
/// "open@0.4,close@0.9,alpha=0.7@1.2,z=0.01@2": times in seconds, taken to the nearest step.
/// kInvalid says which word, and what it could be.
Result<std::vector<GraspKey>> ParseKeys(std::string_view text, double step_s);
/// Back, exactly: ParseKeys of it gives the same steps.
std::string FormatKeys(const std::vector<GraspKey>& keys, double step_s);

struct GraspRunOptions {
  double step_s = 2e-3;
  double frame_s = 1e-2;  ///< of the motion; a multiple of the step
  double seconds = 4.0;
  double alpha = 1.0;
  ControllerOptions controller = ControllerOptions::Strong();
  bool open_while_closing = true;
  /// Ours: the prop stays where it is until the hand has closed on it (the controller's time to
  /// close, 0.1 s + 4.5 k_D / k_S), then it is let go. False: it is afloat, or stands, from the
  /// start.
  bool hold_until_closed = true;
  bool gravity_on_hand = true;
  bool quick = false;          ///< QuickStep, 50 iterations
  std::vector<GraspKey> keys;  ///< pressed as the run comes to their steps
};

struct GraspSetting {
  /// One hand, as loaded; its first thing is what it grasps, others are fixed.
  const artefact::Stage& stage;
  const artefact::SetpointSet& setpoints;
  /// Where the palm is when it grips, for the state machine's distance.
  geometry::RigidTransform X_WPalm_grip;
  PalmPath path;
};

class GraspRun {
 public:
  static Result<std::unique_ptr<GraspRun>> Create(const GraspSetting& setting,
                                                  const GraspRunOptions& options);

  bool done() const { return step_ >= steps_; }
  /// The next step. An error (kNotConverged, with body and time) ends the run; the motion so far
  /// stays, its verdict kLost.
  Status Step();
  /// Before the next step. Kept in keys(). kInvalid for a word that is none.
  Status Press(std::string_view what, double value = 0.0);
  /// From now on the palm goes where it is told instead of along its path; nullopt: its path.
  void SteerPalm(const std::optional<geometry::RigidTransform>& X_WPalm) { steered_ = X_WPalm; }

  const std::vector<GraspKey>& keys() const { return keys_; }
  double time_s() const { return static_cast<double>(step_) * options_.step_s; }
  GraspState state() const { return machine_.state(); }
  double alpha() const { return alpha_; }
  double distance_m() const { return distance_m_; }
  const HandWorld& world() const { return *world_; }
  HandWorld& world() { return *world_; }
  /// Frames so far, on the setting's stage with the hand's root free; phases by the state machine's
  /// states. Series: "state" (GraspState), "alpha", "distance" (m), "grip" (N, sum of normal
  /// forces of hand and prop). The hand is world().hand(0), whose root is free: its skeleton is
  /// `skeleton()`.
  const artefact::Motion& motion() const { return motion_; }
  artefact::Motion TakeMotion();
  const model::Skeleton& skeleton() const { return world_->hand(0); }
  /// When the prop was let go; empty: not yet, or never held.
  std::optional<double> let_go_s() const { return let_go_s_; }

 private:
  GraspRun() = default;
  void Frame();
  /// A state that begins ends the phase of the one before.
  void Phase(Timestamp now);

  GraspRunOptions options_;
  std::unique_ptr<HandWorld> world_;
  std::optional<GraspController> controller_;
  GraspStateMachine machine_;
  PalmPath path_;
  std::optional<geometry::RigidTransform> steered_;
  std::vector<GraspKey> keys_;
  size_t next_key_ = 0;
  std::int64_t step_ = 0, steps_ = 0, frame_every_ = 1;
  /// What keys added to the path, and how far the palm has followed, smoothly.
  geometry::Vec3 moved_m_ = geometry::Vec3::Zero(), followed_m_ = geometry::Vec3::Zero(),
                 follow_m_per_s_ = geometry::Vec3::Zero();
  double alpha_ = 1.0, distance_m_ = 0.0, gap_of_grip_m_ = 0.0, closing_s_ = 0.0;
  std::optional<double> gripped_s_, let_go_s_;
  bool held_ = false;
  artefact::Motion motion_;
  std::vector<Eigen::VectorXd> q_;
  std::vector<std::array<double, 4>> series_;
  Status failed_;
};

template <typename A>
void Visit(A& a, GraspKey& k) {
  a.Field("step", k.step);
  a.Field("what", k.what);
  a.Field("value", k.value);
}
template <typename A>
void Visit(A& a, ControllerOptions& o) {
  a.Choice("form", o.form, {"implicit", "explicit"});
  a.Field("gain_factor", o.gain_factor);
  a.Field("inertia_floor_kgm2", o.inertia_floor_kgm2);
  a.Field("rest_within_limits", o.rest_within_limits);
  a.Field("passive", o.passive);
  a.Field("active", o.active);
  a.Field("limit_springs", o.limit_springs);
  a.Field("compensate_arm", o.compensate_arm);
  a.Field("compensate_gravity", o.compensate_gravity);
}
template <typename A>
void Visit(A& a, GraspRunOptions& o) {
  a.Field("step_s", o.step_s);
  a.Field("frame_s", o.frame_s);
  a.Field("seconds", o.seconds);
  a.Field("alpha", o.alpha);
  a.Field("controller", o.controller);
  a.Field("open_while_closing", o.open_while_closing);
  a.Field("hold_until_closed", o.hold_until_closed);
  a.Field("gravity_on_hand", o.gravity_on_hand);
  a.Field("quick", o.quick);
  a.Field("keys", o.keys);
}
template <typename A>
void Visit(A& a, PalmPath& p) {
  a.Field("times_s", p.times_s);
  a.Field("X_WPalm", p.X_WPalm);
}

}  // namespace handhold::synthesis
