#include "database/artefact/motion.h"

#include <algorithm>
#include <array>
#include <set>

namespace handhold::artefact {
namespace {

template <typename T>
const T* FindNamed(const std::vector<T>& list, std::string_view name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const T& item) { return item.name == name; });
  return found == list.end() ? nullptr : &*found;
}

Error Corrupt(const std::string& what) { return {ErrorCode::kCorrupt, "motion: " + what}; }

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

}  // namespace handhold::artefact
