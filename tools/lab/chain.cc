#include "tools/lab/chain.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "database/model/site.h"

namespace handhold::lab {

using geometry::RigidTransform;
using geometry::Vec3;

Result<Chain> Chain::Build(const model::Skeleton& skeleton) {
  Chain chain;
  chain.tip_frame_ = model::OnlyTip(skeleton);
  const Error unsupported{
      ErrorCode::kUnsupported,
      "skeleton " + skeleton.name() +
          ": the virtual laboratory needs one finger of hinges and its fingertip's frame"};
  if (chain.tip_frame_ < 0) return unsupported;
  const model::NamedFrame& tip = skeleton.frames()[static_cast<size_t>(chain.tip_frame_)];
  std::vector<int> path;
  for (int b = tip.body; b != 0; b = skeleton.body(b).parent) path.insert(path.begin(), b);
  // Welded bodies are carried along in `fold`: the pose of the present body in the last link (or
  // the world).
  RigidTransform fold;
  for (const int b : path) {
    const model::Body& body = skeleton.body(b);
    if (body.joint.type == model::JointType::kFixed) {
      fold = fold * body.joint.X_PJp * body.joint.X_BJc.Inverse();
      if (chain.links_.empty()) {
        chain.X_Root_ = fold;
      } else if (body.mass.mass_kg > 0) {
        return unsupported;
      }
      continue;
    }
    if (body.joint.type != model::JointType::kHinge || skeleton.v_index(b) != chain.nv())
      return unsupported;
    Link link;
    link.X_PJ = chain.links_.empty() ? body.joint.X_PJp : fold * body.joint.X_PJp;
    link.X_JcB = body.joint.X_BJc.Inverse();
    link.axis = body.joint.axes[0];
    link.mass = body.mass;
    chain.links_.push_back(link);
    fold = {};
  }
  if (chain.nv() != skeleton.nv() || chain.nv() < 2) return unsupported;
  chain.p_BTip_ = fold * tip.X_BF.p;
  const auto n = static_cast<Eigen::Index>(chain.nv());
  chain.flexion_sign_.resize(n), chain.lower_.resize(n), chain.upper_.resize(n);
  const Pose zero = chain.Compute(Eigen::VectorXd::Zero(n));
  chain.joint_frames_at_zero_ = zero.p_W;
  int dof = 0;
  for (const int b : path) {
    if (skeleton.body(b).joint.type != model::JointType::kHinge) continue;
    chain.flexion_sign_[dof] = zero.axis_W[static_cast<size_t>(dof)].y() >= 0 ? 1.0 : -1.0;
    chain.lower_[dof] = skeleton.body(b).joint.lower_rad[0];
    chain.upper_[dof] = skeleton.body(b).joint.upper_rad[0];
    ++dof;
  }
  return chain;
}

Chain::Pose Chain::Compute(const Eigen::VectorXd& q) const {
  Pose pose;
  RigidTransform X_WB = X_Root_;
  for (size_t i = 0; i < links_.size(); ++i) {
    const RigidTransform X_WJ = X_WB * links_[i].X_PJ;
    pose.p_W.push_back(X_WJ.p);
    pose.axis_W.push_back(X_WJ.R * links_[i].axis);
    X_WB =
        X_WJ *
        RigidTransform{geometry::AxisAngle<double>(links_[i].axis, q[static_cast<Eigen::Index>(i)]),
                       Vec3::Zero()} *
        links_[i].X_JcB;
    pose.com_W.push_back(X_WB * links_[i].mass.p_BCom);
  }
  pose.tip_W = X_WB * p_BTip_;
  return pose;
}

Vec3 Chain::Tip(const Eigen::VectorXd& q) const { return Compute(q).tip_W; }

double Chain::LowestPoint(const Eigen::VectorXd& q) const {
  const Pose pose = Compute(q);
  double lowest = pose.tip_W.z();
  for (size_t i = 1; i < pose.p_W.size(); ++i) lowest = std::min(lowest, pose.p_W[i].z());
  return lowest;
}

Eigen::Matrix3Xd Chain::TipJacobian(const Eigen::VectorXd& q) const {
  const Pose pose = Compute(q);
  Eigen::Matrix3Xd J(3, nv());
  for (size_t i = 0; i < links_.size(); ++i) {
    J.col(static_cast<Eigen::Index>(i)) = pose.axis_W[i].cross(pose.tip_W - pose.p_W[i]);
  }
  return J;
}

Eigen::VectorXd Chain::GravityTorque(const Eigen::VectorXd& q) const {
  const Pose pose = Compute(q);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(nv());
  for (size_t j = 0; j < links_.size(); ++j) {
    for (size_t b = j; b < links_.size(); ++b) {
      const Vec3 weight(0, 0, -9.81 * links_[b].mass.mass_kg);
      tau[static_cast<Eigen::Index>(j)] -=
          pose.axis_W[j].dot((pose.com_W[b] - pose.p_W[j]).cross(weight));
    }
  }
  return tau;
}

Result<Eigen::VectorXd> Chain::TurnWristToHeight(Eigen::VectorXd q, double z_m) const {
  for (int i = 0; i < 50; ++i) {
    const double error = z_m - Tip(q).z();
    if (std::abs(error) < 1e-12) return q;
    const double slope = TipJacobian(q)(2, 0);
    if (std::abs(slope) < 1e-3) break;
    q[0] += std::clamp(error / slope, -0.2, 0.2);
  }
  return Error{ErrorCode::kInvalid,
               "posture: no turn of the wrist brings the fingertip to the plate"};
}

Result<Eigen::VectorXd> Chain::Reach(const Eigen::VectorXd& q_near, const Eigen::VectorXd& q_start,
                                     double x_m, double z_m, const Eigen::VectorXd& ease) const {
  Eigen::VectorXd q = q_start;
  for (int i = 0; i < 40; ++i) {
    const Vec3 tip = Tip(q);
    const Eigen::Matrix3Xd J3 = TipJacobian(q);
    Eigen::Matrix2Xd J(2, nv());
    J.row(0) = J3.row(0), J.row(1) = J3.row(2);
    const Eigen::Vector2d error(x_m - tip.x(), z_m - tip.z());
    // The nearest point to q_near on the linearised constraint.
    const Eigen::MatrixX2d EJt = ease.asDiagonal() * J.transpose();
    const Eigen::Matrix2d A = J * EJt;
    if (!(A.determinant() > 1e-10)) break;
    const Eigen::VectorXd next = q_near + EJt * A.inverse() * (error + J * (q - q_near));
    const double change = (next - q).cwiseAbs().maxCoeff();
    q = next;
    if (!q.allFinite() || (q - q_near).cwiseAbs().maxCoeff() > 1.5) break;
    if (change < 1e-11) return q;
  }
  return Error{ErrorCode::kInvalid,
               "posture: the commanded path of the fingertip runs out of the finger's reach"};
}

}  // namespace handhold::lab
