#include "fitting/signal/find_stream.h"

#include <algorithm>

#include "database/base/names.h"

namespace handhold::fitting {
namespace {

/// "its streams are 'vicon/markers' (markers), 'plate/wrench' (force_torque)".
std::string StreamsOf(const recording::ClipSource& clip) {
  std::vector<std::string> said;
  for (const recording::StreamInfo& stream : clip.streams()) {
    std::string text = "'" + stream.name + "' (" + std::string(StreamKindName(stream.kind)) + ")";
    if (std::find(said.begin(), said.end(), text) == said.end()) said.push_back(std::move(text));
  }
  if (said.empty()) return "it has no stream at all";
  std::string all = said.size() == 1 ? "its only stream is " : "its streams are ";
  for (size_t i = 0; i < said.size(); ++i) all += (i > 0 ? ", " : "") + said[i];
  return all;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "'" : ", '") + name + "'";
  return all;
}

}  // namespace

Result<std::vector<const recording::StreamInfo*>> FindMarkerStreams(
    const recording::ClipSource& clip, const std::string& name) {
  const recording::StreamInfo* first = nullptr;
  std::vector<std::string> marker_streams;
  for (const recording::StreamInfo& stream : clip.streams()) {
    if (stream.kind != recording::StreamKind::kMarkers) continue;
    if (first == nullptr) first = &stream;
    if (std::find(marker_streams.begin(), marker_streams.end(), stream.name) ==
        marker_streams.end())
      marker_streams.push_back(stream.name);
  }
  if (name.empty() && marker_streams.size() > 1) {
    return Error{ErrorCode::kInvalid, "the clip has several marker streams, name the one to use: " +
                                          Listed(marker_streams)};
  }
  if (name.empty() && first == nullptr) {
    return Error{ErrorCode::kNotFound, "the clip has no marker stream (" + StreamsOf(clip) +
                                           "): choose a clip with labelled markers"};
  }
  std::vector<const recording::StreamInfo*> streams =
      clip.FindStreams(name.empty() ? first->name : name);
  if (streams.empty()) {
    std::vector<std::string> names;
    for (const recording::StreamInfo& stream : clip.streams()) names.push_back(stream.name);
    return Error{ErrorCode::kNotFound,
                 "the clip has no stream '" + name + "'" + DidYouMean(name, names)};
  }
  for (const recording::StreamInfo* stream : streams) {
    if (stream->kind != recording::StreamKind::kMarkers)
      return Error{ErrorCode::kInvalid, "stream '" + stream->name + "' holds no markers"};
  }
  return streams;
}

Result<const recording::ForceSensor*> FindForceSensor(const recording::ClipSource& clip,
                                                      const std::string& name) {
  const std::vector<recording::ForceSensor>& sensors = clip.force_sensors();
  if (sensors.empty()) {
    return Error{ErrorCode::kNotFound,
                 "the clip has no force sensor (" + StreamsOf(clip) +
                     "): choose a clip that was recorded with one; a stream of forces becomes one "
                     "by its calibration and pose in the rig file"};
  }
  if (name.empty() && sensors.size() > 1) {
    std::vector<std::string> names;
    for (const recording::ForceSensor& s : sensors) names.push_back(s.name);
    return Error{
        ErrorCode::kInvalid,
        "the clip has several force sensors, name the one to use (--sensor): " + Listed(names)};
  }
  const recording::ForceSensor* sensor =
      name.empty() ? &sensors.front() : clip.FindForceSensor(name);
  if (sensor == nullptr) {
    std::vector<std::string> names;
    for (const recording::ForceSensor& s : sensors) names.push_back(s.name);
    return Error{ErrorCode::kNotFound, "the clip has no force sensor '" + name + "' (--sensor)" +
                                           DidYouMean(name, names)};
  }
  if (clip.FindStream(sensor->stream_id) == nullptr) {
    return Error{ErrorCode::kNotFound, "force sensor '" + sensor->name +
                                           "' has no stream in this clip: " + StreamsOf(clip)};
  }
  return sensor;
}

}  // namespace handhold::fitting
