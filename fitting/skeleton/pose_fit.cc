#include "fitting/skeleton/pose_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "database/geometry/fit.h"
#include "database/model/kinematics.h"
#include "fitting/signal/find_stream.h"
#include "fitting/signal/touch.h"
#include "fitting/skeleton/marker_map.h"

namespace handhold::fitting {
namespace {

using recording::SampleWindow;
using recording::StreamInfo;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
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
        out_(*out) {}

  void Frame(Timestamp t, Eigen::Matrix3Xd p_WM) {
    ++out_.summary.frames;
    if (VisibleCount(p_WM) == 0) return;
    const bool fresh = poses_.empty() || t - last_time_ > kStale;
    Eigen::VectorXd start = fresh ? Guess(p_WM) : poses_.back();
    // A cold start is far away: solved again from its own answer, so that the pull does not hold
    // it.
    for (int pass = 0; pass < (fresh ? 4 : 1); ++pass) {
      const PoseSolution& s = solver_.Solve(p_WM, start, options_.method);
      if (!s.converged && pass == 0 && fresh) start = skeleton_.ZeroConfiguration();
      if (pass > 0 || !fresh || s.converged) start = s.q;
    }
    const Eigen::VectorXd before = fresh ? start : poses_.back();
    const PoseSolution* solution = &solver_.Solve(p_WM, before, options_.method);
    solution = DropOutliers(&p_WM, before, solution);
    if (!solution->converged) {
      ++out_.summary.frames_not_converged;
      return;
    }
    Keep(t, p_WM, *solution);
  }

  Status Finish(const std::vector<std::string>& marker_names);

 private:
  static int VisibleCount(const Eigen::Matrix3Xd& p) {
    int n = 0;
    for (Eigen::Index m = 0; m < p.cols(); ++m) n += p.col(m).allFinite();
    return n;
  }

  /// The zero pose, its free root laid onto the markers.
  Eigen::VectorXd Guess(const Eigen::Matrix3Xd& p_WM) const {
    Eigen::VectorXd q = poses_.empty() ? skeleton_.ZeroConfiguration() : poses_.back();
    if (skeleton_.body_count() < 2 || skeleton_.body(1).joint.type != model::JointType::kFree)
      return q;
    model::KinematicsData data(skeleton_);
    model::ComputePoses(skeleton_, q, &data);
    std::vector<geometry::Vec3> modelled, from, to;
    model::MarkerPositions(skeleton_, data, &modelled);
    for (Eigen::Index m = 0; m < p_WM.cols(); ++m) {
      if (!p_WM.col(m).allFinite()) continue;
      from.push_back(modelled[static_cast<size_t>(m)]);
      to.push_back(p_WM.col(m));
    }
    auto fit = geometry::FitRigid(to, from);
    if (!fit) return q;
    const geometry::RigidTransform moved = fit->X_AB * data.X_WB[1];
    const model::Joint& joint = skeleton_.body(1).joint;
    const geometry::RigidTransform X_JpJc = joint.X_PJp.Inverse() * moved * joint.X_BJc;
    const int iq = skeleton_.q_index(1);
    q.segment<3>(iq) = X_JpJc.p;
    q.segment<4>(iq + 3) = geometry::ToQuaternion(X_JpJc.R);
    return q;
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
    int determined = s.determined.sum();
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
    limits_.push_back(s.at_limit);
    out_.summary.frames_at_limit += s.at_limit.any();
    if (determined < skeleton_.nv()) NoteUndetermined(t, p_WM, s);
    for (const TimeRange& contact : contacts_) {
      if (t >= contact.begin - options_.whole_information &&
          t <= contact.end + options_.whole_information) {
        out_.track.information[out_.track.frame_count() - 1] = s.information;
        break;
      }
    }
  }

  void NoteUndetermined(Timestamp t, const Eigen::Matrix3Xd& p_WM, const PoseSolution& s) {
    ++out_.summary.frames_underdetermined;
    std::string what = "not determined:";
    for (int i = 0; i < skeleton_.nv(); ++i) {
      if (s.determined[i] == 0) what += " " + skeleton_.dof_names()[static_cast<size_t>(i)];
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
  PoseSolver solver_;
  PoseFit& out_;
  Timestamp last_time_, last_undetermined_time_;
  std::string last_undetermined_;
  std::vector<Eigen::VectorXd> poses_, residuals_, diagonals_;
  std::vector<Eigen::VectorXi> limits_;
  double squares_ = 0.0, dof_ = 0.0;
};

Status TakeFitter::Finish(const std::vector<std::string>& marker_names) {
  PoseFitSummary& summary = out_.summary;
  artefact::PoseTrack& track = out_.track;
  const auto frames = static_cast<Eigen::Index>(poses_.size());
  summary.fitted = static_cast<int>(frames);
  if (frames == 0 || summary.frames_underdetermined == summary.fitted) {
    std::string why = summary.frames == 0      ? "the range holds no frame of the clip"
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
    for (const double r : residuals_[i]) {
      if (std::isfinite(r)) all.push_back(r);
    }
  }
  for (auto& [frame, information] : track.information) information *= scale;
  double sum = 0;
  for (const double r : all) sum += r * r;
  summary.marker_rms_m = all.empty() ? 0.0 : std::sqrt(sum / static_cast<double>(all.size()));
  if (!all.empty()) {
    const auto p99 =
        all.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(all.size() - 1));
    std::nth_element(all.begin(), p99, all.end());
    summary.marker_p99_m = *p99;
  }
  if (summary.marker_rms_m > kTellMarkerRms_m) {
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

std::string PoseFitSummary::Brief() const {
  char text[256];
  std::snprintf(text, sizeof text,
                "pose: %d of %d frames, markers %.3f mm RMS (one axis %.3f), %d outliers, %d not "
                "determined, %d at a limit",
                fitted, frames, 1e3 * marker_rms_m, 1e3 * marker_sd_m, outliers,
                frames_underdetermined, frames_at_limit);
  return text;
}

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
