#include "synthesis/evaluate/verdict.h"

#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "database/geometry/rotation.h"
#include "database/model/kinematics.h"

namespace handhold::synthesis {
namespace {

using artefact::Motion;
using artefact::MotionObject;
using artefact::Side;
using artefact::Verdict;
using geometry::RigidTransform;

Result<const MotionObject*> ObjectOf(const Motion& motion, const std::string& name) {
  if (!name.empty()) {
    if (const MotionObject* object = motion.FindObject(name)) return object;
    return Error{ErrorCode::kInvalid, "the motion has no object '" + name + "'"};
  }
  const MotionObject* found = nullptr;
  for (const MotionObject& object : motion.objects) {
    if (object.stands_still()) continue;
    if (found != nullptr) {
      return Error{ErrorCode::kInvalid, "'" + found->name + "' and '" + object.name +
                                            "' both move: say which one is judged"};
    }
    found = &object;
  }
  if (found == nullptr)
    return Error{ErrorCode::kInvalid, "nothing moves in the motion: there is no hold to judge"};
  return found;
}

/// Per frame: what carries the object.
struct Carried {
  bool by_hand = false, by_thing = false;
  double force_N = 0.0;
};

/// Which things of one frame stand on what does not move, not counting on `object`: fixed ones, and
/// what touches one that stands. `pairs`: things that press each other.
std::vector<char> WhatStands(const Motion& motion, const std::string& object,
                             std::span<const std::pair<size_t, size_t>> pairs) {
  std::vector<char> stands(motion.objects.size(), 0);
  for (size_t i = 0; i < stands.size(); ++i) stands[i] = motion.objects[i].stands_still();
  const auto passes = [&](size_t i) { return stands[i] && motion.objects[i].name != object; };
  for (bool more = true; more;) {
    more = false;
    for (const auto& [a, b] : pairs) {
      if (passes(a) == passes(b) || (stands[a] && stands[b])) continue;
      stands[a] = stands[b] = 1;
      more = true;
    }
  }
  return stands;
}

std::vector<Carried> WhatCarries(const Motion& motion, const std::string& object) {
  std::vector<Carried> frames(motion.times.size());
  std::vector<std::vector<std::pair<size_t, size_t>>> pairs(motion.times.size());
  const auto number = [&](const Side& side) {
    size_t i = 0;
    while (i < motion.objects.size() && motion.objects[i].name != side.name) ++i;
    return i;
  };
  for (const artefact::ContactRow& row : motion.rows) {
    const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
    const double force_N = row.f_onA_W.norm();
    if (!(force_N > 0.0)) continue;
    const auto frame = static_cast<size_t>(row.frame);
    if (!touch.a.is_hand() && !touch.b.is_hand()) {
      const size_t a = number(touch.a), b = number(touch.b);
      if (a < motion.objects.size() && b < motion.objects.size()) pairs[frame].push_back({a, b});
    } else if (touch.a.is_hand() != touch.b.is_hand() &&
               (touch.a.is_hand() ? touch.b : touch.a).name == object) {
      frames[frame].by_hand = true;
      frames[frame].force_N += force_N;
    }
  }
  for (size_t k = 0; k < frames.size(); ++k) {
    if (pairs[k].empty()) continue;
    const std::vector<char> stands = WhatStands(motion, object, pairs[k]);
    for (const auto& [a, b] : pairs[k]) {
      const bool is_a = motion.objects[a].name == object, is_b = motion.objects[b].name == object;
      if (is_a || is_b) frames[k].by_thing = frames[k].by_thing || stands[is_a ? b : a];
    }
  }
  return frames;
}

struct Window {
  size_t begin = 0, end = 0;  ///< frames [begin, end)
};

Result<Window> WindowOf(const Motion& motion, const TimeRange& hold) {
  Window window{0, motion.times.size()};
  if (hold.length() != Duration()) {
    while (window.begin < motion.times.size() && motion.times[window.begin] < hold.begin)
      ++window.begin;
    while (window.end > window.begin && motion.times[window.end - 1] >= hold.end) --window.end;
    if (motion.times.empty() || hold.begin < motion.times.front() ||
        hold.end > motion.times.back() + Duration::Nanoseconds(1))
      window.end = window.begin;
  }
  if (window.end <= window.begin)
    return Error{ErrorCode::kInvalid, "the hold that is judged lies outside the motion"};
  return window;
}

/// The first run of frames that lasts longer than `flicker` and of which all answer `is`.
template <typename Is>
std::optional<size_t> FirstRun(const Motion& motion, const Window& window, Duration flicker,
                               Is is) {
  for (size_t k = window.begin; k < window.end;) {
    size_t end = k;
    while (end < window.end && is(end)) ++end;
    if (end > k && (motion.times[end - 1] - motion.times[k] >= flicker ||
                    (k == window.begin && end == window.end)))
      return k;
    k = end + 1;
  }
  return std::nullopt;
}

Verdict Make(Verdict::Kind kind, Timestamp when, const std::string& object, const char* what,
             double figure) {
  char text[160];
  std::snprintf(text, sizeof text, what, figure);
  Verdict verdict;
  verdict.kind = kind;
  verdict.when = when;
  verdict.cause = "'" + object + "' " + text;
  return verdict;
}

}  // namespace

Result<Verdict> JudgeHold(const model::Skeleton& hand, const Motion& motion,
                          const VerdictOptions& options) {
  HANDHOLD_ASSIGN(const MotionObject* const object, ObjectOf(motion, options.object));
  HANDHOLD_ASSIGN(const Window window, WindowOf(motion, options.hold));
  if (motion.hands.empty() || motion.hands.front().dof_names != hand.dof_names() ||
      hand.body_count() < 2) {
    return Error{ErrorCode::kInvalid,
                 "the motion's hand was not made with skeleton '" + hand.name() + "'"};
  }
  const std::string& name = object->name;

  if (const artefact::Series* unsolved = motion.FindSeries(options.unsolved)) {
    double count = 0.0;
    size_t first = window.end;
    for (size_t k = window.begin; k < window.end; ++k) {
      if (unsolved->values[static_cast<Eigen::Index>(k)] == 0.0) continue;
      count += 1.0;
      if (first == window.end) first = k;
    }
    const double share = count / static_cast<double>(window.end - window.begin);
    if (share > options.lost_share) {
      return Make(Verdict::Kind::kLost, motion.times[first], name,
                  "is lost: %.1f %% of the hold's steps were not solved", 100.0 * share);
    }
  }

  const std::vector<Carried> carried = WhatCarries(motion, name);
  const Duration flicker = Duration::FromSeconds(options.flicker_s);
  const auto no_hand =
      FirstRun(motion, window, flicker, [&](size_t k) { return !carried[k].by_hand; });
  const auto on_thing =
      FirstRun(motion, window, flicker, [&](size_t k) { return carried[k].by_thing; });
  const double hold_s = (motion.times[window.end - 1] - motion.times[window.begin]).seconds();
  if (no_hand && (!on_thing || *no_hand <= *on_thing)) {
    return Make(Verdict::Kind::kDropped, motion.times[*no_hand], name,
                "is touched by no hand %.2f s into the hold",
                (motion.times[*no_hand] - motion.times[window.begin]).seconds());
  }
  if (on_thing) {
    return Make(Verdict::Kind::kDropped, motion.times[*on_thing], name,
                "lies on something else %.2f s into the hold",
                (motion.times[*on_thing] - motion.times[window.begin]).seconds());
  }

  if (options.jam_force_N > 0.0) {
    for (size_t k = window.begin; k < window.end; ++k) {
      if (carried[k].force_N <= options.jam_force_N) continue;
      return Make(Verdict::Kind::kJammed, motion.times[k], name, "is pressed with %.1f N",
                  carried[k].force_N);
    }
  }

  // Where it is in the hand's first body, against where it was when the hold began.
  model::KinematicsData data(hand);
  std::optional<RigidTransform> X_OH_begin;
  for (size_t k = window.begin; k < window.end; ++k) {
    model::ComputePoses<double>(hand, motion.hands.front().q.col(static_cast<Eigen::Index>(k)),
                                &data);
    const RigidTransform X_HO = data.X_WB[1].Inverse() * object->pose(k);
    if (!X_OH_begin) X_OH_begin = X_HO.Inverse();
    const RigidTransform moved = *X_OH_begin * X_HO;
    const double turned_rad = geometry::Log(moved.R).norm();
    if (moved.p.norm() > options.slide_m) {
      return Make(Verdict::Kind::kSlipped, motion.times[k], name, "slid beyond %.1f mm in the hand",
                  1e3 * options.slide_m);
    }
    if (turned_rad > options.turn_rad) {
      return Make(Verdict::Kind::kSlipped, motion.times[k], name,
                  "turned beyond %.1f degrees in the hand", options.turn_rad * 180.0 / M_PI);
    }
  }
  return Make(Verdict::Kind::kHeld, motion.times[window.end - 1], name,
              "is carried by the hand alone for %.2f s", hold_s);
}

}  // namespace handhold::synthesis
