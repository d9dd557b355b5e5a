#include "database/exchange/c3d_streams.h"

#include <cmath>
#include <utility>

#include "database/exchange/c3d_force.h"

namespace handhold::exchange {
namespace {

using recording::Channel;
using recording::StreamInfo;
using recording::StreamKind;

class Planner {
 public:
  Planner(const C3dContents& contents, Issues& issues)
      : contents_(contents),
        issues_(issues),
        analog_rate_{contents.rate.numerator * contents.ratio, contents.rate.denominator},
        taken_(contents.channels.size(), false) {}

  C3dStreams Plan(bool any_mask) {
    PlanPoints(any_mask);
    for (size_t p = 0; p < contents_.platforms.size(); ++p) AddPlatform(static_cast<int>(p));
    PlanAnalog();
    PlanRotations();
    return std::move(streams_);
  }

 private:
  void Add(C3dStreamPlan plan, StreamInfo info) {
    info.id = static_cast<int>(streams_.infos.size()) + 1;
    info.device = "c3d";
    info.channels.shrink_to_fit();
    streams_.infos.push_back(std::move(info));
    streams_.plans.push_back(std::move(plan));
  }

  void PlanPoints(bool any_mask) {
    C3dStreamPlan markers{C3dContent::kMarkers, {}, {}, -1},
        outputs{C3dContent::kOutputs, {}, {}, -1};
    StreamInfo marker_info, output_info, camera_info;
    for (size_t i = 0; i < contents_.points.size(); ++i) {
      const C3dPoint& point = contents_.points[i];
      (point.is_output ? outputs : markers).points.push_back(static_cast<int>(i));
      StreamInfo& info = point.is_output ? output_info : marker_info;
      for (const char* axis : {".x", ".y", ".z"})
        info.channels.push_back({point.label + axis, point.is_output ? point.output_unit : "m"});
      if (point.is_output) continue;
      info.channels.push_back({point.label + ".residual", "m"});
      camera_info.channels.push_back({point.label, "1", 1.0});
    }
    marker_info.kind = StreamKind::kMarkers;
    marker_info.frame = "W";
    marker_info.name = "c3d/markers";
    camera_info.name = "c3d/cameras";
    output_info.name = "c3d/outputs";
    marker_info.rate = camera_info.rate = output_info.rate = contents_.rate;
    C3dStreamPlan cameras{C3dContent::kCameras, markers.points, {}, -1};
    const bool with_cameras = any_mask && !cameras.points.empty();
    if (!markers.points.empty()) Add(std::move(markers), std::move(marker_info));
    if (with_cameras) Add(std::move(cameras), std::move(camera_info));
    if (!outputs.points.empty()) Add(std::move(outputs), std::move(output_info));
  }

  void AddPlatform(int number) {
    std::optional<PlatformPlan> plate = PlanPlatform(contents_, number, issues_);
    if (!plate) return;
    const std::string name = "plate" + std::to_string(number + 1);
    StreamInfo info;
    info.name = "c3d/" + name;
    info.kind = StreamKind::kForceTorque;
    info.frame = "S:" + name;
    info.sign = "hand_on_object";
    info.rate = analog_rate_;
    C3dStreamPlan plan;
    plan.content = plate->is_computed ? C3dContent::kPlateType1 : C3dContent::kPlate;
    plan.platform = number;
    static constexpr const char* kComponents[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    for (size_t k = 0; k < plate->channels.size(); ++k) {
      const auto at = static_cast<size_t>(plate->channels[k]);
      const C3dChannel& from = contents_.channels[at];
      if (plate->is_computed) {
        plan.columns.push_back({plate->channels[k], from.offset, from.scale});
        info.channels.push_back({kComponents[k], k < 3 ? "N" : "N m"});
        continue;
      }
      plan.columns.push_back({plate->channels[k], 0.0, 1.0});
      taken_[at] = true;
      std::string label = from.label;  // a platform may name a channel twice
      if (info.FindChannel(label) >= 0) label += "#" + std::to_string(k + 1);
      info.channels.push_back({label, from.scale == 1.0 && !from.unit.empty() ? from.unit : "count",
                               contents_.is_float ? 0.0 : 1.0});
    }
    plate->sensor.name = name;
    plate->sensor.stream_id = static_cast<int>(streams_.infos.size()) + 1;
    streams_.sensors.push_back(std::move(plate->sensor));
    Add(std::move(plan), std::move(info));
  }

  void PlanAnalog() {
    C3dStreamPlan plan{C3dContent::kAnalog, {}, {}, -1};
    StreamInfo info;
    info.name = "c3d/analog";
    info.rate = analog_rate_;
    for (size_t c = 0; c < contents_.channels.size(); ++c) {
      if (taken_[c]) continue;
      const C3dChannel& from = contents_.channels[c];
      plan.columns.push_back({static_cast<int>(c), from.offset, from.scale});
      // Samples are whole numbers more often than not, also in floating point files.
      info.channels.push_back(
          {from.label, from.unit.empty() ? "1" : from.unit,
           contents_.is_float && from.scale == 1.0 ? 0.0 : std::fabs(from.scale)});
    }
    if (!plan.columns.empty()) Add(std::move(plan), std::move(info));
  }

  void PlanRotations() {
    if (contents_.rotations.samples == 0) return;
    StreamInfo info;
    info.name = "c3d/rotations";
    info.kind = StreamKind::kRigidPoses;
    info.frame = "W";
    info.rate = {contents_.rate.numerator * contents_.rotations.ratio, contents_.rate.denominator};
    for (const std::string& label : contents_.rotations.labels) {
      for (const char* part : {".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"})
        info.channels.push_back({label + part, part[1] == 'q' ? "1" : "m"});
    }
    Add({C3dContent::kRotations, {}, {}, -1}, std::move(info));
  }

  const C3dContents& contents_;
  Issues& issues_;
  const recording::Rate analog_rate_;
  std::vector<bool> taken_;  ///< channels that a platform's stream holds
  C3dStreams streams_;
};

}  // namespace

C3dStreams PlanC3dStreams(const C3dContents& contents, bool any_mask, Issues& issues) {
  return Planner(contents, issues).Plan(any_mask);
}

}  // namespace handhold::exchange
