#include "fitting/skeleton/start.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/geometry/fit.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"

namespace handhold::fitting {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;
using model::JointType;
using model::Skeleton;

/// Markers closer together than this across their longest line do not show a turn about it.
constexpr double kLeastWidth_m = 0.01;

bool MovesAsOne(const Skeleton& skeleton, int body) {
  while (body > 1 && skeleton.body(body).joint.type == JointType::kFixed)
    body = skeleton.body(body).parent;
  return body == 1;
}

/// X that takes the model's markers onto the measured ones: by those of `bodies`, or by all.
Result<geometry::RigidFit> OnMarkers(const Skeleton& skeleton, const std::vector<Vec3>& modelled,
                                     const Eigen::Matrix3Xd& p_WM, bool root_only) {
  std::vector<Vec3> from, to;
  for (size_t m = 0; m < modelled.size(); ++m) {
    const auto measured = p_WM.col(static_cast<Eigen::Index>(m));
    if (!measured.allFinite()) continue;
    if (root_only && !MovesAsOne(skeleton, skeleton.markers()[m].body)) continue;
    from.push_back(modelled[m]);
    to.push_back(measured);
  }
  auto fit = geometry::FitRigid(to, from);
  if (fit && root_only && fit->spread_m[1] < kLeastWidth_m) {
    return Error{ErrorCode::kUnidentifiable, "the root's markers lie too close together"};
  }
  return fit;
}

double RmsOver(const Skeleton& skeleton, const std::vector<Eigen::Matrix3Xd>& frames) {
  PoseSolver solver(skeleton, StartSolverOptions());
  double squares = 0;
  for (const Eigen::Matrix3Xd& frame : frames) {
    double rms_m = 0;
    ColdPose(skeleton, frame, &solver, &rms_m);
    squares += rms_m * rms_m;
  }
  return std::sqrt(squares / std::max<double>(1, static_cast<double>(frames.size())));
}

/// The skeleton with its fixed base at X_WB of body 1, or null.
Result<Skeleton> BaseAt(const Skeleton& loose, const RigidTransform& X_WB) {
  return model::WithFixedBase(loose, X_WB);
}

}  // namespace

std::vector<Eigen::VectorXd> StartPoses(const Skeleton& skeleton) {
  std::vector<Eigen::VectorXd> poses;
  for (const double closed : {0.0, 0.25, 0.5}) {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(skeleton.nv());
    for (int b = 1; b < skeleton.body_count(); ++b) {
      const model::Joint& joint = skeleton.body(b).joint;
      for (int k = 0; k < joint.nv() && joint.type != JointType::kFree; ++k) {
        const double lower = joint.lower_rad[k], upper = joint.upper_rad[k];
        double& angle = v[skeleton.v_index(b) + k];
        if (joint.dof_names[static_cast<size_t>(k)] == "flex" && std::isfinite(upper))
          angle = closed * std::max(0.0, upper);
        if (lower <= upper) angle = std::clamp(angle, lower, upper);
      }
    }
    poses.push_back(skeleton.Integrate(skeleton.ZeroConfiguration(), v));
  }
  return poses;
}

Eigen::VectorXd WithRootOnMarkers(const Skeleton& skeleton, const Eigen::VectorXd& q,
                                  const Eigen::Matrix3Xd& p_WM) {
  if (skeleton.body_count() < 2 || skeleton.body(1).joint.type != JointType::kFree) return q;
  model::KinematicsData data(skeleton);
  model::ComputePoses(skeleton, q, &data);
  std::vector<Vec3> modelled;
  model::MarkerPositions(skeleton, data, &modelled);
  auto fit = OnMarkers(skeleton, modelled, p_WM, true);
  if (!fit) fit = OnMarkers(skeleton, modelled, p_WM, false);
  if (!fit) return q;
  const model::Joint& joint = skeleton.body(1).joint;
  const RigidTransform X_JpJc = joint.X_PJp.Inverse() * fit->X_AB * data.X_WB[1] * joint.X_BJc;
  const int iq = skeleton.q_index(1);
  Eigen::VectorXd out = q;
  out.segment<3>(iq) = X_JpJc.p;
  out.segment<4>(iq + 3) = geometry::ToQuaternion(X_JpJc.R);
  return out;
}

PoseSolverOptions StartSolverOptions() {
  return {.marker_sd_m = 2e-3, .limit_sd_rad = 0.1, .prior_sd_rad = 1.0, .max_iterations = 30};
}

Eigen::VectorXd ColdPose(const Skeleton& skeleton, const Eigen::Matrix3Xd& p_WM, PoseSolver* solver,
                         double* rms_m) {
  Eigen::VectorXd best = skeleton.ZeroConfiguration();
  *rms_m = std::numeric_limits<double>::infinity();
  for (const Eigen::VectorXd& pose : StartPoses(skeleton)) {
    Eigen::VectorXd q = WithRootOnMarkers(skeleton, pose, p_WM);
    double found_m = std::numeric_limits<double>::infinity();
    // Solved again from its own answer, so that the pull does not hold it.
    for (int pass = 0; pass < 4; ++pass) {
      const PoseSolution& s = solver->Solve(p_WM, q, PoseMethod::kFast);
      q = s.q;
      const double now_m = MarkerRms_m(s);
      const bool settled = std::abs(found_m - now_m) < 1e-3 * now_m;
      found_m = now_m;
      if (settled) break;
    }
    if (found_m < *rms_m) *rms_m = found_m, best = q;
  }
  return best;
}

PlacedTemplate PlaceTemplate(const Skeleton& skeleton,
                             const std::vector<Eigen::Matrix3Xd>& frames) {
  PlacedTemplate best{skeleton, 1.0, false, std::numeric_limits<double>::infinity()};
  for (const double scale : {1.0, 0.85, 0.93, 1.08, 1.17}) {
    const Skeleton scaled = *model::ScaledUniformly(skeleton, scale);
    const auto consider = [&](const Skeleton& placed, bool moved) {
      const double rms_m = RmsOver(placed, frames);
      if (rms_m < best.rms_m) best = {placed, scale, moved, rms_m};
    };
    consider(scaled, false);
    const auto loose = model::WithFreeBase(scaled);
    if (!loose) continue;
    PoseSolver solver(*loose, StartSolverOptions());
    // A few frames vote; each alone leaves the root's pose and the joints' angles to be traded.
    for (size_t i = 0; i < frames.size(); i += std::max<size_t>(1, frames.size() / 3)) {
      double rms_m = 0;
      const Eigen::VectorXd q = ColdPose(*loose, frames[i], &solver, &rms_m);
      model::KinematicsData data(*loose);
      model::ComputePoses(*loose, q, &data);
      if (const auto held = BaseAt(*loose, data.X_WB[1])) consider(*held, true);
    }
  }
  return best;
}

}  // namespace handhold::fitting
