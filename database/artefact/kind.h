/// The kinds of artefacts by name: the one place that lists them.
#pragma once

#include <string_view>

#include "database/artefact/contact_track.h"
#include "database/artefact/grasp.h"
#include "database/artefact/grasp_space.h"
#include "database/artefact/interaction_trajectory.h"
#include "database/artefact/motion.h"
#include "database/artefact/motion_set.h"
#include "database/artefact/object_track.h"
#include "database/artefact/pose_track.h"
#include "database/artefact/setpoint_set.h"

namespace handhold::artefact {

/// KindOf<Motion>::name: as it is stored and printed.
template <typename T>
struct KindOf;
template <>
struct KindOf<PoseTrack> {
  static constexpr const char* name = "pose_track";
};
template <>
struct KindOf<ObjectTrack> {
  static constexpr const char* name = "object_track";
};
template <>
struct KindOf<ContactTrack> {
  static constexpr const char* name = "contact_track";
};
template <>
struct KindOf<InteractionTrajectory> {
  static constexpr const char* name = "interaction_trajectory";
};
template <>
struct KindOf<SetpointSet> {
  static constexpr const char* name = "setpoint_set";
};
template <>
struct KindOf<GraspSpace> {
  static constexpr const char* name = "grasp_space";
};
template <>
struct KindOf<Grasp> {
  static constexpr const char* name = "grasp";
};
template <>
struct KindOf<Motion> {
  static constexpr const char* name = "motion";
};
template <>
struct KindOf<MotionSet> {
  static constexpr const char* name = "motion_set";
};

/// Kinds that are not structs of their own: JSON ("skeleton", "prop") and derived streams.
inline constexpr const char* kSkeletonKind = "skeleton";
inline constexpr const char* kPropKind = "prop";
inline constexpr const char* kStreamsKind = "streams";

/// Calls `function` with an empty value of each kind of struct.
template <typename Function>
void ForEachKind(const Function& function) {
  function(PoseTrack{});
  function(ObjectTrack{});
  function(ContactTrack{});
  function(InteractionTrajectory{});
  function(SetpointSet{});
  function(GraspSpace{});
  function(Grasp{});
  function(Motion{});
  function(MotionSet{});
}

}  // namespace handhold::artefact
