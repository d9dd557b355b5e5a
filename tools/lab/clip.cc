#include <algorithm>
#include <cmath>
#include <limits>

#include "database/base/check.h"
#include "tools/lab/random.h"
#include "tools/lab/subject.h"

namespace handhold::lab {
namespace {

/// The device clock's map: host = device / (1 + ppm), with the drawn error of a fit.
recording::ClockMap MakeClockMap(double ppm, const ClipOptions& options, Random* random) {
  recording::ClockSegment segment;
  segment.device_begin_ns = 0;
  segment.device_end_ns = int64_t{1} << 50;
  segment.host_begin_ns = std::llround(1e9 * options.clock_offset_sd_s * random->Normal());
  segment.rate_error = 1.0 / (1.0 + ppm * 1e-6) - 1.0 + options.clock_rate_sd * random->Normal();
  segment.offset_sd_ns = 1e9 * options.clock_offset_sd_s;
  segment.rate_sd = options.clock_rate_sd;
  return {.segments = {segment}};
}

/// `count` samples of `channels` values each, from a sample-major float array, in blocks of one
/// second.
void AppendBlocks(recording::Clip* clip, int stream, const std::vector<float>& values, int channels,
                  int per_block, double scale, double quantum) {
  const auto count = static_cast<int64_t>(values.size()) / channels;
  for (int64_t first = 0; first < count; first += per_block) {
    recording::SampleBlock block;
    block.stream_id = stream;
    block.first_index = block.first_counter = first;
    block.count = static_cast<int>(std::min<int64_t>(per_block, count - first));
    block.values.resize(static_cast<size_t>(block.count) * static_cast<size_t>(channels));
    for (int i = 0; i < block.count; ++i) {
      for (int c = 0; c < channels; ++c) {
        const double v =
            scale * static_cast<double>(values[static_cast<size_t>((first + i) * channels + c)]);
        block.value(c, i) = std::round(v / quantum) * quantum;  // NaN stays NaN
      }
    }
    clip->Append(block);
  }
}

}  // namespace

recording::Clip MakeClip(const SensorFeed& feed, const ClipOptions& options) {
  const SensorFeed::Data& data = feed.data();
  Random random(options.seed, "clock residuals");
  recording::ClipInfo info;
  info.id = ClipId::New();
  info.name = options.name;
  info.subject = data.subject;
  info.session = "lab";
  info.task = options.name;
  info.things = {{.name = "plate",
                  .model = "flat_plate",
                  .pose = recording::Thing::Pose::kFixed,
                  .X_WT = data.X_WPlate}};
  recording::Clip clip(std::move(info));

  recording::StreamInfo markers;
  markers.name = "vicon/markers";
  markers.kind = recording::StreamKind::kMarkers;
  markers.device = "vicon";
  markers.rate = {std::llround(data.marker_rate_hz), 1};
  markers.frame = "W";
  constexpr double kMarkerQuantum_m = 1e-5;
  for (const std::string& name : data.marker_names) {
    for (const char* axis : {".x", ".y", ".z"})
      markers.channels.push_back({name + axis, "m", kMarkerQuantum_m});
  }
  const int marker_channels = markers.channel_count();
  const int marker_stream =
      clip.AddStream(std::move(markers), MakeClockMap(data.marker_clock_ppm, options, &random));
  AppendBlocks(&clip, marker_stream, data.markers_m, marker_channels,
               static_cast<int>(data.marker_rate_hz), 1.0, kMarkerQuantum_m);

  recording::StreamInfo wrench;
  wrench.name = "plate/wrench";
  wrench.kind = recording::StreamKind::kForceTorque;
  wrench.device = "plate";
  wrench.rate = {std::llround(data.force_rate_hz), 1};
  wrench.frame = "S:plate";
  wrench.sign = "hand_on_object";
  for (const char* name : {"fx", "fy", "fz", "tx", "ty", "tz"})
    wrench.channels.push_back({name, "count", 1.0});
  const int wrench_stream =
      clip.AddStream(std::move(wrench), MakeClockMap(data.force_clock_ppm, options, &random));
  // The laboratory's calibration is the same on every axis: counts = value / 1e-6.
  AppendBlocks(&clip, wrench_stream, data.wrench_S, 6, static_cast<int>(data.force_rate_hz),
               1.0 / data.sensor.calibration(0, 0), 1.0);
  recording::ForceSensor sensor = data.sensor;
  sensor.stream_id = wrench_stream;
  clip.AddForceSensor(std::move(sensor));

  for (const FeedEvent& event : data.events) {
    recording::Event e;
    e.clip_time = Timestamp::FromSeconds(event.begin_s);
    e.length = Duration::FromSeconds(event.length_s);
    e.kind = event.kind, e.origin = "operator", e.text = event.text;
    clip.AddEvent(std::move(e));
  }
  return clip;
}

}  // namespace handhold::lab
