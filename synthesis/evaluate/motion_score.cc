#include "synthesis/evaluate/motion_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/geometry/rotation.h"
#include "database/model/kinematics.h"

namespace handhold::synthesis {
namespace {

using geometry::Vec3;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Sums of squares on the way to RMS values.
struct Sums {
  double whole = 0.0, plane = 0.0;
  int frames = 0;
  double Share(double sum, double peak) const {
    return frames > 0 ? std::sqrt(sum / frames) / peak : 0.0;
  }
};

double Rms(double sum, int frames) { return frames > 0 ? std::sqrt(sum / frames) : 0.0; }

Error Invalid(const std::string& what) { return {ErrorCode::kInvalid, what}; }

}  // namespace

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return kNaN;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

FrameContacts ContactsByFrame(const artefact::Motion& motion, const std::string& hand,
                              double loaded_N) {
  const size_t frames = motion.times.size();
  FrameContacts out;
  out.f_onHand_W.assign(frames, Vec3::Zero());
  out.p_W.assign(frames, Vec3::Constant(kNaN));
  out.slip_m_per_s.assign(frames, kNaN);
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Side& side = motion.touches[static_cast<size_t>(row.touch)].a;
    if (!side.is_hand() || (!hand.empty() && side.name != hand)) continue;
    const auto k = static_cast<size_t>(row.frame);
    out.f_onHand_W[k] += row.f_onA_W;
    if (row.f_onA_W.norm() <= loaded_N) continue;
    if (std::isfinite(out.slip_m_per_s[k]) && !(row.slip_m_per_s > out.slip_m_per_s[k])) continue;
    out.slip_m_per_s[k] = row.slip_m_per_s;
    out.p_W[k] = row.p_W;
  }
  return out;
}

Result<MotionScore> ScoreMotion(const model::Skeleton& hand, const artefact::Motion& motion,
                                const MotionReference& reference,
                                const MotionScoreOptions& options) {
  if (motion.hands.empty()) return Invalid("the motion has no hand");
  const artefact::MotionHand* const moved =
      options.hand.empty() ? &motion.hands.front() : motion.FindHand(options.hand);
  if (moved == nullptr) return Invalid("the motion has no hand '" + options.hand + "'");
  if (moved->dof_names != hand.dof_names() || moved->q.rows() != hand.nq())
    return Invalid("the motion's hand was not made with skeleton '" + hand.name() + "'");
  const int frame = options.frame.empty() ? -1 : hand.FindFrame(options.frame);
  if (!options.frame.empty() && frame < 0)
    return Invalid("'" + hand.name() + "' has no frame '" + options.frame + "'");
  const artefact::MotionObject* const object =
      options.object.empty() ? nullptr : motion.FindObject(options.object);
  if (!options.object.empty() && object == nullptr)
    return Invalid("the motion has no object '" + options.object + "'");
  if (!(options.peak_N > 0.0)) return Invalid("forces are shares of a positive peak");

  const FrameContacts found = ContactsByFrame(motion, moved->name, options.loaded_N);
  model::KinematicsData data(hand);
  Sums early, late;
  double point2 = 0.0, place2 = 0.0, turn2 = 0.0;
  int points = 0, poses = 0;
  MotionScore score;
  for (size_t k = 0; k < motion.times.size(); ++k) {
    const double t = motion.times[k].seconds() - options.start_s;
    if (t < options.onset_s || t > options.release_s) continue;
    const std::optional<ReferenceSample> meant = reference(t);
    if (!meant) continue;
    const Vec3 off = found.f_onHand_W[k] - meant->f_onHand_W;
    const bool first = t < options.onset_s + options.early_s;
    Sums& sums = first ? early : late;
    sums.whole += off.squaredNorm();
    sums.plane += (off - options.across_W * options.across_W.dot(off)).squaredNorm();
    ++sums.frames;
    if (frame >= 0 && meant->p_W.allFinite()) {
      model::ComputePoses<double>(hand, moved->q.col(static_cast<Eigen::Index>(k)), &data);
      point2 += (model::FramePose<double>(hand, data, frame).p - meant->p_W).squaredNorm();
      ++points;
    }
    if (object != nullptr && meant->X_WO) {
      const geometry::RigidTransform moved_by = meant->X_WO->Inverse() * object->pose(k);
      place2 += moved_by.p.squaredNorm();
      turn2 += geometry::Log(moved_by.R).squaredNorm();
      ++poses;
    }
    if (first || !std::isfinite(meant->slip_m_per_s) || !std::isfinite(found.slip_m_per_s[k]))
      continue;
    const bool slips = meant->slip_m_per_s > options.slip_m_per_s;
    const bool found_slip = found.slip_m_per_s[k] > options.slip_m_per_s;
    ++(slips ? (found_slip ? score.slip_slip : score.slip_stick)
             : (found_slip ? score.stick_slip : score.stick_stick));
  }
  score.early_frames = early.frames;
  score.late_frames = late.frames;
  score.force_early = early.Share(early.whole, options.peak_N);
  score.force_late = late.Share(late.whole, options.peak_N);
  score.plane_early = early.Share(early.plane, options.peak_N);
  score.plane_late = late.Share(late.plane, options.peak_N);
  if (points > 0) score.point_m = Rms(point2, points);
  if (poses > 0) score.object_m = Rms(place2, poses), score.object_rad = Rms(turn2, poses);
  return score;
}

}  // namespace handhold::synthesis
