#include "capture/source/vicon_layout.h"

#include <cmath>
#include <numeric>
#include <set>

#include "capture/wire/vicon_stream.h"

namespace handhold::capture {

using recording::StreamInfo;
using recording::StreamKind;

namespace {
/// Half of it bounds what storing may change: far below the noise of any optical system.
constexpr double kMarkerQuantum_m = 1e-5;
/// At a lower rate 32 bits of frame numbers are more nanoseconds than 64 bits hold.
constexpr double kLeastRate_hz = 1.0;
/// Fifty times the fastest camera.
constexpr double kMostRate_hz = 1e5;

void MakeChannelsUnique(StreamInfo& info) {
  std::set<std::string> seen;
  for (recording::Channel& channel : info.channels) {
    const std::string name = channel.name;
    for (int again = 2; !seen.insert(channel.name).second; ++again)
      channel.name = name + "~" + std::to_string(again);
  }
}
}  // namespace

int ViconLayout::marker_count() const {
  int count = 0;
  for (const ViconSubject& subject : subjects) count += static_cast<int>(subject.markers.size());
  return count;
}

recording::Rate ViconRate(double hz) {
  if (!(hz >= kLeastRate_hz && hz <= kMostRate_hz)) return {};
  const int64_t ticks = std::llround(static_cast<double>(wire::vicon::kTicksPerSecond) / hz);
  const int64_t common = std::gcd(wire::vicon::kTicksPerSecond, ticks);
  return {wire::vicon::kTicksPerSecond / common, ticks / common};
}

ViconStreamOrder StreamOrder(const ViconLayout& layout) {
  if (layout.marker_count() == 0) return {};
  return {.points = 2, .analogs = 3, .markers = 0, .trajectories = 1};
}

std::vector<StreamInfo> ViconStreams(const std::string& name, const ViconLayout& layout) {
  StreamInfo markers;
  markers.name = name + "/markers";
  markers.kind = StreamKind::kMarkers;
  markers.device = name;
  markers.rate = layout.rate;
  markers.frame = "W";
  StreamInfo trajectories = markers;
  trajectories.name = name + "/trajectories";
  trajectories.kind = StreamKind::kAnalog;
  trajectories.frame = "";
  for (const ViconSubject& subject : layout.subjects) {
    const std::string prefix = layout.subjects.size() > 1 ? subject.name + ":" : "";
    for (const std::string& marker : subject.markers) {
      for (const char* axis : {".x", ".y", ".z"})
        markers.channels.push_back({prefix + marker + axis, "m", kMarkerQuantum_m});
      trajectories.channels.push_back({prefix + marker, "1", 1.0});
    }
  }
  StreamInfo points = markers;
  points.name = name + "/points";
  points.kind = StreamKind::kUnlabelledPoints;
  points.channels = {{"x", "m", kMarkerQuantum_m},
                     {"y", "m", kMarkerQuantum_m},
                     {"z", "m", kMarkerQuantum_m},
                     {"id", "1", 1.0}};
  std::vector<StreamInfo> streams;
  if (layout.marker_count() > 0) streams = {markers, trajectories};
  streams.push_back(points);
  for (const ViconAnalog& analog : layout.analogs) {
    StreamInfo info;
    info.name = name + "/" + analog.device + (analog.cop ? ".cop" : "");
    info.kind = analog.wrench ? StreamKind::kForceTorque : StreamKind::kAnalog;
    info.device = name;
    info.rate = {layout.rate.numerator * analog.samples_per_frame, layout.rate.denominator};
    info.frame = analog.wrench || analog.cop ? "S:" + analog.device : "";
    info.sign = analog.wrench ? "hand_on_object" : "";
    for (const ViconOutput& out : analog.outputs) {
      const bool plain =
          out.output.empty() || out.output == out.component || analog.wrench || analog.cop;
      info.channels.push_back(
          {plain ? out.component : out.output + "." + out.component, out.unit, 0.0});
    }
    streams.push_back(info);
  }
  if (layout.timecode) {
    StreamInfo timecode = trajectories;
    timecode.name = name + "/timecode";
    timecode.channels.clear();
    for (const char* part : {"hours", "minutes", "seconds", "frames", "subframe", "standard"}) {
      timecode.channels.push_back({part, "1", 1.0});
    }
    streams.push_back(timecode);
  }
  for (StreamInfo& stream : streams) MakeChannelsUnique(stream);
  return streams;
}

}  // namespace handhold::capture
