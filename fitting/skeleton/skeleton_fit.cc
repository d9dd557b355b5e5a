#include "fitting/skeleton/skeleton_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/Geometry>
#include <Eigen/QR>

#include "database/geometry/shape.h"
#include "database/model/site.h"
#include "fitting/residual/calibration_residual.h"
#include "fitting/signal/find_site.h"
#include "fitting/signal/find_stream.h"
#include "fitting/signal/touch.h"
#include "fitting/skeleton/calibration_frames.h"
#include "fitting/skeleton/label_swaps.h"
#include "fitting/skeleton/marker_map.h"
#include "fitting/skeleton/regauge.h"
#include "fitting/skeleton/restarts.h"
#include "fitting/skeleton/segment_lengths.h"
#include "fitting/skeleton/skeleton_adjustment.h"
#include "fitting/skeleton/start.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;

/// Times the prior's own weight: a direction whose data weigh less is open.
constexpr double kDetermined = 9.0;
/// A fit that leaves more than this many times the take's own noise begins again elsewhere; the
/// other end is taken when it leaves less than this part.
constexpr double kFarFromNoise = 4.0, kClearlyBetter = 0.7;
/// A hand that leaves more than so many times the take's own noise, and more than so much (RMS over
/// the three axes: below it a filtered take, which looks quieter than it is, would be refused), is
/// no answer unless skin is said to explain it. Right hands leave 1.0 to 1.2 times.
constexpr double kMostOfNoise = 3.0, kLeastRefusedRms_m = 5e-4;
/// Plain hands leave 1.0 to 1.2 times the take's own noise. Above the first figure other starts are
/// tried; what then still lies above the second is told, above the third skin is named.
constexpr double kAboveNoise = 1.15, kTellNoise = 1.25, kTellSkin = 1.4;
constexpr int kMostRounds = 3;
constexpr size_t kQuickFrames = 40, kSwapFrames = 20;
/// Of a centre, where nothing holds it.
constexpr double kOpenCentreSd_m = 0.02;
/// As many postures of a whole hand are told apart by how skin lies.
constexpr double kPostures = 6.0;
/// What a template of the right size may be off by, where skin hides the rest.
constexpr double kSkinCentrePriorSd_m = 5e-3, kSkinAxisPriorSd_rad = 0.1;
/// What the template leaves when two labels are exchanged over what it leaves as labelled: worth a
/// fit, and by itself convincing where the fits leave the same.
constexpr double kHopeful = 0.97, kMuchNearer = 0.75;

/// The fingertip's frame of a body (its name ends in "tip"), or -1.
int TipOf(const model::Skeleton& skeleton, int body) {
  for (size_t i = 0; i < skeleton.frames().size(); ++i) {
    const model::NamedFrame& frame = skeleton.frames()[i];
    if (frame.body == body && frame.name.ends_with("tip")) return static_cast<int>(i);
  }
  return -1;
}

/// The fingertip that touches the surface: of the site named, or of the hand's only one. Without a
/// surface the hand's only fingertip, or -1.
Result<int> TouchingTip(const model::Skeleton& skeleton, const SkeletonFitOptions& options) {
  if (options.surface || !options.site.empty()) {
    HANDHOLD_ASSIGN(const model::ContactSite* site, FindSite(skeleton, options.site));
    const int tip = TipOf(skeleton, site->body);
    if (tip >= 0) return tip;
    return Error{ErrorCode::kInvalid, "site '" + site->name +
                                          "' is on no fingertip: only those are fitted from "
                                          "contact"};
  }
  return model::OnlyTip(skeleton);
}

/// Ends of a capsule's axis in its body.
std::pair<Vec3, Vec3> EndsOf(const model::BodyShape& shape, const geometry::Capsule& capsule) {
  const Vec3 half(0, 0, 0.5 * capsule.length_m);
  return {shape.X_BS * Vec3(-half), shape.X_BS * half};
}

/// The shape of the tip's body that is round about the tip frame (a sphere, or the end of a
/// capsule), or -1.
int RoundTip(const model::Skeleton& skeleton, int tip) {
  const model::NamedFrame& frame = skeleton.frames()[static_cast<size_t>(tip)];
  const auto& shapes = skeleton.body(frame.body).shapes;
  const auto near = [&](const Vec3& p_B) { return (p_B - frame.X_BF.p).norm() < 1e-3; };
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (std::holds_alternative<geometry::Sphere>(shapes[i].shape) && near(shapes[i].X_BS.p))
      return static_cast<int>(i);
    if (const auto* capsule = std::get_if<geometry::Capsule>(&shapes[i].shape)) {
      const auto [a, b] = EndsOf(shapes[i], *capsule);
      if (near(a) || near(b)) return static_cast<int>(i);
    }
  }
  return -1;
}

double RadiusOf(const geometry::Shape& shape) {
  if (const auto* sphere = std::get_if<geometry::Sphere>(&shape)) return sphere->radius_m;
  return std::get<geometry::Capsule>(shape).radius_m;
}

/// The round tip laid about `tip_B`: a sphere moves, a capsule keeps its other end.
void MoveRoundTip(const Vec3& tip_B, double radius_change_m, model::BodyShape* shape) {
  if (auto* sphere = std::get_if<geometry::Sphere>(&shape->shape)) {
    shape->X_BS.p = tip_B;
    sphere->radius_m += radius_change_m;
    return;
  }
  auto& capsule = std::get<geometry::Capsule>(shape->shape);
  auto [a, b] = EndsOf(*shape, capsule);
  (a - tip_B).norm() < (b - tip_B).norm() ? a = tip_B : b = tip_B;
  const Vec3 along = b - a;
  capsule.length_m = along.norm();
  capsule.radius_m += radius_change_m;
  shape->X_BS.p = 0.5 * (a + b);
  if (capsule.length_m > 0) {
    const Vec3 z = shape->X_BS.R.col(2);
    shape->X_BS.R = Eigen::Quaterniond::FromTwoVectors(z, along).toRotationMatrix() * shape->X_BS.R;
  }
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
    const geometry::Mat3 turn = BoneTurn(fitted, original, b, tip);  // the masses lie on the bone
    body.length_m *= r;
    body.mass.p_BCom = r * turn * body.mass.p_BCom;
    body.mass.I_BCom_B = r * r * turn * body.mass.I_BCom_B * turn.transpose();
    for (model::BodyShape& s : body.shapes) s.X_BS.p *= r;
  }
  for (size_t i = 0; i < draft.frames.size(); ++i) {
    if (static_cast<int>(i) != tip)
      draft.frames[i].X_BF.p *= ratio[static_cast<size_t>(draft.frames[i].body)];
  }
  if (tip >= 0) {
    const int round = RoundTip(original, tip);
    const model::NamedFrame& frame = draft.frames[static_cast<size_t>(tip)];
    const model::NamedFrame& then = original.frames()[static_cast<size_t>(tip)];
    if (round >= 0 && (frame.X_BF.p != then.X_BF.p || radius_change != 0)) {
      model::BodyShape& shape =
          draft.bodies[static_cast<size_t>(frame.body - 1)].shapes[static_cast<size_t>(round)];
      MoveRoundTip(frame.X_BF.p, radius_change, &shape);
    }
  }
  TellSources(original, &draft);
  return model::Skeleton::Build(std::move(draft));
}

/// Directions that `information` leaves open, each by the names of its largest parameters.
std::vector<std::string> OpenDirections(const Eigen::MatrixXd& information,
                                        const SkeletonAdjustment& adjustment,
                                        const CalibrationModel& calibration,
                                        const std::vector<std::string>& names) {
  // In units of the priors: eigenvalue = how much the data say over what the prior says. Gauges are
  // conventions, not findings: set aside. A centre that is held is known by that.
  Eigen::VectorXd sd = adjustment.prior_precision().cwiseSqrt().cwiseInverse();
  Eigen::MatrixXd known = information / std::max(1e-12, adjustment.noise_scale());
  for (int i = 0; i < calibration.size(); ++i) {
    if (calibration.kind(i) != 'h') continue;
    known(i, i) += adjustment.prior_precision()[i];
    sd[i] = std::max(sd[i], kOpenCentreSd_m);
  }
  Eigen::MatrixXd relative = sd.asDiagonal() * known * sd.asDiagonal();
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
  std::vector<std::string> open;
  for (Eigen::Index k = 0; k < relative.rows(); ++k) {
    if (eigen.eigenvalues()[k] > kDetermined) break;
    const Eigen::VectorXd direction = eigen.eigenvectors().col(k).cwiseAbs();
    std::string text;
    for (Eigen::Index i = 0; i < direction.size(); ++i) {
      if (direction[i] > 0.5 * direction.maxCoeff())
        text += (text.empty() ? "" : ", ") + names[static_cast<size_t>(i)];
    }
    open.push_back(std::move(text));
  }
  return open;
}

/// What the markers leave open and narrow ranges do not: by joint.
std::vector<std::string> HeldByRange(const std::vector<std::string>& without,
                                     const std::vector<std::string>& with,
                                     const model::Skeleton& skeleton) {
  std::vector<std::string> out;
  const auto names = [](const std::vector<std::string>& directions, const std::string& name) {
    return std::any_of(directions.begin(), directions.end(),
                       [&](const std::string& d) { return d.find(name + ".") != d.npos; });
  };
  for (int b = 1; b < skeleton.body_count(); ++b) {
    const std::string& joint = skeleton.body(b).joint.name;
    if (!joint.empty() && names(without, joint) && !names(with, joint)) out.push_back(joint);
  }
  return out;
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

/// The hand that all frames agree on; those of `touching` rest on the surface. `start`: where to
/// begin; null: at the template.
Result<Solved> Solve(const model::Skeleton& template_skeleton, const SkeletonFitOptions& options,
                     int tip, double tip_radius_m, std::vector<CalibrationFrame> frames,
                     std::vector<CalibrationFrame> touching, const Eigen::VectorXd* start) {
  SkeletonFitSummary summary;
  summary.frames = static_cast<int>(frames.size());
  summary.contact_frames = static_cast<int>(touching.size());
  const CalibrationModel calibration(template_skeleton, touching.empty() ? -1 : tip);
  SkeletonAdjustment adjustment(calibration, options, tip_radius_m);
  for (CalibrationFrame& f : frames) adjustment.Add(std::move(f));
  for (CalibrationFrame& f : touching) adjustment.Add(std::move(f));
  if (start != nullptr) adjustment.StartAt(*start);
  HANDHOLD_TRY(adjustment.Solve());

  summary.marker_sd_m = adjustment.marker_sd_m();
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
  HANDHOLD_ASSIGN(const Regauged regauged, Regauge(calibration.At(adjustment.x()),
                                                   template_skeleton, calibration.tip_frame()));
  std::vector<Eigen::VectorXd> poses;
  for (const CalibrationFrame& f : adjustment.frames())
    poses.push_back(regauged.skeleton.Integrate(f.q, regauged.angle_change));
  HANDHOLD_ASSIGN(const Regauged within,
                  WithinNarrowLimits(regauged.skeleton, poses, calibration.tip_frame()));
  const model::Skeleton& fitted = within.skeleton;
  const CalibrationModel local(fitted, calibration.tip_frame());
  SkeletonAdjustment about(local, options, tip_radius_m + adjustment.radius_change());
  for (size_t i = 0; i < poses.size(); ++i) {
    CalibrationFrame f = adjustment.frames()[i];
    f.q = fitted.Integrate(poses[i], within.angle_change);
    about.Add(std::move(f));
  }
  Eigen::MatrixXd information = about.InformationHere() / std::max(1e-12, adjustment.noise_scale());
  information.diagonal() += about.prior_precision();
  summary.covariance =
      information.ldlt().solve(Eigen::MatrixXd::Identity(information.rows(), information.cols()));
  summary.gauges = {
      "a hinge's zero is where the bones meet as the template's do; of one that turns by 30 "
      "degrees "
      "or less, as near to that as its limits hold the take",
      "a hinge's origin lies in the finger, where the template has it between markers",
      "a ball's and a free joint's orientation zero is the template's"};
  summary.undetermined =
      OpenDirections(about.data_information(), about, local, summary.parameter_names);
  if (NarrowRanges(template_skeleton).any()) {
    summary.held_by_range = HeldByRange(
        OpenDirections(about.marker_information(), about, local, summary.parameter_names),
        summary.undetermined, template_skeleton);
  }
  const bool tip_seen = summary.contact_frames > 0 && calibration.tip_frame() >= 0;
  summary.lengths = ListLengths(local, template_skeleton, tip, tip_seen, summary.covariance,
                                summary.undetermined);
  std::string ends;
  for (const SegmentLength& l : summary.lengths) {
    if (l.source == "template") ends += (ends.empty() ? "" : ", ") + l.name;
  }
  if (!ends.empty() && !tip_seen) {
    summary.undetermined.push_back(
        ends + ": markers do not show the end segment's length; give a surface that it touches");
  }
  for (size_t m = 0; m < fitted.markers().size(); ++m) {
    const double rms_m = about.rms_of_marker_m()[static_cast<Eigen::Index>(m)];
    summary.marker_rms_by_name_m[fitted.markers()[m].name] = rms_m;
  }
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

namespace {

/// The frames of one fit as they were read, poses to be set by whoever begins.
struct Read {
  std::vector<CalibrationFrame> frames, touching;
  TakeNoise noise;
};

std::string Missing(const std::vector<const recording::StreamInfo*>& streams,
                    const model::Skeleton& skeleton) {
  std::string text;
  for (const auto& marker : MissingMarkers(streams, skeleton)) text += " " + marker;
  return text.empty() ? "; each is in the clip, never enough at once" : "; not in the clip:" + text;
}

Result<Read> ReadFrames(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                        const SkeletonFitOptions& options) {
  HANDHOLD_ASSIGN(const std::vector<const recording::StreamInfo*> streams,
                  FindMarkerStreams(clip, options.marker_stream));
  HANDHOLD_TRY(CheckWorn(streams, skeleton));
  HANDHOLD_TRY(CheckRange(clip, streams, options.range));
  const TimeRange all{clip.Extent(streams.front()->id).begin, clip.Extent(streams.back()->id).end};
  Read read;
  HANDHOLD_ASSIGN(read.frames,
                  ReadCalibrationFrames(clip, streams, skeleton, {options.range.value_or(all)},
                                        options.frames, &read.noise));
  if (static_cast<int>(read.frames.size()) < 10) {
    char share[16];
    std::snprintf(share, sizeof share, "%.0f", 100 * kLeastVisible);
    return Error{ErrorCode::kUnidentifiable,
                 "skeleton fit: only " + std::to_string(read.frames.size()) +
                     " frames in the range show " + share + " % of the markers of '" +
                     skeleton.name() + "'" + Missing(streams, skeleton) +
                     ": label them, or give a --template without them"};
  }
  if (!options.surface) return read;
  const recording::ClipSource& touched =
      options.surface->clip != nullptr ? *options.surface->clip : clip;
  const auto touched_streams = FindMarkerStreams(touched, streams.front()->name);
  if (!touched_streams) return touched_streams.error().Within("the clip of the contact");
  HANDHOLD_ASSIGN(const ForceSignal force,
                  ForceSignal::Open(touched, options.surface->force_sensor));
  std::vector<TimeRange> contacts;
  for (const Touch& t : force.touches()) contacts.push_back({t.onset, t.release});
  HANDHOLD_ASSIGN(read.touching, ReadCalibrationFrames(touched, *touched_streams, skeleton,
                                                       contacts, options.contact_frames));
  HANDHOLD_TRY(AddWrench(force, options.contact_force_N, &read.touching));
  return read;
}

/// Poses set by the template and thinned out, then all solved together; from `start` on, where it
/// is not null.
Result<Solved> SolveFrom(const model::Skeleton& begin, const SkeletonFitOptions& options, int tip,
                         double tip_radius_m, const Read& read,
                         const Eigen::VectorXd* start = nullptr) {
  const CalibrationModel calibration(begin, -1);
  const model::Skeleton posed = start != nullptr ? calibration.At(*start) : begin;
  return Solve(begin, options, tip, tip_radius_m, PoseAndSpread(posed, read.frames, options.frames),
               PoseAndSpread(posed, read.touching, options.contact_frames), start);
}

/// Skin slides with the posture, not from frame to frame: more frames of the same postures say
/// nothing new. Each frame's share of what kPostures of them say, one axis; a slide of at most
/// skin_m is skin_m / sqrt(2) of it on average, over three axes.
double SkinnySd_m(const SkeletonFitOptions& options, const Read& read) {
  const double noise_m = std::max(options.marker_sd_m, read.noise.sd_m());
  const double frames = std::max(1.0, options.frames / kPostures);
  return std::sqrt(noise_m * noise_m + options.skin_m * options.skin_m / 6 * frames);
}

/// Whether two labels stand for each other throughout. Asked of the template, which no label has
/// bent: what it leaves must become less when they are exchanged. Then either the hand fitted to
/// them exchanged leaves far less than as labelled, or it fits as well and the template far better:
/// one marker on each of two segments can be followed the wrong way round by a hand of absurd
/// lengths. kInvalid names them.
Status CheckLabels(const model::Skeleton& begin, const SkeletonFitOptions& options,
                   const Read& read) {
  const std::vector<CalibrationFrame> some = PoseAndSpread(begin, Some(read.frames, 20), 20);
  std::vector<LabelledFrame> labelled;
  for (const CalibrationFrame& f : Some(some, 5)) labelled.push_back({f.t, f.z_WM, f.q, 0.0});
  SkeletonFitOptions quick = options;
  quick.surface.reset();
  const CalibrationModel calibration(begin, -1);
  const auto rms_of = [&](const std::vector<CalibrationFrame>& frames) -> std::optional<double> {
    SkeletonAdjustment adjustment(calibration, quick, 0.0);
    for (const CalibrationFrame& f : frames) adjustment.Add(f);
    if (!adjustment.Solve(60)) return std::nullopt;
    return adjustment.marker_rms_m();
  };
  bool asked = false;
  std::optional<double> as_labelled_m;  // none: no hand settles on them
  for (LabelSwap& swap : RankSwaps(begin, labelled, 3)) {
    const double by_template = swap.exchanged_rms_m / swap.rms_m;
    if (by_template > kHopeful) break;
    if (!asked) as_labelled_m = rms_of(some), asked = true;
    std::vector<CalibrationFrame> exchanged = some;
    for (CalibrationFrame& f : exchanged) f.z_WM.col(swap.a).swap(f.z_WM.col(swap.b));
    exchanged = PoseAndSpread(begin, std::move(exchanged), static_cast<int>(some.size()));
    const std::optional<double> exchanged_m = rms_of(exchanged);
    if (!exchanged_m) continue;
    const bool clearly = as_labelled_m && *exchanged_m < kLeastGain * *as_labelled_m;
    const bool by_both = by_template < kMuchNearer &&
                         *exchanged_m < (as_labelled_m ? 1.1 * *as_labelled_m : kTellMarkerRms_m);
    if (!clearly && !by_both) continue;
    if (clearly) swap.rms_m = *as_labelled_m, swap.exchanged_rms_m = *exchanged_m;
    return Error{ErrorCode::kInvalid, "skeleton fit: " + Describe(swap, begin) +
                                          (clearly ? "" : " (by the template)") +
                                          ": label them the other way round"};
  }
  return {};
}

/// The residual is far above what the take's own noise explains.
bool FarFromNoise(const SkeletonFitSummary& summary, const Read& read) {
  const double noise_m = read.noise.sd_m();
  return noise_m > 0 && summary.marker_sd_m > kFarFromNoise * noise_m &&
         summary.marker_rms_m > kTellMarkerRms_m;
}

/// What the hand leaves over the take's own noise; 0: not known, or said to be skin.
double NoiseRatio(const SkeletonFitSummary& summary, const SkeletonFitOptions& options,
                  const Read& read) {
  const double noise_m = read.noise.sd_m();
  return options.skin_m > 0 || !(noise_m > 0) ? 0.0 : summary.marker_sd_m / noise_m;
}

Eigen::VectorXd MarkerRms(const Solved& solved) {
  const auto& markers = solved.hand.markers();
  Eigen::VectorXd rms_m = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(markers.size()));
  for (size_t m = 0; m < markers.size(); ++m)
    rms_m[static_cast<Eigen::Index>(m)] = solved.summary.marker_rms_by_name_m.at(markers[m].name);
  return rms_m;
}

/// An end that leaves more than the noise, again from where a few frames are fitted with less; as
/// long as the whole fit then leaves less, too.
Status Reconsider(const model::Skeleton& begin, const SkeletonFitOptions& options, int tip,
                  double tip_radius_m, const Read& read, Solved* solved) {
  const CalibrationModel calibration(begin, -1);
  for (int round = 0; round < kMostRounds; ++round) {
    if (NoiseRatio(solved->summary, options, read) <= kAboveNoise) return {};
    const Eigen::VectorXd x = solved->summary.parameter_change.head(calibration.size());
    const std::optional<Eigen::VectorXd> start =
        BetterStart(calibration, options, x, MarkerRms(*solved), Some(read.frames, kQuickFrames));
    if (!start) return {};
    Result<Solved> again = SolveFrom(begin, options, tip, tip_radius_m, read, &*start);
    if (!again && again.error().code == ErrorCode::kCancelled) return again.error();
    if (!again || !(again->summary.marker_rms_m < kLessLeft * solved->summary.marker_rms_m))
      return {};
    *solved = *std::move(again);
  }
  return {};
}

/// The template as it is, and, where that ends nowhere or far from the take's noise, in the place
/// and size that the markers show; then from other starts, as long as more than the noise is left.
Result<std::pair<Solved, PlacedTemplate>> SolveFromSeveral(const model::Skeleton& skeleton,
                                                           const SkeletonFitOptions& options,
                                                           int tip, double tip_radius_m,
                                                           const Read& read) {
  PlacedTemplate begin{skeleton};
  Result<Solved> found = SolveFrom(skeleton, options, tip, tip_radius_m, read);
  if (!found && found.error().code != ErrorCode::kNotConverged) return found.error();
  if (!found || FarFromNoise(found->summary, read)) {
    std::vector<Eigen::Matrix3Xd> shown;
    for (const CalibrationFrame& f : Some(read.frames, 5)) shown.push_back(f.z_WM);
    PlacedTemplate placed = PlaceTemplate(skeleton, shown);
    if (placed.moved || placed.scale != 1.0) {
      HANDHOLD_TRY(CheckLabels(placed.skeleton, options, read));
      Result<Solved> second = SolveFrom(placed.skeleton, options, tip, tip_radius_m, read);
      const double before_m = found ? found->summary.marker_rms_m : kMostMarkerRms_m;
      if (second && second->summary.marker_rms_m < kClearlyBetter * before_m)
        found = std::move(second), begin = std::move(placed);
    }
  }
  if (!found) return found.error();
  if (NoiseRatio(found->summary, options, read) > kSuspiciousNoiseRatio) {
    const CalibrationModel calibration(begin.skeleton, -1);
    const auto swap =
        SwapWithinFinger(calibration, options, MarkerRms(*found), Some(read.frames, kSwapFrames));
    if (swap)
      return Error{ErrorCode::kInvalid, "skeleton fit: " + Describe(*swap, begin.skeleton) +
                                            ": label them the other way round"};
  }
  HANDHOLD_TRY(Reconsider(begin.skeleton, options, tip, tip_radius_m, read, &*found));
  return std::pair{*std::move(found), std::move(begin)};
}

}  // namespace

Result<SkeletonFit> FitSkeleton(const recording::ClipSource& clip,
                                const model::Skeleton& template_skeleton,
                                const SkeletonFitOptions& options) {
  if (options.frames < 10 || !(options.marker_sd_m > 0) || !(options.centre_prior_sd_m > 0) ||
      !(options.axis_prior_sd_rad > 0) || !(options.marker_prior_sd_m > 0) ||
      !(options.skin_m >= 0)) {
    return Error{
        ErrorCode::kInvalid,
        "skeleton fit: at least 10 frames, and every standard deviation positive (skin_m: or 0)"};
  }
  HANDHOLD_ASSIGN(const int tip, TouchingTip(template_skeleton, options));
  double tip_radius_m = 0.0;
  if (options.surface) {
    const int round = RoundTip(template_skeleton, tip);
    if (round < 0)
      return Error{ErrorCode::kInvalid,
                   "skeleton fit from contact: neither a sphere nor the end of a capsule sits at "
                   "the fingertip's frame"};
    const model::NamedFrame& frame = template_skeleton.frames()[static_cast<size_t>(tip)];
    tip_radius_m =
        RadiusOf(template_skeleton.body(frame.body).shapes[static_cast<size_t>(round)].shape);
  }
  SkeletonFitOptions used = options;
  HANDHOLD_ASSIGN(const Read read, ReadFrames(clip, template_skeleton, used));
  if (used.skin_m > 0) {
    used.marker_sd_m = SkinnySd_m(used, read);
    used.centre_prior_sd_m = std::min(used.centre_prior_sd_m, kSkinCentrePriorSd_m);
    used.axis_prior_sd_rad = std::min(used.axis_prior_sd_rad, kSkinAxisPriorSd_rad);
    used.marker_prior_sd_m = std::min(used.marker_prior_sd_m, kSkinCentrePriorSd_m);
  }
  HANDHOLD_TRY(CheckLabels(template_skeleton, used, read));
  auto found = SolveFromSeveral(template_skeleton, used, tip, tip_radius_m, read);
  if (!found) return found.error();
  auto& [solved, begin] = *found;
  SkeletonFitSummary& summary = solved.summary;
  summary.take_sd_m = read.noise.sd_m();
  if (used.skin_m == 0 && summary.take_sd_m > 0 &&
      summary.marker_sd_m > kMostOfNoise * summary.take_sd_m &&
      summary.marker_rms_m > kLeastRefusedRms_m) {
    // The residual is then no noise, and what it says of how well the hand is known is wrong.
    char text[256];
    std::snprintf(
        text, sizeof text,
        "the fitted hand leaves %.2f mm per axis, %.0f times the take's own noise of %.2f "
        "mm: it ended beside the hand, or skin carries its markers",
        1e3 * summary.marker_sd_m, summary.marker_sd_m / summary.take_sd_m,
        1e3 * summary.take_sd_m);
    return Error{ErrorCode::kNotConverged, text};
  }
  const double ratio = NoiseRatio(summary, used, read);
  if (ratio > kTellNoise) {
    char text[360];
    std::snprintf(text, sizeof text,
                  "the fitted hand leaves %.2f times the take's own noise of %.2f mm, and no other "
                  "start leaves less: %s; lengths may be further off than their sds say",
                  ratio, 1e3 * summary.take_sd_m,
                  ratio > kTellSkin ? "skin carries its markers (say how far: --skin), or the "
                                      "template's joints are not this hand's"
                                    : "a bone may have settled beside its length");
    summary.issues.push_back({"markers", Severity::kWarning, text});
  }
  if (begin.moved || begin.scale != 1.0) {
    char text[160];
    std::snprintf(text, sizeof text, "begun from the template %.2f times as large%s", begin.scale,
                  begin.moved ? ", its base laid where the markers are" : "");
    summary.issues.push_back({"template", Severity::kNote, text});
  }
  if (options.require_all && !summary.undetermined.empty()) {
    return Error{ErrorCode::kUnidentifiable,
                 "skeleton fit: not determined: " + summary.undetermined.front()};
  }
  HANDHOLD_ASSIGN(model::Skeleton followed,
                  Follow(solved.hand, begin.skeleton, tip, solved.radius_change_m));
  return SkeletonFit{std::move(followed), std::move(summary)};
}

}  // namespace handhold::fitting
