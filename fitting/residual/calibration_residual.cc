#include "fitting/residual/calibration_residual.h"

#include "database/base/check.h"
#include "database/geometry/rotation.h"

namespace handhold::fitting {
namespace {

using geometry::Mat3;
using geometry::Vec3;
using model::JointType;

/// A universal joint that hardly turns about its second axis is nearly a hinge: its centre along
/// the first is hardly seen.
constexpr double kNearlyHinge_rad = 0.36;  // 20 degrees and a little, as
                                           // fitting/skeleton/joint_range.h

/// Two unit vectors across `axis`.
Eigen::Matrix3Xd Across(const Vec3& axis) {
  Eigen::Index smallest = 0;
  axis.cwiseAbs().minCoeff(&smallest);
  const Vec3 a = axis.cross(Vec3(Vec3::Unit(smallest))).normalized();
  Eigen::Matrix3Xd m(3, 2);
  m << a, axis.cross(a).normalized();
  return m;
}

}  // namespace

CalibrationModel::CalibrationModel(const model::Skeleton& template_skeleton, int tip_frame)
    : template_(template_skeleton), tip_frame_(tip_frame) {
  auto add = [&](const std::string& name, char kind) {
    names_.push_back(name);
    kinds_.push_back(kind);
  };
  for (int b = 1; b < template_.body_count(); ++b) {
    const model::Joint& joint = template_.body(b).joint;
    if (joint.type == JointType::kFixed || joint.type == JointType::kFree) continue;
    JointParameters p;
    p.body = b;
    p.first = size();
    p.omega.resize(3, 0);
    p.v = Eigen::Matrix3d::Identity();
    if (joint.type == JointType::kHinge) p.v = Across(joint.axes[0]);
    const bool held = joint.type == JointType::kUniversal &&
                      joint.upper_rad[1] - joint.lower_rad[1] <= kNearlyHinge_rad;
    if (held) p.v << joint.axes[0], Across(joint.axes[0]);
    if (joint.type != JointType::kBall) p.omega = Across(joint.axes[0]);
    for (Eigen::Index k = 0; k < p.omega.cols(); ++k)
      add(joint.name + ".axis." + std::to_string(k + 1), 'a');
    for (Eigen::Index k = 0; k < p.v.cols(); ++k)
      add(joint.name + ".centre." + std::to_string(k + 1), held && k == 0 ? 'h' : 'c');
    joints_.push_back(std::move(p));
  }
  marker_parameter_ = size();
  for (const model::MarkerAttachment& marker : template_.markers()) {
    for (const char* c : {".x", ".y", ".z"}) add(marker.name + c, 'm');
  }
  tip_parameter_ = size();
  if (tip_frame_ >= 0) {
    for (const char* c : {".x", ".y", ".z"})
      add(template_.frames()[static_cast<size_t>(tip_frame_)].name + c, 't');
  }
}

const model::Skeleton& CalibrationModel::At(const Eigen::VectorXd& x) const {
  const model::Skeleton* hand = TryAt(x);
  CHECK(hand != nullptr);
  return *hand;
}

const model::Skeleton* CalibrationModel::TryAt(const Eigen::VectorXd& x) const {
  CHECK_EQ(x.size(), size());
  if (!built_.empty() && x == x_) return &built_.front();
  model::SkeletonDraft draft = template_.draft();
  for (const JointParameters& p : joints_) {
    geometry::RigidTransform& X = draft.bodies[static_cast<size_t>(p.body - 1)].joint.X_PJp;
    const Eigen::Index turns = p.omega.cols();
    const Vec3 omega = p.omega * x.segment(p.first, turns),
               v = p.v * x.segment(p.first + turns, p.v.cols());
    X.p += X.R * v;
    X.R = X.R * geometry::Exp<double>(omega);
  }
  for (size_t m = 0; m < draft.markers.size(); ++m)
    draft.markers[m].p_BM += x.segment<3>(marker_parameter(static_cast<int>(m)));
  if (tip_frame_ >= 0)
    draft.frames[static_cast<size_t>(tip_frame_)].X_BF.p += x.segment<3>(tip_parameter_);
  auto built = model::Skeleton::Build(std::move(draft));
  if (!built) return nullptr;
  built_.clear();
  built_.push_back(*std::move(built));
  x_ = x;
  return &built_.front();
}

void CalibrationModel::PointDerivative(const Eigen::VectorXd& x, const model::KinematicsData& data,
                                       int body, const Vec3& p_W,
                                       Eigen::Ref<Eigen::MatrixXd> out) const {
  const model::Skeleton& hand = At(x);
  for (const JointParameters& p : joints_) {
    int b = body;
    while (b > p.body) b = hand.body(b).parent;
    if (b != p.body) continue;
    const geometry::RigidTransform& X_WP = data.X_WB[static_cast<size_t>(hand.body(b).parent)];
    const geometry::RigidTransform X_WJ = X_WP * hand.body(b).joint.X_PJp;
    const Mat3 R_template = X_WP.R * template_.body(b).joint.X_PJp.R;
    const Eigen::Index turns = p.omega.cols();
    if (turns > 0) {
      const Vec3 omega = p.omega * x.segment(p.first, turns);
      const Mat3 right = geometry::LeftJacobian(-omega);
      out.middleCols(p.first, turns) +=
          -geometry::Skew<double>(p_W - X_WJ.p) * X_WJ.R * right * p.omega;
    }
    out.middleCols(p.first + turns, p.v.cols()) += R_template * p.v;
  }
}

std::vector<Eigen::Index> CalibrationModel::ParametersOfMarker(int m) const {
  std::vector<Eigen::Index> out;
  for (const JointParameters& p : joints_) {
    int b = template_.markers()[static_cast<size_t>(m)].body;
    while (b > p.body) b = template_.body(b).parent;
    if (b != p.body) continue;
    for (Eigen::Index k = 0; k < p.omega.cols() + p.v.cols(); ++k) out.push_back(p.first + k);
  }
  for (int k = 0; k < 3; ++k) out.push_back(marker_parameter(m) + k);
  return out;
}

std::vector<Eigen::Index> CalibrationModel::ParametersOfBodies(
    const std::vector<char>& bodies) const {
  std::vector<Eigen::Index> out;
  for (const JointParameters& p : joints_) {
    if (bodies[static_cast<size_t>(p.body)] == 0) continue;
    for (Eigen::Index k = 0; k < p.omega.cols() + p.v.cols(); ++k) out.push_back(p.first + k);
  }
  for (size_t m = 0; m < template_.markers().size(); ++m) {
    if (bodies[static_cast<size_t>(template_.markers()[m].body)] == 0) continue;
    for (int k = 0; k < 3; ++k) out.push_back(marker_parameter(static_cast<int>(m)) + k);
  }
  return out;
}

Eigen::VectorXd CalibrationModel::ScaledBodies(const std::vector<char>& bodies,
                                               double scale) const {
  Eigen::VectorXd x = Eigen::VectorXd::Zero(size());
  for (const JointParameters& p : joints_) {
    const model::Body& body = template_.body(p.body);
    if (bodies[static_cast<size_t>(p.body)] == 0 || bodies[static_cast<size_t>(body.parent)] == 0)
      continue;
    const geometry::RigidTransform& X = body.joint.X_PJp;
    x.segment(p.first + p.omega.cols(), p.v.cols()) =
        (scale - 1) * p.v.transpose() * (X.R.transpose() * X.p);
  }
  for (size_t m = 0; m < template_.markers().size(); ++m) {
    const model::MarkerAttachment& marker = template_.markers()[m];
    if (bodies[static_cast<size_t>(marker.body)] != 0)
      x.segment<3>(marker_parameter(static_cast<int>(m))) = (scale - 1) * marker.p_BM;
  }
  return x;
}

void CalibrationModel::MoveContents(int body, const Vec3& omega, const Vec3& t,
                                    Eigen::Ref<Eigen::VectorXd> g) const {
  auto moved = [&](const Vec3& p) { return Vec3(omega.cross(p) + t); };
  for (size_t m = 0; m < template_.markers().size(); ++m) {
    const model::MarkerAttachment& marker = template_.markers()[m];
    if (marker.body == body)
      g.segment<3>(marker_parameter(static_cast<int>(m))) += moved(marker.p_BM);
  }
  if (tip_frame_ >= 0) {
    const model::NamedFrame& tip = template_.frames()[static_cast<size_t>(tip_frame_)];
    if (tip.body == body) g.segment<3>(tip_parameter_) += moved(tip.X_BF.p);
  }
  for (int child = body + 1; child < template_.body_count(); ++child) {
    if (template_.body(child).parent != body) continue;
    const model::Joint& joint = template_.body(child).joint;
    if (joint.type == JointType::kFree) continue;  // its own coordinates take any motion over
    const Vec3 turn = joint.X_PJp.R.transpose() * omega,
               shift = joint.X_PJp.R.transpose() * moved(joint.X_PJp.p);
    Vec3 rest = shift;  // what no parameter of the joint takes: everything further out must follow
    for (const JointParameters& p : joints_) {
      if (p.body != child) continue;
      g.segment(p.first, p.omega.cols()) += p.omega.transpose() * turn;
      g.segment(p.first + p.omega.cols(), p.v.cols()) += p.v.transpose() * shift;
      rest -= p.v * (p.v.transpose() * shift);
    }
    const geometry::RigidTransform& X_BJc = joint.X_BJc;
    if (joint.type == JointType::kFixed) {
      const Vec3 turn_B = X_BJc.R * turn;
      MoveContents(child, turn_B, X_BJc.R * shift - turn_B.cross(X_BJc.p), g);
    } else if (rest.norm() > 0) {  // along a hinge's axis, which its rotation does not turn
      MoveContents(child, Vec3::Zero(), X_BJc.R * rest, g);
    }
  }
}

Eigen::MatrixXd CalibrationModel::GaugeDirections() const {
  std::vector<Eigen::VectorXd> directions;
  auto add = [&](int body, const Vec3& omega, const Vec3& t) {
    directions.push_back(Eigen::VectorXd::Zero(size()));
    MoveContents(body, omega, t, directions.back());
  };
  for (int b = 1; b < template_.body_count(); ++b) {
    const model::Joint& joint = template_.body(b).joint;
    auto turn = [&](const Vec3& axis_J) {  // about the joint
      const Vec3 axis = joint.X_BJc.R * axis_J;
      add(b, axis, -axis.cross(joint.X_BJc.p));
    };
    if (joint.type == JointType::kHinge) turn(joint.axes[0]);
    if (joint.type == JointType::kUniversal) turn(joint.axes[1]);
    if (joint.type != JointType::kBall && joint.type != JointType::kFree) continue;
    for (int k = 0; k < 3; ++k) turn(Vec3::Unit(k));
    for (int k = 0; k < 3 && joint.type == JointType::kFree; ++k)
      add(b, Vec3::Zero(), Vec3::Unit(k));
  }
  Eigen::MatrixXd out(size(), static_cast<Eigen::Index>(directions.size()));
  for (size_t k = 0; k < directions.size(); ++k)
    out.col(static_cast<Eigen::Index>(k)) = directions[k];
  return out;
}

CalibrationResidual::CalibrationResidual(const CalibrationModel& calibration,
                                         const Eigen::Matrix3Xd& z_WM, double marker_sd_m)
    : calibration_(calibration), z_WM_(z_WM), weight_(1.0 / marker_sd_m) {
  CHECK_GT(marker_sd_m, 0);
  CHECK_EQ(static_cast<size_t>(z_WM.cols()), calibration.template_skeleton().markers().size());
  set_num_residuals(3 * static_cast<int>(z_WM.cols()));
  mutable_parameter_block_sizes()->push_back(calibration.size());
  mutable_parameter_block_sizes()->push_back(calibration.template_skeleton().nq());
}

bool CalibrationResidual::EvaluateTangent(const Eigen::VectorXd& x, const Eigen::VectorXd& q,
                                          Eigen::VectorXd* r, Eigen::MatrixXd* J_x,
                                          Eigen::MatrixXd* J_v) const {
  const model::Skeleton* at_x = calibration_.TryAt(x);
  if (at_x == nullptr) return false;
  const model::Skeleton& hand = *at_x;
  model::KinematicsData data(hand);
  model::ComputeJacobian(hand, q, &data);
  const Eigen::Index rows = 3 * z_WM_.cols();
  r->setZero(rows);
  if (J_x != nullptr) J_x->setZero(rows, calibration_.size());
  if (J_v != nullptr) J_v->setZero(rows, hand.nv());
  for (Eigen::Index m = 0; m < z_WM_.cols(); ++m) {
    if (!z_WM_.col(m).allFinite()) continue;
    const model::MarkerAttachment& marker = hand.markers()[static_cast<size_t>(m)];
    const geometry::RigidTransform& X_WB = data.X_WB[static_cast<size_t>(marker.body)];
    const Vec3 p_W = X_WB * marker.p_BM;
    r->segment<3>(3 * m) = weight_ * (p_W - z_WM_.col(m));
    if (J_x != nullptr) {
      calibration_.PointDerivative(x, data, marker.body, p_W, J_x->middleRows(3 * m, 3));
      J_x->block<3, 3>(3 * m, calibration_.marker_parameter(static_cast<int>(m))) = X_WB.R;
      J_x->middleRows(3 * m, 3) *= weight_;
    }
    if (J_v == nullptr) continue;
    for (int j = 0; j < hand.nv(); ++j) {
      if (!hand.DofMovesBody(j, marker.body)) continue;
      const auto twist = data.J_W.col(j);
      J_v->block<3, 1>(3 * m, j) =
          weight_ * (Vec3(twist.tail<3>()) + Vec3(twist.head<3>()).cross(p_W));
    }
  }
  return true;
}

bool CalibrationResidual::Evaluate(double const* const* parameters, double* residuals,
                                   double** jacobians) const {
  const model::Skeleton& hand = calibration_.template_skeleton();
  const Eigen::VectorXd x = Eigen::Map<const Eigen::VectorXd>(parameters[0], calibration_.size());
  const Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(parameters[1], hand.nq());
  Eigen::VectorXd r;
  Eigen::MatrixXd J_x, J_v;
  if (!EvaluateTangent(x, q, &r, &J_x, &J_v) || !r.allFinite()) return false;
  Eigen::Map<Eigen::VectorXd>(residuals, r.size()) = r;
  if (jacobians == nullptr) return true;
  if (jacobians[0] != nullptr) Eigen::Map<RowMajorMatrix>(jacobians[0], r.size(), x.size()) = J_x;
  if (jacobians[1] != nullptr)
    Eigen::Map<RowMajorMatrix>(jacobians[1], r.size(), hand.nq()) = J_v * MinusJacobian(hand, q);
  return true;
}

}  // namespace handhold::fitting
