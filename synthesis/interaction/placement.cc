#include "synthesis/interaction/placement.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "database/geometry/rotation.h"

namespace handhold::synthesis {
namespace {

using artefact::InteractionTrajectory;
using artefact::Motion;
using geometry::RigidTransform;
using geometry::Vec3;

Status CheckPlacement(const artefact::Stage& stage, const std::string& name,
                      const PlacementOptions& o) {
  const artefact::StageThing* thing = stage.FindThing(name);
  if (stage.hands.empty() || thing == nullptr)
    return Error{ErrorCode::kInvalid, "placement: the stage has no hand or no '" + name + "'"};
  if (thing->is != artefact::StageThing::Is::kFree)
    return Error{ErrorCode::kInvalid, "placement: '" + name + "' is not free to be pushed aside"};
  const bool fits = o.rounds >= 1 && o.rounds <= 20 && o.touch_N > 0.0 &&
                    std::isfinite(o.touch_N) && o.settle_s >= 0.0 && o.settle_s <= 60.0;
  if (fits) return {};
  return Error{ErrorCode::kInvalid,
               "placement: 1 to 20 rounds, a touch of more than 0 N and 0 to 60 s to settle"};
}

/// First frame in which each body carries `touch_N` from the object; the number of frames: never.
std::vector<size_t> FirstTouches(const Motion& motion, const std::string& object,
                                 const std::vector<int>& bodies, double touch_N) {
  const size_t frames = motion.times.size();
  std::vector<size_t> first(bodies.size(), frames);
  for (size_t i = 0; i < bodies.size(); ++i) {
    std::vector<double> carried_N(frames, 0.0);
    for (const artefact::ContactRow& row : motion.rows) {
      const artefact::Touch& touch = motion.touches[static_cast<size_t>(row.touch)];
      if (touch.a.is_hand() && touch.a.body == bodies[i] && touch.b.name == object)
        carried_N[static_cast<size_t>(row.frame)] += row.f_onA_W.dot(row.normal_W);
    }
    const auto at = std::find_if(carried_N.begin(), carried_N.end(),
                                 [&](double force_N) { return force_N >= touch_N; });
    first[i] = static_cast<size_t>(std::distance(carried_N.begin(), at));
  }
  return first;
}

std::vector<int> TipBodies(const model::Skeleton& skeleton) {
  std::vector<int> bodies;
  for (const model::NamedFrame& frame : skeleton.frames()) {
    if (frame.name.ends_with(".tip") &&
        std::find(bodies.begin(), bodies.end(), frame.body) == bodies.end())
      bodies.push_back(frame.body);
  }
  return bodies;
}

/// The trajectory's frames within [begin, end], then the same backwards, then `settle_s` of rest.
InteractionTrajectory ThereAndBack(const InteractionTrajectory& t, Timestamp begin, Timestamp end,
                                   double settle_s) {
  std::vector<Eigen::Index> frames;
  std::vector<Timestamp> times;
  for (size_t k = 0; k < t.times.size(); ++k) {
    if (t.times[k] < begin || t.times[k] > end) continue;
    frames.push_back(static_cast<Eigen::Index>(k));
    times.push_back(t.times[k]);
  }
  const size_t there = frames.size();
  for (size_t k = there; k-- > 1;) {
    times.push_back(times.back() + (t.times[static_cast<size_t>(frames[k])] -
                                    t.times[static_cast<size_t>(frames[k - 1])]));
    frames.push_back(frames[k - 1]);
  }
  times.push_back(times.back() + Duration::FromSeconds(settle_s) + Duration::Milliseconds(1));
  frames.push_back(frames.back());
  const auto taken = [&](const Eigen::MatrixXd& columns) {
    Eigen::MatrixXd out(columns.rows(), static_cast<Eigen::Index>(frames.size()));
    for (size_t k = 0; k < frames.size(); ++k)
      if (columns.cols() > 0) out.col(static_cast<Eigen::Index>(k)) = columns.col(frames[k]);
    return columns.cols() > 0 ? out : columns;
  };
  InteractionTrajectory out;
  out.hand = t.hand;
  out.skeleton_hash = t.skeleton_hash;
  out.dof_names = t.dof_names;
  out.assumed = t.assumed;
  out.times = std::move(times);
  out.q = taken(t.q);
  out.q_reference = taken(t.q_reference);
  out.q_reference_dynamic = taken(t.q_reference_dynamic);
  out.compliance_rad_per_Nm = taken(t.compliance_rad_per_Nm);
  out.time_constant_s = taken(t.time_constant_s.transpose()).transpose();
  return out;
}

/// Of a pose that fingers may have tilted: its yaw and place on the table, the rest as at first.
RigidTransform Upright(const RigidTransform& X_WP, const RigidTransform& X_WP0) {
  const geometry::Mat3 turned = X_WP.R * X_WP0.R.transpose();
  // The rotation about z nearest to it.
  const double yaw = std::atan2(turned(1, 0) - turned(0, 1), turned(0, 0) + turned(1, 1));
  RigidTransform out;
  out.R = geometry::Exp(Vec3(0, 0, yaw)) * X_WP0.R;
  out.p = Vec3(X_WP.p.x(), X_WP.p.y(), X_WP0.p.z());
  return out;
}

}  // namespace

Result<PlacedObject> PlaceObject(const artefact::Stage& stage, const std::string& thing,
                                 const ReplayOptions& options, const PlacementOptions& placement) {
  HANDHOLD_TRY(CheckPlacement(stage, thing, placement));
  const auto at = static_cast<size_t>(stage.FindThing(thing) - stage.things.data());
  artefact::Stage moved = stage;
  moved.hands.resize(1);
  const model::Skeleton& skeleton = *moved.hands[0].skeleton;
  PlacedObject result;
  std::vector<int> bodies;
  for (const std::string& tip : placement.tips) {
    bodies.push_back(skeleton.FindBody(tip));
    if (bodies.back() > 0) continue;
    return Error{ErrorCode::kInvalid,
                 "placement: skeleton '" + skeleton.name() + "' has no body '" + tip + "'"};
  }
  ReplayOptions there = options, back = options;
  there.grip = back.grip = {};
  back.range = {};
  for (int round = 0; round <= placement.rounds; ++round) {
    HANDHOLD_ASSIGN(const Motion closing, ReplayInteraction(moved, there));
    const artefact::MotionObject& pushed = closing.objects[at];
    if (bodies.empty()) {
      const std::vector<int> tips = TipBodies(skeleton);
      const std::vector<size_t> first = FirstTouches(closing, pushed.name, tips, placement.touch_N);
      for (size_t i = 0; i < tips.size(); ++i)
        if (first[i] < closing.times.size()) bodies.push_back(tips[i]);
      if (bodies.empty()) {
        return Error{ErrorCode::kNotConverged, "placement: no fingertip of '" + skeleton.name() +
                                                   "' touches '" + pushed.name + "'"};
      }
    }
    const std::vector<size_t> first = FirstTouches(closing, pushed.name, bodies, placement.touch_N);
    std::string missing;
    for (size_t i = 0; i < bodies.size(); ++i) {
      if (first[i] < closing.times.size()) continue;
      missing += (missing.empty() ? "" : ", ") + skeleton.body(bodies[i]).name;
    }
    if (!missing.empty()) {
      return Error{ErrorCode::kNotConverged,
                   "placement: " + missing + " never touch '" + pushed.name + "'"};
    }
    const auto [earliest, latest] = std::minmax_element(first.begin(), first.end());
    PlacementRound& done = result.rounds.emplace_back();
    done.touched = closing.times[*latest] - closing.times.front();
    done.spread_s = (closing.times[*latest] - closing.times[*earliest]).seconds();
    const RigidTransform &X_begin = pushed.pose(0), &X_touched = pushed.pose(*latest);
    done.shift_m = (X_touched.p - X_begin.p).norm();
    done.turn_rad = geometry::Log(geometry::Mat3(X_begin.R.transpose() * X_touched.R)).norm();
    if (round == placement.rounds) break;

    artefact::Stage opening = moved;
    opening.hands[0].trajectory.value = std::make_shared<const InteractionTrajectory>(
        ThereAndBack(*moved.hands[0].trajectory, closing.times.front(), closing.times[*latest],
                     placement.settle_s));
    HANDHOLD_ASSIGN(const Motion reversed, ReplayInteraction(opening, back));
    const RigidTransform& X_left = reversed.objects[at].pose(reversed.times.size() - 1);
    moved.things[at].X_WP = placement.upright ? Upright(X_left, *stage.things[at].X_WP) : X_left;
  }
  for (const int body : bodies) result.tips.push_back(skeleton.body(body).name);
  result.X_WP = *moved.things[at].X_WP;
  return result;
}

}  // namespace handhold::synthesis
