#include "fitting/skeleton/pose_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "database/base/units.h"
#include "database/model/hand_library.h"
#include "database/model/kinematics.h"
#include "fitting/signal/find_stream.h"
#include "fitting/signal/missing.h"
#include "fitting/signal/touch.h"
#include "fitting/skeleton/joint_range.h"
#include "fitting/skeleton/label_swaps.h"
#include "fitting/skeleton/marker_map.h"
#include "fitting/skeleton/start.h"
#include "fitting/skeleton/take_noise.h"

namespace handhold::fitting {
namespace {

/// Of the frames, held at a limit of one coordinate: worth a word.
constexpr double kTellAtLimit = 0.005;
/// Of the frames, without a pose: no answer any more but a loss.
constexpr double kMostAbsent = 0.1;

/// A limit that gives: by so many times; how far from the firm one, and how much less of the
/// markers it must leave.
constexpr double kSofter = 30.0, kFurthestBeyond_rad = 0.8, kClearlyLess = 0.9;

using recording::SampleWindow;
using recording::StreamInfo;

/// A hand whose markers lie further from it, RMS, may be of the other side; then its mirror image
/// leaves less than this share.
constexpr double kAskSideRms_m = 2e-3, kOtherSideGain = 0.5;
const Duration kChunk = Duration::Seconds(5);
const Duration kStale = Duration::Milliseconds(250);  ///< an older pose is no start for the next

Eigen::Matrix3Xd MarkersOf(const SampleWindow& window, int i, const std::vector<int>& channel) {
  Eigen::Matrix3Xd p(3, static_cast<Eigen::Index>(channel.size()));
  for (size_t m = 0; m < channel.size(); ++m) {
    for (int c = 0; c < 3; ++c)
      p(c, static_cast<Eigen::Index>(m)) =
          channel[m] < 0 ? kMissing : window.value(channel[m] + c, i);
  }
  return p;
}

/// The fitter of one take: keeps the running start and gathers what the summary needs.
class TakeFitter {
 public:
  TakeFitter(const model::Skeleton& skeleton, const PoseFitOptions& options,
             std::vector<TimeRange> contacts, PoseFit* out)
      : skeleton_(skeleton),
        options_(options),
        contacts_(std::move(contacts)),
        solver_(skeleton, options.solver),
        patient_(skeleton, StartSolverOptions()),
        soft_(skeleton, Soft(options.solver)),
        ranges_(skeleton),
        held_frames_(Eigen::VectorXi::Zero(skeleton.nv())),
        out_(*out) {
    for (const std::string& name : options.leave_out)
      left_out_.push_back(skeleton.FindMarker(name));
    left_out_m_.resize(left_out_.size());
  }

  void Frame(Timestamp t, Eigen::Matrix3Xd p_WM) {
    ++out_.summary.frames;
    noise_.Add(t, p_WM);
    const Eigen::Matrix3Xd measured = p_WM;
    for (const int m : left_out_) p_WM.col(m).setConstant(kMissing);
    if (VisibleCount(p_WM) == 0) return;
    const bool fresh = poses_.empty() || t - last_time_ > kStale;
    const Eigen::VectorXd before = fresh ? ColdStart(p_WM) : poses_.back();
    const Eigen::Matrix3Xd labelled = p_WM;
    const PoseSolution* solution = &solver_.Solve(p_WM, before, options_.method);
    const double whole_rms_m = MarkerRms_m(*solution);
    solution = DropOutliers(&p_WM, before, solution);
    if (solution->converged && solution->at_limit.any()) solution = BeyondLimit(p_WM, solution);
    if (!solution->converged) {
      if (out_.summary.frames_not_converged++ < 3) unsettled_.push_back(labelled);
      return;
    }
    Remember({t, labelled, solution->q, whole_rms_m});
    ComparePrediction(measured, solution->q);
    Keep(t, p_WM, *solution);
  }

  Status Finish(const std::vector<std::string>& marker_names);

 private:
  static PoseSolverOptions Soft(PoseSolverOptions options) {
    options.limit_sd_rad *= kSofter;
    return options;
  }
  static int VisibleCount(const Eigen::Matrix3Xd& p) {
    int n = 0;
    for (Eigen::Index m = 0; m < p.cols(); ++m) n += p.col(m).allFinite();
    return n;
  }

  /// A pose to begin from where there is none before: the last known or the zero pose, its root
  /// laid onto the markers; where that ends far from them, the best of several.
  Eigen::VectorXd ColdStart(const Eigen::Matrix3Xd& p_WM) {
    Eigen::VectorXd start = WithRootOnMarkers(
        skeleton_, poses_.empty() ? skeleton_.ZeroConfiguration() : poses_.back(), p_WM);
    // Far away: solved again from its own answer, so that the pull does not hold it.
    double rms_m = 0.0;
    for (int pass = 0; pass < 4; ++pass) {
      const PoseSolution& s = solver_.Solve(p_WM, start, options_.method);
      if (!s.converged && pass == 0) start = skeleton_.ZeroConfiguration();
      if (pass > 0 || s.converged) start = s.q;
      rms_m = MarkerRms_m(s);
    }
    if (rms_m < std::max(options_.outlier_m, 1e-3)) return start;
    double other_m = 0.0;
    const Eigen::VectorXd other = ColdPose(skeleton_, p_WM, &patient_, &other_m);
    return other_m < rms_m ? other : start;
  }

  /// A joint that its firm limit holds from its markers: again from there with a limit that gives.
  /// Firm limits lead to the right side of a joint; beyond them its neighbours would make up for
  /// what it may not do. Taken where it is near and leaves clearly less; the frame stays flagged.
  const PoseSolution* BeyondLimit(const Eigen::Matrix3Xd& p_WM, const PoseSolution* held) {
    const double held_m = MarkerRms_m(*held);
    const PoseSolution* soft = &soft_.Solve(p_WM, held->q, options_.method);
    const double way = skeleton_.Difference(held->q, soft->q).cwiseAbs().maxCoeff();
    const bool better = soft->converged && soft->at_limit.any() && way < kFurthestBeyond_rad &&
                        MarkerRms_m(*soft) < kClearlyLess * held_m;
    return better ? soft : held;
  }

  /// Leaves out markers far from where the others put them, worst first, at most a third of them.
  const PoseSolution* DropOutliers(Eigen::Matrix3Xd* p_WM, const Eigen::VectorXd& start,
                                   const PoseSolution* solution) {
    const int most = VisibleCount(*p_WM) / 3;
    for (int dropped = 0; dropped < most && options_.outlier_m > 0; ++dropped) {
      Eigen::Index worst = -1;
      double distance = options_.outlier_m;
      for (Eigen::Index m = 0; m < p_WM->cols(); ++m) {
        const double d = solution->residual_m.col(m).norm();
        if (d > distance) distance = d, worst = m;  // false for NaN
      }
      if (worst < 0) break;
      p_WM->col(worst).setConstant(kMissing);
      ++out_.summary.outliers;
      solution = &solver_.Solve(*p_WM, start, options_.method);
    }
    return solution;
  }

  void Keep(Timestamp t, const Eigen::Matrix3Xd& p_WM, const PoseSolution& s) {
    last_time_ = t;
    poses_.push_back(s.q);
    out_.track.times.push_back(t);
    Eigen::VectorXd residual(p_WM.cols());
    for (Eigen::Index m = 0; m < p_WM.cols(); ++m) residual[m] = s.residual_m.col(m).norm();
    const int determined = s.determined.sum();
    const int rows = 3 * VisibleCount(p_WM);
    if (rows > determined) {
      for (Eigen::Index m = 0; m < residual.size(); ++m) {
        if (std::isfinite(residual[m])) squares_ += residual[m] * residual[m];
      }
      dof_ += rows - determined;
    }
    residuals_.push_back(std::move(residual));
    Eigen::VectorXd diagonal = s.information.diagonal();
    for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
      if (s.determined[i] == 0) diagonal[i] = 0.0;
    }
    diagonals_.push_back(std::move(diagonal));
    held_.push_back(s.held_by_range);
    held_frames_ += s.held_by_range;
    limits_.push_back(s.at_limit);
    out_.summary.frames_at_limit += s.at_limit.any();
    if (determined + s.held_by_range.sum() < skeleton_.nv()) NoteUndetermined(t, p_WM, s);
    for (const TimeRange& contact : contacts_) {
      if (t >= contact.begin - options_.whole_information &&
          t <= contact.end + options_.whole_information) {
        out_.track.information[out_.track.frame_count() - 1] = s.information;
        break;
      }
    }
  }

  /// Frames as labelled, thinned out as the take grows.
  void Remember(LabelledFrame frame) {
    if (seen_++ % stride_ != 0) return;
    labelled_.push_back(std::move(frame));
    if (labelled_.size() < 1200) return;
    for (size_t i = 0; 2 * i < labelled_.size(); ++i) labelled_[i] = std::move(labelled_[2 * i]);
    labelled_.resize((labelled_.size() + 1) / 2);
    stride_ *= 2;
  }

  void ComparePrediction(const Eigen::Matrix3Xd& measured, const Eigen::VectorXd& q) {
    if (left_out_.empty()) return;
    model::ComputePoses(skeleton_, q, &data_);
    for (size_t i = 0; i < left_out_.size(); ++i) {
      const model::MarkerAttachment& m = skeleton_.markers()[static_cast<size_t>(left_out_[i])];
      const double distance_m =
          (data_.X_WB[static_cast<size_t>(m.body)] * m.p_BM - measured.col(left_out_[i])).norm();
      if (std::isfinite(distance_m)) left_out_m_[i].push_back(distance_m);
    }
  }

  void LookForSwaps();
  void TellHeld();
  std::vector<Eigen::Matrix3Xd> Asked() const;
  Status CheckSide() const;
  std::string BaseElsewhere() const;

  void NoteUndetermined(Timestamp t, const Eigen::Matrix3Xd& p_WM, const PoseSolution& s) {
    ++out_.summary.frames_underdetermined;
    std::string what = "not determined:";
    for (int i = 0; i < skeleton_.nv(); ++i) {
      if (s.determined[i] == 0 && s.held_by_range[i] == 0)
        what += " " + skeleton_.dof_names()[static_cast<size_t>(i)];
    }
    what += "; missing markers:";
    for (Eigen::Index m = 0; m < p_WM.cols(); ++m) {
      if (!p_WM.col(m).allFinite()) what += " " + skeleton_.markers()[static_cast<size_t>(m)].name;
    }
    if (what != last_undetermined_ || t - last_undetermined_time_ > kStale) {
      if (out_.summary.issues.size() < 200)
        out_.summary.issues.push_back({FormatSeconds(t - Timestamp()), Severity::kWarning, what});
    }
    last_undetermined_ = what;
    last_undetermined_time_ = t;
  }

  const model::Skeleton& skeleton_;
  const PoseFitOptions& options_;
  std::vector<TimeRange> contacts_;
  PoseSolver solver_, patient_, soft_;
  NarrowRanges ranges_;
  TakeNoise noise_;
  model::KinematicsData data_{skeleton_};
  std::vector<int> left_out_;
  std::vector<std::vector<double>> left_out_m_;
  std::vector<LabelledFrame> labelled_;
  std::vector<Eigen::Matrix3Xd> unsettled_;  ///< the first frames without an answer
  int seen_ = 0, stride_ = 1;
  std::vector<Eigen::VectorXi> held_;
  Eigen::VectorXi held_frames_;
  PoseFit& out_;
  Timestamp last_time_, last_undetermined_time_;
  std::string last_undetermined_;
  std::vector<Eigen::VectorXd> poses_, residuals_, diagonals_;
  std::vector<Eigen::VectorXi> limits_;
  double squares_ = 0.0, dof_ = 0.0;
};

artefact::MarkerAgreement Agreement(std::string marker, std::vector<double> lengths_m) {
  artefact::MarkerAgreement out{.marker = std::move(marker),
                                .frames = static_cast<int>(lengths_m.size())};
  if (lengths_m.empty()) return out;
  double squares = 0;
  for (const double r : lengths_m) squares += r * r;
  std::sort(lengths_m.begin(), lengths_m.end());
  const auto at = [&](double share) {
    return lengths_m[static_cast<size_t>(share * static_cast<double>(lengths_m.size() - 1))];
  };
  out.rms_m = std::sqrt(squares / out.frames);
  out.median_m = at(0.5);
  out.p95_m = at(0.95);
  return out;
}

void TakeFitter::TellHeld() {
  for (int d = 0; d < skeleton_.nv(); ++d) {
    if (held_frames_[d] == 0) continue;
    char text[200];
    std::snprintf(text, sizeof text, "%s: its range alone, +-%.1f degrees, in %.0f %% of frames",
                  skeleton_.dof_names()[static_cast<size_t>(d)].c_str(),
                  RadiansToDegrees(1 / ranges_.weight()[d]),
                  100.0 * held_frames_[d] / out_.summary.fitted);
    out_.summary.held_by_range.emplace_back(text);
  }
}

/// A hand that leaves much more than the take's own noise: do two labels stand for each other, in
/// the frames that lie worst?
void TakeFitter::LookForSwaps() {
  artefact::PoseSummary& summary = out_.summary;
  const double noise_m = std::sqrt(3.0) * summary.take_sd_m;  // of a distance
  const auto suspicious = [&](const LabelledFrame& f) {
    return f.rms_m > kSuspiciousNoiseRatio * noise_m;
  };
  std::erase_if(labelled_, [&](const LabelledFrame& f) { return !suspicious(f); });
  if (!(summary.take_sd_m > 0) || labelled_.size() < 3) return;
  std::sort(labelled_.begin(), labelled_.end(),
            [](const LabelledFrame& a, const LabelledFrame& b) { return a.rms_m > b.rms_m; });
  // The worst third, twelve of them evenly.
  std::vector<LabelledFrame> worst;
  const size_t third = std::max<size_t>(1, labelled_.size() / 3);
  for (size_t i = 0; i < third; i += std::max<size_t>(1, third / 12)) worst.push_back(labelled_[i]);
  const auto [first, last] = std::minmax_element(
      worst.begin(), worst.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  const std::string when = "from " + FormatSeconds(first->t - Timestamp()) + " to " +
                           FormatSeconds(last->t - Timestamp()) + " (worst frames)";
  for (const LabelSwap& swap : FindSwaps(skeleton_, worst)) {
    summary.exchanged_labels.push_back(Describe(swap, skeleton_));
    summary.issues.push_back({when, Severity::kLoss, summary.exchanged_labels.back()});
  }
}

/// A few frames for questions about the whole hand.
std::vector<Eigen::Matrix3Xd> TakeFitter::Asked() const {
  if (poses_.empty()) return unsettled_;
  std::vector<Eigen::Matrix3Xd> asked;
  for (size_t i = 0; i < labelled_.size(); i += std::max<size_t>(1, labelled_.size() / 3))
    asked.push_back(labelled_[i].z_WM);
  return asked;
}

/// A hand whose base is fixed in the world may be the right one and stand, or point, elsewhere: it
/// lies much nearer to the markers once its base is free. Empty: it does not.
std::string TakeFitter::BaseElsewhere() const {
  const auto loose = model::WithFreeBase(skeleton_);
  const std::vector<Eigen::Matrix3Xd> asked = Asked();
  if (!loose || asked.empty()) return "";
  PoseSolver held(skeleton_, StartSolverOptions()), free(*loose, StartSolverOptions());
  double held_m = 1e9, free_m = 0.0;
  for (const Eigen::Matrix3Xd& z_WM : asked) {
    double at_base_m = 0.0, anywhere_m = 0.0;
    ColdPose(skeleton_, z_WM, &held, &at_base_m);
    ColdPose(*loose, z_WM, &free, &anywhere_m);
    held_m = std::min(held_m, at_base_m), free_m = std::max(free_m, anywhere_m);
  }
  if (!(free_m < kOtherSideGain * held_m) || free_m > kAskSideRms_m) return "";
  char text[320];
  std::snprintf(
      text, sizeof text,
      "'%.60s' is fixed in the world and stays %.1f mm RMS from its markers, at most %.1f "
      "mm with a free base: it is this hand, standing or pointing elsewhere. Fit the "
      "skeleton to this take, or free its base (--free-base)",
      skeleton_.name().c_str(), 1e3 * held_m, 1e3 * free_m);
  return text;
}

/// A hand far from its markers, or that never came near them, may be of the other side: a few
/// frames are asked of its mirror image with the same labels. kInvalid where that lies much nearer
/// in each.
Status TakeFitter::CheckSide() const {
  const std::string& side = skeleton_.draft().side;
  const std::vector<Eigen::Matrix3Xd> asked = Asked();
  if (side.empty() || asked.empty()) return {};
  const model::Skeleton mirrored = model::Mirrored(skeleton_);
  PoseSolver own(skeleton_, StartSolverOptions()), other(mirrored, StartSolverOptions());
  double nearest_m = 1e9, farthest_m = 0.0;
  for (const Eigen::Matrix3Xd& z_WM : asked) {
    double own_m = 0.0, other_m = 0.0;
    ColdPose(skeleton_, z_WM, &own, &own_m);
    ColdPose(mirrored, z_WM, &other, &other_m);
    if (!(other_m < kOtherSideGain * own_m)) return {};
    nearest_m = std::min(nearest_m, own_m), farthest_m = std::max(farthest_m, other_m);
  }
  char text[240];
  std::snprintf(
      text, sizeof text,
      "pose fit: the markers are not of the %s hand '%s', which stays %.1f mm RMS from them, "
      "but of a %s hand, at most %.1f mm",
      side.c_str(), skeleton_.name().c_str(), 1e3 * nearest_m, mirrored.draft().side.c_str(),
      1e3 * farthest_m);
  return Error{ErrorCode::kInvalid, text};
}

Status TakeFitter::Finish(const std::vector<std::string>& marker_names) {
  artefact::PoseSummary& summary = out_.summary;
  artefact::PoseTrack& track = out_.track;
  const auto frames = static_cast<Eigen::Index>(poses_.size());
  summary.fitted = static_cast<int>(frames);
  // Without a marker some coordinates are open in every frame: what is asked then is a prediction.
  if (frames == 0 ||
      (summary.frames_underdetermined == summary.fitted && options_.leave_out.empty())) {
    const std::string elsewhere = frames == 0 && summary.frames > 0 ? BaseElsewhere() : "";
    if (frames == 0 && elsewhere.empty()) HANDHOLD_TRY(CheckSide());
    std::string why =
        !elsewhere.empty()    ? elsewhere
        : summary.frames == 0 ? "the range holds no frame of the clip"
        : summary.frames_not_converged > 0
            ? "none of " + std::to_string(summary.frames) +
                  " frames has a pose near its markers: is it this subject's hand, of this side?"
        : summary.issues.empty() ? "no frame has a marker of this skeleton"
                                 : summary.issues.front().what;
    return Error{ErrorCode::kUnidentifiable,
                 "no frame determines the pose of '" + skeleton_.name() + "': " + why};
  }
  summary.marker_sd_m = options_.solver.marker_sd_m;
  if (options_.estimate_noise && dof_ > 0)
    summary.marker_sd_m = std::max(std::sqrt(squares_ / dof_), 1e-9);
  const double scale = std::pow(options_.solver.marker_sd_m / summary.marker_sd_m, 2);
  track.dof_names = skeleton_.dof_names();
  track.marker_names = marker_names;
  track.q.resize(skeleton_.nq(), frames);
  track.information_diagonal.resize(skeleton_.nv(), frames);
  track.marker_residual_m.resize(static_cast<Eigen::Index>(marker_names.size()), frames);
  track.at_limit.resize(skeleton_.nv(), frames);
  std::vector<double> all;
  for (Eigen::Index k = 0; k < frames; ++k) {
    const auto i = static_cast<size_t>(k);
    track.q.col(k) = poses_[i];
    track.information_diagonal.col(k) = scale * diagonals_[i];
    track.marker_residual_m.col(k) = residuals_[i];
    track.at_limit.col(k) = limits_[i].array() != 0;
    for (int d = 0; d < skeleton_.nv(); ++d) {
      if (held_[i][d] != 0) track.information_diagonal(d, k) = std::pow(ranges_.weight()[d], 2);
    }
    for (const double r : residuals_[i]) {
      if (std::isfinite(r)) all.push_back(r);
    }
  }
  for (auto& [frame, information] : track.information) {
    information *= scale;
    information.diagonal() += ranges_.weight().cwiseAbs2();
  }
  for (size_t m = 0; m < marker_names.size(); ++m) {
    std::vector<double> lengths;
    for (const double r : track.marker_residual_m.row(static_cast<Eigen::Index>(m))) {
      if (std::isfinite(r)) lengths.push_back(r);
    }
    if (!lengths.empty()) summary.markers.push_back(Agreement(marker_names[m], std::move(lengths)));
  }
  for (size_t i = 0; i < left_out_.size(); ++i) {
    summary.left_out.push_back(
        Agreement(marker_names[static_cast<size_t>(left_out_[i])], std::move(left_out_m_[i])));
  }
  summary.take_sd_m = noise_.sd_m();
  TellHeld();
  double sum = 0;
  for (const double r : all) sum += r * r;
  summary.marker_rms_m = all.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(all.size()));
  if (!all.empty()) {
    const auto p99 =
        all.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(all.size() - 1));
    std::nth_element(all.begin(), p99, all.end());
    summary.marker_p99_m = *p99;
  }
  const std::string elsewhere = summary.marker_rms_m > kAskSideRms_m ? BaseElsewhere() : "";
  if (summary.marker_rms_m > kAskSideRms_m && elsewhere.empty()) HANDHOLD_TRY(CheckSide());
  LookForSwaps();
  // Angles beyond a limit are pulled back: the frames say less than their markers there.
  const Eigen::VectorXi clamped = track.at_limit.cast<int>().rowwise().sum();
  Eigen::Index most = 0;
  if (frames > 0 && skeleton_.nv() > 0 &&
      clamped.maxCoeff(&most) > kTellAtLimit * static_cast<double>(frames)) {
    char text[240];
    std::snprintf(text, sizeof text,
                  "%d of %d frames are held at a limit, '%s' in %d: do limits and zeros belong to "
                  "this hand?",
                  summary.frames_at_limit, summary.fitted,
                  skeleton_.dof_names()[static_cast<size_t>(most)].c_str(), clamped[most]);
    summary.issues.push_back({"limits", Severity::kNote, text});
  }
  if (summary.frames_not_converged > 0) {
    const bool most_absent =
        summary.frames_not_converged > kMostAbsent * static_cast<double>(summary.frames);
    summary.issues.push_back({"frames", most_absent ? Severity::kLoss : Severity::kWarning,
                              std::to_string(summary.frames_not_converged) + " of " +
                                  std::to_string(summary.frames) +
                                  " did not converge and are absent"});
  }
  if (!elsewhere.empty()) {
    summary.issues.push_back({"markers", Severity::kWarning, elsewhere});
  } else if (summary.marker_rms_m > kTellMarkerRms_m) {
    char text[280];
    std::snprintf(
        text, sizeof text,
        "markers lie %.2f mm RMS from the hand: it is not this subject's, or does not wear "
        "its markers where the skeleton says; `handhold fit skeleton` fits one, --skeleton "
        "names it",
        1e3 * summary.marker_rms_m);
    summary.issues.push_back({"markers", Severity::kWarning, text});
  }
  return {};
}

}  // namespace

Result<PoseFit> FitPose(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                        const PoseFitOptions& options) {
  if (!(options.solver.marker_sd_m > 0) || !(options.solver.limit_sd_rad > 0) ||
      !(options.solver.prior_sd_rad > 0) || !(options.solver.prior_sd_m > 0)) {
    return Error{ErrorCode::kInvalid, "pose fit: every standard deviation must be positive"};
  }
  HANDHOLD_ASSIGN(const std::vector<const recording::StreamInfo*> streams,
                  FindMarkerStreams(clip, options.marker_stream));
  HANDHOLD_TRY(CheckWorn(streams, skeleton));
  HANDHOLD_TRY(CheckRange(clip, streams, options.range));
  HANDHOLD_TRY(CheckLeftOut(options.leave_out, skeleton));
  PoseFit fit;
  std::vector<TimeRange> contacts = options.contacts;
  if (contacts.empty()) {
    for (const recording::ForceSensor& sensor : clip.force_sensors()) {
      auto force = ForceSignal::Open(clip, sensor.name);
      if (!force) {
        fit.summary.issues.push_back(
            {sensor.name, Severity::kWarning, "contacts not found: " + force.error().message});
        continue;
      }
      for (const Touch& touch : force->touches()) contacts.push_back({touch.onset, touch.release});
    }
  }
  TakeFitter fitter(skeleton, options, std::move(contacts), &fit);
  for (const StreamInfo* stream : streams) {
    MarkerMap map = MapMarkers(*stream, skeleton);
    for (std::string& unknown : map.unknown) {
      std::vector<std::string>& told = fit.summary.unmodelled_markers;
      if (std::find(told.begin(), told.end(), unknown) == told.end())
        told.push_back(std::move(unknown));
    }
    TimeRange extent = clip.Extent(stream->id);
    if (options.range)
      extent = {std::max(extent.begin, options.range->begin),
                std::min(extent.end, options.range->end)};
    for (Timestamp begin = extent.begin; begin < extent.end; begin += kChunk) {
      HANDHOLD_ASSIGN(const SampleWindow window,
                      clip.Read(stream->id, {begin, std::min(begin + kChunk, extent.end)}));
      for (int i = 0; i < window.count(); ++i)
        fitter.Frame(window.times[static_cast<size_t>(i)], MarkersOf(window, i, map.channel));
      const double share = (begin - extent.begin).seconds() / extent.length().seconds();
      if (options.progress && !options.progress(share))
        return Error{ErrorCode::kCancelled, "pose fit cancelled"};
    }
  }
  std::vector<std::string> names;
  for (const model::MarkerAttachment& marker : skeleton.markers()) names.push_back(marker.name);
  HANDHOLD_TRY(fitter.Finish(names));
  return fit;
}

}  // namespace handhold::fitting
