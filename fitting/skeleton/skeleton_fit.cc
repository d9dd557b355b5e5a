#include "fitting/skeleton/skeleton_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "database/geometry/shape.h"
#include "fitting/residual/calibration_residual.h"
#include "fitting/signal/find_stream.h"
#include "fitting/signal/touch.h"
#include "fitting/skeleton/calibration_frames.h"
#include "fitting/skeleton/marker_map.h"
#include "fitting/skeleton/skeleton_adjustment.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;
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

void NameUndetermined(const SkeletonAdjustment& adjustment, const CalibrationModel& calibration,
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
                 const SkeletonAdjustment& adjustment, SkeletonFitSummary* summary) {
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
                                undetermined(name) ? "prior" : "markers"});
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

/// A hand that was solved for, shapes not yet following, and what is known of it.
struct Solved {
  model::Skeleton hand;
  SkeletonFitSummary summary;
  double radius_change_m = 0.0;
};

/// Whether what was fitted together belongs together; fails as FitSkeleton says.
Status CheckAgreement(const SkeletonFitSummary& summary, const Eigen::VectorXd& prior_precision) {
  char text[480];
  if (summary.contact_distance_rms_m > kMostContactDistance_m ||
      summary.contact_axis_rms_m > kMostContactAxis_m) {
    std::snprintf(text, sizeof text,
                  "the touched surface and the force sensor do not agree with the markers: in "
                  "contact the fingertip is %.2f mm off the surface, its touched point %.2f mm off "
                  "the wrench's axis (RMS). Check --surface (of a mesh file: --mesh-unit), "
                  "--surface-pose and, in the rig file, the sensor's pose, normal and sign; "
                  "--surface none fits the markers alone",
                  1e3 * summary.contact_distance_rms_m, 1e3 * summary.contact_axis_rms_m);
    return Error{ErrorCode::kInvalid, text};
  }
  const double furthest =
      summary.parameter_change.cwiseProduct(prior_precision.cwiseSqrt()).cwiseAbs().maxCoeff();
  if (summary.marker_rms_m > kMostMarkerRms_m || furthest > kFurthestFromTemplate) {
    std::snprintf(text, sizeof text,
                  "the fitted hand lies %.1f prior standard deviations from its template and %.2f "
                  "mm RMS from the markers: is the template this hand's (--template, --scale), are "
                  "the labels right%s?",
                  furthest, 1e3 * summary.marker_rms_m,
                  summary.contact_frames > 0
                      ? ", and does the touched surface stand there, its outside up "
                        "(--surface-pose, metres; --surface none leaves it out)"
                      : "");
    return Error{ErrorCode::kNotConverged, text};
  }
  return {};
}

void TellDoubts(SkeletonFitSummary* summary) {
  char text[280];
  if (summary->marker_rms_m > kTellMarkerRms_m) {
    std::snprintf(
        text, sizeof text,
        "markers lie %.2f mm RMS from the fitted hand: skin may move that much, but so do "
        "swapped labels; look at the take before trusting the lengths",
        1e3 * summary->marker_rms_m);
    summary->issues.push_back({"markers", Severity::kWarning, text});
  }
  if (summary->contact_axis_rms_m > kTellContactAxis_m) {
    std::snprintf(text, sizeof text,
                  "in contact the touched point is %.2f mm RMS off the wrench's axis: the surface "
                  "or the sensor is placed some mm off, or drifts; the end segment's sd does not "
                  "include that",
                  1e3 * summary->contact_axis_rms_m);
    summary->issues.push_back({"contact", Severity::kWarning, text});
  }
}

/// The hand that all frames agree on; those of `touching` rest on the surface.
Result<Solved> Solve(const model::Skeleton& template_skeleton, const SkeletonFitOptions& options,
                     int tip, double tip_radius_m, std::vector<CalibrationFrame> frames,
                     std::vector<CalibrationFrame> touching) {
  SkeletonFitSummary summary;
  summary.frames = static_cast<int>(frames.size());
  summary.contact_frames = static_cast<int>(touching.size());
  const CalibrationModel calibration(template_skeleton, touching.empty() ? -1 : tip);
  SkeletonAdjustment adjustment(calibration, options, tip_radius_m);
  for (CalibrationFrame& f : frames) adjustment.Add(std::move(f));
  for (CalibrationFrame& f : touching) adjustment.Add(std::move(f));
  HANDHOLD_TRY(adjustment.Solve());

  summary.marker_sd_m = options.marker_sd_m * std::sqrt(adjustment.noise_scale());
  summary.marker_rms_m = adjustment.marker_rms_m();
  summary.contact_distance_rms_m = adjustment.contact_distance_rms_m();
  summary.contact_axis_rms_m = adjustment.contact_axis_rms_m();
  summary.parameter_names = calibration.names();
  if (adjustment.HasTip()) summary.parameter_names.push_back("fingertip radius");
  summary.parameter_change.resize(static_cast<Eigen::Index>(summary.parameter_names.size()));
  summary.parameter_change.head(calibration.size()) = adjustment.x();
  if (adjustment.HasTip())
    summary.parameter_change[summary.parameter_change.size() - 1] = adjustment.radius_change();
  HANDHOLD_TRY(CheckAgreement(summary, adjustment.prior_precision()));
  TellDoubts(&summary);
  // Judged about the fitted hand, where the gauges are exact; copied, as the calibration keeps only
  // the last hand it built.
  const model::Skeleton fitted = calibration.At(adjustment.x());
  const CalibrationModel local(fitted, calibration.tip_frame());
  SkeletonAdjustment about(local, options, tip_radius_m + adjustment.radius_change());
  for (const CalibrationFrame& f : adjustment.frames()) about.Add(f);
  Eigen::MatrixXd information = about.InformationHere() / std::max(1e-12, adjustment.noise_scale());
  information.diagonal() += about.prior_precision();
  summary.covariance =
      information.ldlt().solve(Eigen::MatrixXd::Identity(information.rows(), information.cols()));
  summary.gauges = {"the zero of every joint angle is the template's",
                    "a hinge's origin keeps the template's place along its axis",
                    "a ball's and a free joint's orientation zero is the template's"};
  NameUndetermined(about, local, adjustment.noise_scale(), summary.parameter_names, &summary);
  ListLengths(fitted, template_skeleton, tip, summary.covariance, local, about, &summary);
  return Solved{fitted, std::move(summary), adjustment.radius_change()};
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
  HANDHOLD_ASSIGN(const std::vector<const recording::StreamInfo*> streams,
                  FindMarkerStreams(clip, options.marker_stream));
  HANDHOLD_TRY(CheckWorn(streams, template_skeleton));
  HANDHOLD_TRY(CheckRange(clip, streams, options.range));
  const TimeRange all{clip.Extent(streams.front()->id).begin, clip.Extent(streams.back()->id).end};
  const TimeRange range = options.range.value_or(all);
  HANDHOLD_ASSIGN(std::vector<CalibrationFrame> frames,
                  ReadCalibrationFrames(clip, streams, template_skeleton, {range}, options.frames));
  if (static_cast<int>(frames.size()) < 10) {
    std::string why = "; each is in the clip, never all at once";
    if (const auto missing = MissingMarkers(streams, template_skeleton); !missing.empty()) {
      why = "; not in the clip:";
      for (const std::string& marker : missing) why += " " + marker;
    }
    return Error{ErrorCode::kUnidentifiable, "skeleton fit: only " + std::to_string(frames.size()) +
                                                 " frames in the range show all markers of '" +
                                                 template_skeleton.name() + "'" + why +
                                                 ": label them, or give a --template without them"};
  }
  frames = PoseAndSpread(template_skeleton, std::move(frames), options.frames);

  const int tip = FindTip(template_skeleton, options.tip_frame);
  if (tip < 0 && !options.tip_frame.empty())
    return Error{ErrorCode::kNotFound, "the skeleton has no frame '" + options.tip_frame + "'"};
  double tip_radius_m = 0.0;
  std::vector<CalibrationFrame> touching;
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
    const auto touched_streams = FindMarkerStreams(touched, streams.front()->name);
    if (!touched_streams) return touched_streams.error().Within("the clip of the contact");
    HANDHOLD_ASSIGN(const ForceSignal force,
                    ForceSignal::Open(touched, options.surface->force_sensor));
    std::vector<TimeRange> contacts;
    for (const Touch& t : force.touches()) contacts.push_back({t.onset, t.release});
    HANDHOLD_ASSIGN(touching, ReadCalibrationFrames(touched, *touched_streams, template_skeleton,
                                                    contacts, options.contact_frames));
    HANDHOLD_TRY(AddWrench(force, options.contact_force_N, &touching));
    touching = PoseAndSpread(template_skeleton, std::move(touching), options.contact_frames);
  }

  HANDHOLD_ASSIGN(Solved solved, Solve(template_skeleton, options, tip, tip_radius_m,
                                       std::move(frames), std::move(touching)));
  SkeletonFitSummary& summary = solved.summary;
  if (options.require_all && !summary.undetermined.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "skeleton fit: not determined: " + summary.undetermined.front()};
  }
  HANDHOLD_ASSIGN(model::Skeleton followed,
                  Follow(solved.hand, template_skeleton, tip, solved.radius_change_m));
  return SkeletonFit{std::move(followed), std::move(summary)};
}

}  // namespace handhold::fitting
