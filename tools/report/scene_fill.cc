#include "tools/report/scene_fill.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/artefact/motion_nodes.h"
#include "database/base/check.h"

namespace handhold::report {
namespace {

using geometry::RigidTransform;
using geometry::Vec3;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Of q and -q the one nearer to the one before: so neighbours differ little.
void PushRotation(const geometry::Mat3& R, std::vector<Eigen::Vector4d>* list) {
  Eigen::Vector4d q = geometry::ToQuaternion(R);
  if (!list->empty() && list->back().dot(q) < 0.0) q = -q;
  list->push_back(q.normalized());
}

/// A track from poses in the parent; what never changes goes into the fixed pose.
void SetTrack(const std::vector<RigidTransform>& poses, int time, SceneNode* node) {
  CHECK(!poses.empty());
  bool moves = false, turns = false;
  for (const RigidTransform& X : poses) {
    moves |= !(X.p - poses.front().p).isZero(1e-9);
    turns |= !(X.R - poses.front().R).isZero(1e-9);
  }
  if (!moves) node->X_PN.p = poses.front().p;
  if (!turns) node->X_PN.R = poses.front().R;
  if (!moves && !turns) return;
  // X_PN comes before the track: a fixed turn would turn the places.
  if (moves && !turns) node->X_PN = RigidTransform::Identity(), turns = true;
  node->track.time = time;
  for (const RigidTransform& X : poses) {
    if (moves) node->track.p.push_back(X.p);
    if (turns) PushRotation(X.R, &node->track.q);
  }
}

int AddThing(const std::string& name, const std::string& role, SceneMotion* motion) {
  motion->things.push_back({name, role});
  return static_cast<int>(motion->things.size()) - 1;
}

}  // namespace

std::vector<int> ShownFrames(size_t count, int most) {
  const size_t limit = static_cast<size_t>(std::max(1, most));
  const size_t stride = std::max<size_t>(1, (count + limit - 1) / limit);
  std::vector<int> frames;
  for (size_t k = 0; k < count; k += stride) frames.push_back(static_cast<int>(k));
  return frames;
}

std::vector<double> SecondsOf(const std::vector<Timestamp>& times, std::span<const int> frames) {
  std::vector<double> out;
  out.reserve(frames.size());
  for (const int k : frames) out.push_back(times[static_cast<size_t>(k)].seconds());
  return out;
}

namespace {

/// A frame with shapes; `first`: number of the one that its parent counts from.
void AddNode(const artefact::MotionNode& from, int first, int thing, int time, Scene* scene,
             SceneMotion* motion) {
  SceneNode node{
      .name = from.name, .parent = from.parent < 0 ? -1 : first + from.parent, .thing = thing};
  if (!from.X_PN.empty()) SetTrack(from.X_PN, time, &node);
  for (const geometry::PosedShape& shape : from.shapes)
    node.shapes.push_back({scene->AddShape(shape.shape), shape.X_GS});
  motion->nodes.push_back(std::move(node));
}

}  // namespace

void AddHand(const std::string& name, const model::Skeleton& skeleton, const Eigen::MatrixXd& q,
             std::span<const int> frames, int time, Scene* scene, SceneMotion* motion) {
  const int thing = AddThing(name, "hand", motion);
  const auto first = static_cast<int>(motion->nodes.size());
  for (const artefact::MotionNode& node : artefact::BodiesOf(skeleton, q, frames))
    AddNode(node, first, thing, time, scene, motion);
}

void AddProp(const std::string& name, const std::string& role, const model::Prop& prop,
             const std::vector<RigidTransform>& X_WP, int time, Scene* scene, SceneMotion* motion) {
  AddNode({.name = name, .X_PN = X_WP, .shapes = artefact::ShapesOf(prop)}, 0,
          AddThing(name, role, motion), time, scene, motion);
}

Status AddMotionNodes(const artefact::Motion& from, std::span<const int> frames, int time,
                      Scene* scene, SceneMotion* motion) {
  HANDHOLD_ASSIGN(const std::vector<artefact::MotionNode> nodes, artefact::NodesOf(from, frames));
  const auto first = static_cast<int>(motion->nodes.size());
  const auto things = static_cast<int>(motion->things.size());
  for (const artefact::MotionHand& hand : from.hands) AddThing(hand.name, "hand", motion);
  for (const artefact::MotionObject& object : from.objects) AddThing(object.name, "prop", motion);
  for (const artefact::MotionNode& node : nodes) {
    const bool of_hand = node.of == artefact::MotionNode::Of::kHand;
    const size_t at = node.index + (of_hand ? 0 : from.hands.size());
    AddNode(node, first, things + static_cast<int>(at), time, scene, motion);
  }
  return {};
}

void AddSensor(const recording::ClipInfo& info, const recording::ForceSensor& sensor, Scene* scene,
               SceneMotion* motion) {
  const auto X_WS = recording::FixedSensorPose(info, sensor);
  if (!X_WS) return;
  SceneNode node{.name = sensor.name, .thing = AddThing(sensor.name, "sensor", motion)};
  node.X_PN = *X_WS;
  const int axis = scene->AddShape(geometry::Cylinder{0.0006, 0.03});
  const RigidTransform along_z = RigidTransform::Translation(Vec3(0, 0, 0.015));
  const double quarter = 1.57079632679489661923;
  for (const Vec3& turn : {Vec3(0, quarter, 0), Vec3(-quarter, 0, 0), Vec3(0, 0, 0)})
    node.shapes.push_back(
        {axis, RigidTransform{geometry::Exp<double>(turn), Vec3::Zero()} * along_z});
  motion->nodes.push_back(std::move(node));
}

Status AddMarkers(const recording::ClipSource& clip, const recording::StreamInfo& stream,
                  const SceneLimits& limits, Scene* scene, SceneMotion* motion) {
  HANDHOLD_ASSIGN(const recording::SampleWindow window, clip.ReadAll(stream.id));
  const std::vector<int> frames = ShownFrames(window.times.size(), limits.frames);
  if (frames.empty()) return {};
  motion->markers.time = scene->AddTimes(SecondsOf(window.times, frames));
  motion->markers.names = stream.ItemNames();
  const int per_item = stream.channels_per_item();
  for (size_t m = 0; m < motion->markers.names.size(); ++m) {
    std::vector<Vec3> p;
    const int c = static_cast<int>(m) * per_item;
    for (const int k : frames)
      p.emplace_back(window.value(c, k), window.value(c + 1, k), window.value(c + 2, k));
    motion->markers.p_WM.push_back(std::move(p));
  }
  return {};
}

void AddCurve(std::string name, std::string group, std::string unit, int motion,
              const std::vector<double>& times_s, const std::vector<double>& y, int points,
              Scene* scene) {
  SceneChannel channel{.name = std::move(name),
                       .group = std::move(group),
                       .unit = std::move(unit),
                       .motion = motion};
  const size_t count = y.size();
  if (count <= static_cast<size_t>(points)) {
    channel.time = scene->AddTimes(times_s);
    channel.y = y;
  } else {
    const size_t stretches = static_cast<size_t>(std::max(1, points / 2));
    std::vector<double> t;
    for (size_t s = 0; s < stretches; ++s) {
      const size_t begin = s * count / stretches, end = (s + 1) * count / stretches;
      size_t low = begin, high = begin;
      bool any = false, missing = false;
      for (size_t i = begin; i < end; ++i) {
        if (!std::isfinite(y[i])) {
          missing = true;
          continue;
        }
        if (!any || y[i] < y[low]) low = i;
        if (!any || y[i] > y[high]) high = i;
        any = true;
      }
      // What is missing in a stretch breaks the curve, unless there is no other place for its peak.
      if (!any || (missing && low == high)) {
        t.push_back(times_s[begin]), channel.y.push_back(any ? y[low] : kNaN);
        continue;
      }
      for (const size_t i : {std::min(low, high), std::max(low, high)}) {
        if (low == high && !t.empty() && t.back() == times_s[i]) continue;
        t.push_back(times_s[i]), channel.y.push_back(y[i]);
      }
    }
    channel.time = scene->AddTimes(t);
  }
  scene->channels.push_back(std::move(channel));
}

namespace {

Status AddForces(const recording::ClipSource& clip, const recording::ForceSensor& sensor,
                 const SceneLimits& limits, Scene* scene) {
  const recording::StreamInfo* stream = clip.FindStream(sensor.stream_id);
  if (stream == nullptr || stream->channel_count() != sensor.calibration.cols()) return {};
  HANDHOLD_ASSIGN(const recording::SampleWindow window, clip.ReadAll(sensor.stream_id));
  const auto X_WS = recording::FixedSensorPose(clip.info(), sensor);
  std::vector<double> t, normal, along[3];
  Eigen::VectorXd raw(stream->channel_count());
  for (int i = 0; i < window.count(); ++i) {
    for (int c = 0; c < stream->channel_count(); ++c) raw[c] = window.value(c, i);
    t.push_back(window.times[static_cast<size_t>(i)].seconds());
    normal.push_back(sensor.NormalForce(raw));
    if (!X_WS) continue;
    const Vec3 f_W = X_WS->R * Vec3(sensor.Wrench(raw).head<3>());
    const Vec3 f_onHand_W = recording::ForceOnHand(f_W);
    for (int c = 0; c < 3; ++c) along[c].push_back(f_onHand_W[c]);
  }
  const size_t first = scene->channels.size();
  AddCurve(sensor.name + " normal force", "force", "N", -1, t, normal, limits.points, scene);
  for (int c = 0; X_WS && c < 3; ++c)
    AddCurve(sensor.name + " force on hand " + "xyz"[c], "force", "N", -1, t, along[c],
             limits.points, scene);
  for (size_t c = first; c < scene->channels.size(); ++c) scene->channels[c].parts = {sensor.name};
  return {};
}

Status AddOther(const recording::ClipSource& clip, const recording::StreamInfo& stream,
                const SceneLimits& limits, Scene* scene) {
  constexpr int kMostChannels = 16;
  HANDHOLD_ASSIGN(const recording::SampleWindow window, clip.ReadAll(stream.id));
  std::vector<double> t;
  for (const Timestamp time : window.times) t.push_back(time.seconds());
  if (stream.kind == recording::StreamKind::kMarkers) {
    std::vector<double> seen;
    const int per_item = stream.channels_per_item();
    for (int i = 0; i < window.count(); ++i) {
      int n = 0;
      for (int c = 0; c < stream.channel_count(); c += per_item)
        n += std::isfinite(window.value(c, i));
      seen.push_back(n);
    }
    AddCurve(stream.name + " seen", "markers", "1", -1, t, seen, limits.points, scene);
    scene->channels.back().step = 1.0;
    return {};
  }
  if (stream.kind != recording::StreamKind::kAnalog) return {};
  for (int c = 0; c < std::min(kMostChannels, stream.channel_count()); ++c) {
    const recording::Channel& channel = stream.channels[static_cast<size_t>(c)];
    std::vector<double> y;
    for (int i = 0; i < window.count(); ++i) y.push_back(window.value(c, i));
    AddCurve(stream.name + " " + channel.name, "analog", channel.unit, -1, t, y, limits.points,
             scene);
  }
  return {};
}

}  // namespace

Status AddRecording(const recording::ClipSource& clip, const SceneLimits& limits, Scene* scene) {
  for (const recording::ForceSensor& sensor : clip.force_sensors())
    HANDHOLD_TRY(AddForces(clip, sensor, limits, scene));
  for (const recording::StreamInfo& stream : clip.streams())
    HANDHOLD_TRY(AddOther(clip, stream, limits, scene));
  for (const recording::Gap& gap : clip.gaps()) {
    const recording::StreamInfo* stream = clip.FindStream(gap.stream_id);
    const std::string name = stream != nullptr ? stream->name : "?";
    scene->events.push_back({"gap", gap.clip_begin.seconds(), gap.clip_end.seconds(),
                             name + ": " + std::to_string(gap.count) + " samples missing (" +
                                 std::string(recording::GapCauseName(gap.cause)) + ")",
                             "gaps"});
  }
  for (const recording::Event& event : clip.events()) {
    // Contacts that the indexer found are drawn as touches where no fit of contacts is shown.
    if (event.kind == "contact_on" || event.kind == "contact_off") continue;
    const double begin = event.clip_time.seconds();
    scene->events.push_back({event.kind == "note" ? "note" : "mark", begin,
                             begin + event.length.seconds(),
                             event.kind + (event.text.empty() ? "" : ": " + event.text),
                             event.length.ns() > 0 ? event.kind : "marks"});
  }
  return {};
}

void PlotFirst(const std::vector<std::vector<std::string>>& plots, Scene* scene) {
  for (const std::vector<std::string>& names : plots) {
    std::vector<int> plot;
    for (const std::string& name : names)
      for (size_t i = 0; i < scene->channels.size(); ++i)
        if (scene->channels[i].name == name) plot.push_back(static_cast<int>(i));
    constexpr size_t kMostCurves = 6;  // more are told apart by nobody
    if (plot.size() > kMostCurves)
      std::erase_if(plot,
                    [scene](int c) { return scene->channels[static_cast<size_t>(c)].motion > 0; });
    if (plot.size() > kMostCurves) plot.resize(kMostCurves);
    if (!plot.empty()) scene->plots.push_back(std::move(plot));
  }
}

}  // namespace handhold::report
