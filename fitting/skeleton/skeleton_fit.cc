#include "fitting/skeleton/skeleton_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "database/base/check.h"
#include "database/geometry/shape.h"
#include "database/model/kinematics.h"
#include "fitting/residual/calibration_residual.h"
#include "fitting/signal/touch.h"
#include "fitting/skeleton/pose_solver.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;
using recording::SampleWindow;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kTipPriorSd_m = 0.02, kRadiusPriorSd_m = 0.001;
constexpr double kAxisPointSd_m = 3e-4, kSurfaceSd_m = 1e-4;  ///< how well the wrench axis and the
                                                              ///< surface are known
constexpr double kPosePriorSd = 100.0;  ///< for regularity only: starting poses come from the wrong
                                        ///< template

/// One frame of the adjustment; `contact` set: the fingertip rests on the surface.
struct Frame {
  Timestamp t;
  Eigen::Matrix3Xd z_WM;
  Eigen::VectorXd q;
  bool contact = false;
  Vec3 foot_W = Vec3::Zero(), axis_W = Vec3::UnitZ();  ///< a point of the wrench axis, and its
                                                       ///< direction (force on the hand)
  double normal_N = 0.0;
};

int FindTip(const model::Skeleton& skeleton, const std::string& name) {
  if (!name.empty()) return skeleton.FindFrame(name);
  for (size_t i = 0; i < skeleton.frames().size(); ++i) {
    const std::string& n = skeleton.frames()[i].name;
    if (n.size() >= 3 && n.compare(n.size() - 3, 3, "tip") == 0) return static_cast<int>(i);
  }
  return -1;
}

/// The sphere on the tip's body nearest to the tip frame, or -1.
int TipSphere(const model::Skeleton& skeleton, int tip) {
  const model::NamedFrame& frame = skeleton.frames()[static_cast<size_t>(tip)];
  const auto& shapes = skeleton.body(frame.body).shapes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (std::holds_alternative<geometry::Sphere>(shapes[i].shape) &&
        (shapes[i].X_BS.p - frame.X_BF.p).norm() < 1e-3)
      return static_cast<int>(i);
  }
  return -1;
}

/// Everything together: common parameters y = [calibration x, fingertip radius change], a pose per
/// frame.
class Adjustment {
 public:
  Adjustment(const CalibrationModel& calibration, const SkeletonFitOptions& options,
             double tip_radius_m)
      : calibration_(calibration), options_(options), tip_radius_m_(tip_radius_m) {
    y_ = Eigen::VectorXd::Zero(calibration.size() + (calibration.tip_frame() >= 0 ? 1 : 0));
    precision_.resize(y_.size());
    for (int i = 0; i < calibration.size(); ++i) {
      const char kind = calibration.kind(i);
      const double sd = kind == 'c'   ? options.centre_prior_sd_m
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

  void Add(Frame frame) {
    residuals_.push_back(
        std::make_unique<CalibrationResidual>(calibration_, frame.z_WM, options_.marker_sd_m));
    starts_.push_back(frame.q);
    frames_.push_back(std::move(frame));
  }

  Status Solve() {
    double damping = 1e-3;
    double cost = Cost(y_, Poses());
    for (int iteration = 0; iteration < 200; ++iteration) {
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
        if (next_cost < cost) {
          const bool done = cost - next_cost < 1e-6 * cost;
          y_ = next;
          for (size_t f = 0; f < frames_.size(); ++f) frames_[f].q = poses[f];
          cost = next_cost;
          damping = std::max(damping * 0.1, 1e-9);
          accepted = true;
          if (done) return Done();
        } else {
          damping *= 10;
        }
      }
      if (!accepted) return Done();
    }
    return Error{ErrorCode::kNotConverged,
                 "the skeleton fit did not settle in 200 iterations: is the template this hand's?"};
  }

  Eigen::VectorXd x() const { return y_.head(calibration_.size()); }
  double radius_change() const { return HasTip() ? y_[y_.size() - 1] : 0.0; }
  const Eigen::MatrixXd& data_information() const {
    return information_;
  }  ///< poses eliminated, no priors
  const Eigen::VectorXd& prior_precision() const { return precision_; }
  const std::vector<Frame>& frames() const { return frames_; }
  /// What the data say about small changes of the hand as it is now, without moving it.
  const Eigen::MatrixXd& InformationHere() {
    Finish();
    return information_;
  }
  double noise_scale() const { return noise_scale_; }  ///< variance found over variance assumed
  double marker_rms_m() const { return marker_rms_m_; }
  bool HasTip() const { return calibration_.tip_frame() >= 0; }

 private:
  struct Blocks {
    Eigen::MatrixXd H_qq, H_qy;
    Eigen::VectorXd g_q;
  };

  std::vector<Eigen::VectorXd> Poses() const {
    std::vector<Eigen::VectorXd> q;
    q.reserve(frames_.size());
    for (const Frame& f : frames_) q.push_back(f.q);
    return q;
  }

  /// Rows of one frame at (y, q): markers, then contact. Jacobians by y and along v where wanted.
  /// False where y makes no hand.
  bool Rows(const Frame& frame, const CalibrationResidual& residual, const Eigen::VectorXd& y,
            const Eigen::VectorXd& q, Eigen::VectorXd* r, Eigen::MatrixXd* J_y,
            Eigen::MatrixXd* J_v) const {
    const Eigen::VectorXd x_now = y.head(calibration_.size());
    Eigen::MatrixXd J_x;
    if (!residual.EvaluateTangent(x_now, q, r, J_y != nullptr ? &J_x : nullptr, J_v)) return false;
    if (J_y != nullptr) {
      J_y->setZero(r->size(), y.size());
      J_y->leftCols(calibration_.size()) = J_x;
    }
    if (!frame.contact) return true;
    // Fingertip centre c: its distance to the surface is the radius less the surface's give; the
    // point below it lies on the wrench axis.
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
    return true;
  }

  double Cost(const Eigen::VectorXd& y, const std::vector<Eigen::VectorXd>& poses) const {
    double cost = y.cwiseAbs2().dot(precision_);
    Eigen::VectorXd r;
    for (size_t f = 0; f < frames_.size(); ++f) {
      if (!Rows(frames_[f], *residuals_[f], y, poses[f], &r, nullptr, nullptr)) {
        return std::numeric_limits<double>::infinity();  // the step is given up
      }
      cost += r.squaredNorm();
      cost += calibration_.template_skeleton().Difference(starts_[f], poses[f]).squaredNorm() /
              (kPosePriorSd * kPosePriorSd);
    }
    return cost;
  }

  void Linearise() {
    H_yy_ = Eigen::MatrixXd::Zero(y_.size(), y_.size());
    g_y_ = Eigen::VectorXd::Zero(y_.size());
    blocks_.clear();
    Eigen::VectorXd r;
    Eigen::MatrixXd J_y, J_v;
    for (size_t f = 0; f < frames_.size(); ++f) {
      CHECK(Rows(frames_[f], *residuals_[f], y_, frames_[f].q, &r, &J_y, &J_v));
      Blocks b;
      b.H_qq = J_v.transpose() * J_v;
      b.H_qq.diagonal().array() += 1 / (kPosePriorSd * kPosePriorSd);
      b.H_qy = J_v.transpose() * J_y;
      b.g_q = J_v.transpose() * r +
              calibration_.template_skeleton().Difference(starts_[f], frames_[f].q) /
                  (kPosePriorSd * kPosePriorSd);
      H_yy_ += J_y.transpose() * J_y;
      g_y_ += J_y.transpose() * r;
      blocks_.push_back(std::move(b));
    }
  }

  void Step(double damping, Eigen::VectorXd* step, std::vector<Eigen::VectorXd>* poses) const {
    Eigen::MatrixXd S = H_yy_;
    S.diagonal() += precision_ + damping * H_yy_.diagonal();
    Eigen::VectorXd g = g_y_ + precision_.cwiseProduct(y_);
    std::vector<Eigen::LDLT<Eigen::MatrixXd>> factors;
    for (const Blocks& b : blocks_) {
      Eigen::MatrixXd H = b.H_qq;
      H.diagonal() *= 1 + damping;
      factors.emplace_back(H);
      S -= b.H_qy.transpose() * factors.back().solve(b.H_qy);
      g -= b.H_qy.transpose() * factors.back().solve(b.g_q);
    }
    *step = -S.ldlt().solve(g);
    poses->clear();
    for (size_t f = 0; f < blocks_.size(); ++f) {
      const Eigen::VectorXd v = -factors[f].solve(blocks_[f].g_q + blocks_[f].H_qy * *step);
      poses->push_back(calibration_.template_skeleton().Integrate(frames_[f].q, v));
    }
  }

  Status Done() {
    Finish();
    return {};
  }

  void Finish() {
    markers_seen_ = 0.0;
    Linearise();
    information_ = H_yy_;
    for (const Blocks& b : blocks_)
      information_ -= b.H_qy.transpose() * b.H_qq.ldlt().solve(b.H_qy);
    double squares = 0, rows = 0;
    Eigen::VectorXd r;
    for (size_t f = 0; f < frames_.size(); ++f) {
      CHECK(Rows(frames_[f], *residuals_[f], y_, frames_[f].q, &r, nullptr, nullptr));
      int visible = 0;
      for (Eigen::Index m = 0; m < frames_[f].z_WM.cols(); ++m)
        visible += frames_[f].z_WM.col(m).allFinite();
      squares += r.head(3 * frames_[f].z_WM.cols()).squaredNorm();
      rows += 3 * visible - calibration_.template_skeleton().nv();
      markers_seen_ += visible;
    }
    noise_scale_ = squares / std::max(1.0, rows - static_cast<double>(y_.size()));
    marker_rms_m_ = options_.marker_sd_m * std::sqrt(squares / std::max(1.0, markers_seen_));
  }

  const CalibrationModel& calibration_;
  const SkeletonFitOptions& options_;
  double tip_radius_m_;
  std::vector<geometry::PosedShape> shapes_;
  std::vector<Frame> frames_;
  std::vector<Eigen::VectorXd> starts_;
  std::vector<std::unique_ptr<CalibrationResidual>> residuals_;
  Eigen::VectorXd y_, precision_, g_y_;
  Eigen::MatrixXd H_yy_, information_;
  std::vector<Blocks> blocks_;
  double noise_scale_ = 1.0, marker_rms_m_ = 0.0, markers_seen_ = 0.0;
};

/// Marker frames of a stretch, every `stride`-th with enough of them seen.
Result<std::vector<Frame>> ReadFrames(const recording::ClipSource& clip,
                                      const std::vector<const recording::StreamInfo*>& streams,
                                      const model::Skeleton& skeleton,
                                      const std::vector<TimeRange>& ranges, int wanted) {
  Duration total;
  for (const TimeRange& r : ranges) total += r.length();
  const Duration step = std::max(total / std::max(1, 4 * wanted), Duration::Milliseconds(2));
  std::vector<Frame> frames;
  for (const recording::StreamInfo* stream : streams) {
    const std::vector<std::string> names = stream->ItemNames();
    std::vector<int> channel(skeleton.markers().size(), -1);
    for (size_t i = 0; i < names.size(); ++i) {
      const int m = skeleton.FindMarker(
          names[i].substr(names[i].rfind(':') == std::string::npos ? 0 : names[i].rfind(':') + 1));
      if (m >= 0)
        channel[static_cast<size_t>(m)] = static_cast<int>(i) * stream->channels_per_item();
    }
    const TimeRange extent = clip.Extent(stream->id);
    for (const TimeRange& range : ranges) {
      Timestamp next = std::max(range.begin, extent.begin);
      const Timestamp stop = std::min(range.end, extent.end);
      while (next < stop) {
        const TimeRange chunk{next, std::min(next + Duration::Seconds(5), stop)};
        HANDHOLD_ASSIGN(const SampleWindow window, clip.Read(stream->id, chunk));
        for (int i = 0; i < window.count(); ++i) {
          if (window.times[static_cast<size_t>(i)] < next) continue;
          Frame frame;
          frame.t = window.times[static_cast<size_t>(i)];
          frame.z_WM.setConstant(3, static_cast<Eigen::Index>(channel.size()), kMissing);
          bool all = true;
          for (size_t m = 0; m < channel.size(); ++m) {
            for (int c = 0; c < 3 && channel[m] >= 0; ++c)
              frame.z_WM(c, static_cast<Eigen::Index>(m)) = window.value(channel[m] + c, i);
            all = all && frame.z_WM.col(static_cast<Eigen::Index>(m)).allFinite();
          }
          if (!all) continue;
          frames.push_back(std::move(frame));
          next = window.times[static_cast<size_t>(i)] + step;
        }
        next = std::max(next, chunk.end);
      }
    }
  }
  return frames;
}

/// Poses by the template, then the `wanted` frames that lie furthest apart in pose.
std::vector<Frame> PoseAndSpread(const model::Skeleton& skeleton, std::vector<Frame> frames,
                                 int wanted) {
  PoseSolver solver(skeleton, {.marker_sd_m = 2e-3, .limit_sd_rad = 0.2, .prior_sd_rad = 1.0});
  Eigen::VectorXd q = skeleton.ZeroConfiguration();
  for (Frame& f : frames) {
    const PoseSolution& s = solver.SolvePoseOnly(f.z_WM, q, PoseMethod::kFast);
    if (s.converged) q = s.q;
    f.q = q;
  }
  if (static_cast<int>(frames.size()) <= wanted) return frames;
  // Farthest point first: each next frame is the one least like those taken.
  std::vector<double> distance(frames.size(), std::numeric_limits<double>::infinity());
  std::vector<char> taken(frames.size(), 0);
  size_t at = 0;
  for (int k = 0; k < wanted; ++k) {
    taken[at] = 1;
    size_t farthest = 0;
    for (size_t i = 0; i < frames.size(); ++i) {
      distance[i] =
          std::min(distance[i], skeleton.Difference(frames[at].q, frames[i].q).squaredNorm());
      if (taken[i] == 0 && distance[i] >= distance[farthest]) farthest = i;
    }
    at = farthest;
  }
  std::vector<Frame> chosen;
  for (size_t i = 0; i < frames.size(); ++i) {
    if (taken[i] != 0) chosen.push_back(std::move(frames[i]));
  }
  return chosen;
}

Status AddWrench(const ForceSignal& force, double threshold_N, std::vector<Frame>* frames) {
  std::vector<Timestamp> times;
  for (const Frame& f : *frames) times.push_back(f.t);
  std::vector<Frame> kept;
  HANDHOLD_ASSIGN(const WrenchWindow wrench, force.ReadAt(times, 100.0));
  for (size_t i = 0; i < frames->size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    const Vec3 f = wrench.f_onHand_W.col(k), m = wrench.m_onHand_W.col(k);
    if (!(wrench.normal_N[k] >= threshold_N)) continue;
    Frame frame = std::move((*frames)[i]);
    frame.contact = true;
    frame.axis_W = f.normalized();
    frame.foot_W = f.cross(m) / f.squaredNorm();
    frame.normal_N = wrench.normal_N[k];
    kept.push_back(std::move(frame));
  }
  *frames = std::move(kept);
  return {};
}

/// Length of the segment from `body`'s joint to `p_B`, across the joint's axis where it has one:
/// independent of the origin's place on the axis.
double AcrossAxis(const model::Skeleton& skeleton, int body, const Vec3& p_B) {
  const model::Joint& joint = skeleton.body(body).joint;
  const Vec3 from = p_B - joint.X_BJc.p;
  if (joint.type != model::JointType::kHinge) return from.norm();
  const Vec3 axis = joint.X_BJc.R * joint.axes[0];
  return (from - axis * axis.dot(from)).norm();
}

/// The fitted hand: segments' shapes, frames and masses follow their lengths.
bool Differs(const geometry::RigidTransform& a, const geometry::RigidTransform& b) {
  return a.p != b.p || a.R != b.R;
}

/// The fit's numbers must not be quoted as the template's: the source of each that changed says so.
void TellSources(const model::Skeleton& original, model::SkeletonDraft* draft) {
  const auto changed = [](const char* how, std::string* source) {
    *source += (source->empty() ? "" : "; ") + std::string(how);
  };
  for (size_t i = 0; i < draft->bodies.size(); ++i) {
    model::Body& now = draft->bodies[i];
    const model::Body& then = original.body(static_cast<int>(i) + 1);
    if (Differs(now.joint.X_PJp, then.joint.X_PJp)) changed("fitted", &now.joint.source);
    const bool followed = now.mass.p_BCom != then.mass.p_BCom || now.length_m != then.length_m;
    if (followed) changed("following the fit", &now.source);
    if (followed && !now.mass_source.empty()) changed("following the fit", &now.mass_source);
    for (size_t s = 0; s < now.shapes.size(); ++s) {
      if (Differs(now.shapes[s].X_BS, then.shapes[s].X_BS))
        changed("following the fit", &now.shapes[s].source);
    }
  }
  for (size_t m = 0; m < draft->markers.size(); ++m) {
    if (draft->markers[m].p_BM != original.markers()[m].p_BM)
      changed("fitted", &draft->markers[m].source);
  }
  for (size_t f = 0; f < draft->frames.size(); ++f) {
    if (Differs(draft->frames[f].X_BF, original.frames()[f].X_BF))
      changed("fitted", &draft->frames[f].source);
  }
}

Result<model::Skeleton> Follow(const model::Skeleton& fitted, const model::Skeleton& original,
                               int tip, double radius_change) {
  model::SkeletonDraft draft = fitted.draft();
  std::vector<double> ratio(static_cast<size_t>(original.body_count()), 1.0);
  for (int b = 1; b < original.body_count(); ++b) {
    double before = 0, after = 0;
    for (int child = b + 1; child < original.body_count(); ++child) {
      if (original.body(child).parent != b) continue;
      before += AcrossAxis(original, b, original.body(child).joint.X_PJp.p);
      after += AcrossAxis(fitted, b, fitted.body(child).joint.X_PJp.p);
    }
    if (before == 0 && tip >= 0 && original.frames()[static_cast<size_t>(tip)].body == b) {
      before = AcrossAxis(original, b, original.frames()[static_cast<size_t>(tip)].X_BF.p);
      after = AcrossAxis(fitted, b, fitted.frames()[static_cast<size_t>(tip)].X_BF.p);
    }
    if (before > 1e-6) ratio[static_cast<size_t>(b)] = after / before;
  }
  for (int b = 1; b < original.body_count(); ++b) {
    const double r = ratio[static_cast<size_t>(b)];
    model::Body& body = draft.bodies[static_cast<size_t>(b - 1)];
    body.length_m *= r;
    body.mass.p_BCom *= r;
    body.mass.I_BCom_B *= r * r;
    for (model::BodyShape& s : body.shapes) s.X_BS.p *= r;
  }
  for (size_t i = 0; i < draft.frames.size(); ++i) {
    if (static_cast<int>(i) != tip)
      draft.frames[i].X_BF.p *= ratio[static_cast<size_t>(draft.frames[i].body)];
  }
  if (tip >= 0) {
    const int sphere = TipSphere(original, tip);
    const model::NamedFrame& frame = draft.frames[static_cast<size_t>(tip)];
    if (sphere >= 0) {
      model::BodyShape& shape =
          draft.bodies[static_cast<size_t>(frame.body - 1)].shapes[static_cast<size_t>(sphere)];
      shape.X_BS.p = frame.X_BF.p;
      std::get<geometry::Sphere>(shape.shape).radius_m += radius_change;
    }
  }
  TellSources(original, &draft);
  return model::Skeleton::Build(std::move(draft));
}

void NameUndetermined(const Adjustment& adjustment, const CalibrationModel& calibration,
                      double noise_scale, const std::vector<std::string>& names,
                      SkeletonFitSummary* summary) {
  // In units of the priors: eigenvalue = how much the data say over what the prior says. Gauges are
  // conventions, not findings: set aside.
  const Eigen::VectorXd sd = adjustment.prior_precision().cwiseSqrt().cwiseInverse();
  Eigen::MatrixXd relative = sd.asDiagonal() * adjustment.data_information() * sd.asDiagonal() /
                             std::max(1e-12, noise_scale);
  Eigen::MatrixXd gauges =
      Eigen::MatrixXd::Zero(relative.rows(), calibration.GaugeDirections().cols());
  gauges.topRows(calibration.size()) = calibration.GaugeDirections();
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(sd.cwiseInverse().asDiagonal() * gauges);
  const Eigen::MatrixXd q =
      qr.householderQ() * Eigen::MatrixXd::Identity(relative.rows(), qr.rank());
  const Eigen::MatrixXd rest =
      Eigen::MatrixXd::Identity(relative.rows(), relative.rows()) - q * q.transpose();
  relative = (rest * relative * rest + 1e6 * q * q.transpose()).eval();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(relative);
  for (Eigen::Index k = 0; k < relative.rows(); ++k) {
    if (eigen.eigenvalues()[k] > 9.0) break;
    const Eigen::VectorXd direction = eigen.eigenvectors().col(k).cwiseAbs();
    std::string text;
    for (Eigen::Index i = 0; i < direction.size(); ++i) {
      if (direction[i] > 0.5 * direction.maxCoeff())
        text += (text.empty() ? "" : ", ") + names[static_cast<size_t>(i)];
    }
    summary->undetermined.push_back(text);
  }
}

void ListLengths(const model::Skeleton& fitted, const model::Skeleton& original, int tip,
                 const Eigen::MatrixXd& covariance, const CalibrationModel& calibration,
                 const Adjustment& adjustment, SkeletonFitSummary* summary) {
  auto last = [](const std::string& name) {
    return name.substr(name.rfind('.') == std::string::npos ? 0 : name.rfind('.') + 1);
  };
  auto sd_of = [&](auto length) {  // through the parameters, numerically
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(covariance.rows());
    for (int i = 0; i < calibration.size(); ++i) {
      Eigen::VectorXd up = adjustment.x(), down = up;
      up[i] += 1e-5, down[i] -= 1e-5;
      const double a = length(calibration.At(up));
      gradient[i] = (a - length(calibration.At(down))) / 2e-5;
    }
    return std::sqrt(std::max(0.0, gradient.dot(covariance * gradient)));
  };
  auto undetermined = [&](const std::string& name) {
    for (const std::string& u : summary->undetermined) {
      if (u.find(name + ".centre") != std::string::npos) return true;
    }
    return false;
  };
  for (int b = 1; b < original.body_count(); ++b) {
    const int parent = original.body(b).parent;
    if (parent == 0 || original.body(parent).joint.type == model::JointType::kFixed) continue;
    auto length = [&](const model::Skeleton& s) {
      return AcrossAxis(s, parent, s.body(b).joint.X_PJp.p);
    };
    const std::string name = original.body(b).joint.name;
    summary->lengths.push_back({last(original.body(parent).joint.name) + "-" + last(name),
                                length(fitted), sd_of(length), length(original),
                                undetermined(name) ? "template" : "markers"});
  }
  if (tip < 0) return;
  const model::NamedFrame& frame = original.frames()[static_cast<size_t>(tip)];
  auto length = [&](const model::Skeleton& s) {
    return AcrossAxis(s, frame.body, s.frames()[static_cast<size_t>(tip)].X_BF.p);
  };
  const bool seen = summary->contact_frames > 0 && calibration.tip_frame() >= 0;
  summary->lengths.push_back({last(original.body(frame.body).joint.name) + "-" + last(frame.name),
                              length(fitted), seen ? sd_of(length) : 0.0, length(original),
                              seen ? "contact" : "template"});
  if (!seen)
    summary->undetermined.push_back(
        summary->lengths.back().name +
        ": markers do not show the end segment's length; give a surface that it touches");
}

}  // namespace

std::string SkeletonFitSummary::Brief() const {
  char head[160];
  std::snprintf(head, sizeof head,
                "skeleton: %d frames and %d in contact, markers %.3f mm RMS (one axis %.3f);",
                frames, contact_frames, 1e3 * marker_rms_m, 1e3 * marker_sd_m);
  std::string text = head;
  for (const SegmentLength& l : lengths) {
    char item[120];
    std::snprintf(item, sizeof item, " %s %.2f +- %.2f mm (%s)", l.name.c_str(), 1e3 * l.length_m,
                  1e3 * l.sd_m, l.source.c_str());
    text += item;
  }
  if (!undetermined.empty())
    text += "; " + std::to_string(undetermined.size()) + " directions not determined";
  return text;
}

Result<SkeletonFit> FitSkeleton(const recording::ClipSource& clip,
                                const model::Skeleton& template_skeleton,
                                const SkeletonFitOptions& options) {
  if (options.frames < 10 || !(options.marker_sd_m > 0) || !(options.centre_prior_sd_m > 0) ||
      !(options.axis_prior_sd_rad > 0) || !(options.marker_prior_sd_m > 0)) {
    return Error{ErrorCode::kInvalid,
                 "skeleton fit: at least 10 frames, and every standard deviation positive"};
  }
  std::string name = options.marker_stream;
  if (name.empty()) {
    const recording::StreamInfo* first = clip.FirstOfKind(recording::StreamKind::kMarkers);
    if (first == nullptr) return Error{ErrorCode::kNotFound, "the clip has no marker stream"};
    name = first->name;
  }
  const auto streams = clip.FindStreams(name);
  if (streams.empty()) return Error{ErrorCode::kNotFound, "the clip has no stream '" + name + "'"};
  const TimeRange all{clip.Extent(streams.front()->id).begin, clip.Extent(streams.back()->id).end};
  HANDHOLD_ASSIGN(
      std::vector<Frame> frames,
      ReadFrames(clip, streams, template_skeleton, {options.range.value_or(all)}, options.frames));
  if (static_cast<int>(frames.size()) < 10) {
    return Error{ErrorCode::kUnidentifiable, "skeleton fit: only " + std::to_string(frames.size()) +
                                                 " frames show all markers of '" +
                                                 template_skeleton.name() + "'"};
  }
  frames = PoseAndSpread(template_skeleton, std::move(frames), options.frames);

  SkeletonFitSummary summary;
  summary.frames = static_cast<int>(frames.size());
  const int tip = FindTip(template_skeleton, options.tip_frame);
  if (tip < 0 && !options.tip_frame.empty())
    return Error{ErrorCode::kNotFound, "the skeleton has no frame '" + options.tip_frame + "'"};
  double tip_radius_m = 0.0;
  std::vector<Frame> touching;
  if (options.surface && tip >= 0) {
    const int sphere = TipSphere(template_skeleton, tip);
    if (sphere < 0)
      return Error{ErrorCode::kInvalid,
                   "skeleton fit from contact: no sphere sits at the fingertip's frame"};
    const model::NamedFrame& frame = template_skeleton.frames()[static_cast<size_t>(tip)];
    tip_radius_m = std::get<geometry::Sphere>(
                       template_skeleton.body(frame.body).shapes[static_cast<size_t>(sphere)].shape)
                       .radius_m;
    const recording::ClipSource& touched =
        options.surface->clip != nullptr ? *options.surface->clip : clip;
    const auto touched_streams = touched.FindStreams(name);
    if (touched_streams.empty())
      return Error{ErrorCode::kNotFound, "the clip of the contact has no stream '" + name + "'"};
    HANDHOLD_ASSIGN(const ForceSignal force,
                    ForceSignal::Open(touched, options.surface->force_sensor));
    std::vector<TimeRange> contacts;
    for (const Touch& t : force.touches()) contacts.push_back({t.onset, t.release});
    HANDHOLD_ASSIGN(touching, ReadFrames(touched, touched_streams, template_skeleton, contacts,
                                         options.contact_frames));
    HANDHOLD_TRY(AddWrench(force, options.contact_force_N, &touching));
    touching = PoseAndSpread(template_skeleton, std::move(touching), options.contact_frames);
    summary.contact_frames = static_cast<int>(touching.size());
  }

  const CalibrationModel calibration(template_skeleton, touching.empty() ? -1 : tip);
  Adjustment adjustment(calibration, options, tip_radius_m);
  for (Frame& f : frames) adjustment.Add(std::move(f));
  for (Frame& f : touching) adjustment.Add(std::move(f));
  HANDHOLD_TRY(adjustment.Solve());

  summary.marker_sd_m = options.marker_sd_m * std::sqrt(adjustment.noise_scale());
  summary.marker_rms_m = adjustment.marker_rms_m();
  summary.parameter_names = calibration.names();
  if (adjustment.HasTip()) summary.parameter_names.push_back("fingertip radius");
  summary.parameter_change.resize(static_cast<Eigen::Index>(summary.parameter_names.size()));
  summary.parameter_change.head(calibration.size()) = adjustment.x();
  if (adjustment.HasTip())
    summary.parameter_change[summary.parameter_change.size() - 1] = adjustment.radius_change();
  // Judged about the fitted hand, where the gauges are exact; copied, as the calibration keeps only
  // the last hand it built.
  const model::Skeleton fitted = calibration.At(adjustment.x());
  const CalibrationModel local(fitted, calibration.tip_frame());
  Adjustment about(local, options, tip_radius_m + adjustment.radius_change());
  for (const Frame& f : adjustment.frames()) about.Add(f);
  Eigen::MatrixXd information = about.InformationHere() / std::max(1e-12, adjustment.noise_scale());
  information.diagonal() += about.prior_precision();
  summary.covariance =
      information.ldlt().solve(Eigen::MatrixXd::Identity(information.rows(), information.cols()));
  summary.gauges = {"the zero of every joint angle is the template's",
                    "a hinge's origin keeps the template's place along its axis",
                    "a ball's and a free joint's orientation zero is the template's"};
  NameUndetermined(about, local, adjustment.noise_scale(), summary.parameter_names, &summary);
  ListLengths(fitted, template_skeleton, tip, summary.covariance, local, about, &summary);
  if (options.require_all && !summary.undetermined.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "skeleton fit: not determined: " + summary.undetermined.front()};
  }
  HANDHOLD_ASSIGN(model::Skeleton followed,
                  Follow(fitted, template_skeleton, tip, adjustment.radius_change()));
  return SkeletonFit{std::move(followed), std::move(summary)};
}

}  // namespace handhold::fitting
