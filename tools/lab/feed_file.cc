#include <bit>
#include <cstring>
#include <fstream>
#include <sstream>

#include "database/text/file.h"
#include "tools/lab/json_forms.h"
#include "tools/lab/subject.h"

namespace handhold::lab {
namespace {

using text::Json;
using text::JsonView;

static_assert(std::endian::native == std::endian::little,
              "feeds and truth files are little-endian");
constexpr char kMagic[8] = {'H', 'H', 'F', 'E', 'E', 'D', '1', '\n'};
constexpr size_t kMaxHeader = 1 << 20;
constexpr size_t kMaxFile = size_t{2} << 30;

Json HeaderOf(const SensorFeed& feed) {
  const SensorFeed::Data& d = feed.data();
  Json events = Json::Array();
  for (const FeedEvent& e : d.events) {
    events.Push(Json::Object(
        {{"begin_s", e.begin_s}, {"length_s", e.length_s}, {"kind", e.kind}, {"text", e.text}}));
  }
  Json calibration = Json::Array();
  for (Eigen::Index r = 0; r < 6; ++r)
    calibration.Push(NumbersToJson(d.sensor.calibration.row(r).transpose()));
  return Json::Object({{"format", "handhold.feed"},
                       {"version", 1},
                       {"subject", d.subject},
                       {"marker_rate_hz", d.marker_rate_hz},
                       {"force_rate_hz", d.force_rate_hz},
                       {"marker_clock_ppm", d.marker_clock_ppm},
                       {"force_clock_ppm", d.force_clock_ppm},
                       {"marker_names", Json::Array(std::span<const std::string>(d.marker_names))},
                       {"frame_count", feed.frame_count()},
                       {"force_count", feed.force_count()},
                       {"sensor", Json::Object({{"name", d.sensor.name},
                                                {"serial", d.sensor.serial},
                                                {"calibration_per_count", std::move(calibration)},
                                                {"X_MS", PoseToJson(d.sensor.X_MS)},
                                                {"normal_S", NumbersToJson(d.sensor.normal_S)},
                                                {"sign", d.sensor.sign},
                                                {"full_scale_N", d.sensor.full_scale_N}})},
                       {"X_WPlate", PoseToJson(d.X_WPlate)},
                       {"takes", TakesToJson(d.takes)},
                       {"events", std::move(events)}});
}

Status ReadSensor(const JsonView& view, recording::ForceSensor* sensor) {
  HANDHOLD_ASSIGN(sensor->name, view.Get<std::string>("name"));
  HANDHOLD_ASSIGN(sensor->serial, view.Get<std::string>("serial"));
  HANDHOLD_ASSIGN(const JsonView X, view.At("X_MS"));
  HANDHOLD_ASSIGN(sensor->X_MS, PoseFromJson(X));
  HANDHOLD_ASSIGN(sensor->normal_S, Vec3FromJson(view, "normal_S"));
  HANDHOLD_ASSIGN(sensor->sign, view.Get<double>("sign"));
  HANDHOLD_ASSIGN(sensor->full_scale_N, view.Get<double>("full_scale_N"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> rows, view.GetItems("calibration_per_count"));
  if (rows.size() != 6) return view.Fail("calibration_per_count needs 6 rows");
  sensor->calibration.resize(6, 6);
  for (size_t r = 0; r < 6; ++r) {
    HANDHOLD_ASSIGN(const std::vector<double> row, rows[r].As<std::vector<double>>());
    if (row.size() != 6) return rows[r].Fail("expected 6 numbers");
    for (size_t c = 0; c < 6; ++c)
      sensor->calibration(static_cast<Eigen::Index>(r), static_cast<Eigen::Index>(c)) = row[c];
  }
  sensor->bias = Eigen::VectorXd::Zero(6);
  return {};
}

Status ReadHeader(const JsonView& view, SensorFeed::Data* d, int64_t* frames, int64_t* samples) {
  HANDHOLD_ASSIGN(const std::string format, view.Get<std::string>("format"));
  HANDHOLD_ASSIGN(const int version, view.Get<int>("version"));
  if (format != "handhold.feed" || version != 1)
    return view.Fail("this program reads handhold.feed version 1", ErrorCode::kVersion);
  HANDHOLD_ASSIGN(d->subject, view.Get<std::string>("subject"));
  HANDHOLD_ASSIGN(d->marker_rate_hz, view.Get<double>("marker_rate_hz"));
  HANDHOLD_ASSIGN(d->force_rate_hz, view.Get<double>("force_rate_hz"));
  HANDHOLD_ASSIGN(d->marker_clock_ppm, view.Get<double>("marker_clock_ppm"));
  HANDHOLD_ASSIGN(d->force_clock_ppm, view.Get<double>("force_clock_ppm"));
  HANDHOLD_ASSIGN(d->marker_names, view.Get<std::vector<std::string>>("marker_names"));
  HANDHOLD_ASSIGN(*frames, view.Get<int64_t>("frame_count"));
  HANDHOLD_ASSIGN(*samples, view.Get<int64_t>("force_count"));
  if (d->marker_names.empty() || d->marker_names.size() > 10000 || !(d->marker_rate_hz > 0) ||
      !(d->force_rate_hz > 0) || *frames < 0 || *samples < 0) {
    return view.Fail("a feed needs markers, rates above 0 and counts of at least 0");
  }
  HANDHOLD_ASSIGN(const JsonView sensor, view.At("sensor"));
  HANDHOLD_TRY(ReadSensor(sensor, &d->sensor));
  HANDHOLD_ASSIGN(const JsonView plate, view.At("X_WPlate"));
  HANDHOLD_ASSIGN(d->X_WPlate, PoseFromJson(plate));
  HANDHOLD_ASSIGN(d->takes, TakesFromJson(view, "takes"));
  HANDHOLD_ASSIGN(const std::vector<JsonView> events, view.GetItems("events"));
  for (const JsonView& item : events) {
    FeedEvent event;
    HANDHOLD_ASSIGN(event.begin_s, item.Get<double>("begin_s"));
    HANDHOLD_ASSIGN(event.length_s, item.Get<double>("length_s"));
    HANDHOLD_ASSIGN(event.kind, item.Get<std::string>("kind"));
    HANDHOLD_ASSIGN(event.text, item.Get<std::string>("text"));
    d->events.push_back(std::move(event));
  }
  return {};
}

template <typename T>
void AppendBytes(const T* data, size_t count, std::string* out) {
  out->append(reinterpret_cast<const char*>(data), count * sizeof(T));
}

Result<std::string> FeedBytes(const SensorFeed& feed) {
  HANDHOLD_ASSIGN(const std::string header, text::WriteJson(HeaderOf(feed), {.indent = 2}));
  std::string bytes(kMagic, sizeof kMagic);
  const uint64_t length = header.size();
  AppendBytes(&length, 1, &bytes);
  bytes += header;
  AppendBytes(feed.data().markers_m.data(), feed.data().markers_m.size(), &bytes);
  AppendBytes(feed.data().wrench_S.data(), feed.data().wrench_S.size(), &bytes);
  return bytes;
}

}  // namespace

Status WriteFeed(const SensorFeed& feed, const std::string& path) {
  HANDHOLD_ASSIGN(const std::string bytes, FeedBytes(feed));
  return text::WriteTextFile(path, bytes);
}

Result<bool> IsFeed(const SensorFeed& feed, const std::string& path) {
  HANDHOLD_ASSIGN(const std::string bytes, FeedBytes(feed));
  HANDHOLD_ASSIGN(const std::string there, text::ReadTextFile(path, kMaxFile));
  return there == bytes;
}

Result<SensorFeed> ReadFeed(const std::string& path) {
  HANDHOLD_ASSIGN(const std::string bytes, text::ReadTextFile(path, kMaxFile));
  const Error corrupt{ErrorCode::kCorrupt,
                      path + ": not a whole feed; make it again with `handhold lab make`"};
  uint64_t length = 0;
  size_t at = sizeof kMagic + sizeof length;
  if (bytes.size() < at || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) return corrupt;
  std::memcpy(&length, bytes.data() + sizeof kMagic, sizeof length);
  if (length > kMaxHeader || length > bytes.size() - at) return corrupt;
  HANDHOLD_ASSIGN(const Json header,
                  text::ParseJson(std::string_view(bytes).substr(at, length), {.source = path}));
  at += length;
  SensorFeed::Data data;
  int64_t frames = 0, samples = 0;
  HANDHOLD_TRY(ReadHeader(JsonView(header, path), &data, &frames, &samples));
  const size_t left = bytes.size() - at;
  if (static_cast<uint64_t>(frames) > kMaxFile / 4 || static_cast<uint64_t>(samples) > kMaxFile / 4)
    return corrupt;
  const size_t markers = static_cast<size_t>(frames) * 3 * data.marker_names.size(),
               wrench = static_cast<size_t>(samples) * 6;
  if (left != (markers + wrench) * sizeof(float)) return corrupt;
  data.markers_m.resize(markers);
  data.wrench_S.resize(wrench);
  std::memcpy(data.markers_m.data(), bytes.data() + at, markers * sizeof(float));
  std::memcpy(data.wrench_S.data(), bytes.data() + at + markers * sizeof(float),
              wrench * sizeof(float));
  return SensorFeed(std::move(data));
}

}  // namespace handhold::lab
