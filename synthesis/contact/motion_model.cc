#include "synthesis/contact/motion_model.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"
#include "database/base/units.h"
#include "database/model/configuration.h"

namespace handhold::synthesis {

using geometry::Mat3;
using geometry::Mat6;
using geometry::RigidTransform;
using geometry::Vec3;
using geometry::Vec6;
using Rows = Eigen::Ref<Eigen::Matrix<double, 3, Eigen::Dynamic>>;

namespace {

/// How far a ball joint's rotation is from its limits: twist from below and above, and the elliptic
/// cone of its swing (skeleton.h), all in radians.
struct BallGaps {
  double twist_low, twist_high, swing;
};

BallGaps GapsOfBall(const model::Joint& joint, const Mat3& R) {
  const Vec3 at = model::SwingTwist(R);
  BallGaps gaps{at[0] - joint.lower_rad[0], joint.upper_rad[0] - at[0],
                std::numeric_limits<double>::infinity()};
  Eigen::Vector2d scaled = Eigen::Vector2d::Zero();
  double least = std::numeric_limits<double>::infinity();
  for (int k = 1; k < 3; ++k) {
    const double half = 0.5 * (joint.upper_rad[k] - joint.lower_rad[k]);
    if (!std::isfinite(half)) continue;
    const double from_middle = at[k] - 0.5 * (joint.upper_rad[k] + joint.lower_rad[k]);
    scaled[k - 1] = from_middle / std::max(half, 1e-9);
    least = std::min(least, half);
  }
  if (std::isfinite(least)) gaps.swing = least * (1.0 - scaled.norm());
  return gaps;
}

void AddBallLimits(const model::Joint& joint, const Eigen::Vector4d& wxyz, int first, double near,
                   std::vector<LimitRow>* rows) {
  const Mat3 R = geometry::FromQuaternion(wxyz[0], wxyz[1], wxyz[2], wxyz[3]);
  const BallGaps at = GapsOfBall(joint, R);
  if (std::min({at.twist_low, at.twist_high, at.swing}) >= near) return;
  // Rates of the three by central differences along the joint's velocities.
  constexpr double kNudge = 1e-6;
  Vec3 low, high, swing;
  for (int k = 0; k < 3; ++k) {
    const Vec3 e = kNudge * Vec3::Unit(k);
    const BallGaps plus = GapsOfBall(joint, R * geometry::Exp<double>(e));
    const BallGaps minus = GapsOfBall(joint, R * geometry::Exp<double>(Vec3(-e)));
    low[k] = (plus.twist_low - minus.twist_low) / (2 * kNudge);
    high[k] = (plus.twist_high - minus.twist_high) / (2 * kNudge);
    swing[k] = (plus.swing - minus.swing) / (2 * kNudge);
  }
  if (at.twist_low < near) rows->push_back({first, 3, low, at.twist_low});
  if (at.twist_high < near) rows->push_back({first, 3, high, at.twist_high});
  if (at.swing < near && swing.allFinite()) rows->push_back({first, 3, swing, at.swing});
}

bool Sized(const Eigen::VectorXd& v, int n) { return v.size() == n && v.allFinite(); }
bool SizedNotNegative(const Eigen::VectorXd& v, int n) {
  return Sized(v, n) && (n == 0 || v.minCoeff() >= 0.0);
}

Error DoesNotFit(const model::Skeleton& skeleton, const char* what) {
  return {ErrorCode::kInvalid, "the step of '" + skeleton.name() + "': " + what};
}

}  // namespace

void AddJointLimits(const model::Skeleton& skeleton, const Eigen::VectorXd& q,
                    const Eigen::VectorXd& x0, double within_rad, std::vector<LimitRow>* rows) {
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    const int iq = skeleton.q_index(b), iv = skeleton.v_index(b);
    switch (joint.type) {
      case model::JointType::kFixed:
      case model::JointType::kFree:
        break;
      case model::JointType::kHinge:
      case model::JointType::kUniversal:
        for (int k = 0; k < joint.nv(); ++k) {
          const double near = within_rad + std::abs(x0[iv + k]);
          const double low = q[iq + k] - joint.lower_rad[k], high = joint.upper_rad[k] - q[iq + k];
          if (low < near) rows->push_back({iv + k, 1, Vec3::UnitX(), low});
          if (high < near) rows->push_back({iv + k, 1, Vec3(-1, 0, 0), high});
        }
        break;
      case model::JointType::kBall:
        AddBallLimits(joint, q.segment<4>(iq), iv, within_rad + x0.segment<3>(iv).norm(), rows);
        break;
    }
  }
}

// ---------------------------------------------------------------------------------------------

CompliantTree::CompliantTree(const model::Skeleton& skeleton, int tree, TreeOptions options,
                             double root_compliance_m_per_N)
    : skeleton_(skeleton),
      tree_(tree),
      options_(options),
      root_compliance_m_per_N_(root_compliance_m_per_N),
      kinematics_(skeleton),
      q_(skeleton.ZeroConfiguration()) {
  CHECK_GT(options_.step_s, 0.0);
  CHECK_GE(root_compliance_m_per_N, 0.0);
  const int n = skeleton.nv() + (root_compliance_m_per_N > 0 ? 3 : 0);
  W_ = x0_ = Eigen::VectorXd::Zero(n);
  a_ = bend_ = Eigen::VectorXd::Zero(skeleton.nv());
  target_ = q_;
  Pose();
}

void CompliantTree::Pose() {
  model::ComputeJacobian<double>(skeleton_, q_, &kinematics_);
  if (root_compliance_m_per_N_ == 0.0) return;
  for (size_t b = 1; b < kinematics_.X_WB.size(); ++b) kinematics_.X_WB[b].p += root_offset_W_;
}

void CompliantTree::SetConfiguration(const Eigen::VectorXd& q) {
  CHECK_EQ(q.size(), skeleton_.nq());
  q_ = q;
  Pose();
}

void CompliantTree::ResetRoot() {
  root_offset_W_.setZero();
  Pose();
}

Status CompliantTree::Prepare(const CompliantStep& step) {
  const int nq = skeleton_.nq(), nv = skeleton_.nv();
  if (!Sized(step.q_reference, nq) || !Sized(step.q_reference_next, nq))
    return DoesNotFit(skeleton_, "references of another size, or not finite");
  if (!SizedNotNegative(step.compliance_rad_per_Nm, nv))
    return DoesNotFit(skeleton_, "compliances of another size, not finite or negative");
  const bool damped = step.time_constant_s.size() > 0;
  if (damped && !SizedNotNegative(step.time_constant_s, nv))
    return DoesNotFit(skeleton_, "time constants of another size, not finite or negative");
  if (!q_.allFinite()) return DoesNotFit(skeleton_, "its angles are not finite");
  const double h = options_.step_s;
  if (damped && step.time_constant_s.maxCoeff() > 0) {
    a_ = (step.time_constant_s.array() / (step.time_constant_s.array() + h)).matrix();
    W_.head(nv) = step.compliance_rad_per_Nm.cwiseProduct(Eigen::VectorXd::Ones(nv) - a_);
    model::DifferenceInto(skeleton_, step.q_reference, q_, bend_);
    bend_.array() *= a_.array();
    model::IntegrateInto(skeleton_, step.q_reference_next, bend_, target_);
    model::DifferenceInto(skeleton_, q_, target_, x0_.head(nv));
  } else {
    W_.head(nv) = step.compliance_rad_per_Nm;
    model::DifferenceInto(skeleton_, q_, step.q_reference_next, x0_.head(nv));
  }
  if (root_compliance_m_per_N_ > 0) {
    W_.tail<3>().setConstant(root_compliance_m_per_N_);
    x0_.tail<3>() = -root_offset_W_;
  }
  return {};
}

bool CompliantTree::Owns(const ContactSide& side) const {
  return side.kind == ContactSide::Kind::kLink && side.tree == tree_;
}

void CompliantTree::PointRows(const ContactSide& side, const Vec3& p_W, Rows rows) const {
  const int nv = skeleton_.nv();
  // The Jacobian was made before the root's displacement: its points lie that much back.
  model::PointJacobian<double>(skeleton_, kinematics_, side.index, p_W - root_offset_W_,
                               rows.leftCols(nv));
  if (rows.cols() > nv) {
    rows.rightCols<3>() = side.index > 0 ? Mat3(Mat3::Identity()) : Mat3(Mat3::Zero());
  }
}

void CompliantTree::ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
                           Eigen::Ref<Eigen::MatrixXd> y) const {
  y.noalias() = W_.asDiagonal() * a;
}

void CompliantTree::AddLimits(std::vector<LimitRow>* rows) const {
  if (!options_.limits) return;
  const size_t first = rows->size();
  AddJointLimits(skeleton_, q_, x0_, options_.limit_within_rad, rows);
  // A joint without compliance goes where its reference goes: no force holds it back.
  std::erase_if(*rows, [&, i = size_t{0}](const LimitRow& row) mutable {
    return i++ >= first && !(W_.segment(row.first, row.count).minCoeff() > 0.0);
  });
}

void CompliantTree::Advance(const Eigen::Ref<const Eigen::VectorXd>& x) {
  CHECK_EQ(x.size(), x0_.size());
  model::IntegrateInto(skeleton_, q_, x.head(skeleton_.nv()), q_);
  if (root_compliance_m_per_N_ > 0) root_offset_W_ += x.tail<3>();
  if (q_.allFinite()) Pose();
}

// ---------------------------------------------------------------------------------------------

DynamicTree::DynamicTree(const model::Skeleton& skeleton, int tree, TreeOptions options)
    : skeleton_(skeleton),
      tree_(tree),
      options_(options),
      kinematics_(skeleton),
      dynamics_(skeleton),
      A_(Eigen::MatrixXd::Zero(skeleton.nv(), skeleton.nv())),
      llt_(skeleton.nv()),
      q_(skeleton.ZeroConfiguration()),
      v_(Eigen::VectorXd::Zero(skeleton.nv())),
      x0_(Eigen::VectorXd::Zero(skeleton.nv())),
      rhs_(Eigen::VectorXd::Zero(skeleton.nv())),
      bend_(Eigen::VectorXd::Zero(skeleton.nv())) {
  CHECK_GT(options_.step_s, 0.0);
  SetState(q_, v_);
}

void DynamicTree::SetState(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
  CHECK_EQ(q.size(), skeleton_.nq());
  CHECK_EQ(v.size(), skeleton_.nv());
  q_ = q;
  v_ = v;
  if (q_.allFinite()) model::ComputeJacobian<double>(skeleton_, q_, &kinematics_);
}

// M (v' - v) / h = tau - bias + J^T f - K (q (+) h v' - q_ref) - B (v' - v_ref), so that with A = M
// + h B + h^2 K and x = h v': A x = h (M v + h (tau - bias + K (q_ref (-) q)) + h B v_ref) + h^2
// J^T f.
Status DynamicTree::Prepare(const DynamicStep& step) {
  const int nv = skeleton_.nv();
  if (!Sized(step.q_reference, skeleton_.nq()) || !Sized(step.v_reference, nv))
    return DoesNotFit(skeleton_, "references of another size, or not finite");
  if (!SizedNotNegative(step.stiffness_Nm_per_rad, nv) ||
      !SizedNotNegative(step.damping_Nms_per_rad, nv))
    return DoesNotFit(skeleton_, "stiffness or damping of another size, not finite or negative");
  if (step.torque_Nm.size() > 0 && !Sized(step.torque_Nm, nv))
    return DoesNotFit(skeleton_, "torques of another size, or not finite");
  if (!q_.allFinite() || !v_.allFinite()) return DoesNotFit(skeleton_, "its state is not finite");
  const double h = options_.step_s;
  model::BiasForces<double>(skeleton_, q_, v_, step.gravity_W, &dynamics_, rhs_);
  model::MassMatrix<double>(skeleton_, q_, &dynamics_, A_);
  rhs_ = -h * rhs_;
  rhs_.noalias() += A_ * v_;
  model::DifferenceInto(skeleton_, q_, step.q_reference, bend_);
  rhs_ += h * step.stiffness_Nm_per_rad.cwiseProduct(bend_) +
          h * step.damping_Nms_per_rad.cwiseProduct(step.v_reference);
  if (step.torque_Nm.size() > 0) rhs_ += h * step.torque_Nm;
  A_.diagonal() += h * step.damping_Nms_per_rad + h * h * step.stiffness_Nm_per_rad;
  llt_.compute(A_);
  if (llt_.info() != Eigen::Success) {
    return Error{ErrorCode::kNotConverged,
                 "the mass matrix of '" + skeleton_.name() + "' is not positive definite"};
  }
  x0_ = h * rhs_;
  llt_.solveInPlace(x0_);
  return {};
}

bool DynamicTree::Owns(const ContactSide& side) const {
  return side.kind == ContactSide::Kind::kLink && side.tree == tree_;
}

void DynamicTree::PointRows(const ContactSide& side, const Vec3& p_W, Rows rows) const {
  model::PointJacobian<double>(skeleton_, kinematics_, side.index, p_W, rows);
}

void DynamicTree::ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
                         Eigen::Ref<Eigen::MatrixXd> y) const {
  y = options_.step_s * options_.step_s * a;
  llt_.solveInPlace(y);
}

void DynamicTree::AddLimits(std::vector<LimitRow>* rows) const {
  if (options_.limits) AddJointLimits(skeleton_, q_, x0_, options_.limit_within_rad, rows);
}

void DynamicTree::Advance(const Eigen::Ref<const Eigen::VectorXd>& x) {
  CHECK_EQ(x.size(), x0_.size());
  v_ = x / options_.step_s;
  model::IntegrateInto(skeleton_, q_, x, q_);
  if (q_.allFinite()) model::ComputeJacobian<double>(skeleton_, q_, &kinematics_);
}

// ---------------------------------------------------------------------------------------------

FreeBody::FreeBody(const MovingBody& state, int index, BodyOptions options)
    : state_(state), index_(index), options_(options) {
  CHECK_GT(options_.step_s, 0.0);
  CHECK_GT(state.mass.mass_kg, 0.0);
}

// Eq. 3 with the step's start as the frame: axes that stand still while the body turns out of them.
// Its linear momentum then feels only forces, and its spin -omega x I omega; the paper's body axes
// would turn v by an Euler step, which makes whatever spins faster and faster (hypot(1, h omega) a
// step).
void FreeBody::Prepare() {
  const double h = options_.step_s;
  const Mat6 M = geometry::SpatialInertia(state_.mass);
  const Vec3 weight_B = state_.mass.mass_kg * (state_.X_WB.R.transpose() * options_.gravity_W);
  const Vec3 omega = state_.V_B.head<3>();
  Vec6 w = state_.w_external_B;
  w.head<3>() += state_.mass.p_BCom.cross(weight_B) - omega.cross(state_.mass.I_BCom_B * omega);
  w.tail<3>() += weight_B;
  const Eigen::LLT<Mat6> llt(M);
  W_ = h * h * llt.solve(Mat6(Mat6::Identity()));
  x0_ = h * (state_.V_B + h * Vec6(llt.solve(w)));
}

bool FreeBody::Owns(const ContactSide& side) const {
  return side.kind == ContactSide::Kind::kBody && side.index == index_;
}

void FreeBody::PointRows(const ContactSide&, const Vec3& p_W, Rows rows) const {
  // Gamma(p) Ad_WB: R (v + omega x p_B).
  const Vec3 p_B = state_.X_WB.Inverse() * p_W;
  rows.leftCols<3>() = -state_.X_WB.R * geometry::Skew<double>(p_B);
  rows.rightCols<3>() = state_.X_WB.R;
}

void FreeBody::ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
                      Eigen::Ref<Eigen::MatrixXd> y) const {
  y.noalias() = W_ * a;
}

void FreeBody::Advance(const Eigen::Ref<const Eigen::VectorXd>& x) {
  CHECK_EQ(x.size(), 6);
  const Vec3 turn = x.head<3>(), c = state_.mass.p_BCom;
  const Vec3 com_step = Vec3(x.tail<3>()) + turn.cross(c);  // of the centre of mass, old axes
  const Vec3 com_W = state_.X_WB * c + state_.X_WB.R * com_step;
  const Mat3 R = geometry::Exp<double>(turn);
  state_.X_WB.R = geometry::NearestRotation(state_.X_WB.R * R);
  state_.X_WB.p = com_W - state_.X_WB.R * c;
  // Momentum is kept, not the turn: about the centre of mass, in the old axes, it is what the turn
  // has and what the gyroscopic torque took from it. A spin that keeps its turn gains energy with
  // every step, and a thing that is thrown spins beyond all numbers within seconds.
  const double h = options_.step_s;
  const Mat3& I = state_.mass.I_BCom_B;
  const Vec3 omega = state_.V_B.head<3>();
  const Vec3 momentum = I * turn / h + h * omega.cross(I * omega);
  state_.V_B.head<3>() = I.llt().solve(R.transpose() * momentum);
  state_.V_B.tail<3>() = R.transpose() * com_step / h - state_.V_B.head<3>().cross(c);
}

// ---------------------------------------------------------------------------------------------

OneWayBody::OneWayBody(const MovingBody& state, int index, const Vec3& p_W, const Vec3& axis_W,
                       bool turns, Yield yield, BodyOptions options)
    : mass_(state.mass),
      X_WB0_(state.X_WB),
      X_WB_(state.X_WB),
      index_(index),
      p_W_(p_W),
      axis_W_(axis_W),
      turns_(turns),
      yield_(yield),
      options_(options),
      w_external_B_(state.w_external_B) {
  CHECK_GT(options_.step_s, 0.0);
  CHECK_GT(mass_.mass_kg, 0.0);
  CHECK_GE(yield_.damping, 0.0);
  CHECK_GE(yield_.stiffness, 0.0);
  CHECK(std::abs(axis_W_.norm() - 1.0) < 1e-9);
  if (turns_) {
    const Vec3 arm = X_WB0_ * mass_.p_BCom - p_W_;
    inertia_ = axis_W_.dot(X_WB0_.R * mass_.I_BCom_B * X_WB0_.R.transpose() * axis_W_) +
               mass_.mass_kg * (arm.squaredNorm() - std::pow(arm.dot(axis_W_), 2));
  } else {
    inertia_ = mass_.mass_kg;
  }
}

void OneWayBody::Pose() {
  if (turns_) {
    const Mat3 turn = geometry::AxisAngle<double>(axis_W_, position_);
    X_WB_ = {turn * X_WB0_.R, p_W_ + turn * (X_WB0_.p - p_W_)};
  } else {
    X_WB_.p = X_WB0_.p + position_ * axis_W_;
  }
}

void OneWayBody::SetState(double position, double rate) {
  position_ = position;
  rate_ = rate;
  Pose();
}

// S^T M S (rate' - rate) / h = S^T w - b rate' - k (position + h rate'). The bearing carries what
// turns and throws off: S^T [phi]^T M phi = 0.
void OneWayBody::Prepare() {
  const double h = options_.step_s;
  const Vec3 weight = mass_.mass_kg * options_.gravity_W, f = X_WB_.R * w_external_B_.tail<3>();
  double push;
  if (turns_) {
    const Vec3 about_origin = X_WB_.R * w_external_B_.head<3>();
    push = axis_W_.dot((X_WB_ * mass_.p_BCom - p_W_).cross(weight) + about_origin +
                       (X_WB_.p - p_W_).cross(f));
  } else {
    push = axis_W_.dot(weight + f);
  }
  const double resists = inertia_ + h * yield_.damping + h * h * yield_.stiffness;
  W_ = h * h / resists;
  x0_[0] = h * (inertia_ * rate_ + h * (push - yield_.stiffness * position_)) / resists;
}

bool OneWayBody::Owns(const ContactSide& side) const {
  return side.kind == ContactSide::Kind::kBody && side.index == index_;
}

void OneWayBody::PointRows(const ContactSide&, const Vec3& p_W, Rows rows) const {
  rows.col(0) = turns_ ? Vec3(axis_W_.cross(p_W - p_W_)) : axis_W_;
}

void OneWayBody::ApplyW(const Eigen::Ref<const Eigen::MatrixXd>& a,
                        Eigen::Ref<Eigen::MatrixXd> y) const {
  y = W_ * a;
}

void OneWayBody::Advance(const Eigen::Ref<const Eigen::VectorXd>& x) {
  CHECK_EQ(x.size(), 1);
  rate_ = x[0] / options_.step_s;
  position_ += x[0];
  Pose();
}

}  // namespace handhold::synthesis
