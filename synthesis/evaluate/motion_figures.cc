#include "synthesis/evaluate/motion_figures.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "database/model/kinematics.h"

namespace handhold::synthesis {

using geometry::RigidTransform;

double LiftedBy(const artefact::Motion& motion, const artefact::MotionObject& object,
                size_t until) {
  int last = 0;
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    const bool hand_on_it = (touch.a.is_hand() && touch.b.name == object.name) ||
                            (touch.b.is_hand() && touch.a.name == object.name);
    if (hand_on_it && row.frame <= static_cast<int>(until)) last = std::max(last, row.frame);
  }
  return object.pose(static_cast<size_t>(last)).p.z() - object.pose(0).p.z();
}

Result<MotionFigures> MeasureMotion(const model::Skeleton& hand, const artefact::Motion& motion,
                                    const VerdictOptions& options) {
  // The judge knows which object is meant and whether the hold lies in the motion.
  HANDHOLD_ASSIGN([[maybe_unused]] const artefact::Verdict verdict,
                  JudgeHold(hand, motion, options));
  const auto meant =
      std::find_if(motion.objects.begin(), motion.objects.end(), [&](const auto& object) {
        return options.object.empty() ? !object.stands_still() : object.name == options.object;
      });
  const artefact::MotionObject& object = *meant;
  const bool whole = options.hold.length() == Duration();
  size_t begin = 0, end = motion.times.size();
  while (!whole && begin < end && motion.times[begin] < options.hold.begin) ++begin;
  while (!whole && end > begin && motion.times[end - 1] >= options.hold.end) --end;

  MotionFigures out;
  std::vector<double> force(motion.times.size(), 0.0);
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    if (!touch.a.is_hand() || touch.b.name != object.name) continue;
    const auto k = static_cast<size_t>(row.frame);
    force[k] += row.f_onA_W.norm();
    if (std::isfinite(row.offset_m)) out.deepest_m = std::max(out.deepest_m, -row.offset_m);
    if (k >= begin && k < end && row.f_onA_W.norm() > 0.05 && std::isfinite(row.slip_m_per_s))
      out.slip_m_per_s = std::max(out.slip_m_per_s, row.slip_m_per_s);
  }
  out.peak_force_N = *std::max_element(force.begin(), force.end());
  for (size_t k = begin; k < end; ++k)
    out.mean_force_N += force[k] / static_cast<double>(end - begin);
  out.hold_s = (motion.times[end - 1] - motion.times[begin]).seconds();
  out.lifted_m = LiftedBy(motion, object, end - 1);
  const size_t half = (begin + end - 1) / 2;
  const double seconds = (motion.times[end - 1] - motion.times[half]).seconds();
  if (seconds > 0.0) {
    model::KinematicsData data(hand);
    const auto in_hand = [&](size_t k) {
      model::ComputePoses<double>(hand, motion.hands.front().q.col(static_cast<Eigen::Index>(k)),
                                  &data);
      return RigidTransform(data.X_WB[1].Inverse() * object.pose(k));
    };
    const RigidTransform from = in_hand(half);
    out.creep_m_per_s = (in_hand(end - 1).p - from.p).norm() / seconds;
  }
  return out;
}

std::map<std::string, double> FiguresOf(const MotionFigures& f) {
  return {{"peak_force_N", f.peak_force_N},
          {"mean_force_N", f.mean_force_N},
          {"deepest_m", f.deepest_m},
          {"slip_m_per_s", f.slip_m_per_s},
          {"creep_m_per_s", f.creep_m_per_s},
          {"lifted_m", f.lifted_m},
          {"hold_s", f.hold_s}};
}

}  // namespace handhold::synthesis
