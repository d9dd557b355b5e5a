#include "fitting/compliance/contact_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "database/geometry/shape.h"
#include "database/model/dynamics.h"
#include "database/model/kinematics.h"
#include "fitting/compliance/smooth_pose.h"
#include "fitting/signal/find_site.h"
#include "fitting/signal/missing.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;

struct SurfaceHit {
  Vec3 p_W, normal_W;
};

/// Walks from the hand's side against the force until the surface is met: steps of the distance
/// never jump over it.
std::optional<SurfaceHit> MeetSurface(const std::vector<geometry::PosedShape>& shapes,
                                      const geometry::RigidTransform& X_WP, const Vec3& near_W,
                                      const Vec3& direction_W) {
  const geometry::RigidTransform X_PW = X_WP.Inverse();
  const Vec3 step_P = -(X_PW.R * direction_W);
  Vec3 p_P = X_PW * near_W;
  for (int i = 0; i < 40; ++i) {  // back out until outside
    if (geometry::SignedDistanceToUnion(shapes, p_P).point.distance_m > 1e-3) break;
    p_P -= 0.005 * step_P;
  }
  double travelled = 0.0;
  for (int i = 0; i < 300 && travelled < 0.3; ++i) {
    const geometry::UnionPoint at = geometry::SignedDistanceToUnion(shapes, p_P);
    if (at.point.distance_m < 1e-7) return SurfaceHit{X_WP * p_P, X_WP.R * at.point.normal_S};
    p_P += at.point.distance_m * step_P;
    travelled += at.point.distance_m;
  }
  return std::nullopt;
}

/// The skin's point that lies furthest along `down_B`, near `from_B`: the nearest one to a point
/// far below it.
Vec3 FurthestSkin(const std::vector<geometry::PosedShape>& skin, const Vec3& from_B,
                  const Vec3& down_B) {
  constexpr double kFar_m = 0.1;
  Vec3 p_B = from_B;
  for (int i = 0; i < 2; ++i) {
    const Vec3 far_B = p_B + kFar_m * down_B;
    const geometry::SurfacePoint near = geometry::SignedDistanceToUnion(skin, far_B).point;
    p_B = far_B - near.distance_m * near.normal_S;
  }
  return p_B;
}

/// Mean of a touch's shifts, weighted by force squared: noise of the wrench's point falls with the
/// force.
struct TouchShift {
  Vec3 sum_W = Vec3::Zero();
  double weight = 0.0;
};

std::string TaskAt(const recording::ClipSource& clip, Timestamp t) {
  for (const char* kind : {"stroke", "take"}) {
    for (const recording::Event& e : clip.events()) {
      if (e.kind == kind && e.clip_time <= t && t < e.clip_time + e.length) return e.text;
    }
  }
  return clip.info().task;
}

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return kMissing;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::string Seconds(Timestamp t) { return FormatSeconds(t - Timestamp()); }

/// Cosine between skin and touched surface: -1 where they touch, above this on a finger's far side.
constexpr double kMostAlike = -0.2;
/// Shares of the points that may be there: beyond the first (edges of a prop, a first or a last
/// frame) a warning, beyond the other refused.
constexpr double kTellWithin = 0.05, kMostWithin = 0.5;

class ContactFitter {
 public:
  ContactFitter(const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
                const model::Prop& surface, const geometry::RigidTransform& X_WP,
                const ContactFitOptions& options, const model::ContactSite& site)
      : skeleton_(skeleton),
        pose_(pose),
        surface_(surface),
        X_WP_(X_WP),
        options_(options),
        site_(site),
        body_(site.body),
        kinematics_(skeleton) {
    for (const model::PropShape& s : surface.shapes) shapes_.push_back({s.shape, s.X_PS});
    for (const model::BodyShape& s : skeleton.body(body_).shapes) {
      if (std::find(site.shapes.begin(), site.shapes.end(), s.name) != site.shapes.end())
        skin_.push_back({s.shape, s.X_BS});
    }
  }

  Result<ContactFit> Fit(const recording::ClipSource& clip, const ForceSignal& force) {
    HANDHOLD_ASSIGN(smooth_, SmoothPoseTrack(skeleton_, pose_, options_.pose_cutoff_Hz));
    HANDHOLD_ASSIGN(const WrenchWindow wrench, force.ReadAt(pose_.times, options_.cutoff_Hz));
    Prepare(clip, force);
    std::vector<double> offsets, torsions;
    for (Eigen::Index k = 0; k < pose_.q.cols(); ++k) {
      const int touch = touch_of_frame_[static_cast<size_t>(k)];
      if (touch < 0) continue;
      artefact::ContactRow& row = fit_.track.rows.emplace_back();
      row.frame = static_cast<int>(k);
      row.touch = touch;
      if (wrench.f_onHand_W.col(k).allFinite()) Frame(k, wrench, &row, &offsets, &torsions);
    }
    HANDHOLD_TRY(TellMissed());
    HANDHOLD_TRY(TellWithin(offsets.size()));
    CorrectInertia();
    fit_.summary.point_offset_p95_m = Percentile(offsets, 0.95);
    fit_.summary.torsion_p95_Nm = Percentile(torsions, 0.95);
    DescribeShift();
    if (fit_.summary.point_offset_p95_m > kTellPointOffset_m) {
      char text[240];
      std::snprintf(text, sizeof text,
                    "the wrench's point lies %.1f mm (p95) from the fitted fingertip: check "
                    "--surface, --surface-pose and the sensor's pose and sign in the rig file",
                    1e3 * fit_.summary.point_offset_p95_m);
      fit_.summary.issues.push_back({"contact point", Severity::kWarning, text});
    }
    fit_.track.summary = fit_.summary;
    return std::move(fit_);
  }

 private:
  void DescribeShift() {
    Vec3 mean_W = Vec3::Zero();
    double squares = 0.0, touches = 0.0;
    for (const TouchShift& s : shifts_) {
      if (s.weight <= 0) continue;
      const Vec3 of_touch_W = s.sum_W / s.weight;
      mean_W += of_touch_W, squares += of_touch_W.squaredNorm(), touches += 1;
    }
    mean_W /= touches;  // NaN without a point
    fit_.summary.axis_shift_m = mean_W.norm();
    fit_.summary.axis_left_rms_m =
        touches > 0 ? std::sqrt(std::max(0.0, squares / touches - mean_W.squaredNorm())) : kMissing;
  }

  /// What is odd about the points: refused, or a warning.
  Status Tell(const char* text, bool refuse) {
    if (refuse) return Error{ErrorCode::kInvalid, std::string("contact: ") + text};
    fit_.summary.issues.push_back({"contact point", Severity::kWarning, text});
    return {};
  }

  /// Pressed, and no point of the surface on the wrench's axis: somewhere a rim was touched;
  /// everywhere the surface stands elsewhere.
  Status TellMissed() {
    if (missed_ == 0) return {};
    char text[320];
    std::snprintf(text, sizeof text,
                  "the wrench's axis does not meet '%s' in %d of %d pressed frames, first at %s: "
                  "check --surface (of a mesh file: --mesh-unit) and --surface-pose (metres), and "
                  "the sensor's pose in the rig file",
                  surface_.name.substr(0, 60).c_str(), missed_, pressed_,
                  Seconds(first_missed_).c_str());
    return Tell(text, missed_ == pressed_);
  }

  /// A surface within or above the finger: the axis meets it, and the skin next to that point is
  /// not far, but does not face it.
  Status TellWithin(size_t points) {
    const double share =
        points == 0 ? 0.0 : static_cast<double>(within_) / static_cast<double>(points);
    if (share <= kTellWithin) return {};
    char text[320];
    std::snprintf(text, sizeof text,
                  "'%s' stands within the finger, or on its other side, in %d of %zu "
                  "pressed frames, first at %s: check --surface-pose (metres), and the sensor's "
                  "pose and sign in the rig file",
                  surface_.name.substr(0, 60).c_str(), within_, points,
                  Seconds(first_within_).c_str());
    return Tell(text, share > kMostWithin);
  }

  void Prepare(const recording::ClipSource& clip, const ForceSignal& force) {
    artefact::ContactTrack& track = fit_.track;
    const auto frames = pose_.q.cols();
    track.hand = pose_.hand;
    track.skeleton_hash = pose_.skeleton_hash;
    track.dof_names = skeleton_.dof_names();
    track.times = pose_.times;
    track.things.push_back({surface_.name, surface_.name, "", X_WP_});
    track.tau_Nm.setZero(skeleton_.nv(), frames);
    touch_of_frame_.assign(static_cast<size_t>(frames), -1);
    fit_.summary.touches = static_cast<int>(force.touches().size());
    fit_.summary.knocks = force.knock_count();
    std::vector<double> sds;
    for (const Touch& touch : force.touches()) {
      sds.push_back(touch.onset_sd.seconds());
      fit_.summary.peak_force_N = std::max(fit_.summary.peak_force_N, touch.peak_N);
      const auto first = std::lower_bound(pose_.times.begin(), pose_.times.end(), touch.onset) -
                         pose_.times.begin();
      const auto last = std::lower_bound(pose_.times.begin(), pose_.times.end(), touch.release) -
                        pose_.times.begin();
      if (first == last) {
        fit_.summary.issues.push_back({Seconds(touch.onset), Severity::kWarning,
                                       "a touch without any fitted pose: left out"});
        continue;
      }
      const int index = static_cast<int>(track.touches.size());
      for (auto k = first; k < last; ++k) touch_of_frame_[static_cast<size_t>(k)] = index;
      artefact::Touch made;
      made.a = {artefact::Side::Kind::kHand, pose_.hand, site_.name, body_};
      made.b = {artefact::Side::Kind::kThing, surface_.name, "", 0};
      made.sensor = force.sensor().name;
      made.onset = touch.onset;
      made.onset_sd = touch.onset_sd;
      made.release = touch.release;
      made.release_sd = touch.release_sd;
      made.peak_force_N = touch.peak_N;
      made.task = TaskAt(clip, touch.onset);
      track.touches.push_back(std::move(made));
    }
    fit_.summary.onset_sd_median_s = Percentile(sds, 0.5);
    shifts_.resize(track.touches.size());
  }

  void Frame(Eigen::Index k, const WrenchWindow& wrench, artefact::ContactRow* row,
             std::vector<double>* offsets, std::vector<double>* torsions) {
    artefact::ContactTrack& track = fit_.track;
    const Vec3 f = wrench.f_onHand_W.col(k), m = wrench.m_onHand_W.col(k);
    row->f_onA_W = f;
    row->m_onA_W = m;
    model::ComputeJacobian(skeleton_, smooth_.q.col(k), &kinematics_);
    for (int j = 0; j < skeleton_.nv(); ++j) {
      if (!skeleton_.DofMovesBody(j, body_)) continue;
      const auto twist = kinematics_.J_W.col(j);
      track.tau_Nm(j, k) = twist.head<3>().dot(m) + twist.tail<3>().dot(f);
    }
    if (!(wrench.normal_N[k] >= options_.threshold_N)) return;
    ++pressed_;
    // The wrench axis: m = p x f + (moment along f); the point of it next to the origin is f x m /
    // |f|^2.
    const double f2 = f.squaredNorm();
    const Vec3 axis = f / std::sqrt(f2);
    const Vec3 tip_W = kinematics_.X_WB[static_cast<size_t>(body_)].p;
    const Vec3 foot = f.cross(m) / f2;
    const Vec3 near = foot + axis * axis.dot(tip_W - foot) + 0.03 * axis;
    const std::optional<SurfaceHit> hit = MeetSurface(shapes_, X_WP_, near, axis);
    if (!hit) {
      if (missed_++ == 0) first_missed_ = track.times[static_cast<size_t>(k)];
      return;
    }
    row->p_W = hit->p_W;
    row->normal_W = hit->normal_W;
    row->m_onA_W = m - hit->p_W.cross(f);
    torsions->push_back(std::abs(axis.dot(row->m_onA_W)));
    model::ComputePoses(skeleton_, pose_.q.col(k), &kinematics_);
    const geometry::RigidTransform X_BW = kinematics_.X_WB[static_cast<size_t>(body_)].Inverse();
    const geometry::SurfacePoint skin =
        geometry::SignedDistanceToUnion(skin_, X_BW * hit->p_W).point;
    row->offset_m = skin.distance_m;
    offsets->push_back(std::abs(skin.distance_m));
    const Vec3 n_B = X_BW.R * hit->normal_W;
    const Vec3 off_B = FurthestSkin(skin_, X_BW * hit->p_W, -n_B) - X_BW * hit->p_W;
    TouchShift& shift = shifts_[static_cast<size_t>(row->touch)];
    const Vec3 off_W = X_BW.R.transpose() * off_B;
    shift.sum_W += f2 * (off_W - axis * axis.dot(off_W));
    shift.weight += f2;
    // Skin that faces the same way as the surface is the finger's other side.
    const Vec3 skin_normal_W = kinematics_.X_WB[static_cast<size_t>(body_)].R * skin.normal_S;
    if (skin_normal_W.dot(hit->normal_W) > kMostAlike && within_++ == 0)
      first_within_ = track.times[static_cast<size_t>(k)];
  }

  void CorrectInertia() {
    artefact::ContactTrack& track = fit_.track;
    const int nv = skeleton_.nv();
    model::DynamicsData data(skeleton_);
    Eigen::VectorXd torque(nv), before(nv), own = Eigen::VectorXd::Zero(nv),
                                            all = Eigen::VectorXd::Zero(nv);
    int touch = -1;
    for (Eigen::Index k = 0; k < pose_.q.cols(); ++k) {
      const int p = touch_of_frame_[static_cast<size_t>(k)];
      if (p < 0) continue;
      const Eigen::VectorXd q = smooth_.q.col(k), v = smooth_.v.col(k), a = smooth_.a.col(k);
      if (p != touch) model::GravityTorque<double>(skeleton_, q, options_.gravity_W, &data, before);
      touch = p;
      model::InverseDynamics<double>(skeleton_, q, v, a, options_.gravity_W, &data, torque);
      const Eigen::VectorXd correction = torque - before;
      own += correction.cwiseAbs2();
      all += track.tau_Nm.col(k).cwiseAbs2();
      if (options_.correct_inertia_and_gravity) track.tau_Nm.col(k) -= correction;
    }
    if (touch < 0) return;  // nothing touched
    track.inertia_share = Eigen::VectorXd::Zero(nv);
    for (int j = 0; j < nv; ++j) {
      if (all[j] > 0) track.inertia_share[j] = std::sqrt(own[j] / all[j]);
    }
  }

  const model::Skeleton& skeleton_;
  const artefact::PoseTrack& pose_;
  const model::Prop& surface_;
  const geometry::RigidTransform& X_WP_;
  const ContactFitOptions& options_;
  const model::ContactSite& site_;
  int body_;
  model::KinematicsData kinematics_;
  std::vector<geometry::PosedShape> shapes_, skin_;
  SmoothPoses smooth_;
  std::vector<int> touch_of_frame_;  ///< -1: free
  std::vector<TouchShift> shifts_;   ///< per touch
  ContactFit fit_;
  int pressed_ = 0, missed_ = 0;  // frames above the threshold; those without a contact point
  Timestamp first_missed_;
  int within_ = 0;  ///< of the points: the skin next to it faces away from the surface
  Timestamp first_within_;
};

}  // namespace

Result<ContactFit> FitContact(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                              const artefact::PoseTrack& pose, const model::Prop& surface,
                              const geometry::RigidTransform& X_WP,
                              const ContactFitOptions& options) {
  if (pose.q.rows() != skeleton.nq() || pose.dof_names != skeleton.dof_names()) {
    return Error{ErrorCode::kInvalid, "contact: the pose track belongs to another skeleton than '" +
                                          skeleton.name() + "'"};
  }
  if (surface.shapes.empty())
    return Error{ErrorCode::kInvalid, "contact: prop '" + surface.name + "' has no shape to touch"};
  HANDHOLD_ASSIGN(const model::ContactSite* site, FindSite(skeleton, options.site));
  HANDHOLD_ASSIGN(const ForceSignal force,
                  ForceSignal::Open(clip, options.force_sensor, options.touch));
  return ContactFitter(skeleton, pose, surface, X_WP, options, *site).Fit(clip, force);
}

}  // namespace handhold::fitting
