#include "database/artefact/motion.h"

#include <algorithm>
#include <array>
#include <set>

#include "database/base/names.h"

namespace handhold::artefact {
namespace {

Error Corrupt(const std::string& what) { return {ErrorCode::kCorrupt, "motion: " + what}; }

/// Whether each of the stage's has a track of its name.
template <typename Staged, typename Track>
Status CheckOnStage(const std::vector<Staged>& stage, const std::vector<Track>& tracks,
                    const char* what) {
  if (stage.size() != tracks.size())
    return Corrupt("its stage has another number of " + std::string(what) + "s");
  for (size_t i = 0; i < stage.size(); ++i) {
    if (stage[i].name != tracks[i].name)
      return Corrupt(std::string(what) + " '" + tracks[i].name + "' is '" + stage[i].name +
                     "' on its stage");
  }
  return {};
}

Status CheckPhases(const Motion& motion) {
  for (size_t i = 0; i < motion.phases.size(); ++i) {
    const TimeRange& range = motion.phases[i].range;
    if (range.end < range.begin || motion.times.empty() || range.begin < motion.times.front() ||
        range.end > motion.times.back() || (i > 0 && range.begin < motion.phases[i - 1].range.end))
      return Corrupt("phase '" + motion.phases[i].name +
                     "' lies outside of it, or begins before the last one ends");
  }
  return {};
}

}  // namespace

std::string_view VerdictName(Verdict::Kind kind) {
  constexpr std::array<std::string_view, 6> kNames = {"not judged", "held",   "slipped",
                                                      "dropped",    "jammed", "lost"};
  return kNames[static_cast<size_t>(kind)];
}

const Series* Motion::FindSeries(std::string_view name) const { return FindNamed(series, name); }
const MotionHand* Motion::FindHand(std::string_view name) const { return FindNamed(hands, name); }
const MotionObject* Motion::FindObject(std::string_view name) const {
  return FindNamed(objects, name);
}

const Phase* Motion::FindPhase(std::string_view name) const { return FindNamed(phases, name); }

MotionHand& Motion::Add(StageHand hand) {
  const StageHand& added = stage.Add(std::move(hand));
  MotionHand& track = hands.emplace_back();
  track.name = added.name;
  if (added.skeleton.there()) track.dof_names = added.skeleton->dof_names();
  return track;
}

MotionObject& Motion::Add(StageThing thing) {
  const StageThing& added = stage.Add(std::move(thing));
  MotionObject& track = objects.emplace_back();
  track.name = added.name;
  if (added.X_WP) track.X_WP = {*added.X_WP};
  return track;
}

int Motion::TouchBetween(const Side& a, const Side& b, Timestamp now) {
  const auto found = std::find_if(touches.begin(), touches.end(),
                                  [&](const Touch& t) { return t.a == a && t.b == b; });
  if (found != touches.end()) {
    found->release = now;
    return static_cast<int>(found - touches.begin());
  }
  Touch touch;
  touch.a = a, touch.b = b;
  touch.onset = touch.release = now;
  touches.push_back(std::move(touch));
  return static_cast<int>(touches.size()) - 1;
}

Status CheckMotion(const Motion& motion) {
  const auto frames = static_cast<Eigen::Index>(motion.times.size());
  std::set<std::string> hands, things;
  HANDHOLD_TRY(CheckOnStage(motion.stage.hands, motion.hands, "hand"));
  HANDHOLD_TRY(CheckOnStage(motion.stage.things, motion.objects, "thing"));
  HANDHOLD_TRY(CheckPhases(motion));
  for (const MotionHand& hand : motion.hands) {
    if (hand.q.cols() != frames) return Corrupt("hand '" + hand.name + "' has other frames");
    if (!hands.insert(hand.name).second) return Corrupt("two hands are '" + hand.name + "'");
  }
  for (const MotionObject& object : motion.objects) {
    if (object.X_WP.size() != 1 && object.X_WP.size() != motion.times.size())
      return Corrupt("object '" + object.name + "' has other frames");
    if (!things.insert(object.name).second) return Corrupt("two objects are '" + object.name + "'");
  }
  for (const Series& series : motion.series) {
    if (series.values.size() != frames)
      return Corrupt("series '" + series.name + "' has other frames");
  }
  for (const Touch& touch : motion.touches) {
    for (const Side* side : {&touch.a, &touch.b}) {
      if ((side->is_hand() ? hands : things).count(side->name) == 0)
        return Corrupt("a touch names '" + side->name + "', which is not there");
    }
  }
  return CheckRows(motion.touches, motion.rows, motion.times.size());
}

Stage StageAt(const Motion& motion, size_t frame) {
  Stage stage = motion.stage;
  for (size_t i = 0; i < stage.hands.size(); ++i) {
    StageHand& hand = stage.hands[i];
    hand.q = motion.hands[i].q.col(static_cast<Eigen::Index>(frame));
    hand.X_WH = {};
    hand.trajectory = {}, hand.poses = {}, hand.wrist_track = {};
    hand.wrist.clear();
  }
  for (size_t i = 0; i < stage.things.size(); ++i) {
    StageThing& thing = stage.things[i];
    thing.X_WP = motion.objects[i].pose(frame);
    thing.omega_P.setZero(), thing.v_P.setZero();
    if (thing.is == StageThing::Is::kTrack) thing.is = StageThing::Is::kFixed, thing.track = {};
  }
  return stage;
}

}  // namespace handhold::artefact
