/// What contact sampling is asked: how the object and the wrists move, what the object weighs, how
/// it rubs and what else it touches.
///
/// Ye & Liu 2012: "the input to our system is a mocap sequence of [...] wrist movements, and a
/// simultaneously acquired sequence of object motion". Plain values: tracks, a prop, hands. A frame
/// is an index into `times`, which are evenly spaced. Pinned by
/// tests/synthesis/contact_sampling/required_load_test.cc.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "database/artefact/object_track.h"
#include "database/artefact/pose_track.h"
#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/base/time.h"
#include "database/geometry/transform.h"
#include "database/model/prop.h"
#include "database/model/skeleton.h"

namespace handhold::synthesis {

/// A table or a wall: the object and the fingers stay where normal . p >= height.
struct SupportPlane {
  geometry::Vec3 normal_W = geometry::Vec3::UnitZ();
  double height_m = 0.0;
  double friction = 0.5;  ///< against the object
};

struct TaskHand {
  std::string name = "R";
  std::shared_ptr<const model::Skeleton> skeleton;
  std::string palm = "palm";                   ///< the body that the wrist track moves
  std::vector<geometry::RigidTransform> X_WR;  ///< that body, one per frame
};

struct HandTask {
  std::vector<Timestamp> times;
  model::Prop prop;
  std::vector<geometry::RigidTransform> X_WO;  ///< the prop's frame, one per frame
  std::vector<TaskHand> hands;                 ///< one or two; they share the object's wrench
  std::vector<SupportPlane> supports;
  double mass_kg = 0.3;
  double friction = 0.8;  ///< of the fingers on the object
  geometry::Vec3 gravity_W = geometry::Vec3(0, 0, -9.81);

  int frame_count() const { return static_cast<int>(times.size()); }
  double step_s() const { return (times.back() - times.front()).seconds() / (frame_count() - 1); }
};

/// Tracks of a wrist's pose: a body of an arm or hand whose joints were fitted. kNotFound: no such
/// body. kInvalid: the track's coordinates are not the skeleton's.
Result<artefact::ObjectTrack> WristOf(const artefact::PoseTrack& poses,
                                      const model::Skeleton& skeleton, const std::string& body);

struct TaskTracks {
  const artefact::ObjectTrack* object = nullptr;
  /// Per hand, in the task's order: the poses of its palm body.
  std::vector<const artefact::ObjectTrack*> wrists;
};

/// Sets times, X_WO and every hand's X_WR to the span that all tracks have, at rate_Hz; between
/// their frames poses are interpolated (places linearly, rotations along the shortest way).
/// kInvalid: no common span of 5 frames, or a gap in a track longer than max_gap_s, which it names.
Status ReadTracks(const TaskTracks& tracks, double rate_Hz, double max_gap_s, HandTask* task);

/// What is taken as a sound input.
struct TaskLimits {
  double max_palm_depth_m = 5e-3;
  double max_speed_m_per_s = 4.0;
  double max_jump_m = 0.02;  ///< of one frame against the middle of its neighbours
  double max_below_plane_m = 4e-3;
  bool refuse = true;  ///< false: only told
};

struct TaskJudgement {
  double palm_depth_m = 0.0;  ///< deepest of a palm in the object
  int palm_depth_frame = -1;
  double speed_m_per_s = 0.0;  ///< fastest of object and wrists
  int speed_frame = -1;
  double jump_m = 0.0;
  int jump_frame = -1;
  double below_plane_m = 0.0;  ///< deepest of the object in a support
  int below_plane_frame = -1;
  Issues issues;
};

/// CheckTask and the figures of the motion; kInvalid names the first that is beyond its limit, its
/// value and frame. A wrist is never bent silently.
Result<TaskJudgement> JudgeTask(const HandTask& task, const TaskLimits& limits = {});

/// Sizes fit, numbers finite, mass and friction positive, frames 5 at least; kInvalid with the
/// first finding.
Status CheckTask(const HandTask& task);

}  // namespace handhold::synthesis
