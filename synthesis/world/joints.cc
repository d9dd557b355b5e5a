// Joints, their drives and their limits: which rows of ODE they are in the step at hand.
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "database/base/check.h"
#include "database/model/skeleton.h"
#include "synthesis/world/engine.h"

namespace handhold::synthesis {
namespace {

using geometry::Mat3;
using geometry::Vec3;
using internal::Guard;
using internal::JointData;
using internal::JointKind;
using internal::LimitRow;
using internal::ToVec;

constexpr double kNarrowestRange_rad = 0.1 * std::numbers::pi / 180.0;
/// A step that leaves a ball further outside is taken again.
constexpr double kLimitTolerance_rad = 0.03 * std::numbers::pi / 180.0;

/// A limit gets its row when the joint could reach it within the step, at twice its speed or with
/// what its drive asks for at most, and a bit.
double Reach(double rate_rad_per_s, double driven_rad_per_s, double h_s) {
  return 0.01 + h_s * (std::max(2 * std::abs(rate_rad_per_s), std::abs(driven_rad_per_s)) + 10.0);
}

/// What of a limit passed by -gap_rad is left for later steps: it is taken back at 10 rad/s at
/// most. So a joint that begins far outside comes back without being thrown.
double Patience(double gap_rad, double h_s) { return std::max(0.0, -gap_rad - 10.0 * h_s); }

// ODE's parameter groups: a joint's second axis is dParam...2.
int Group(int axis) { return axis * static_cast<int>(dParamGroup2); }

void SetParam(const JointData& joint, int axis, int parameter, double value) {
  if (joint.kind == JointKind::kHinge) {
    dJointSetHingeParam(joint.id, parameter, value);
  } else {
    dJointSetUniversalParam(joint.id, parameter + Group(axis), value);
  }
}

double GetParam(const JointData& joint, int axis, int parameter) {
  return joint.kind == JointKind::kHinge
             ? dJointGetHingeParam(joint.id, parameter)
             : dJointGetUniversalParam(joint.id, parameter + Group(axis));
}

// A universal joint of ODE has its axis 1 in the first body, our child, and axis 2 in the second,
// our parent: the reverse of ours.
int OdeAxis(const JointData& joint, int axis) {
  return joint.kind == JointKind::kUniversal ? 1 - axis : axis;
}

// Both stops before each step: ODE accepts lo > hi and then lets the joint hang limp.
void SetStops(const JointData& joint, int ode_axis, double lo, double hi) {
  SetParam(joint, ode_axis, dParamLoStop, lo);
  SetParam(joint, ode_axis, dParamHiStop, hi);
  CHECK_EQ(GetParam(joint, ode_axis, dParamLoStop), lo);
  CHECK_EQ(GetParam(joint, ode_axis, dParamHiStop), hi);
}

double Angle(const JointData& j, int axis) {
  if (j.kind == JointKind::kHinge) return dJointGetHingeAngle(j.id);
  return OdeAxis(j, axis) == 0 ? dJointGetUniversalAngle1(j.id) : dJointGetUniversalAngle2(j.id);
}

double Rate(const JointData& j, int axis) {
  if (j.kind == JointKind::kHinge) return dJointGetHingeAngleRate(j.id);
  return OdeAxis(j, axis) == 0 ? dJointGetUniversalAngle1Rate(j.id)
                               : dJointGetUniversalAngle2Rate(j.id);
}

Vec3 Axis(const JointData& j, int axis) {
  dVector3 a;
  if (j.kind == JointKind::kHinge) {
    dJointGetHingeAxis(j.id, a);
  } else if (OdeAxis(j, axis) == 0) {
    dJointGetUniversalAxis1(j.id, a);
  } else {
    dJointGetUniversalAxis2(j.id, a);
  }
  return ToVec(a);
}

/// Outward normal of the ellipse with half axes a, b where its rim is nearest to (y, z). The
/// nearest point is (a^2 y / (t + a^2), b^2 z / (t + b^2)) with t the largest root of F(t) = (a y /
/// (t + a^2))^2 + (b z / (t + b^2))^2 - 1, which is convex and falls: Newton's steps from below
/// never pass it.
Eigen::Vector2d EllipseNormal(double a, double b, double y, double z) {
  constexpr double kOffAxis_rad = 1e-7;  // on an axis the nearest point may not be one
  const double ay = std::max(std::abs(y), kOffAxis_rad), az = std::max(std::abs(z), kOffAxis_rad);
  double t = std::max(a * ay - a * a, b * az - b * b);
  for (int i = 0; i < 30; ++i) {
    const double u = a * ay / (t + a * a), w = b * az / (t + b * b);
    const double step = 0.5 * (u * u + w * w - 1) / (u * u / (t + a * a) + w * w / (t + b * b));
    t += step;
    if (!(step > 1e-15)) break;
  }
  return Eigen::Vector2d(std::copysign(ay / (t + a * a), y), std::copysign(az / (t + b * b), z))
      .normalized();
}

/// How far a ball joint is from its limits and which way leads out: twist; the tangent of the cone
/// nearest by; and two more tangents beside it, since the cone of a finger joint, 5 by 55 degrees,
/// turns by a right angle within half a degree: one tangent alone would let it slip past its tip.
/// R = Exp(S) Rx(t) with S = (0, y, z): the angular velocity of the child in Jp is J_l(S) S' +
/// Exp(S) e_x t', and the rows of that matrix's inverse say how t, y and z grow with it.
struct BallGaps {
  static constexpr int kCount = 4;
  double gap[kCount] = {HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL};  // rad, < 0: outside
  Vec3 outward[kCount];                                           // unit, in Jp

  BallGaps(const Mat3& R, const internal::BallLimits& limits) {
    const Vec3 tyz = model::SwingTwist(R);
    const Vec3 swing(0, tyz[1], tyz[2]);
    const Mat3 J = geometry::LeftJacobian(swing);
    Mat3 M;
    M << geometry::Exp<double>(swing).col(0), J.col(1), J.col(2);
    const Mat3 growth = M.inverse();  // rows: twist, y, z
    if (!growth.allFinite()) return;  // half a turn of swing: which way is back, nobody can tell
    const auto set = [&](int k, const Vec3& out, double distance) {
      const double length = out.norm();
      gap[k] = distance / length, outward[k] = out / length;
    };
    const double to_lower = tyz[0] - limits.lower_rad[0], to_upper = limits.upper_rad[0] - tyz[0];
    if (to_lower < to_upper) {
      set(0, -growth.row(0).transpose(), to_lower);
    } else if (std::isfinite(to_upper)) {
      set(0, growth.row(0).transpose(), to_upper);
    }
    double middle[2], half[2];
    bool bounded[2];
    for (int i = 0; i < 2; ++i) {
      double lo = limits.lower_rad[i + 1], hi = limits.upper_rad[i + 1];
      bounded[i] = std::isfinite(lo) || std::isfinite(hi);
      // One end alone is as good as a range that ends at half a turn on the other side.
      lo = std::max(lo, -std::numbers::pi), hi = std::min(hi, std::numbers::pi);
      middle[i] = 0.5 * (lo + hi), half[i] = std::max(0.5 * (hi - lo), 0.5 * kNarrowestRange_rad);
    }
    const double y = tyz[1] - middle[0], z = tyz[2] - middle[1];
    if (bounded[0] && bounded[1]) {
      const Eigen::Vector2d nearest = EllipseNormal(half[0], half[1], y, z);
      constexpr double kBeside_rad = 0.6;
      const double c = std::cos(kBeside_rad), s = std::sin(kBeside_rad);
      for (int k = 1; k < kCount; ++k) {
        const double sine = k == 1 ? 0.0 : k == 2 ? s : -s, cosine = k == 1 ? 1.0 : c;
        const double ny = cosine * nearest.x() - sine * nearest.y(),
                     nz = sine * nearest.x() + cosine * nearest.y();
        // The ellipse lies behind its tangent: n . (y, z) <= its support.
        set(k, growth.transpose() * Vec3(0, ny, nz),
            std::hypot(half[0] * ny, half[1] * nz) - (ny * y + nz * z));
      }
    } else if (bounded[0]) {
      set(1, growth.transpose() * Vec3(0, std::copysign(1.0, y), 0), half[0] - std::abs(y));
    } else if (bounded[1]) {
      set(1, growth.transpose() * Vec3(0, 0, std::copysign(1.0, z)), half[1] - std::abs(z));
    }
  }
  double least() const { return *std::min_element(gap, gap + kCount); }
};

Error NamedJoint(const JointData& joint, const std::string& what) {
  return Error{ErrorCode::kInvalid, "joint " + joint.name + ": " + what};
}

bool Symmetric(const Mat3& m) {
  return m.allFinite() &&
         (m - m.transpose()).cwiseAbs().maxCoeff() <= 1e-9 * m.cwiseAbs().maxCoeff();
}

/// m = L diag(d) L^T of a symmetric matrix, L lower with ones on the diagonal. d > 0 exactly where
/// m is positive definite.
struct Factors {
  Mat3 L = Mat3::Identity();
  Vec3 d;
  explicit Factors(const Mat3& m) {
    d[0] = m(0, 0);
    L(1, 0) = m(1, 0) / d[0], L(2, 0) = m(2, 0) / d[0];
    d[1] = m(1, 1) - L(1, 0) * m(1, 0);
    L(2, 1) = (m(2, 1) - L(2, 0) * m(1, 0)) / d[1];
    d[2] = m(2, 2) - L(2, 0) * m(2, 0) - L(2, 1) * L(2, 1) * d[1];
  }
};

/// Positive definite after `lift` of the largest entry has been added to the diagonal.
bool PositiveDefinite(const Mat3& m, double lift) {
  const double scale = m.cwiseAbs().maxCoeff();
  return scale > 0 && Factors(m / scale + lift * Mat3::Identity()).d.minCoeff() > 0;
}

Status CheckSprings(const JointData& joint, const Mat3& K, const Mat3& B) {
  if (!Symmetric(K) || !PositiveDefinite(K, 0.0))
    return NamedJoint(joint, "a rotational stiffness must be symmetric and positive definite");
  if (!Symmetric(B) || !(B.isZero(0.0) || PositiveDefinite(B, 1e-12)))
    return NamedJoint(joint, "a rotational damping must be symmetric and not negative");
  return {};
}

void MotorParam(dJointID motor, int row, int parameter, double value) {
  dJointSetAMotorParam(motor, parameter + Group(row), value);
}

}  // namespace

Status World::Impl::CheckJoint(const std::string& name, int parent, int child,
                               const Vec3& p_W) const {
  CHECK(parent >= 0 && parent < static_cast<int>(bodies.size()));
  CHECK(child >= 0 && child < static_cast<int>(bodies.size()));
  if (child == kFixedBody || child == parent) {
    return Error{ErrorCode::kInvalid,
                 "joint " + name + ": its child must be a moving body other than its parent"};
  }
  if (!p_W.allFinite())
    return Error{ErrorCode::kInvalid, "joint " + name + ": its anchor is not finite"};
  return {};
}

int World::Impl::AddJoint(JointData joint) {
  joints.push_back(std::move(joint));
  JointData& j = joints.back();
  dBodyID child = Body(j.child).id, parent = Body(j.parent).id;
  // The child first: dJointAttach(j, 0, body) would turn the signs of angle and rate.
  dJointAttach(j.id, child, parent);
  dJointSetFeedback(j.id, &j.feedback);
  const auto attach = [&](dJointID* motor, dJointFeedback* feedback) {
    *motor = dJointCreateAMotor(world, nullptr);
    dJointAttach(*motor, child, parent);
    dJointSetAMotorMode(*motor, dAMotorUser);
    dJointSetAMotorNumAxes(*motor, 0);
    dJointSetFeedback(*motor, feedback);
  };
  if (j.kind == JointKind::kBall || j.kind == JointKind::kSoftRoot)
    attach(&j.motor, &j.motor_feedback);
  if (j.kind != JointKind::kSoftRoot) {
    for (int m = 0; m < 2; ++m) attach(&j.limiter[m], &j.limiter_feedback[m]);
  }
  return static_cast<int>(joints.size()) - 1;
}

Result<int> World::AddHinge(const HingeSpec& s) {
  HANDHOLD_TRY(impl_->CheckJoint(s.name, s.parent, s.child, s.p_W));
  if (!(std::abs(s.axis_W.norm() - 1.0) < 1e-9))
    return Error{ErrorCode::kInvalid, "joint " + s.name + ": its axis is not a unit vector"};
  int index = -1;
  HANDHOLD_TRY(Guard("adding joint " + s.name, &impl_->warnings, [&] {
    JointData joint;
    joint.name = s.name, joint.kind = JointKind::kHinge, joint.parent = s.parent,
    joint.child = s.child;
    joint.id = dJointCreateHinge(impl_->world, nullptr);
    index = impl_->AddJoint(std::move(joint));
    dJointID id = impl_->joints.back().id;
    dJointSetHingeAnchor(id, s.p_W.x(), s.p_W.y(), s.p_W.z());
    dJointSetHingeAxis(id, s.axis_W.x(), s.axis_W.y(), s.axis_W.z());
  }));
  return index;
}

Result<int> World::AddUniversal(const UniversalSpec& s) {
  HANDHOLD_TRY(impl_->CheckJoint(s.name, s.parent, s.child, s.p_W));
  if (!(std::abs(s.axis1_W.norm() - 1.0) < 1e-9) || !(std::abs(s.axis2_W.norm() - 1.0) < 1e-9) ||
      !(std::abs(s.axis1_W.dot(s.axis2_W)) < 1e-9)) {
    return Error{ErrorCode::kInvalid,
                 "joint " + s.name + ": its axes are not unit vectors at right angles"};
  }
  int index = -1;
  HANDHOLD_TRY(Guard("adding joint " + s.name, &impl_->warnings, [&] {
    JointData joint;
    joint.name = s.name, joint.kind = JointKind::kUniversal, joint.parent = s.parent,
    joint.child = s.child;
    joint.id = dJointCreateUniversal(impl_->world, nullptr);
    index = impl_->AddJoint(std::move(joint));
    dJointID id = impl_->joints.back().id;
    dJointSetUniversalAnchor(id, s.p_W.x(), s.p_W.y(), s.p_W.z());
    dJointSetUniversalAxis1(id, s.axis2_W.x(), s.axis2_W.y(), s.axis2_W.z());
    dJointSetUniversalAxis2(id, s.axis1_W.x(), s.axis1_W.y(), s.axis1_W.z());
  }));
  return index;
}

Result<int> World::AddBall(const BallSpec& s) {
  HANDHOLD_TRY(impl_->CheckJoint(s.name, s.parent, s.child, s.p_W));
  HANDHOLD_TRY(internal::CheckPose({s.R_WJ, s.p_W}, "joint " + s.name));
  int index = -1;
  HANDHOLD_TRY(Guard("adding joint " + s.name, &impl_->warnings, [&] {
    JointData joint;
    joint.name = s.name, joint.kind = JointKind::kBall, joint.parent = s.parent,
    joint.child = s.child;
    joint.R_PJp = impl_->R_WB(s.parent).transpose() * s.R_WJ;
    joint.R_CJc = impl_->R_WB(s.child).transpose() * s.R_WJ;
    joint.id = dJointCreateBall(impl_->world, nullptr);
    index = impl_->AddJoint(std::move(joint));
    dJointSetBallAnchor(impl_->joints.back().id, s.p_W.x(), s.p_W.y(), s.p_W.z());
  }));
  return index;
}

// A ball joint to the fixed world whose far anchor is the target and whose rows are soft, and a
// ball's drive.
Result<int> World::AddSoftRoot(const SoftRootSpec& s) {
  HANDHOLD_TRY(impl_->CheckJoint(s.name, kFixedBody, s.body, s.X_BF.p));
  HANDHOLD_TRY(internal::CheckPose(s.X_BF, "joint " + s.name));
  int index = -1;
  const Vec3 p_W = X_WB(s.body) * s.X_BF.p;
  HANDHOLD_TRY(Guard("adding joint " + s.name, &impl_->warnings, [&] {
    JointData joint;
    joint.name = s.name, joint.kind = JointKind::kSoftRoot, joint.parent = kFixedBody,
    joint.child = s.body;
    joint.R_CJc = s.X_BF.R;
    joint.id = dJointCreateBall(impl_->world, nullptr);
    index = impl_->AddJoint(std::move(joint));
    dJointSetBallAnchor(impl_->joints.back().id, p_W.x(), p_W.y(), p_W.z());
    dJointDisable(impl_->joints.back().id);
  }));
  return index;
}

Status World::SetDrive(int joint, int axis, const JointDrive& drive) {
  CHECK(joint >= 0 && joint < joint_count());
  JointData& j = impl_->Joint(joint);
  CHECK(axis >= 0 && axis < j.axis_count());
  if (!std::isfinite(drive.target_rad) || !std::isfinite(drive.target_rate_rad_per_s) ||
      !std::isfinite(drive.stiffness_Nm_per_rad) || !std::isfinite(drive.damping_Nms_per_rad) ||
      !(drive.stiffness_Nm_per_rad > 0) || !(drive.damping_Nms_per_rad >= 0)) {
    return NamedJoint(j, "a drive needs finite targets, stiffness > 0 and damping >= 0");
  }
  const double stop = drive.target_rad + drive.damping_Nms_per_rad / drive.stiffness_Nm_per_rad *
                                             drive.target_rate_rad_per_s;
  if (!(std::abs(stop) < std::numbers::pi)) {
    return NamedJoint(j, "its target, " + std::to_string(stop) +
                             " rad with the rate's share, lies beyond half a turn");
  }
  j.settings.drive[axis] = drive;
  return {};
}

Status World::SetBallDrive(int joint, const BallDrive& drive) {
  CHECK(joint >= 0 && joint < joint_count());
  JointData& j = impl_->Joint(joint);
  CHECK(j.kind == JointKind::kBall);
  if (!internal::IsRotation(drive.target_R)) return NamedJoint(j, "its target is not a rotation");
  if (!drive.target_rate_rad_per_s.allFinite())
    return NamedJoint(j, "its target's rate is not finite");
  HANDHOLD_TRY(CheckSprings(j, drive.stiffness_Nm_per_rad, drive.damping_Nms_per_rad));
  j.settings.ball_drive = drive;
  return {};
}

Status World::SetSoftRoot(int joint, const SoftRootDrive& drive) {
  CHECK(joint >= 0 && joint < joint_count());
  JointData& j = impl_->Joint(joint);
  CHECK(j.kind == JointKind::kSoftRoot);
  if (!internal::IsRotation(drive.X_WF.R) || !drive.X_WF.p.allFinite())
    return NamedJoint(j, "its target is not a finite pose");
  if (!drive.omega_W.allFinite() || !drive.v_W.allFinite() ||
      !std::isfinite(drive.stiffness_N_per_m) || !(drive.stiffness_N_per_m > 0) ||
      !std::isfinite(drive.damping_Ns_per_m) || !(drive.damping_Ns_per_m >= 0)) {
    return NamedJoint(j, "a soft root needs finite velocities, stiffness > 0 and damping >= 0");
  }
  HANDHOLD_TRY(CheckSprings(j, drive.stiffness_Nm_per_rad, drive.damping_Nms_per_rad));
  j.settings.soft_root = drive;
  return {};
}

void World::ClearDrive(int joint) {
  CHECK(joint >= 0 && joint < joint_count());
  internal::JointSettings& s = impl_->Joint(joint).settings;
  s.drive[0].reset(), s.drive[1].reset(), s.ball_drive.reset(), s.soft_root.reset();
}

namespace {

/// What is wrong with a range that a joint, whose angles go from -pi to pi, shall stay in.
std::optional<std::string> BadRange(double lower_rad, double upper_rad) {
  const std::string range =
      "its lower limit " + std::to_string(lower_rad) + ", its upper " + std::to_string(upper_rad);
  if (!(lower_rad <= upper_rad)) return range + ": the lower is not below the upper";
  // Also both infinite with one sign.
  if (lower_rad >= std::numbers::pi || upper_rad <= -std::numbers::pi)
    return range + ": no angle between -pi and pi lies within";
  return std::nullopt;
}

}  // namespace

Status World::SetLimits(int joint, int axis, double lower_rad, double upper_rad) {
  CHECK(joint >= 0 && joint < joint_count());
  JointData& j = impl_->Joint(joint);
  CHECK(axis >= 0 && axis < j.axis_count());
  if (const auto bad = BadRange(lower_rad, upper_rad)) return NamedJoint(j, *bad);
  j.settings.limits[axis] = internal::Limits{lower_rad, upper_rad};
  return {};
}

Status World::SetBallLimits(int joint, const Vec3& lower_rad, const Vec3& upper_rad) {
  CHECK(joint >= 0 && joint < joint_count());
  JointData& j = impl_->Joint(joint);
  CHECK(j.kind == JointKind::kBall);
  for (int k = 0; k < 3; ++k) {
    if (const auto bad = BadRange(lower_rad[k], upper_rad[k])) return NamedJoint(j, *bad);
  }
  j.settings.ball_limits = internal::BallLimits{lower_rad, upper_rad};
  return {};
}

Status World::Impl::ApplyDrives(double h_s) {
  for (JointData& joint : joints) {
    for (int axis = 0; axis < joint.axis_count(); ++axis) {
      const std::optional<JointDrive>& drive = joint.settings.drive[axis];
      const int ode_axis = OdeAxis(joint, axis);
      if (!drive) {
        // Not infinity: ODE would then not ask again whether the axis is at a stop, remember that
        // it was at its drive's, and write a row for which it made no room.
        SetStops(joint, ode_axis, -std::numbers::pi, std::numbers::pi);
        continue;
      }
      const double k = drive->stiffness_Nm_per_rad, b = drive->damping_Nms_per_rad;
      const internal::SoftRow soft(k, b, h_s);
      const double stop = drive->target_rad + b / k * drive->target_rate_rad_per_s;
      SetStops(joint, ode_axis, stop, stop);
      SetParam(joint, ode_axis, dParamStopERP, soft.erp);
      SetParam(joint, ode_axis, dParamStopCFM, soft.cfm);
      SetParam(joint, ode_axis, dParamBounce, 0.0);
    }
    if (joint.kind == JointKind::kSoftRoot) {
      HANDHOLD_TRY(ApplySoftRoot(&joint, h_s));
    } else if (joint.settings.ball_drive) {
      HANDHOLD_TRY(ApplyBallDrive(&joint, *joint.settings.ball_drive, h_s));
    } else if (joint.motor != nullptr) {
      joint.driven_rad_per_s = 0.0;
      dJointSetAMotorNumAxes(joint.motor, 0);
    }
    if (joint.limiter[0] != nullptr) ApplyLimits(&joint, h_s);
  }
  return {};
}

// tau = K (e - h w) + B (w_target - w) = r - D w, with w at the end of the step, D = h K + B and
// r = K e + B w_target. With D = L diag(d) L^T the three rows l_k . w + lambda_k / d_k = c_k, where
// L diag(d) c = r, give tau = L lambda; ODE wants the axes l_k unit.
Status World::Impl::ApplyBallDrive(JointData* joint, const BallDrive& drive, double h_s) {
  const Mat3 R_WJc = R_WB(joint->child) * joint->R_CJc;
  const Vec3 e = geometry::Log(R_JpJc(*joint).transpose() * drive.target_R);
  const Mat3 D = h_s * drive.stiffness_Nm_per_rad + drive.damping_Nms_per_rad;
  const auto [L, d] = Factors(D);
  const Vec3 r =
      drive.stiffness_Nm_per_rad * e + drive.damping_Nms_per_rad * drive.target_rate_rad_per_s;
  const Vec3 c = L.triangularView<Eigen::UnitLower>().solve(r).cwiseQuotient(d);
  if (!(d.minCoeff() > 0) || !d.cwiseInverse().allFinite() || !d.allFinite() || !L.allFinite() ||
      !c.allFinite())
    return NamedJoint(*joint, "its stiffness and damping cannot be told from a singular matrix");
  // Without inertia the drive would bring D w to r.
  joint->driven_rad_per_s = L.transpose().triangularView<Eigen::UnitUpper>().solve(c).norm();
  dJointSetAMotorNumAxes(joint->motor, 3);
  for (int k = 0; k < 3; ++k) {
    const double length = L.col(k).norm();
    const Vec3 axis_W = R_WJc * L.col(k);
    dJointSetAMotorAxis(joint->motor, k, 0, axis_W.x(), axis_W.y(), axis_W.z());
    MotorParam(joint->motor, k, dParamVel, c[k] / length);
    MotorParam(joint->motor, k, dParamCFM, 1.0 / (d[k] * length * length));
    MotorParam(joint->motor, k, dParamFMax, dInfinity);
  }
  return {};
}

Status World::Impl::ApplySoftRoot(JointData* joint, double h_s) {
  const std::optional<SoftRootDrive>& drive = joint->settings.soft_root;
  if (!drive) {
    dJointDisable(joint->id);
    dJointSetAMotorNumAxes(joint->motor, 0);
    return {};
  }
  dJointEnable(joint->id);
  const double k = drive->stiffness_N_per_m, b = drive->damping_Ns_per_m;
  const internal::SoftRow soft(k, b, h_s);
  const Vec3 anchor = drive->X_WF.p + b / k * drive->v_W;
  dJointSetBallAnchor2(joint->id, anchor.x(), anchor.y(), anchor.z());
  dJointSetBallParam(joint->id, dParamERP, soft.erp);
  dJointSetBallParam(joint->id, dParamCFM, soft.cfm);
  const Mat3 R_WF = R_WB(joint->child) * joint->R_CJc;
  return ApplyBallDrive(joint,
                        {.target_R = drive->X_WF.R,
                         .target_rate_rad_per_s = R_WF.transpose() * drive->omega_W,
                         .stiffness_Nm_per_rad = drive->stiffness_Nm_per_rad,
                         .damping_Nms_per_rad = drive->damping_Nms_per_rad},
                        h_s);
}

void World::Impl::AddAxisLimit(const JointData& joint, int axis, double h_s,
                               std::vector<LimitRow>* rows) const {
  const std::optional<internal::Limits>& limits = joint.settings.limits[axis];
  if (!limits) return;
  const double angle = Angle(joint, axis);
  double driven = 0.0;
  if (const std::optional<JointDrive>& d = joint.settings.drive[axis]) {
    driven = (d->stiffness_Nm_per_rad * (d->target_rad - angle) +
              d->damping_Nms_per_rad * d->target_rate_rad_per_s) /
             (h_s * d->stiffness_Nm_per_rad + d->damping_Nms_per_rad);
  }
  const double reach = Reach(Rate(joint, axis), driven, h_s);
  const double to_lower = angle - limits->lower_rad, to_upper = limits->upper_rad - angle;
  // The engine's angles end at half a turn: a limit beyond is none.
  if (limits->lower_rad > -std::numbers::pi && to_lower < reach)
    rows->push_back({Axis(joint, axis), to_lower + Patience(to_lower, h_s)});
  if (limits->upper_rad < std::numbers::pi && to_upper < reach)
    rows->push_back({-Axis(joint, axis), to_upper + Patience(to_upper, h_s)});
}

// The rows are those of the pose to which the joint is going: there the limit's curvature and the
// joint's own have been travelled already, and only a change of the velocity is linearised.
void World::Impl::AddBallLimits(JointData* joint, double h_s, std::vector<LimitRow>* rows) const {
  if (!joint->settings.ball_limits) return;
  const BallGaps now(R_JpJc(*joint), *joint->settings.ball_limits);
  joint->gap_before_rad = now.least();
  const double reach = Reach(OmegaJp(*joint).norm(), joint->driven_rad_per_s, h_s);
  if (!(now.least() < reach)) return;
  const BallGaps then(joint->R_then, *joint->settings.ball_limits);
  const Mat3 R_WJp = R_WB(joint->parent) * joint->R_PJp;
  const double patience = Patience(now.least(), h_s);
  for (int k = 0; k < BallGaps::kCount; ++k) {
    if (!std::isfinite(then.gap[k])) continue;
    const double gap = then.gap[k] + h_s * then.outward[k].dot(joint->omega_then_Jp) + patience;
    if (gap < reach) rows->push_back({R_WJp * then.outward[k] * -1.0, gap});
  }
}

/// Where the present velocities lead.
void World::Impl::ForeseeBalls(double h_s) {
  for (JointData& joint : joints) {
    if (!joint.settings.ball_limits) continue;
    joint.omega_then_Jp = OmegaJp(joint);
    joint.R_then = geometry::Exp<double>(h_s * joint.omega_then_Jp) * R_JpJc(joint);
  }
}

// After a step whose velocities were not those foreseen: notes where they led, and says whether
// that is beyond a limit by more than the step should have left.
bool World::Impl::BallsPassedLimits(double h_s) {
  bool passed = false;
  for (JointData& joint : joints) {
    if (!joint.settings.ball_limits) continue;
    joint.R_then = R_JpJc(joint);
    joint.omega_then_Jp = (RotationBefore(joint.parent) * joint.R_PJp).transpose() *
                          (Omega(joint.child) - Omega(joint.parent));
    const BallGaps end(joint.R_then, *joint.settings.ball_limits);
    passed |= end.least() < -Patience(joint.gap_before_rad, h_s) - kLimitTolerance_rad;
  }
  return passed;
}

// A stop of ODE at 0 with the angle at -|gap|: its right-hand side is erp |gap| / h, so that erp =
// -1 lets the joint turn by the gap and no further, and +1 takes it back inside.
void World::Impl::ApplyLimits(JointData* joint, double h_s) {
  limit_rows.clear();
  for (int axis = 0; axis < joint->axis_count(); ++axis)
    AddAxisLimit(*joint, axis, h_s, &limit_rows);
  if (joint->kind == JointKind::kBall) AddBallLimits(joint, h_s, &limit_rows);
  for (int m = 0; m < 2; ++m) {
    dJointID limiter = joint->limiter[m];
    const int first = 3 * m, count = std::clamp(static_cast<int>(limit_rows.size()) - first, 0, 3);
    dJointSetAMotorNumAxes(limiter, count);
    for (int k = 0; k < count; ++k) {
      const LimitRow& row = limit_rows[static_cast<size_t>(first + k)];
      dJointSetAMotorAxis(limiter, k, 0, row.axis_W.x(), row.axis_W.y(), row.axis_W.z());
      dJointSetAMotorAngle(limiter, k, -std::abs(row.gap_rad));
      MotorParam(limiter, k, dParamLoStop, 0.0);
      MotorParam(limiter, k, dParamHiStop, dInfinity);
      MotorParam(limiter, k, dParamStopERP, row.gap_rad >= 0 ? -1.0 : 1.0);
      MotorParam(limiter, k, dParamStopCFM, 1e-10);
      MotorParam(limiter, k, dParamBounce, 0.0);
    }
  }
}

Vec3 World::Impl::OmegaJp(const JointData& j) const {
  return (R_WB(j.parent) * j.R_PJp).transpose() * (Omega(j.child) - Omega(j.parent));
}

Mat3 World::Impl::R_JpJc(const JointData& j) const {
  return (R_WB(j.parent) * j.R_PJp).transpose() * (R_WB(j.child) * j.R_CJc);
}

namespace internal {

Vec3 ChildAnchor(const JointData& joint) {
  dVector3 p;
  if (joint.kind == JointKind::kHinge) {
    dJointGetHingeAnchor(joint.id, p);
  } else if (joint.kind == JointKind::kUniversal) {
    dJointGetUniversalAnchor(joint.id, p);
  } else {
    dJointGetBallAnchor(joint.id, p);
  }
  return ToVec(p);
}

}  // namespace internal

Mat3 World::R_JpJc(int joint) const {
  CHECK(joint >= 0 && joint < joint_count());
  const JointData& j = impl_->Joint(joint);
  CHECK(j.kind == JointKind::kBall || j.kind == JointKind::kSoftRoot);
  return impl_->R_JpJc(j);
}

double World::angle_rad(int joint, int axis) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  CHECK(axis >= 0 && axis < j.axis_count());
  return Angle(j, axis);
}

double World::rate_rad_per_s(int joint, int axis) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  CHECK(axis >= 0 && axis < j.axis_count());
  return Rate(j, axis);
}

Vec3 World::anchor_W(int joint) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  if (j.kind == JointKind::kSoftRoot) return internal::ChildAnchor(j);
  dVector3 p;
  // "Anchor2" is the second body's view: our parent's.
  if (j.kind == JointKind::kHinge) dJointGetHingeAnchor2(j.id, p);
  if (j.kind == JointKind::kUniversal) dJointGetUniversalAnchor2(j.id, p);
  if (j.kind == JointKind::kBall) dJointGetBallAnchor2(j.id, p);
  return ToVec(p);
}

Vec3 World::axis_W(int joint, int axis) const {
  const JointData& j = impl_->joints.at(static_cast<size_t>(joint));
  CHECK(axis >= 0 && axis < j.axis_count());
  return Axis(j, axis);
}

double World::drift_m(int joint) const {
  return (internal::ChildAnchor(impl_->joints.at(static_cast<size_t>(joint))) - anchor_W(joint))
      .norm();
}

const JointReading& World::joint_reading(int joint) const {
  return impl_->joints.at(static_cast<size_t>(joint)).reading;
}

}  // namespace handhold::synthesis
