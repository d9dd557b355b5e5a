#include "capture/session/make_sources.h"

#include "capture/source/net_ft_source.h"
#include "capture/source/playback_source.h"
#include "database/base/check.h"

namespace handhold::capture {
namespace {

Result<std::unique_ptr<Source>> MakeVicon(const RigSource& entry) {
  ViconSourceOptions options;
  options.name = entry.name;
  options.host = entry.host;
  if (entry.port != 0) options.host += ":" + std::to_string(entry.port);
  options.x = entry.x, options.y = entry.y, options.z = entry.z;
  options.unlabelled = entry.unlabelled;
  options.devices = entry.devices;
  return MakeViconSource(std::move(options));
}

std::unique_ptr<Source> MakeNetFt(const RigSource& entry) {
  NetFtSourceOptions options;
  options.name = entry.name;
  options.host = entry.host;
  if (entry.port != 0) options.rdt_port = static_cast<uint16_t>(entry.port);
  if (entry.http_port != 0) options.http_port = static_cast<uint16_t>(entry.http_port);
  options.buffered = entry.buffered;
  options.bias_on_start = entry.bias_on_start;
  options.rate_hz = entry.rate_Hz;
  return MakeNetFtSource(std::move(options));
}

Result<std::unique_ptr<Source>> MakeSource(const RigSource& entry,
                                           const OpenClipSource& open_clip) {
  switch (entry.kind) {
    case RigSource::Kind::kVicon:
      return MakeVicon(entry);
    case RigSource::Kind::kNetFt:
      return MakeNetFt(entry);
    case RigSource::Kind::kPlayback:
      break;
  }
  CHECK(open_clip != nullptr);
  HANDHOLD_ASSIGN(auto clip, open_clip(entry.clip));
  return MakePlaybackSource(std::move(clip),
                            {.name = entry.name, .speed = entry.speed, .loop = entry.loop});
}

recording::ForceSensor OverrideOf(const RigSensor& sensor) {
  recording::ForceSensor out;
  out.name = sensor.name;
  out.sign = sensor.sign;
  out.mounted_on = sensor.mounted_on;
  out.X_MS = sensor.X_MS;
  out.normal_S = sensor.normal_S;
  out.full_scale_N = sensor.full_scale_N;
  return out;
}

}  // namespace

Result<std::vector<RecordedSource>> MakeSources(const Rig& rig, const OpenClipSource& open_clip) {
  std::vector<RecordedSource> sources;
  for (const RigSource& entry : rig.sources) {
    RecordedSource recorded;
    auto source = MakeSource(entry, open_clip);
    if (!source) {
      return source.error().Within(rig.path + ":" + std::to_string(entry.line) + ": source '" +
                                   entry.name + "'");
    }
    recorded.source = *std::move(source);
    recorded.required = entry.required;
    for (const std::string& stream : entry.required_streams) {
      recorded.required_streams.push_back(
          entry.kind == RigSource::Kind::kPlayback ? stream : entry.name + "/" + stream);
    }
    recorded.delay = entry.delay;
    recorded.delay_sd = entry.delay_sd;
    for (const RigSensor& sensor : entry.sensors)
      recorded.sensor_overrides.push_back(OverrideOf(sensor));
    sources.push_back(std::move(recorded));
  }
  return sources;
}

HealthLimits LimitsOf(const RigLimits& limits) {
  HealthLimits out;
  const auto take = [](double stated, double* limit) {
    if (stated > 0) *limit = stated;
  };
  take(limits.last_sample_age_s, &out.last_sample_age_s);
  take(limits.jitter_p99_s, &out.jitter_p99_s);
  take(limits.rate_error_fraction, &out.rate_error_fraction);
  take(limits.visible_fraction, &out.visible_fraction);
  take(limits.clock_residual_p99_s, &out.clock_residual_p99_s);
  take(limits.ring_fill_fraction, &out.ring_fill_fraction);
  take(limits.disk_left_s, &out.disk_left_s);
  return out;
}

}  // namespace handhold::capture
