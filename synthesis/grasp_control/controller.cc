#include "synthesis/grasp_control/controller.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"
#include "synthesis/grasp_control/posture.h"

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::Vec3;
using model::JointType;

namespace {

Mat3 RotationAt(const Eigen::VectorXd& q, int k) {
  return geometry::FromQuaternion(q[k], q[k + 1], q[k + 2], q[k + 3]);
}

}  // namespace

Result<GraspController> GraspController::Create(HandWorld* world, int hand,
                                                const model::Skeleton& skeleton,
                                                const artefact::SetpointSet& setpoints,
                                                const ControllerOptions& options) {
  HANDHOLD_TRY(CheckSetpoints(skeleton, setpoints));
  if (!(options.gain_factor > 0) || !std::isfinite(options.gain_factor) ||
      !(options.inertia_floor_kgm2 >= 0) || !std::isfinite(options.inertia_floor_kgm2)) {
    return Error{ErrorCode::kInvalid,
                 "grasp controller: the gain factor must be > 0 and the inertia floor >= 0"};
  }
  GraspController c;
  c.world_ = world;
  c.hand_ = hand;
  c.options_ = options;
  c.stiffness_ = options.gain_factor * setpoints.stiffness_per_s2;
  c.limit_stiffness_ = options.gain_factor * setpoints.limit_stiffness_per_s2;
  c.damping_ = std::sqrt(options.gain_factor) * setpoints.damping_per_s;
  const model::Skeleton& s = world->hand(hand);
  const int nv = s.nv(), shift = nv - skeleton.nv();
  c.neutral_ = world->Placed(hand, setpoints.q_neutral, {});
  c.P_S_ = c.P_D_ = Eigen::MatrixXd::Zero(nv, kSetpointCount);
  for (int i = 0; i < kSetpointCount; ++i) {
    const artefact::Setpoint& p = setpoints.setpoints[static_cast<size_t>(i)];
    c.P_S_.col(i) = s.Difference(c.neutral_, world->Placed(hand, p.q, {}));
    if (p.rate_rad_per_s.size() != 0) {
      c.P_D_.col(i).tail(skeleton.nv() - (6 - shift)) =
          p.rate_rad_per_s.tail(skeleton.nv() - (6 - shift));
    }
    c.P_S_.col(i).head<6>().setZero();
  }
  c.rest_ = c.neutral_;
  c.rate_ = Eigen::VectorXd::Zero(nv);
  return c;
}

// Eqs. 6, 7. Setpoints are added as vectors about neutral: rotations of grasps turn about axes that
// hardly change (section 5.1). The springs to neutral and to des rest half way between them; for
// turns about one axis that is their sum, and it has no half turn in it where des lies far beyond.
void GraspController::Desire(const Blend& blend) {
  const Eigen::Map<const Eigen::Matrix<double, kSetpointCount, 1>> B(blend.data());
  const model::Skeleton& s = world_->hand(hand_);
  rest_ = neutral_;
  if (options_.active) {
    Eigen::VectorXd v = (options_.passive ? 0.5 : 1.0) * (P_S_ * B);
    constexpr double kMostTurn_rad = 3.0;
    for (int b = 1; b < s.body_count(); ++b) {
      if (s.body(b).joint.type != JointType::kBall) continue;
      auto turn = v.segment<3>(s.v_index(b));
      if (turn.norm() > kMostTurn_rad) turn *= kMostTurn_rad / turn.norm();
    }
    rest_ = s.Integrate(neutral_, v);
  }
  if (options_.rest_within_limits) rest_ = ClampedToLimits(s, rest_);
  rate_ = P_D_ * B;
}

Status GraspController::Apply(const Blend& blend) {
  Desire(blend);
  const model::Skeleton& s = world_->hand(hand_);
  const std::vector<Outboard>& outboard = world_->OutboardOf(hand_);
  const int palm = world_->palm_body(hand_);
  PalmMotion arm;
  arm.p_W = world_->X_WPalm(hand_).p;
  if (options_.compensate_arm) {
    arm.omega_W = world_->palm_V_W(hand_).head<3>();
    arm.alpha_W = world_->palm_A_W(hand_).head<3>();
    arm.a_W = world_->palm_A_W(hand_).tail<3>();
  }
  const Vec3 g_W = options_.compensate_gravity && world_->gravity().on_hands ? world_->gravity().g_W
                                                                             : Vec3::Zero();
  const bool carried = options_.compensate_arm || !g_W.isZero(0.0);
  for (int b = 1; b < s.body_count(); ++b) {
    const JointType type = s.body(b).joint.type;
    if (b == palm || type == JointType::kFixed) continue;
    const Outboard& o = outboard[static_cast<size_t>(b)];
    HANDHOLD_TRY(type == JointType::kBall ? ApplyBall(b, o) : ApplyAxes(b, o));
    if (carried) {
      HANDHOLD_TRY(world_->world().AddJointTorque(world_->hand_in_world(hand_).engine_joint(b),
                                                  CarryingTorque_W(o, arm, g_W)));
    }
  }
  return {};
}

Status GraspController::ApplyBall(int b, const Outboard& o) {
  const model::Skeleton& s = world_->hand(hand_);
  const model::Joint& joint = s.body(b).joint;
  const SkeletonInWorld& placed = world_->hand_in_world(hand_);
  const int id = placed.engine_joint(b), k = s.v_index(b), kq = s.q_index(b);
  const Mat3 I = o.AboutJoint_Jc() + options_.inertia_floor_kgm2 * Mat3::Identity();
  const Mat3 R = world_->world().R_JpJc(id);
  const double pulls = (options_.passive ? 1.0 : 0.0) + (options_.active ? 1.0 : 0.0);
  // Of the springs' errors.
  const Vec3 sum = pulls * geometry::Log(R.transpose() * RotationAt(rest_, kq));
  const Vec3 rate = options_.active ? Vec3(rate_.segment<3>(k)) : Vec3::Zero();
  Vec3 e_limit = Vec3::Zero();
  if (options_.limit_springs) {
    const Mat3 inside = ClampedToLimits(joint, R);
    if (inside != R) e_limit = geometry::Log(R.transpose() * inside);
  }
  const Vec3 pull = I * (stiffness_ * sum + limit_stiffness_ * e_limit);
  if (options_.form == ControlForm::kExplicit) {
    const Vec3 omega =
        o.R_WJc.transpose() * (world_->world().omega_W(placed.engine_body(b)) -
                               world_->world().omega_W(placed.engine_body(s.body(b).parent)));
    const Vec3 tau = pull + damping_ * (I * (rate - pulls * omega));
    return world_->world().AddJointTorque(id, o.R_WJc * tau);
  }
  if (pulls == 0 && e_limit.isZero(0.0)) {
    world_->world().ClearDrive(id);
    return {};
  }
  BallDrive drive;
  // Without any spring a drive still wants one: next to nothing.
  drive.stiffness_Nm_per_rad = std::max(pulls * stiffness_, 1e-6) * I;
  drive.damping_Nms_per_rad = pulls * damping_ * I;
  if (!e_limit.isZero(1e-12)) {
    // k_JL along the way back alone: the symmetric K with K n = k_JL I n.
    const Vec3 n = e_limit.normalized(), In = I * n;
    drive.stiffness_Nm_per_rad += limit_stiffness_ * (In * In.transpose()) / n.dot(In);
  }
  drive.target_R = R * geometry::Exp<double>(drive.stiffness_Nm_per_rad.llt().solve(pull));
  if (pulls > 0) drive.target_rate_rad_per_s = rate / pulls;
  return world_->world().SetBallDrive(id, drive);
}

// Hinges and universal joints: each axis by its own inertia.
Status GraspController::ApplyAxes(int b, const Outboard& o) {
  const model::Skeleton& s = world_->hand(hand_);
  const model::Joint& joint = s.body(b).joint;
  const int id = world_->hand_in_world(hand_).engine_joint(b), k = s.v_index(b), kq = s.q_index(b);
  World& world = world_->world();
  const Mat3 I_W = o.AboutJoint_W() + options_.inertia_floor_kgm2 * Mat3::Identity();
  const double pulls = (options_.passive ? 1.0 : 0.0) + (options_.active ? 1.0 : 0.0);
  Vec3 torque_W = Vec3::Zero();
  for (int axis = 0; axis < joint.nv(); ++axis) {
    const Vec3 a = world.axis_W(id, axis);
    const double I = a.dot(I_W * a), theta = world.angle_rad(id, axis);
    const double low = joint.lower_rad[axis], high = joint.upper_rad[axis];
    const double sum = pulls * (rest_[kq + axis] - theta);
    const double rate = options_.active ? rate_[k + axis] : 0.0;
    const double e_limit = options_.limit_springs ? std::clamp(theta, low, high) - theta : 0.0;
    const double pull = I * (stiffness_ * sum + limit_stiffness_ * e_limit);
    if (options_.form == ControlForm::kExplicit) {
      torque_W += a * (pull + damping_ * I * (rate - pulls * world.rate_rad_per_s(id, axis)));
      continue;
    }
    const double stiffness =
        I * (std::max(pulls * stiffness_, 1e-6) + (e_limit != 0.0 ? limit_stiffness_ : 0.0));
    constexpr double kReach_rad = 3.0;
    HANDHOLD_TRY(
        world.SetDrive(id, axis,
                       {.target_rad = std::clamp(theta + pull / stiffness, -kReach_rad, kReach_rad),
                        .target_rate_rad_per_s = pulls > 0 ? rate / pulls : 0.0,
                        .stiffness_Nm_per_rad = stiffness,
                        .damping_Nms_per_rad = pulls * damping_ * I}));
  }
  if (options_.form == ControlForm::kExplicit) return world.AddJointTorque(id, torque_W);
  return {};
}

}  // namespace handhold::synthesis
