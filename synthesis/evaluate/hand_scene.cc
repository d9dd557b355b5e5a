#include "synthesis/evaluate/hand_scene.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "database/geometry/rotation.h"
#include "database/model/site.h"

namespace handhold::synthesis {
namespace {

using geometry::Mat3;
using geometry::RigidTransform;
using geometry::Vec3;

constexpr int kTable = 1;  // number of the table among the props
constexpr double kFarthest_rad = 2.9;

/// The axis of P, either way, that is nearest to `up_P`.
Vec3 NearestAxis(const Vec3& up_P) {
  Eigen::Index axis = 0;
  up_P.cwiseAbs().maxCoeff(&axis);
  return up_P[axis] < 0.0 ? Vec3(-Vec3::Unit(axis)) : Vec3(Vec3::Unit(axis));
}

Mat3 RotationTo(const Vec3& from, const Vec3& z_to) {
  return Eigen::Quaterniond::FromTwoVectors(from, z_to).toRotationMatrix();
}

}  // namespace

Result<std::unique_ptr<HandScene>> HandScene::Create(const model::Skeleton& hand,
                                                     const model::Prop& prop,
                                                     const HandSceneOptions& options) {
  std::unique_ptr<HandScene> scene(new HandScene(options, hand, prop));
  HandWorldOptions world;
  world.stepper = options.quick ? Stepper::kQuick : Stepper::kExact;
  world.quick_iterations = options.quick_iterations;
  artefact::Stage stage;
  artefact::StageHand& staged = stage.hands.emplace_back();
  staged.skeleton.value = std::make_shared<const model::Skeleton>(hand);
  staged.q = hand.ZeroConfiguration();
  stage.Add(artefact::Placed(prop, {}, artefact::StageThing::Is::kFree, options.mass_kg,
                             options.friction));
  if (options.table) stage.Add(artefact::TableAt(Vec3::Zero()));
  stage.gravity_W = -options.gravity_m_per_s2 * Vec3::UnitZ();
  HANDHOLD_ASSIGN(scene->world_, HandWorld::Create(stage, world));
  const int body = scene->world_->prop_body(0);
  scene->p_PCom_ = scene->world_->X_WP(0).Inverse() * scene->world_->world().com_W(body);
  scene->built_ = scene->world_->Save();
  scene->stage_ = std::move(stage);
  return scene;
}

artefact::Stage HandScene::stage() const {
  artefact::Stage stage = stage_;
  artefact::StageHand& hand = stage.hands.front();
  hand.name = hand_.draft().side == "left" ? "L" : "R";
  hand.skeleton.value = std::make_shared<const model::Skeleton>(world_->hand(0));
  hand.q = world_->q(0);
  for (size_t i = 0; i < stage.things.size(); ++i)
    stage.things[i].X_WP = i == 0 ? X_WP_ : X_WTable_;
  return stage;
}

Status HandScene::Reset() { return world_->Restore(built_); }

Result<Eigen::VectorXd> HandScene::SqueezeOf(const artefact::Grasp& grasp) {
  if (grasp.q_squeeze.size() == hand_.nq()) return grasp.q_squeeze;
  if (grasp.tau_squeeze_Nm.size() != hand_.nv()) {
    return Error{
        ErrorCode::kInvalid,
        "grasp '" + grasp.name + "' says neither where it squeezes to nor with what torques"};
  }
  // The springs of HandWorld::Pull give these torques where the hand is: q + K^-1 tau.
  const std::vector<Outboard>& outboard = world_->OutboardOf(0);
  Eigen::VectorXd turn = Eigen::VectorXd::Zero(hand_.nv());
  for (int b = 1; b < hand_.body_count(); ++b) {
    const model::Joint& joint = hand_.body(b).joint;
    if (b == world_->palm_body(0) || joint.nv() == 0) continue;
    const Mat3 K = options_.stiffness_per_s2 * (outboard[static_cast<size_t>(b)].AboutJoint_Jc() +
                                                options_.inertia_floor_kgm2 * Mat3::Identity());
    const int v = hand_.v_index(b);
    if (joint.type == model::JointType::kBall) {
      turn.segment<3>(v) = K.ldlt().solve(grasp.tau_squeeze_Nm.segment<3>(v));
      continue;
    }
    const int id = world_->hand_in_world(0).engine_joint(b);
    for (int axis = 0; axis < joint.nv(); ++axis) {
      const Vec3 a =
          outboard[static_cast<size_t>(b)].R_WJc.transpose() * world_->world().axis_W(id, axis);
      // No further than the engine's joints can be pulled: short of half a turn from zero.
      const double q = grasp.q[hand_.q_index(b) + axis];
      turn[v + axis] =
          std::clamp(grasp.tau_squeeze_Nm[v + axis] / a.dot(K * a),
                     std::min(0.0, -kFarthest_rad - q), std::max(0.0, kFarthest_rad - q));
    }
  }
  return hand_.Integrate(grasp.q, turn.cwiseMax(-1.5).cwiseMin(1.5));
}

Status HandScene::Settle(double seconds) {
  const int steps = static_cast<int>(std::lround(seconds / options_.step_s));
  for (int k = 0; k < steps; ++k) {
    HANDHOLD_TRY(world_->Pull(0, squeeze_, {}, gains()));
    HANDHOLD_TRY(world_->Step(options_.step_s));
  }
  return {};
}

Result<GraspFault> HandScene::Form(const artefact::Grasp& grasp) {
  if (grasp.q.size() != hand_.nq() || !grasp.q.allFinite()) {
    return Error{ErrorCode::kInvalid, "grasp '" + grasp.name + "' is not of hand '" + hand_.name() +
                                          "': " + std::to_string(grasp.q.size()) +
                                          " numbers instead of " + std::to_string(hand_.nq())};
  }
  HANDHOLD_TRY(Reset());
  cause_.clear();
  depths_ = {};
  X_WP_ = RigidTransform();
  if (options_.table) {
    // The palm's dorsal axis in P: its body frame's z (model/skeleton.h).
    HANDHOLD_TRY(world_->SetHand(0, world_->Placed(0, grasp.q, grasp.X_PH)));
    const Vec3 up_P = options_.table_up_P.isZero() ? NearestAxis(world_->X_WPalm(0).R.col(2))
                                                   : options_.table_up_P.normalized();
    X_WP_.R = RotationTo(up_P, Vec3::UnitZ());
    X_WTable_ = RigidTransform::Translation(Vec3(0, 0, model::LowestAlong(prop_, {}, up_P)));
    HANDHOLD_TRY(world_->SetProp(kTable, X_WTable_));
  }
  HANDHOLD_TRY(world_->SetProp(0, X_WP_));
  HANDHOLD_TRY(world_->SetHand(0, world_->Placed(0, grasp.q, X_WP_ * grasp.X_PH)));
  X_WPalm_ = world_->X_WPalm(0);
  HANDHOLD_ASSIGN(const Eigen::VectorXd squeeze, SqueezeOf(grasp));
  squeeze_ = world_->Placed(0, squeeze, X_WP_ * grasp.X_PH);
  HANDHOLD_TRY(world_->HoldProp(0, true));
  const auto lost = [&](const Error& error) {
    cause_ = error.message;
    return GraspFault::kLost;
  };
  if (const Status held = Settle(options_.hold_s); !held) return lost(held.error());
  if (hand_contacts() == 0) {
    cause_ = "no part of the hand touches the object when it has closed";
    return GraspFault::kNotTouched;
  }
  HANDHOLD_TRY(world_->HoldProp(0, false));
  if (const Status settled = Settle(options_.settle_s); !settled) return lost(settled.error());
  const double went_m = (world_->X_WP(0) * p_PCom_ - X_WP_ * p_PCom_).norm();
  if (hand_contacts() < options_.min_contacts || went_m > options_.loose_m) {
    char text[120];
    std::snprintf(text, sizeof text, "let go, it moved %.0f mm in %.2f s and kept %d contacts",
                  1e3 * went_m, options_.settle_s, hand_contacts());
    cause_ = text;
    return GraspFault::kLoose;
  }
  for (const HandContact& c : world_->Contacts()) {
    double& depth = c.prop == kTable ? depths_.table_m
                    : c.prop >= 0    ? depths_.object_m
                                     : depths_.self_m;
    depth = std::max(depth, c.depth_m);
  }
  formed_ = world_->Save();
  return GraspFault::kNone;
}

artefact::Grasp HandScene::Settled(artefact::Grasp grasp) const {
  const RigidTransform X_PW = world_->X_WP(0).Inverse();
  const Eigen::Index root = grasp.q.size() - (world_->hand(0).nq() - 7);
  grasp.q.tail(grasp.q.size() - root) = world_->q(0).tail(grasp.q.size() - root);
  grasp.X_PH = X_PW * X_WP_ * grasp.X_PH;
  grasp.contacts.clear();
  for (const HandContact& c : world_->Contacts()) {
    if (c.prop != 0) continue;
    const RigidTransform X_WB = world_->hand_in_world(0).X_WB(c.body);
    const int site = model::SiteAt(world_->hand(0), c.body, -(X_WB.R.transpose() * c.normal_W));
    grasp.contacts.push_back({.site = site < 0 ? "" : hand_.sites()[static_cast<size_t>(site)].name,
                              .body = c.body,
                              .p_P = X_PW * c.p_W,
                              .normal_P = X_PW.R * c.normal_W,
                              .f_onHand_P = X_PW.R * c.f_onHand_W});
  }
  return grasp;
}

Status HandScene::Restart() { return world_->Restore(formed_); }

Status HandScene::Step(const Vec3& f_onObject_W, double rise_m) {
  World& world = world_->world();
  const int body = world_->prop_body(0);
  HANDHOLD_TRY(world.AddForce(body, f_onObject_W, world.com_W(body)));
  if (rise_m != 0.0) {
    const RigidTransform up = RigidTransform::Translation(rise_m * Vec3::UnitZ());
    HANDHOLD_TRY(world_->MovePalm(0, up * X_WPalm_, options_.step_s));
  }
  HANDHOLD_TRY(world_->Pull(0, squeeze_, {}, gains()));
  return world_->Step(options_.step_s);
}

bool HandScene::on_table() const {
  const int body = world_->prop_body(0);
  for (const ContactReading& c : world_->world().contacts()) {
    if ((c.body_a == body && c.body_b == kFixedBody) ||
        (c.body_b == body && c.body_a == kFixedBody))
      return true;
  }
  return false;
}

}  // namespace handhold::synthesis
