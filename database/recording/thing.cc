#include "database/recording/thing.h"

#include <algorithm>
#include <set>

#include "database/base/names.h"
#include "database/recording/clip.h"
#include "database/recording/force_sensor.h"

namespace handhold::recording {

bool IsRotation(const geometry::Mat3& R) {
  return (R * R.transpose() - geometry::Mat3::Identity()).cwiseAbs().maxCoeff() < 1e-6 &&
         R.determinant() > 0;
}

namespace {

constexpr Thing::Kind kKinds[] = {Thing::Kind::kProp, Thing::Kind::kHand};
constexpr Thing::Pose kPoses[] = {Thing::Pose::kUnknown, Thing::Pose::kFixed,
                                  Thing::Pose::kRigidPoses, Thing::Pose::kMarkers};

template <typename T, size_t N>
Result<T> Parse(std::string_view text, const T (&all)[N], std::string_view (*name)(T),
                const char* what) {
  std::vector<std::string> known;
  for (const T value : all) {
    if (name(value) == text) return value;
    known.emplace_back(name(value));
  }
  return Error{ErrorCode::kInvalid, "'" + std::string(text) + "' is no " + what + " of a thing" +
                                        DidYouMean(text, known)};
}

Status CheckThing(const Thing& thing) {
  const auto wrong = [&](const std::string& what) {
    return Error{ErrorCode::kInvalid, "thing '" + thing.name + "': " + what};
  };
  switch (thing.pose) {
    case Thing::Pose::kUnknown:
      return {};
    case Thing::Pose::kFixed:
      if (!thing.X_WT.p.allFinite()) return wrong("its fixed place is not finite");
      if (!IsRotation(thing.X_WT.R))
        return wrong("its fixed orientation is no rotation (unit, perpendicular, right-handed)");
      return {};
    case Thing::Pose::kRigidPoses:
      if (thing.stream.empty() || thing.items.size() != 1)
        return wrong("poses that are measured need a stream and one item of it");
      return {};
    case Thing::Pose::kMarkers:
      if (thing.stream.empty() || std::set(thing.items.begin(), thing.items.end()).size() < 3)
        return wrong("a cluster needs a marker stream and three or more of its markers");
      return {};
  }
  return {};
}

}  // namespace

bool Thing::operator==(const Thing& other) const {
  return name == other.name && kind == other.kind && model == other.model && pose == other.pose &&
         X_WT.R == other.X_WT.R && X_WT.p == other.X_WT.p && stream == other.stream &&
         items == other.items;
}

std::string_view ThingKindName(Thing::Kind kind) {
  return kind == Thing::Kind::kProp ? "prop" : "hand";
}

std::string_view ThingPoseName(Thing::Pose pose) {
  switch (pose) {
    case Thing::Pose::kUnknown:
      return "unknown";
    case Thing::Pose::kFixed:
      return "fixed";
    case Thing::Pose::kRigidPoses:
      return "poses";
    case Thing::Pose::kMarkers:
      return "markers";
  }
  return "unknown";
}

Result<Thing::Kind> ParseThingKind(std::string_view text) {
  return Parse(text, kKinds, ThingKindName, "kind");
}
Result<Thing::Pose> ParseThingPose(std::string_view text) {
  return Parse(text, kPoses, ThingPoseName, "pose");
}

Status CheckThings(const std::vector<Thing>& things) {
  for (size_t i = 0; i < things.size(); ++i) {
    if (things[i].name.empty()) return Error{ErrorCode::kInvalid, "a thing without a name"};
    for (size_t k = 0; k < i; ++k)
      if (things[k].name == things[i].name)
        return Error{ErrorCode::kInvalid, "two things are called '" + things[i].name + "'"};
    HANDHOLD_TRY(CheckThing(things[i]));
  }
  return {};
}

const Thing* FindThing(const ClipInfo& info, std::string_view name) {
  const auto found = std::ranges::find(info.things, name, &Thing::name);
  return found == info.things.end() ? nullptr : &*found;
}

std::string PropNames(const ClipInfo& info) {
  std::string names;
  for (const Thing& thing : info.things)
    if (thing.kind == Thing::Kind::kProp && !thing.model.empty())
      names += (names.empty() ? "" : ", ") + thing.model;
  return names;
}

Issues FindThingIssues(const ClipInfo& info, const std::vector<StreamInfo>& streams,
                       const std::vector<ForceSensor>& sensors) {
  Issues issues;
  const auto tell = [&](const std::string& where, const std::string& what) {
    issues.push_back({where, Severity::kWarning, what});
  };
  std::vector<std::string> things, names;
  for (const Thing& thing : info.things) things.push_back(thing.name);
  for (const StreamInfo& stream : streams) names.push_back(stream.name);
  for (const Thing& thing : info.things) {
    if (thing.pose != Thing::Pose::kRigidPoses && thing.pose != Thing::Pose::kMarkers) continue;
    const std::string where = "thing '" + thing.name + "'";
    const auto stream = std::ranges::find(streams, thing.stream, &StreamInfo::name);
    const StreamKind wanted =
        thing.pose == Thing::Pose::kMarkers ? StreamKind::kMarkers : StreamKind::kRigidPoses;
    if (stream == streams.end()) {
      tell(where, "its pose is in stream '" + thing.stream + "', which is not there" +
                      DidYouMean(thing.stream, names));
      continue;
    }
    if (stream->kind != wanted) {
      tell(where, "its pose is in stream '" + thing.stream + "', which holds " +
                      std::string(StreamKindName(stream->kind)));
      continue;
    }
    const std::vector<std::string> there = stream->ItemNames();
    for (const std::string& item : thing.items)
      if (std::ranges::count(there, item) == 0)
        tell(where,
             "stream '" + thing.stream + "' has no '" + item + "'" + DidYouMean(item, there));
  }
  for (const ForceSensor& sensor : sensors)
    if (!sensor.mounted_on.empty() && FindThing(info, sensor.mounted_on) == nullptr)
      tell("sensor '" + sensor.name + "'", "is mounted on '" + sensor.mounted_on +
                                               "', which is no thing of the take" +
                                               DidYouMean(sensor.mounted_on, things));
  return issues;
}

void SayProp(const std::string& prop, ClipInfo* info) {
  Thing* only = nullptr;
  int props = 0;
  for (Thing& thing : info->things) {
    if (thing.kind != Thing::Kind::kProp) continue;
    if (thing.model == prop || thing.name == prop) return;
    ++props, only = &thing;
  }
  if (props == 1) {
    only->model = prop;  // its name stays: sensors may be mounted on it
    // Where the frame of the one that was expected stood says nothing of the other's.
    if (only->pose == Thing::Pose::kFixed) only->pose = Thing::Pose::kUnknown, only->X_WT = {};
    return;
  }
  std::string name = prop;
  for (int k = 2; FindThing(*info, name) != nullptr; ++k) name = prop + "_" + std::to_string(k);
  info->things.push_back({.name = name, .model = prop});
}

Result<geometry::RigidTransform> FixedSensorPose(const ClipInfo& info, const ForceSensor& sensor) {
  if (sensor.mounted_on.empty()) return sensor.X_MS;
  const std::string where =
      "sensor '" + sensor.name + "' is mounted on '" + sensor.mounted_on + "'";
  const Thing* thing = FindThing(info, sensor.mounted_on);
  if (thing == nullptr)
    return Error{ErrorCode::kInvalid, where + ", and the take has no thing of that name"};
  if (thing->pose == Thing::Pose::kFixed) return thing->X_WT * sensor.X_MS;
  return Error{ErrorCode::kInvalid,
               where + (thing->pose == Thing::Pose::kUnknown ? ", and nobody said where that was"
                                                             : ", which moves")};
}

}  // namespace handhold::recording
