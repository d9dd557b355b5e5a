#include "database/exchange/clip_json.h"

#include <algorithm>
#include <cmath>

#include "database/base/names.h"
#include "database/recording/force_units.h"

namespace handhold::exchange {
namespace {

using recording::ClockMap;
using recording::ClockSegment;
using recording::ForceSensor;
using recording::StreamInfo;
using recording::StreamKind;
using text::Json;
using text::JsonView;

constexpr StreamKind kKinds[] = {StreamKind::kMarkers,       StreamKind::kUnlabelledPoints,
                                 StreamKind::kForceTorque,   StreamKind::kAnalog,
                                 StreamKind::kPressureArray, StreamKind::kRigidPoses,
                                 StreamKind::kText};
constexpr recording::GapCause kCauses[] = {
    recording::GapCause::kDeviceSkipped, recording::GapCause::kNetworkLoss,
    recording::GapCause::kRingOverflow, recording::GapCause::kDisconnected,
    recording::GapCause::kOverrun};

/// A member only where it says something.
void Put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object.Set(key, text);
}
void PutNumber(Json& object, const char* key, double number) {
  if (number != 0 && std::isfinite(number)) object.Set(key, number);
}

Json Numbers(const double* values, size_t count) {
  return Json::Array(std::span<const double>(values, count));
}

Json SensorToJson(const ForceSensor& sensor) {
  Json json = Json::Object({{"name", sensor.name}, {"stream", sensor.stream_id}});
  Put(json, "serial", sensor.serial);
  json.Set("sign", sensor.sign);
  json.Set("full_scale_N", sensor.full_scale_N);
  json.Set("channels", sensor.calibration.cols());
  json.Set("calibration_by_columns",
           Numbers(sensor.calibration.data(), static_cast<size_t>(sensor.calibration.size())));
  json.Set("bias", Numbers(sensor.bias.data(), static_cast<size_t>(sensor.bias.size())));
  Put(json, "mounted_on", sensor.mounted_on);
  json.Set("R_MS_by_columns", Numbers(sensor.X_MS.R.data(), 9));
  json.Set("p_MS_m", Numbers(sensor.X_MS.p.data(), 3));
  json.Set("normal_S", Numbers(sensor.normal_S.data(), 3));
  return json;
}

/// Exactly `count` finite numbers.
Result<std::vector<double>> Vector(const JsonView& json, const char* key, size_t count) {
  HANDHOLD_ASSIGN(std::vector<double> values, json.Get<std::vector<double>>(key));
  if (values.size() != count)
    return json.Fail(std::string(key) + ": wants " + std::to_string(count) + " numbers, has " +
                         std::to_string(values.size()),
                     ErrorCode::kCorrupt);
  return values;
}

/// kCorrupt for a member that is none of `known`: a misspelt one would be lost in silence.
Status OnlyKnown(const JsonView& json, std::initializer_list<const char*> known) {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const text::JsonMember& member : json.value().members()) {
    if (std::ranges::count(names, member.key) > 0) continue;
    return json.Fail("unknown '" + member.key + "'" + DidYouMean(member.key, names),
                     ErrorCode::kCorrupt);
  }
  return {};
}

Status SensorFromJson(const JsonView& json, ForceSensor& sensor) {
  HANDHOLD_TRY(OnlyKnown(json, {"name", "stream", "serial", "sign", "full_scale_N", "channels",
                                "calibration_by_columns", "bias", "mounted_on", "R_MS_by_columns",
                                "p_MS_m", "normal_S"}));
  HANDHOLD_ASSIGN(sensor.name, json.Get<std::string>("name"));
  HANDHOLD_ASSIGN(sensor.stream_id, json.Get<int>("stream"));
  HANDHOLD_ASSIGN(sensor.serial, json.GetOr<std::string>("serial", ""));
  HANDHOLD_ASSIGN(sensor.mounted_on, json.GetOr<std::string>("mounted_on", ""));
  HANDHOLD_ASSIGN(sensor.sign, json.GetOr<double>("sign", 1.0));
  HANDHOLD_ASSIGN(sensor.full_scale_N, json.GetOr<double>("full_scale_N", 0.0));
  HANDHOLD_ASSIGN(const int channels, json.GetOr<int>("channels", 6));
  if (channels < 0 || channels > 4096)
    return json.Fail("channels: is no count of channels", ErrorCode::kCorrupt);
  const auto n = static_cast<size_t>(channels);
  // What is not said: at the lab's origin, touched from above; CalibrateByUnits.
  const auto vector = [&](const char* key, size_t count,
                          std::vector<double> fallback) -> Result<std::vector<double>> {
    if (!json.Has(key)) return fallback;
    return Vector(json, key, count);
  };
  const bool calibrated = json.Has("calibration_by_columns");
  if (!calibrated && channels != 6)
    return json.Fail("wants calibration_by_columns, 6 numbers for each of its channels",
                     ErrorCode::kCorrupt);
  HANDHOLD_ASSIGN(const std::vector<double> matrix, vector("calibration_by_columns", 6 * n, {}));
  HANDHOLD_ASSIGN(const std::vector<double> bias,
                  json.GetOr<std::vector<double>>("bias", std::vector<double>(n, 0.0)));
  HANDHOLD_ASSIGN(const std::vector<double> R,
                  vector("R_MS_by_columns", 9, {1, 0, 0, 0, 1, 0, 0, 0, 1}));
  HANDHOLD_ASSIGN(const std::vector<double> p, vector("p_MS_m", 3, {0, 0, 0}));
  HANDHOLD_ASSIGN(const std::vector<double> normal, vector("normal_S", 3, {0, 0, 1}));
  if (bias.size() != n && !bias.empty())
    return json.Fail("bias: one number per channel", ErrorCode::kCorrupt);
  sensor.calibration = Eigen::Map<const Eigen::MatrixXd>(
      matrix.data(), 6, static_cast<Eigen::Index>(calibrated ? n : 0));
  sensor.bias =
      Eigen::Map<const Eigen::VectorXd>(bias.data(), static_cast<Eigen::Index>(bias.size()));
  sensor.X_MS.R = Eigen::Map<const geometry::Mat3>(R.data());
  sensor.X_MS.p = Eigen::Map<const geometry::Vec3>(p.data());
  sensor.normal_S = Eigen::Map<const geometry::Vec3>(normal.data());
  if (!recording::IsRotation(sensor.X_MS.R))
    return json.Fail("R_MS_by_columns: no rotation (unit, perpendicular, right-handed)",
                     ErrorCode::kCorrupt);
  if (!(std::abs(sensor.normal_S.norm() - 1.0) < 1e-6))
    return json.Fail("normal_S: no unit vector", ErrorCode::kCorrupt);
  return {};
}

Json ThingToJson(const recording::Thing& thing) {
  Json json = Json::Object(
      {{"name", thing.name}, {"kind", std::string(recording::ThingKindName(thing.kind))}});
  Put(json, "model", thing.model);
  json.Set("pose", std::string(recording::ThingPoseName(thing.pose)));
  if (thing.pose == recording::Thing::Pose::kFixed) {
    json.Set("R_WT_by_columns", Numbers(thing.X_WT.R.data(), 9));
    json.Set("p_WT_m", Numbers(thing.X_WT.p.data(), 3));
  }
  Put(json, "stream", thing.stream);
  if (!thing.items.empty())
    json.Set("items", Json::Array(std::span<const std::string>(thing.items)));
  return json;
}

Status ThingFromJson(const JsonView& json, recording::Thing& thing) {
  HANDHOLD_TRY(OnlyKnown(
      json, {"name", "kind", "model", "pose", "p_WT_m", "R_WT_by_columns", "stream", "items"}));
  HANDHOLD_ASSIGN(thing.name, json.Get<std::string>("name"));
  HANDHOLD_ASSIGN(const std::string kind, json.GetOr<std::string>("kind", "prop"));
  HANDHOLD_ASSIGN(thing.kind, recording::ParseThingKind(kind));
  HANDHOLD_ASSIGN(thing.model, json.GetOr<std::string>("model", ""));
  const bool placed = json.Has("p_WT_m") || json.Has("R_WT_by_columns");
  HANDHOLD_ASSIGN(const std::string pose,
                  json.GetOr<std::string>("pose", placed ? "fixed" : "unknown"));
  HANDHOLD_ASSIGN(thing.pose, recording::ParseThingPose(pose));
  const bool fixed = thing.pose == recording::Thing::Pose::kFixed;
  if (fixed && !json.Has("p_WT_m"))
    return json.Fail("a fixed pose wants p_WT_m, where it stood", ErrorCode::kCorrupt);
  if (!fixed && placed)
    return json.Fail("p_WT_m and R_WT_by_columns belong to a fixed pose, this one is " + pose,
                     ErrorCode::kCorrupt);
  if ((fixed || thing.pose == recording::Thing::Pose::kUnknown) &&
      (json.Has("stream") || json.Has("items")))
    return json.Fail(
        "stream and items belong to a measured pose: \"pose\": \"poses\" or "
        "\"markers\"",
        ErrorCode::kCorrupt);
  if (json.Has("R_WT_by_columns")) {
    HANDHOLD_ASSIGN(const std::vector<double> R, Vector(json, "R_WT_by_columns", 9));
    thing.X_WT.R = Eigen::Map<const geometry::Mat3>(R.data());
  }
  if (json.Has("p_WT_m")) {
    HANDHOLD_ASSIGN(const std::vector<double> p, Vector(json, "p_WT_m", 3));
    thing.X_WT.p = Eigen::Map<const geometry::Vec3>(p.data());
  }
  HANDHOLD_ASSIGN(thing.stream, json.GetOr<std::string>("stream", ""));
  HANDHOLD_ASSIGN(thing.items, json.GetOr<std::vector<std::string>>("items", {}));
  return {};
}

Json ClockToJson(const ClockMap& clock) {
  Json segments = Json::Array();
  for (const ClockSegment& s : clock.segments) {
    Json segment = Json::Object({{"device_begin_ns", s.device_begin_ns},
                                 {"device_end_ns", s.device_end_ns},
                                 {"host_begin_ns", s.host_begin_ns}});
    PutNumber(segment, "rate_error", s.rate_error);
    PutNumber(segment, "offset_sd_ns", s.offset_sd_ns);
    PutNumber(segment, "rate_sd", s.rate_sd);
    PutNumber(segment, "residual_p50_ns", s.residual_p50_ns);
    PutNumber(segment, "residual_p90_ns", s.residual_p90_ns);
    PutNumber(segment, "residual_p99_ns", s.residual_p99_ns);
    PutNumber(segment, "residual_max_ns", s.residual_max_ns);
    if (s.pair_count != 0) segment.Set("pair_count", s.pair_count);
    segments.Push(std::move(segment));
  }
  return Json::Object({{"segments", std::move(segments)},
                       {"constant_delay_ns", clock.constant_delay_ns},
                       {"constant_delay_sd_ns", clock.constant_delay_sd_ns}});
}

Status ClockFromJson(const JsonView& json, ClockMap& clock) {
  HANDHOLD_ASSIGN(const auto segments, json.GetItems("segments"));
  for (const JsonView& from : segments) {
    ClockSegment s;
    HANDHOLD_ASSIGN(s.device_begin_ns, from.Get<int64_t>("device_begin_ns"));
    HANDHOLD_ASSIGN(s.device_end_ns, from.Get<int64_t>("device_end_ns"));
    HANDHOLD_ASSIGN(s.host_begin_ns, from.Get<int64_t>("host_begin_ns"));
    HANDHOLD_ASSIGN(s.rate_error, from.GetOr<double>("rate_error", 0));
    HANDHOLD_ASSIGN(s.offset_sd_ns, from.GetOr<double>("offset_sd_ns", 0));
    HANDHOLD_ASSIGN(s.rate_sd, from.GetOr<double>("rate_sd", 0));
    HANDHOLD_ASSIGN(s.residual_p50_ns, from.GetOr<double>("residual_p50_ns", 0));
    HANDHOLD_ASSIGN(s.residual_p90_ns, from.GetOr<double>("residual_p90_ns", 0));
    HANDHOLD_ASSIGN(s.residual_p99_ns, from.GetOr<double>("residual_p99_ns", 0));
    HANDHOLD_ASSIGN(s.residual_max_ns, from.GetOr<double>("residual_max_ns", 0));
    HANDHOLD_ASSIGN(s.pair_count, from.GetOr<int64_t>("pair_count", 0));
    clock.segments.push_back(s);
  }
  HANDHOLD_ASSIGN(clock.constant_delay_ns, json.GetOr<int64_t>("constant_delay_ns", 0));
  HANDHOLD_ASSIGN(clock.constant_delay_sd_ns, json.GetOr<int64_t>("constant_delay_sd_ns", 0));
  if (!clock.valid()) return json.Fail("a clock of no segments", ErrorCode::kCorrupt);
  return {};
}

Json QualityToJson(const recording::QualityRecord& quality) {
  Json items = Json::Array();
  for (const recording::QualityItem& q : quality.items)
    items.Push(Json::Object({{"stream", q.stream},
                             {"what", q.what},
                             {"value", std::isfinite(q.value) ? Json(q.value) : Json(nullptr)},
                             {"worst", std::isfinite(q.worst) ? Json(q.worst) : Json(nullptr)},
                             {"threshold", q.threshold},
                             {"red", q.red},
                             {"acknowledged", q.acknowledged},
                             {"first_red_ns", q.clip_first_red.ns()},
                             {"cause", q.cause}}));
  return Json::Object(
      {{"keep", quality.keep}, {"advice", quality.advice}, {"items", std::move(items)}});
}

Status QualityFromJson(const JsonView& json, recording::QualityRecord& quality) {
  HANDHOLD_ASSIGN(quality.keep, json.GetOr<bool>("keep", true));
  HANDHOLD_ASSIGN(quality.advice, json.GetOr<std::string>("advice", ""));
  HANDHOLD_ASSIGN(const auto items, json.GetItems("items"));
  for (const JsonView& from : items) {
    recording::QualityItem q;
    const auto number = [&](const char* key, double& value) -> Status {
      HANDHOLD_ASSIGN(const JsonView member, from.At(key));
      value = std::numeric_limits<double>::quiet_NaN();
      if (member.value().is_null()) return {};
      HANDHOLD_ASSIGN(value, member.As<double>());
      return {};
    };
    HANDHOLD_ASSIGN(q.stream, from.Get<std::string>("stream"));
    HANDHOLD_ASSIGN(q.what, from.Get<std::string>("what"));
    HANDHOLD_TRY(number("value", q.value));
    HANDHOLD_TRY(number("worst", q.worst));
    HANDHOLD_ASSIGN(q.threshold, from.Get<double>("threshold"));
    HANDHOLD_ASSIGN(q.red, from.Get<bool>("red"));
    HANDHOLD_ASSIGN(q.acknowledged, from.Get<bool>("acknowledged"));
    HANDHOLD_ASSIGN(const int64_t first_red, from.Get<int64_t>("first_red_ns"));
    q.clip_first_red = Timestamp::FromNanoseconds(first_red);
    HANDHOLD_ASSIGN(q.cause, from.Get<std::string>("cause"));
    quality.items.push_back(std::move(q));
  }
  return {};
}

Status EventFromJson(const JsonView& json, recording::Event& event) {
  HANDHOLD_TRY(OnlyKnown(json, {"t_ns", "length_ns", "kind", "origin", "stream", "value", "text"}));
  HANDHOLD_ASSIGN(const int64_t t, json.Get<int64_t>("t_ns"));
  HANDHOLD_ASSIGN(const int64_t length, json.GetOr<int64_t>("length_ns", 0));
  event.clip_time = Timestamp::FromNanoseconds(t);
  event.length = Duration::Nanoseconds(length);
  HANDHOLD_ASSIGN(event.kind, json.Get<std::string>("kind"));
  HANDHOLD_ASSIGN(event.origin, json.GetOr<std::string>("origin", ""));
  HANDHOLD_ASSIGN(event.stream_id, json.GetOr<int>("stream", 0));
  HANDHOLD_ASSIGN(event.value, json.GetOr<double>("value", 0));
  HANDHOLD_ASSIGN(event.text, json.GetOr<std::string>("text", ""));
  return {};
}

Status GapFromJson(const JsonView& json, recording::Gap& gap) {
  HANDHOLD_ASSIGN(gap.stream_id, json.Get<int>("stream"));
  HANDHOLD_ASSIGN(gap.first_missing_counter, json.Get<int64_t>("first_missing_counter"));
  HANDHOLD_ASSIGN(gap.count, json.Get<int64_t>("count"));
  HANDHOLD_ASSIGN(const std::string cause, json.Get<std::string>("cause"));
  bool known = false;
  for (const recording::GapCause candidate : kCauses) {
    if (recording::GapCauseName(candidate) != cause) continue;
    gap.cause = candidate;
    known = true;
  }
  if (!known || gap.count < 1)
    return json.Fail(std::string("is no gap (cause '") + cause + "')", ErrorCode::kCorrupt);
  HANDHOLD_ASSIGN(const int64_t begin, json.Get<int64_t>("begin_ns"));
  HANDHOLD_ASSIGN(const int64_t end, json.Get<int64_t>("end_ns"));
  gap.clip_begin = Timestamp::FromNanoseconds(begin);
  gap.clip_end = Timestamp::FromNanoseconds(end);
  return {};
}

}  // namespace

Json ClipHeadToJson(const recording::ClipSource& clip) {
  const recording::ClipInfo& info = clip.info();
  Json json = Json::Object({{"name", info.name}});
  Put(json, "subject", info.subject);
  Put(json, "session", info.session);
  Put(json, "task", info.task);
  json.Set("utc_start_ns", info.utc_start.ns());
  json.Set("host_start_ns", info.host_start_ns);
  Json properties = Json::Object(), sensors = Json::Array(), events = Json::Array(),
       gaps = Json::Array();
  for (const auto& [key, value] : info.properties) properties.Set(key, value);
  Json things = Json::Array();
  for (const recording::Thing& thing : info.things) things.Push(ThingToJson(thing));
  for (const ForceSensor& sensor : clip.force_sensors()) sensors.Push(SensorToJson(sensor));
  for (const recording::Event& e : clip.events()) {
    Json event = Json::Object({{"t_ns", e.clip_time.ns()}, {"kind", e.kind}});
    if (e.length.ns() != 0) event.Set("length_ns", e.length.ns());
    Put(event, "origin", e.origin);
    if (e.stream_id != 0) event.Set("stream", e.stream_id);
    PutNumber(event, "value", e.value);
    Put(event, "text", e.text);
    events.Push(std::move(event));
  }
  for (const recording::Gap& g : clip.gaps())
    gaps.Push(Json::Object({{"stream", g.stream_id},
                            {"first_missing_counter", g.first_missing_counter},
                            {"count", g.count},
                            {"cause", std::string(recording::GapCauseName(g.cause))},
                            {"begin_ns", g.clip_begin.ns()},
                            {"end_ns", g.clip_end.ns()}}));
  json.Set("properties", std::move(properties));
  json.Set("things", std::move(things));
  json.Set("force_sensors", std::move(sensors));
  json.Set("events", std::move(events));
  json.Set("gaps", std::move(gaps));
  json.Set("quality", QualityToJson(clip.quality()));
  return json;
}

Json StreamToJson(const StreamInfo& stream, const ClockMap& clock) {
  Json json =
      Json::Object({{"id", stream.id},
                    {"name", stream.name},
                    {"kind", std::string(recording::StreamKindName(stream.kind))},
                    {"rate", Json::Array({stream.rate.numerator, stream.rate.denominator})}});
  Put(json, "device", stream.device);
  Put(json, "frame", stream.frame);
  Put(json, "sign", stream.sign);
  Put(json, "made_by", stream.made_by);
  Json channels = Json::Array();
  for (const recording::Channel& channel : stream.channels) {
    Json c = Json::Array({channel.name, channel.unit});
    if (channel.quantum != 0) c.Push(channel.quantum);
    channels.Push(std::move(c));
  }
  json.Set("channels", std::move(channels));
  json.Set("clock", ClockToJson(clock));
  return json;
}

Status ClipHeadFromJson(const JsonView& json, ClipHead& head) {
  HANDHOLD_TRY(OnlyKnown(
      json, {"name", "subject", "session", "task", "prop", "utc_start_ns", "host_start_ns",
             "properties", "things", "force_sensors", "events", "gaps", "quality"}));
  recording::ClipInfo& info = head.info;
  HANDHOLD_ASSIGN(info.name, json.GetOr<std::string>("name", ""));
  HANDHOLD_ASSIGN(info.subject, json.GetOr<std::string>("subject", ""));
  HANDHOLD_ASSIGN(info.session, json.GetOr<std::string>("session", ""));
  HANDHOLD_ASSIGN(info.task, json.GetOr<std::string>("task", ""));
  HANDHOLD_ASSIGN(const int64_t utc, json.GetOr<int64_t>("utc_start_ns", 0));
  info.utc_start = Timestamp::FromNanoseconds(utc);
  HANDHOLD_ASSIGN(info.host_start_ns, json.GetOr<int64_t>("host_start_ns", 0));
  if (json.Has("properties")) {
    HANDHOLD_ASSIGN(const JsonView properties, json.At("properties"));
    for (const text::JsonMember& member : properties.value().members()) {
      HANDHOLD_ASSIGN(info.properties[member.key], properties.Get<std::string>(member.key));
    }
    if (info.properties.contains("prop_pose"))
      return json.Fail(
          "property prop_pose: a prop that stood somewhere is a thing, as in \"things\": "
          "[{\"name\": \"plate\", \"model\": \"flat_plate\", \"p_WT_m\": [0.1, 0, 0]}]",
          ErrorCode::kCorrupt);
  }
  const auto each = [&](const char* key, const auto& read) -> Status {
    if (!json.Has(key)) return {};
    HANDHOLD_ASSIGN(const auto items, json.GetItems(key));
    for (const JsonView& item : items) HANDHOLD_TRY(read(item));
    return {};
  };
  HANDHOLD_TRY(each("things", [&](const JsonView& item) {
    info.things.emplace_back();
    return ThingFromJson(item, info.things.back());
  }));
  // The short way of a take with one prop whose place nobody measured.
  HANDHOLD_ASSIGN(const std::string prop, json.GetOr<std::string>("prop", ""));
  if (!prop.empty()) recording::SayProp(prop, &info);
  const Status things = recording::CheckThings(info.things);
  if (!things) return json.Fail(things.error().message, ErrorCode::kCorrupt);
  HANDHOLD_TRY(each("force_sensors", [&](const JsonView& item) {
    head.sensors.emplace_back();
    return SensorFromJson(item, head.sensors.back());
  }));
  HANDHOLD_TRY(each("events", [&](const JsonView& item) {
    head.events.emplace_back();
    return EventFromJson(item, head.events.back());
  }));
  HANDHOLD_TRY(each("gaps", [&](const JsonView& item) {
    head.gaps.emplace_back();
    return GapFromJson(item, head.gaps.back());
  }));
  if (!json.Has("quality")) return {};
  HANDHOLD_ASSIGN(const JsonView quality, json.At("quality"));
  return QualityFromJson(quality, head.quality);
}

Status CalibrateByUnits(ClipHead& head) {
  for (ForceSensor& sensor : head.sensors) {
    if (sensor.calibration.cols() > 0) continue;
    const auto found = std::ranges::find(head.given_ids, sensor.stream_id);
    if (found == head.given_ids.end()) continue;
    const StreamInfo& stream = head.streams[static_cast<size_t>(found - head.given_ids.begin())];
    auto calibration = recording::CalibrationByUnits(stream.channels);
    if (!calibration)
      return Error{ErrorCode::kInvalid,
                   "the sensor '" + sensor.name +
                       "' says no calibration_by_columns, and of its stream '" + stream.name +
                       "' " + calibration.error().message};
    sensor.calibration = *std::move(calibration);
  }
  return {};
}

Status StreamFromJson(const JsonView& json, ClipHead& head) {
  StreamInfo stream;
  HANDHOLD_ASSIGN(stream.name, json.Get<std::string>("name"));
  HANDHOLD_ASSIGN(const std::string kind, json.Get<std::string>("kind"));
  bool known = false;
  for (const StreamKind candidate : kKinds) {
    if (recording::StreamKindName(candidate) != kind) continue;
    stream.kind = candidate;
    known = true;
  }
  if (!known) {
    std::vector<std::string> names;
    for (const StreamKind candidate : kKinds)
      names.emplace_back(recording::StreamKindName(candidate));
    return json.Fail(std::string("kind: no kind '") + kind + "'" + DidYouMean(kind, names),
                     ErrorCode::kCorrupt);
  }
  HANDHOLD_ASSIGN(const std::vector<int64_t> rate,
                  json.GetOr<std::vector<int64_t>>("rate", {0, 1}));
  if (rate.size() != 2 || rate[0] < 0 || rate[1] < 1 || rate[0] > (int64_t{1} << 40) ||
      rate[1] > (int64_t{1} << 40))
    return json.Fail("rate: wants [samples, seconds]", ErrorCode::kCorrupt);
  stream.rate = {rate[0], rate[1]};
  HANDHOLD_ASSIGN(stream.device, json.GetOr<std::string>("device", ""));
  HANDHOLD_ASSIGN(stream.frame, json.GetOr<std::string>("frame", ""));
  HANDHOLD_ASSIGN(stream.sign, json.GetOr<std::string>("sign", ""));
  HANDHOLD_ASSIGN(stream.made_by, json.GetOr<std::string>("made_by", ""));
  HANDHOLD_ASSIGN(const auto channels, json.GetItems("channels"));
  for (const JsonView& from : channels) {
    recording::Channel channel;
    HANDHOLD_ASSIGN(const JsonView name, from.At(0));
    HANDHOLD_ASSIGN(channel.name, name.As<std::string>());
    HANDHOLD_ASSIGN(const JsonView unit, from.At(1));
    HANDHOLD_ASSIGN(channel.unit, unit.As<std::string>());
    if (from.value().elements().size() > 2) {
      HANDHOLD_ASSIGN(const JsonView quantum, from.At(2));
      HANDHOLD_ASSIGN(channel.quantum, quantum.As<double>());
    }
    stream.channels.push_back(std::move(channel));
  }
  if ((stream.kind == StreamKind::kMarkers && stream.channels.size() % 3 != 0 &&
       stream.channels.size() % 4 != 0) ||
      (stream.kind == StreamKind::kRigidPoses && stream.channels.size() % 7 != 0))
    return json.Fail(std::string("channels: do not fit the kind ") + kind, ErrorCode::kCorrupt);
  HANDHOLD_ASSIGN(const int id, json.GetOr<int>("id", static_cast<int>(head.streams.size()) + 1));
  head.given_ids.push_back(id);
  ClockMap clock = ClockMap::Identity();
  if (json.Has("clock")) {
    clock = ClockMap();
    HANDHOLD_ASSIGN(const JsonView from, json.At("clock"));
    HANDHOLD_TRY(ClockFromJson(from, clock));
  }
  stream.id = static_cast<int>(head.streams.size()) + 1;
  for (const StreamInfo& other : head.streams) stream.epoch += other.name == stream.name ? 1 : 0;
  head.streams.push_back(std::move(stream));
  head.clocks.push_back(std::move(clock));
  return {};
}

}  // namespace handhold::exchange
