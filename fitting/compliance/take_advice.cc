#include "fitting/compliance/take_advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace handhold::fitting {
namespace {

/// DIP, PIP and MP.
constexpr int kFingerJoints = 3;

void Tell(const std::string& what, Issues* issues) {
  issues->push_back({"take", Severity::kWarning, what});
}

/// The sd of the joint that varies most between the onsets of a task, of the last three before what
/// touches: how its bones stand to one another is what tells neighbours apart. A wrist or a spread
/// of the fingers that stays as it is says nothing of that.
double PostureSd(const model::Skeleton& skeleton, const artefact::PoseTrack& pose,
                 const std::vector<const artefact::Touch*>& touches) {
  Eigen::MatrixXd away(skeleton.nv(), static_cast<Eigen::Index>(touches.size()));
  const auto frame_of = [&](Timestamp t) {
    const auto at = std::lower_bound(pose.times.begin(), pose.times.end(), t) - pose.times.begin();
    return std::min<Eigen::Index>(at, pose.q.cols() - 1);
  };
  const Eigen::VectorXd first = pose.q.col(frame_of(touches.front()->onset));
  for (size_t i = 0; i < touches.size(); ++i)
    away.col(static_cast<Eigen::Index>(i)) =
        skeleton.Difference(first, pose.q.col(frame_of(touches[i]->onset)));
  double most = 0.0;
  int body = touches.front()->a.body, joints = 0;
  for (; body > 0 && joints < kFingerJoints; body = skeleton.body(body).parent) {
    const model::Joint& joint = skeleton.body(body).joint;
    if (joint.nv() == 0 || joint.type == model::JointType::kFree) continue;
    ++joints;
    for (int k = 0; k < joint.nv(); ++k) {
      const auto row = away.row(skeleton.v_index(body) + k).array();
      most = std::max(most, std::sqrt((row - row.mean()).square().mean()));
    }
  }
  return most;
}

}  // namespace

Issues AdviseOnTake(const recording::ClipSource& clip, const model::Skeleton& skeleton,
                    const artefact::PoseTrack& pose, const artefact::ContactTrack& contact,
                    const DynamicEstimatorOptions& options, const TakeNeeds& needs) {
  Issues issues;
  if (contact.touches.empty() || pose.q.cols() == 0) {
    Tell("nothing was touched: compliance shows only where a hand meets something", &issues);
    return issues;
  }
  char text[320];
  const int air = options.reference_prior.empty()
                      ? static_cast<int>(StrokesInTheAir(clip, contact).size())
                      : options.reference_prior.strokes_in_the_air;
  const int enough = options.doubts.enough_air_strokes;
  if (air < enough) {
    std::snprintf(
        text, sizeof text,
        "%d strokes in the air are marked (events 'stroke' without a touch), %d and more "
        "teach how strokes bend; without them the wrist and MP come out too large and end "
        "joints are refused. Record a dozen of the same strokes beside the surface",
        air, enough);
    Tell(text, &issues);
  }
  std::map<std::string, std::vector<const artefact::Touch*>> by_task;
  size_t too_close = 0;
  for (size_t i = 0; i < contact.touches.size(); ++i) {
    const artefact::Touch& touch = contact.touches[i];
    by_task[touch.task].push_back(&touch);
    if (i > 0 && contact.touches[i - 1].release > touch.onset - options.before) ++too_close;
  }
  for (const auto& [task, touches] : by_task) {
    const int count = static_cast<int>(touches.size());
    if (count < needs.touches_per_task) {
      std::snprintf(
          text, sizeof text,
          "%d touches of '%.60s': %d and more answer all joints but the last; fewer widen "
          "every interval",
          count, task.c_str(), needs.touches_per_task);
      Tell(text, &issues);
    }
    if (count < 3) continue;
    const double sd_rad = PostureSd(skeleton, pose, touches);
    if (sd_rad < needs.posture_sd_rad) {
      std::snprintf(
          text, sizeof text,
          "the touches of '%.60s' are all in one posture (no joint of the finger varies by more "
          "than %.1f degrees, sd): touch with the finger curled, straight and between, or "
          "neighbouring "
          "joints cannot be told apart",
          task.c_str(), 57.29577951308232 * sd_rad);
      Tell(text, &issues);
    }
  }
  if (static_cast<double>(too_close) >
      needs.touches_too_close * static_cast<double>(contact.touches.size())) {
    std::snprintf(text, sizeof text,
                  "%zu of %zu touches begin within %.0f ms of the end of another and cannot be "
                  "used: lift the finger for longer",
                  too_close, contact.touches.size(), 1e3 * options.before.seconds());
    Tell(text, &issues);
  }
  return issues;
}

}  // namespace handhold::fitting
