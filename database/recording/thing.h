/// The things of a take: what hands touch and what sensors sit on, each with where it was.
///
/// A thing's pose is fixed (it stood still, and somebody measured where), measured (a stream of the
/// clip holds a rigid body, or markers that sit on it) or unknown. The lab itself, W, is no thing:
/// an empty name means it. Tests: tests/database/recording/thing_test.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/geometry/transform.h"

namespace handhold::recording {

struct ClipInfo;
struct ForceSensor;
struct StreamInfo;

struct Thing {
  enum class Kind {
    kProp,  ///< `model` is a prop
    kHand   ///< `model` is a skeleton
  };
  enum class Pose {
    kUnknown,     ///< nobody said
    kFixed,       ///< X_WT, for the whole take
    kRigidPoses,  ///< item `items[0]` of the rigid-pose stream `stream`
    kMarkers      ///< the markers `items` (three or more) of the marker stream `stream` sit on it
  };
  std::string name;  ///< unique in the take: "box", "plate", "R"; never empty
  Kind kind = Kind::kProp;
  std::string model;  ///< name of a prop or a skeleton of the library; empty: not said
  Pose pose = Pose::kUnknown;
  geometry::RigidTransform X_WT = {};  ///< kFixed: the frame of its model in the lab
  std::string stream = {};             ///< kRigidPoses, kMarkers
  std::vector<std::string> items = {};
  bool operator==(const Thing& other) const;
};

std::string_view ThingKindName(Thing::Kind kind);      ///< "prop", "hand"
std::string_view ThingPoseName(Thing::Pose pose);      ///< "unknown", "fixed", "poses", "markers"
Result<Thing::Kind> ParseThingKind(std::string_view);  ///< kInvalid names what there is
Result<Thing::Pose> ParseThingPose(std::string_view);  ///< kInvalid names what there is

/// kInvalid, naming the thing: no name, a name used twice, a pose without what it needs (a number
/// that is not finite, no rotation, no stream, no item, fewer than three different markers).
Status CheckThings(const std::vector<Thing>& things);

/// Null when there is none of this name.
const Thing* FindThing(const ClipInfo& info, std::string_view name);
/// The models of the take's props, in order, parted by ", "; empty: none is said.
std::string PropNames(const ClipInfo& info);
/// "With this prop", said after the fact: a thing of this model or name is left as it is; else the
/// take's only prop becomes it, measured as it was, but not where the other's frame stood; else it
/// is added, its pose unknown.
void SayProp(const std::string& prop, ClipInfo* info);

/// What of a take's things and mounts leads nowhere: a stream, item or marker that is not there, a
/// mount on no thing. Warnings, naming the nearest.
Issues FindThingIssues(const ClipInfo& info, const std::vector<StreamInfo>& streams,
                       const std::vector<ForceSensor>& sensors);

/// Rows unit, perpendicular and right-handed, to 1e-6.
bool IsRotation(const geometry::Mat3& R);

/// X_WS of a sensor that does not move: in the lab, or on a fixed thing. kInvalid names a mount
/// that moves, whose pose is unknown, or that the take does not have.
Result<geometry::RigidTransform> FixedSensorPose(const ClipInfo& info, const ForceSensor& sensor);

}  // namespace handhold::recording
