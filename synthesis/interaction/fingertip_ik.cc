#include "synthesis/interaction/fingertip_ik.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <Eigen/Cholesky>

#include "database/model/kinematics.h"

namespace handhold::synthesis {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Where each velocity may go: hinges and universals between their limits, all others anywhere.
struct Range {
  VectorXd least, most;
};

Range StepRange(const model::Skeleton& skeleton, const VectorXd& q) {
  constexpr double kFree = std::numeric_limits<double>::infinity();
  Range range{VectorXd::Constant(skeleton.nv(), -kFree), VectorXd::Constant(skeleton.nv(), kFree)};
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const model::Joint& joint = skeleton.body(b).joint;
    if (joint.type != model::JointType::kHinge && joint.type != model::JointType::kUniversal)
      continue;
    for (int i = 0; i < joint.nv(); ++i) {
      const double at = q[skeleton.q_index(b) + i];
      range.least[skeleton.v_index(b) + i] = std::min(0.0, joint.lower_rad[i] - at);
      range.most[skeleton.v_index(b) + i] = std::max(0.0, joint.upper_rad[i] - at);
    }
  }
  return range;
}

/// dq = J^T (J J^T + lambda^2 I)^-1 (e - J pull) + pull over the velocities that are free; one that
/// would leave its range stops at its end and the others take over its share.
VectorXd DampedStep(const MatrixXd& J, const VectorXd& e, const VectorXd& pull, const Range& range,
                    const std::vector<char>& locked, double damping_m) {
  const Index nv = J.cols();
  VectorXd dq = VectorXd::Zero(nv), fixed = VectorXd::Zero(nv);
  std::vector<char> stopped(static_cast<size_t>(nv), 0);
  if (!locked.empty()) stopped = locked;
  for (Index pass = 0; pass <= nv; ++pass) {
    MatrixXd A = J;
    VectorXd free_pull = pull;
    for (Index d = 0; d < nv; ++d) {
      if (!stopped[static_cast<size_t>(d)]) continue;
      A.col(d).setZero();
      free_pull[d] = 0.0;
    }
    MatrixXd N = A * A.transpose();
    N.diagonal().array() += damping_m * damping_m;
    const VectorXd wanted = e - J * fixed - A * free_pull;
    dq = A.transpose() * N.llt().solve(wanted) + free_pull + fixed;
    bool more = false;
    for (Index d = 0; d < nv; ++d) {
      if (stopped[static_cast<size_t>(d)] || (dq[d] >= range.least[d] && dq[d] <= range.most[d]))
        continue;
      fixed[d] = std::clamp(dq[d], range.least[d], range.most[d]);
      stopped[static_cast<size_t>(d)] = 1;
      more = true;
    }
    if (!more) break;
  }
  return dq;
}

}  // namespace

Status ReachFingertips(const model::Skeleton& skeleton, std::span<const FingertipGoal> goals,
                       const VectorXd& q_rest, const std::vector<char>& locked,
                       const IkOptions& options, VectorXd* q) {
  bool fits = q->size() == skeleton.nq() && q_rest.size() == skeleton.nq() && q->allFinite() &&
              q_rest.allFinite() &&
              (locked.empty() || locked.size() == static_cast<size_t>(skeleton.nv()));
  for (const FingertipGoal& goal : goals)
    fits = fits && goal.p_W.allFinite() && goal.body > 0 && goal.body < skeleton.body_count();
  if (!fits) {
    return Error{ErrorCode::kInvalid,
                 "the fingertips' goals do not fit skeleton '" + skeleton.name() + "'"};
  }
  model::KinematicsData data(skeleton);
  const Index rows = 3 * static_cast<Index>(goals.size());
  MatrixXd J(rows, skeleton.nv());
  VectorXd e(rows);
  const auto measure = [&] {
    model::ComputeJacobian<double>(skeleton, *q, &data);
    for (size_t i = 0; i < goals.size(); ++i) {
      const FingertipGoal& goal = goals[i];
      const geometry::Vec3 p_W = data.X_WB[static_cast<size_t>(goal.body)] * goal.p_B;
      const Index at = 3 * static_cast<Index>(i);
      e.segment<3>(at) = goal.p_W - p_W;
      model::PointJacobian<double>(skeleton, data, goal.body, p_W, J.middleRows<3>(at));
    }
  };
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    measure();
    const VectorXd pull = skeleton.Difference(*q, q_rest);
    VectorXd dq = DampedStep(J, e, pull, StepRange(skeleton, *q), locked, options.damping_m);
    const double largest = dq.cwiseAbs().maxCoeff();
    if (largest > options.largest_step_rad) dq *= options.largest_step_rad / largest;
    *q = skeleton.Integrate(*q, dq);
    if (largest < options.settled) break;
  }
  measure();
  std::string missed;
  for (size_t i = 0; i < goals.size(); ++i) {
    const double distance_m = e.segment<3>(3 * static_cast<Index>(i)).norm();
    if (distance_m <= options.reached_m) continue;
    char text[64];
    std::snprintf(text, sizeof text, " by %.1f mm", 1e3 * distance_m);
    if (!missed.empty()) missed += ", ";
    missed += goals[i].name;
    missed += text;
  }
  if (missed.empty()) return {};
  return Error{ErrorCode::kInvalid, "'" + skeleton.name() + "' cannot reach there: it misses " +
                                        missed + ", its joints at their limits or stretched"};
}

}  // namespace handhold::synthesis
