#include "synthesis/contact_sampling/hand_task.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "database/geometry/shape.h"
#include "database/model/kinematics.h"
#include "synthesis/contact_sampling/finger_chain.h"

namespace handhold::synthesis {

using geometry::RigidTransform;
using geometry::Vec3;

namespace {

constexpr int kLeastFrames = 5;

[[gnu::format(printf, 1, 2)]] std::string Worded(const char* form, ...) {
  char text[256];
  va_list list;
  va_start(list, form);
  std::vsnprintf(text, sizeof text, form, list);
  va_end(list);
  return text;
}

bool IsFinite(const RigidTransform& X) { return X.R.allFinite() && X.p.allFinite(); }

RigidTransform BetweenPoses(const RigidTransform& a, const RigidTransform& b, double share) {
  return {a.R * geometry::Exp<double>(share * geometry::Log(a.R.transpose() * b.R)),
          a.p + share * (b.p - a.p)};
}

/// The pose at an instant within the track.
Result<RigidTransform> PoseAt(const artefact::ObjectTrack& track, Timestamp t, double max_gap_s) {
  const auto after = std::lower_bound(track.times.begin(), track.times.end(), t);
  const auto i = static_cast<size_t>(after - track.times.begin());
  if (i < track.times.size() && track.times[i] == t) return track.X_WT[i];
  const double gap = (track.times[i] - track.times[i - 1]).seconds();
  if (gap > max_gap_s) {
    return Error{ErrorCode::kInvalid,
                 Worded("%s was not seen for %.3f s from %.3f s on: fill the gap or cut the clip",
                        track.thing.c_str(), gap, track.times[i - 1].seconds())};
  }
  return BetweenPoses(track.X_WT[i - 1], track.X_WT[i], (t - track.times[i - 1]).seconds() / gap);
}

Error BeyondLimit(const char* what, double value, const char* unit, double limit, int frame) {
  return {ErrorCode::kInvalid,
          Worded("%s %.4g %s in frame %d, allowed %.4g", what, value, unit, frame, limit)};
}

void KeepLargest(double value, int frame, double* largest, int* where) {
  if (value <= *largest) return;
  *largest = value;
  *where = frame;
}

void JudgePath(const std::vector<RigidTransform>& X, double step_s, TaskJudgement* out) {
  for (size_t t = 1; t < X.size(); ++t) {
    KeepLargest((X[t].p - X[t - 1].p).norm() / step_s, static_cast<int>(t), &out->speed_m_per_s,
                &out->speed_frame);
    if (t + 1 >= X.size()) continue;
    KeepLargest((X[t].p - 0.5 * (X[t - 1].p + X[t + 1].p)).norm(), static_cast<int>(t),
                &out->jump_m, &out->jump_frame);
  }
}

}  // namespace

Status CheckTask(const HandTask& task) {
  const auto invalid = [](std::string what) { return Error{ErrorCode::kInvalid, std::move(what)}; };
  if (task.frame_count() < kLeastFrames) return invalid("a task needs 5 frames at least");
  if (!(task.step_s() > 0)) return invalid("the task's times do not ascend");
  if (task.X_WO.size() != task.times.size())
    return invalid("the object has not one pose per frame");
  if (task.hands.empty() || task.hands.size() > 2) return invalid("a task has one hand or two");
  for (const TaskHand& hand : task.hands) {
    if (hand.skeleton == nullptr) return invalid("hand " + hand.name + " has no skeleton");
    if (hand.X_WR.size() != task.times.size())
      return invalid("the wrist of " + hand.name + " has not one pose per frame");
    if (!std::all_of(hand.X_WR.begin(), hand.X_WR.end(), IsFinite))
      return invalid("the wrist of " + hand.name + " has a pose that is not finite");
  }
  if (!std::all_of(task.X_WO.begin(), task.X_WO.end(), IsFinite))
    return invalid("the object has a pose that is not finite");
  if (!(task.mass_kg > 0) || !std::isfinite(task.mass_kg)) return invalid("the mass must be > 0");
  if (!(task.friction > 0) || !std::isfinite(task.friction))
    return invalid("the friction must be > 0");
  if (task.prop.shapes.empty()) return invalid("prop " + task.prop.name + " has no shape");
  return {};
}

Result<artefact::ObjectTrack> WristOf(const artefact::PoseTrack& poses,
                                      const model::Skeleton& skeleton, const std::string& body) {
  const int index = skeleton.FindBody(body);
  if (index < 0)
    return Error{ErrorCode::kNotFound, skeleton.name() + " has no body called " + body};
  if (poses.q.rows() != skeleton.nq() || poses.q.cols() != poses.frame_count())
    return Error{ErrorCode::kInvalid, "the poses are not those of " + skeleton.name()};
  artefact::ObjectTrack track;
  track.thing = body;
  track.times = poses.times;
  model::KinematicsData data(skeleton);
  for (int t = 0; t < poses.frame_count(); ++t) {
    model::ComputePoses<double>(skeleton, poses.q.col(t), &data);
    track.X_WT.push_back(data.X_WB[static_cast<size_t>(index)]);
  }
  return track;
}

Status ReadTracks(const TaskTracks& tracks, double rate_Hz, double max_gap_s, HandTask* task) {
  if (tracks.object == nullptr || tracks.wrists.size() != task->hands.size())
    return Error{ErrorCode::kInvalid, "a track for the object and one per hand are needed"};
  if (!(rate_Hz > 0)) return Error{ErrorCode::kInvalid, "the rate must be > 0"};
  std::vector<const artefact::ObjectTrack*> all = {tracks.object};
  all.insert(all.end(), tracks.wrists.begin(), tracks.wrists.end());
  for (const artefact::ObjectTrack* track : all) {
    if (track->times.empty() || track->times.size() != track->X_WT.size())
      return Error{ErrorCode::kInvalid, "track of " + track->thing + " has no frames"};
  }
  Timestamp begin = all[0]->times.front(), end = all[0]->times.back();
  for (const artefact::ObjectTrack* track : all) {
    begin = std::max(begin, track->times.front());
    end = std::min(end, track->times.back());
  }
  const double span_s = (end - begin).seconds();
  const int frames = span_s < 0 ? 0 : static_cast<int>(std::floor(span_s * rate_Hz + 1e-6)) + 1;
  if (frames < kLeastFrames) {
    return Error{ErrorCode::kInvalid,
                 "object and wrists were seen together in fewer than 5 frames"};
  }
  task->times.clear();
  task->X_WO.clear();
  for (TaskHand& hand : task->hands) hand.X_WR.clear();
  for (int k = 0; k < frames; ++k) {
    const Timestamp t = std::min(end, begin + Duration::OfSamples(k, rate_Hz));
    task->times.push_back(t);
    HANDHOLD_ASSIGN(const RigidTransform X_WO, PoseAt(*tracks.object, t, max_gap_s));
    task->X_WO.push_back(X_WO);
    for (size_t h = 0; h < task->hands.size(); ++h) {
      HANDHOLD_ASSIGN(const RigidTransform X_WR, PoseAt(*tracks.wrists[h], t, max_gap_s));
      task->hands[h].X_WR.push_back(X_WR);
    }
  }
  return {};
}

Result<TaskJudgement> JudgeTask(const HandTask& task, const TaskLimits& limits) {
  HANDHOLD_TRY(CheckTask(task));
  TaskJudgement out;
  std::vector<geometry::PosedShape> shapes;
  for (const model::PropShape& s : task.prop.shapes) shapes.push_back({s.shape, s.X_PS});
  for (const TaskHand& hand : task.hands) {
    HANDHOLD_ASSIGN(const FingerChains chains, FingerChains::Build(*hand.skeleton, hand.palm));
    for (int t = 0; t < task.frame_count(); ++t) {
      const auto i = static_cast<size_t>(t);
      const RigidTransform X_OR = task.X_WO[i].Inverse() * hand.X_WR[i];
      for (const PalmCapsule& c : chains.palm) {
        for (const double at : {0.0, 0.25, 0.5, 0.75, 1.0}) {
          const Vec3 p = X_OR * Vec3(c.a_R + at * (c.b_R - c.a_R));
          const double depth =
              c.radius_m - geometry::SignedDistanceToUnion(shapes, p).point.distance_m;
          KeepLargest(depth, t, &out.palm_depth_m, &out.palm_depth_frame);
        }
      }
    }
    JudgePath(hand.X_WR, task.step_s(), &out);
  }
  JudgePath(task.X_WO, task.step_s(), &out);
  for (const SupportPlane& plane : task.supports) {
    for (int t = 0; t < task.frame_count(); ++t) {
      const double low =
          model::LowestAlong(task.prop, task.X_WO[static_cast<size_t>(t)], plane.normal_W);
      KeepLargest(plane.height_m - low, t, &out.below_plane_m, &out.below_plane_frame);
    }
  }
  const struct {
    const char* what;
    double value, limit;
    const char* unit;
    int frame;
  } figures[] = {{"the palm is inside the object by", out.palm_depth_m, limits.max_palm_depth_m,
                  "m", out.palm_depth_frame},
                 {"object or wrist moves at", out.speed_m_per_s, limits.max_speed_m_per_s, "m/s",
                  out.speed_frame},
                 {"object or wrist jumps by", out.jump_m, limits.max_jump_m, "m", out.jump_frame},
                 {"the object is inside its support by", out.below_plane_m,
                  limits.max_below_plane_m, "m", out.below_plane_frame}};
  for (const auto& f : figures) {
    if (!(f.value > f.limit)) continue;
    const Error error = BeyondLimit(f.what, f.value, f.unit, f.limit, f.frame);
    if (limits.refuse) return error;
    out.issues.push_back({Worded("frame %d", f.frame), Severity::kWarning, error.message});
  }
  return out;
}

}  // namespace handhold::synthesis
