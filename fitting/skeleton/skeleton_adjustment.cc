#include "fitting/skeleton/skeleton_adjustment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>

#include "database/base/check.h"
#include "database/model/kinematics.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;

constexpr double kTipPriorSd_m = 0.02, kRadiusPriorSd_m = 0.001;
constexpr double kAxisPointSd_m = 3e-4, kSurfaceSd_m = 1e-4;  ///< how well the wrench axis and the
                                                              ///< surface are known
/// Settled: less than a tenth of a standard deviation of any one direction is left to gain, or a
/// millionth of the cost.
constexpr double kSettled = 0.01;
/// A step that turns an axis further leaves what its linear model knows: with template lengths 10 %
/// to 30 % wrong, 2 of 32 fits went over to an axis turned by pi.
constexpr double kLongestTurn_rad = 0.3;
constexpr double kPosePriorSd = 100.0;  ///< for regularity only: starting poses come from the wrong
                                        ///< template

/// S -= H_qy^T H_qq^-1 H_qy, lower triangle only, with H_qq = L L^T.
void TakeFrom(const Eigen::LLT<Eigen::MatrixXd>& H_qq, const Eigen::MatrixXd& H_qy,
              Eigen::MatrixXd* S) {
  const Eigen::MatrixXd W = H_qq.matrixL().solve(H_qy);
  S->selfadjointView<Eigen::Lower>().rankUpdate(W.transpose(), -1);
}

}  // namespace

SkeletonAdjustment::SkeletonAdjustment(const CalibrationModel& calibration,
                                       const SkeletonFitOptions& options, double tip_radius_m)
    : calibration_(calibration),
      options_(options),
      tip_radius_m_(tip_radius_m),
      ranges_(calibration.template_skeleton()) {
  const model::Skeleton& hand = calibration.template_skeleton();
  for (size_t m = 0; m < hand.markers().size(); ++m) {
    parameters_of_.push_back(calibration.ParametersOfMarker(static_cast<int>(m)));
    velocities_of_.emplace_back();
    for (int j = 0; j < hand.nv(); ++j) {
      if (hand.DofMovesBody(j, hand.markers()[m].body)) velocities_of_.back().push_back(j);
    }
  }
  y_ = Eigen::VectorXd::Zero(calibration.size() + (calibration.tip_frame() >= 0 ? 1 : 0));
  precision_.resize(y_.size());
  for (int i = 0; i < calibration.size(); ++i) {
    const char kind = calibration.kind(i);
    const double sd = kind == 'c'   ? options.centre_prior_sd_m
                      : kind == 'h' ? std::min(options.centre_prior_sd_m, kHeldCentrePriorSd_m)
                      : kind == 'a' ? options.axis_prior_sd_rad
                      : kind == 'm' ? options.marker_prior_sd_m
                                    : kTipPriorSd_m;
    precision_[i] = 1 / (sd * sd);
  }
  if (HasTip()) precision_[y_.size() - 1] = 1 / (kRadiusPriorSd_m * kRadiusPriorSd_m);
  if (options.surface) {
    for (const model::PropShape& s : options.surface->prop->shapes)
      shapes_.push_back({s.shape, s.X_PS});
  }
}

void SkeletonAdjustment::Add(CalibrationFrame frame) {
  residuals_.push_back(
      std::make_unique<CalibrationResidual>(calibration_, frame.z_WM, options_.marker_sd_m));
  starts_.push_back(frame.q);
  frames_.push_back(std::move(frame));
  pull_ = (ranges_.weight() / std::sqrt(static_cast<double>(frames_.size())))
              .cwiseMax(1 / kPosePriorSd);
}

Status SkeletonAdjustment::Solve(int most) {
  double damping = 1e-3;
  double cost = Cost(y_, Poses());
  for (int iteration = 0; iteration < most; ++iteration) {
    if (options_.keep_going && !options_.keep_going())
      return Error{ErrorCode::kCancelled, "skeleton fit cancelled"};
    Linearise();
    bool accepted = false;
    for (int attempt = 0; attempt < 10 && !accepted; ++attempt) {
      Eigen::VectorXd step;
      std::vector<Eigen::VectorXd> poses;
      Step(damping, &step, &poses);
      const Eigen::VectorXd next = y_ + step;
      const double next_cost = Cost(next, poses);
      if (next_cost < cost && LongestTurn_rad(step) < kLongestTurn_rad) {
        const bool done = cost - next_cost < std::max(kSettled, 1e-6 * cost);
        y_ = next;
        for (size_t f = 0; f < frames_.size(); ++f) frames_[f].q = poses[f];
        cost = next_cost;
        damping = std::max(damping * 0.1, 1e-9);
        accepted = true;
        if (done) {
          Finish();
          return {};
        }
      } else {
        damping *= 10;
      }
    }
    if (!accepted) {
      Finish();
      return {};
    }
  }
  return Error{
      ErrorCode::kNotConverged,
      "the skeleton fit did not settle in " + std::to_string(most) +
          std::string(" iterations: is the template this "
                      "hand's (--template, --scale), does skin carry its markers (--skin)") +
          (HasTip() ? ", and does the touched surface stand there (--surface-pose, "
                      "metres; --surface none leaves it out)?"
                    : "?")};
}

const Eigen::MatrixXd& SkeletonAdjustment::InformationHere() {
  Finish();
  return information_;
}
std::vector<Eigen::VectorXd> SkeletonAdjustment::Poses() const {
  std::vector<Eigen::VectorXd> q;
  q.reserve(frames_.size());
  for (const CalibrationFrame& f : frames_) q.push_back(f.q);
  return q;
}

/// Rows of one frame at (y, q): markers, then contact. Jacobians by y and along v where wanted.
/// False where y makes no hand.
bool SkeletonAdjustment::Rows(const CalibrationFrame& frame, const CalibrationResidual& residual,
                              const Eigen::VectorXd& y, const Eigen::VectorXd& q,
                              Eigen::VectorXd* r, Eigen::MatrixXd* J_y,
                              Eigen::MatrixXd* J_v) const {
  const Eigen::VectorXd x_now = y.head(calibration_.size());
  Eigen::MatrixXd J_x;
  if (!residual.EvaluateTangent(x_now, q, r, J_y != nullptr ? &J_x : nullptr, J_v)) return false;
  if (J_y != nullptr) {
    J_y->setZero(r->size(), y.size());
    J_y->leftCols(calibration_.size()) = J_x;
  }
  if (frame.contact) ContactRows(frame, y, q, r, J_y, J_v);
  return true;
}

void SkeletonAdjustment::ContactRows(const CalibrationFrame& frame, const Eigen::VectorXd& y,
                                     const Eigen::VectorXd& q, Eigen::VectorXd* r,
                                     Eigen::MatrixXd* J_y, Eigen::MatrixXd* J_v) const {
  // Fingertip centre c: its distance to the surface is the radius less the surface's give; the
  // point below it lies on the wrench axis.
  const Eigen::VectorXd x_now = y.head(calibration_.size());
  const model::Skeleton& hand = calibration_.At(x_now);
  const model::NamedFrame& tip = hand.frames()[static_cast<size_t>(calibration_.tip_frame())];
  model::KinematicsData data(hand);
  model::ComputeJacobian(hand, q, &data);
  const geometry::RigidTransform& X_WB = data.X_WB[static_cast<size_t>(tip.body)];
  const Vec3 c_W = X_WB * tip.X_BF.p;
  const geometry::RigidTransform& X_WP = options_.surface->X_WP;
  const auto near = geometry::SignedDistanceToUnion(shapes_, X_WP.Inverse() * c_W);
  const Vec3 n = X_WP.R * near.point.normal_S;
  const double radius = tip_radius_m_ + y[y.size() - 1];
  const double give = frame.normal_N * options_.surface->prop->surface_compliance_m_per_N;
  const Vec3 touch = c_W - near.point.distance_m * n;
  const geometry::Mat3 across =
      geometry::Mat3::Identity() - frame.axis_W * frame.axis_W.transpose();
  const Eigen::Index rows = r->size();
  r->conservativeResize(rows + 4);
  (*r)[rows] = (near.point.distance_m - radius + give) / kSurfaceSd_m;
  r->tail<3>() = across * (touch - frame.foot_W) / kAxisPointSd_m;
  // d touch / dc: along the surface only (its curvature neglected: the residual is exact, the
  // Jacobian first order).
  const geometry::Mat3 along =
      across * (geometry::Mat3::Identity() - n * n.transpose()) / kAxisPointSd_m;
  if (J_y != nullptr) {
    Eigen::MatrixXd dc = Eigen::MatrixXd::Zero(3, calibration_.size());
    calibration_.PointDerivative(x_now, data, tip.body, c_W, dc);
    dc.middleCols<3>(calibration_.tip_parameter()) += X_WB.R;
    J_y->conservativeResize(rows + 4, Eigen::NoChange);
    J_y->bottomRows<4>().setZero();
    J_y->row(rows).head(calibration_.size()) = n.transpose() * dc / kSurfaceSd_m;
    (*J_y)(rows, y.size() - 1) = -1 / kSurfaceSd_m;
    J_y->bottomRows<3>().leftCols(calibration_.size()) = along * dc;
  }
  if (J_v != nullptr) {
    Eigen::Matrix<double, 3, Eigen::Dynamic> J(3, hand.nv());
    model::PointJacobian(hand, data, tip.body, c_W, J);
    J_v->conservativeResize(rows + 4, Eigen::NoChange);
    J_v->row(rows) = n.transpose() * J / kSurfaceSd_m;
    J_v->bottomRows<3>() = along * J;
  }
}

double SkeletonAdjustment::Cost(const Eigen::VectorXd& y,
                                const std::vector<Eigen::VectorXd>& poses) const {
  double cost = y.cwiseAbs2().dot(precision_);
  Eigen::VectorXd r;
  for (size_t f = 0; f < frames_.size(); ++f) {
    if (!Rows(frames_[f], *residuals_[f], y, poses[f], &r, nullptr, nullptr)) {
      return std::numeric_limits<double>::infinity();  // the step is given up
    }
    cost += r.squaredNorm();
    cost += PullSquared(f, poses[f], nullptr);
  }
  return cost;
}

double SkeletonAdjustment::PullSquared(size_t f, const Eigen::VectorXd& q,
                                       Eigen::VectorXd* r) const {
  const model::Skeleton& hand = calibration_.template_skeleton();
  Eigen::VectorXd away = hand.Difference(starts_[f], q);
  if (ranges_.any()) {
    const Eigen::VectorXd from_middle = hand.Difference(ranges_.Middle(hand, q), q);
    for (int i = 0; i < hand.nv(); ++i) {
      if (ranges_.narrow(i)) away[i] = from_middle[i];
    }
  }
  away.array() *= pull_.array();
  if (r != nullptr) *r = away;
  return away.squaredNorm();
}

/// Markers: a marker's three rows touch few parameters and velocities, and only those are summed.
void SkeletonAdjustment::AddMarkerRows(const Eigen::VectorXd& r, const Eigen::MatrixXd& J_y,
                                       const Eigen::MatrixXd& J_v, Blocks* block) {
  for (size_t m = 0; m < parameters_of_.size(); ++m) {
    const auto at = static_cast<Eigen::Index>(3 * m);
    const std::vector<Eigen::Index>&y = parameters_of_[m], &v = velocities_of_[m];
    const Eigen::Matrix3Xd Y = J_y.middleRows<3>(at)(Eigen::all, y);
    if (Y.isZero(0)) continue;  // not measured
    const Eigen::Matrix3Xd V = J_v.middleRows<3>(at)(Eigen::all, v);
    const Eigen::Vector3d r_m = r.segment<3>(at);
    H_yy_(y, y) += Y.transpose() * Y;
    g_y_(y) += Y.transpose() * r_m;
    block->H_qq(v, v) += V.transpose() * V;
    block->H_qy(v, y) += V.transpose() * Y;
    block->g_q(v) += V.transpose() * r_m;
  }
}

void SkeletonAdjustment::Linearise() {
  const int nv = calibration_.template_skeleton().nv();
  H_yy_ = Eigen::MatrixXd::Zero(y_.size(), y_.size());
  g_y_ = Eigen::VectorXd::Zero(y_.size());
  blocks_.clear();
  Eigen::VectorXd r, pull;
  Eigen::MatrixXd J_y, J_v;
  for (size_t f = 0; f < frames_.size(); ++f) {
    CHECK(Rows(frames_[f], *residuals_[f], y_, frames_[f].q, &r, &J_y, &J_v));
    Blocks b{Eigen::MatrixXd::Zero(nv, nv), Eigen::MatrixXd::Zero(nv, y_.size()),
             Eigen::VectorXd::Zero(nv)};
    AddMarkerRows(r, J_y, J_v, &b);
    if (frames_[f].contact) {
      const auto Y = J_y.bottomRows<4>();
      const auto V = J_v.bottomRows<4>();
      H_yy_ += Y.transpose() * Y;
      g_y_ += Y.transpose() * r.tail<4>();
      b.H_qq += V.transpose() * V;
      b.H_qy += V.transpose() * Y;
      b.g_q += V.transpose() * r.tail<4>();
    }
    PullSquared(f, frames_[f].q, &pull);
    b.H_qq.diagonal() += pull_.cwiseAbs2();
    b.g_q += pull_.cwiseProduct(pull);
    blocks_.push_back(std::move(b));
  }
}

void SkeletonAdjustment::Step(double damping, Eigen::VectorXd* step,
                              std::vector<Eigen::VectorXd>* poses) const {
  Eigen::MatrixXd S = H_yy_;
  S.diagonal() += precision_ + damping * H_yy_.diagonal();
  Eigen::VectorXd g = g_y_ + precision_.cwiseProduct(y_);
  std::vector<Eigen::LLT<Eigen::MatrixXd>> factors;
  for (const Blocks& b : blocks_) {
    Eigen::MatrixXd H = b.H_qq;
    H.diagonal() *= 1 + damping;
    factors.emplace_back(H);
    TakeFrom(factors.back(), b.H_qy, &S);
    g -= b.H_qy.transpose() * factors.back().solve(b.g_q);
  }
  *step = -S.ldlt().solve(g);
  poses->clear();
  for (size_t f = 0; f < blocks_.size(); ++f) {
    const Eigen::VectorXd v = -factors[f].solve(blocks_[f].g_q + blocks_[f].H_qy * *step);
    poses->push_back(calibration_.template_skeleton().Integrate(frames_[f].q, v));
  }
}

double SkeletonAdjustment::LongestTurn_rad(const Eigen::VectorXd& step) const {
  double turn = 0;
  for (int i = 0; i < calibration_.size(); ++i) {
    if (calibration_.kind(i) == 'a') turn = std::max(turn, std::abs(step[i]));
  }
  return turn;
}

void SkeletonAdjustment::Finish() {
  markers_seen_ = 0.0;
  Linearise();
  information_ = H_yy_;
  for (const Blocks& b : blocks_) TakeFrom(b.H_qq.llt(), b.H_qy, &information_);
  information_ = Eigen::MatrixXd(information_.selfadjointView<Eigen::Lower>());
  marker_information_ = information_;
  if (ranges_.any()) {
    marker_information_ = H_yy_;
    for (const Blocks& b : blocks_) {
      Eigen::MatrixXd H = b.H_qq;
      for (int i = 0; i < pull_.size(); ++i) {
        if (ranges_.narrow(i)) H(i, i) += 1 / (kPosePriorSd * kPosePriorSd) - pull_[i] * pull_[i];
      }
      TakeFrom(H.llt(), b.H_qy, &marker_information_);
    }
    marker_information_ = Eigen::MatrixXd(marker_information_.selfadjointView<Eigen::Lower>());
  }
  const auto markers = static_cast<Eigen::Index>(calibration_.template_skeleton().markers().size());
  rms_of_marker_m_ = Eigen::VectorXd::Zero(markers);
  Eigen::VectorXd seen = Eigen::VectorXd::Zero(markers);
  double squares = 0, rows = 0, contacts = 0, distance = 0, axis = 0;  // in units of their sd
  Eigen::VectorXd r;
  for (size_t f = 0; f < frames_.size(); ++f) {
    CHECK(Rows(frames_[f], *residuals_[f], y_, frames_[f].q, &r, nullptr, nullptr));
    int visible = 0;
    for (Eigen::Index m = 0; m < frames_[f].z_WM.cols(); ++m) {
      if (!frames_[f].z_WM.col(m).allFinite()) continue;
      ++visible;
      rms_of_marker_m_[m] += r.segment<3>(3 * m).squaredNorm();
      seen[m] += 1;
    }
    squares += r.head(3 * frames_[f].z_WM.cols()).squaredNorm();
    rows += 3 * visible - calibration_.template_skeleton().nv();
    markers_seen_ += visible;
    if (!frames_[f].contact) continue;
    contacts += 1, distance += r[r.size() - 4] * r[r.size() - 4], axis += r.tail<3>().squaredNorm();
  }
  rms_of_marker_m_ =
      options_.marker_sd_m * rms_of_marker_m_.cwiseQuotient(seen.cwiseMax(1.0)).cwiseSqrt();
  contact_distance_rms_m_ = kSurfaceSd_m * std::sqrt(distance / std::max(1.0, contacts));
  contact_axis_rms_m_ = kAxisPointSd_m * std::sqrt(axis / std::max(1.0, contacts));
  noise_scale_ = squares / std::max(1.0, rows - static_cast<double>(y_.size()));
  marker_sd_m_ = options_.marker_sd_m * std::sqrt(noise_scale_);
  if (options_.skin_m > 0) noise_scale_ = std::max(1.0, noise_scale_);
  marker_rms_m_ = options_.marker_sd_m * std::sqrt(squares / std::max(1.0, markers_seen_));
}

}  // namespace handhold::fitting
