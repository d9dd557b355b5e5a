#include "synthesis/regrasp/grasp_motion.h"

#include <algorithm>
#include <cmath>

#include "database/base/minimum_jerk.h"
#include "database/geometry/rotation.h"
#include "synthesis/evaluate/verdict.h"
#include "synthesis/grasp_control/contact_rows.h"

namespace handhold::synthesis {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

class Recorder {
 public:
  Recorder(HandScene* scene, const GraspMotionOptions& options, artefact::Motion* motion)
      : scene_(scene), options_(options), motion_(motion) {}

  /// One phase by its name: the palm at `palm(share)` at the end of each step, springs towards
  /// `target(share)`.
  template <typename Target, typename Palm>
  Status Phase(const char* name, double seconds, const Target& target, const Palm& palm) {
    motion_->phases.push_back({name, {now(), now()}});
    const double h = options_.scene.step_s;
    const int steps = std::max(1, static_cast<int>(std::lround(seconds / h)));
    HandWorld& world = scene_->world();
    for (int k = 1; k <= steps; ++k) {
      const double share = static_cast<double>(k) / steps;
      HANDHOLD_TRY(world.MovePalm(0, palm(share), h));
      HANDHOLD_TRY(world.Pull(0, target(share), {},
                              {options_.scene.stiffness_per_s2, options_.scene.damping_per_s,
                               options_.scene.inertia_floor_kgm2}));
      HANDHOLD_TRY(world.Step(h));
      time_s_ += h;
      if (time_s_ + 0.5 * h >= static_cast<double>(frames_) * options_.frame_s) Frame();
    }
    motion_->phases.back().range.end = now();
    return {};
  }

  void Frame() {
    HandWorld& world = scene_->world();
    const Timestamp now = Timestamp::FromSeconds(static_cast<double>(frames_) * options_.frame_s);
    const model::Skeleton& hand = world.hand(0);
    artefact::MotionHand& moved = motion_->hands.front();
    if (moved.q.cols() <= frames_) moved.q.conservativeResize(hand.nq(), 2 * frames_ + 64);
    moved.q.col(frames_) = world.q(0);
    motion_->times.push_back(now);
    motion_->objects.front().X_WP.push_back(world.X_WP(0));
    grip_N_.push_back(AddContactRows(world, frames_, now, motion_));
    ++frames_;
  }

  void Finish() {
    motion_->hands.front().q.conservativeResize(Eigen::NoChange, frames_);
    motion_->series.push_back({"grip_force", "N",
                               Eigen::Map<const Eigen::VectorXd>(
                                   grip_N_.data(), static_cast<Eigen::Index>(grip_N_.size()))});
  }
  Timestamp now() const { return motion_->times.back(); }
  double time_s() const { return time_s_; }

 private:
  HandScene* scene_;
  const GraspMotionOptions& options_;
  artefact::Motion* motion_;
  int frames_ = 0;
  double time_s_ = 0.0;
  std::vector<double> grip_N_;
};

}  // namespace

Result<RecordedGrasp> RecordGrasp(const model::Skeleton& hand, const model::Prop& prop,
                                  const artefact::Grasp& grasp, const GraspMotionOptions& options) {
  if (grasp.q_open.size() != hand.nq()) {
    return Error{ErrorCode::kInvalid,
                 "grasp '" + grasp.name + "' does not say how the hand is open before it"};
  }
  HANDHOLD_ASSIGN(const std::unique_ptr<HandScene> scene,
                  HandScene::Create(hand, prop, options.scene));
  HANDHOLD_ASSIGN(const GraspFault fault, scene->Form(grasp));
  HandWorld& world = scene->world();
  RecordedGrasp out{{}, world.hand(0)};
  artefact::Motion& motion = out.motion;
  artefact::Stage stage = scene->stage();
  for (artefact::StageHand& staged : stage.hands) motion.Add(std::move(staged));
  for (artefact::StageThing& thing : stage.things) motion.Add(std::move(thing));
  motion.stage.gravity_W = stage.gravity_W;
  motion.objects.front().X_WP.clear();

  const RigidTransform X_W = scene->X_WP_start() * grasp.X_PH;
  const RigidTransform X_palm = scene->X_WPalm_start();
  const auto above = [&](double m) {
    RigidTransform X = X_palm;
    X.p += m * X_palm.R.col(2);
    return X;
  };
  // A world that an error ended lives again; the table goes back under the prop.
  HANDHOLD_TRY(scene->Reset());
  if (options.scene.table) HANDHOLD_TRY(world.SetProp(1, scene->X_WTable()));
  HANDHOLD_TRY(world.SetProp(0, scene->X_WP_start()));
  const Eigen::VectorXd open = world.Placed(0, grasp.q_open, X_W);
  HANDHOLD_TRY(world.SetHand(0, open));
  const RigidTransform X_open = world.X_WPalm(0);
  RigidTransform X_away = X_W;
  X_away.p += options.reach_m * X_open.R.col(2);
  HANDHOLD_TRY(world.SetHand(0, world.Placed(0, grasp.q_open, X_away)));
  HANDHOLD_TRY(world.HoldProp(0, true));

  Recorder recorder(scene.get(), options, &motion);
  recorder.Frame();
  const auto stay = [&](double) -> const RigidTransform& { return X_palm; };
  HANDHOLD_TRY(recorder.Phase(
      artefact::phase::kReach, options.reach_s,
      [&](double) -> const Eigen::VectorXd& { return open; },
      [&](double s) { return above(options.reach_m * (1.0 - MinimumJerk(s))); }));
  // All joints arrive together, and only then squeeze: sent to the squeeze at once, the quickest
  // finger would find another place, and another grasp than the one that was tested.
  const Eigen::VectorXd closed = world.Placed(0, grasp.q, X_W);
  const Eigen::VectorXd way = world.hand(0).Difference(open, closed);
  const Eigen::VectorXd more = world.hand(0).Difference(closed, scene->squeeze());
  const auto squeeze = [&](double) -> const Eigen::VectorXd& { return scene->squeeze(); };
  HANDHOLD_TRY(recorder.Phase(
      artefact::phase::kClose, options.close_s,
      [&](double s) -> Eigen::VectorXd {
        return world.hand(0).Integrate(open, MinimumJerk(s) * way);
      },
      stay));
  HANDHOLD_TRY(recorder.Phase(
      artefact::phase::kSqueeze, options.squeeze_s,
      [&](double s) -> Eigen::VectorXd {
        return world.hand(0).Integrate(closed, MinimumJerk(s) * more);
      },
      stay));
  HANDHOLD_TRY(world.HoldProp(0, false));
  const auto in_palm = [&] { return world.X_WPalm(0).Inverse() * world.X_WP(0); };
  const RigidTransform X_PalmP_closed = in_palm();
  HANDHOLD_TRY(recorder.Phase(artefact::phase::kSettle, options.settle_s, squeeze, stay));
  const auto risen = [&](double m) {
    return RigidTransform::Translation(m * Vec3::UnitZ()) * X_palm;
  };
  HANDHOLD_TRY(recorder.Phase(artefact::phase::kLift, options.rise_s, squeeze,
                              [&](double s) { return risen(options.rise_m * MinimumJerk(s)); }));
  HANDHOLD_TRY(recorder.Phase(artefact::phase::kHold, options.hold_s, squeeze,
                              [&](double) { return risen(options.rise_m); }));
  VerdictOptions judged;
  judged.hold = motion.FindPhase(artefact::phase::kHold)->range;
  motion.stage.hold = judged.hold;
  const RigidTransform went = X_PalmP_closed.Inverse() * in_palm();
  recorder.Finish();
  judged.object = motion.stage.judged = motion.objects.front().name;
  HANDHOLD_ASSIGN(motion.verdict, JudgeHold(out.hand, motion, judged));
  motion.summary.figures = {{"mass_kg", options.scene.mass_kg},
                            {"friction", options.scene.friction},
                            {"lifted_m", motion.objects.front().X_WP.back().p.z() -
                                             motion.objects.front().X_WP.front().p.z()},
                            {"moved_in_hand_m", went.p.norm()},
                            {"turned_in_hand_rad", geometry::Log(went.R).norm()},
                            {"peak_force_N", motion.series.front().values.maxCoeff()}};
  if (fault != GraspFault::kNone) {
    motion.summary.issues.push_back(
        {"grasp", Severity::kWarning, std::string(GraspFaultName(fault)) + ": " + scene->cause()});
  }
  HANDHOLD_TRY(artefact::CheckMotion(motion));
  return out;
}

}  // namespace handhold::synthesis
