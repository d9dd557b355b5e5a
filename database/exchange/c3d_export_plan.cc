#include "database/exchange/c3d_export_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "database/base/units.h"
#include "database/exchange/c3d_force.h"

namespace handhold::exchange {
namespace {

using recording::ClipSource;
using recording::ForceSensor;
using recording::Rate;
using recording::StreamInfo;
using recording::StreamKind;

constexpr int kMaxEvents = 255;
// More would be gigabytes of nothing: refused.
constexpr int64_t kManyEmptyFrames = 1'000'000, kEmptyPerFilled = 10;

/// How many times `fast` is `slow`, when that is a whole number; else 0.
int64_t RatioOf(Rate fast, Rate slow) {
  const __int128 a = static_cast<__int128>(fast.numerator) * slow.denominator;
  const __int128 b = static_cast<__int128>(slow.numerator) * fast.denominator;
  if (b == 0 || a % b != 0 || a / b > 65'535) return 0;
  return static_cast<int64_t>(a / b);
}

std::string Hz(Rate rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g Hz", rate.hz());
  return text;
}

class Planner {
 public:
  Planner(const ClipSource& clip, const C3dWriteOptions& options, Issues& issues)
      : clip_(clip), options_(options), issues_(issues) {}

  Result<C3dExportPlan> Plan() {
    HANDHOLD_TRY(Select());
    ChooseBase();
    if (plan_.base_stream == 0)
      return Error{ErrorCode::kInvalid,
                   "there is nothing in these streams that C3D can hold: it takes markers, forces, "
                   "analog channels and rigid bodies at an even rate"};
    PlanPoints();
    PlanAnalog();
    PlanBodies();
    TellOfTheRest();
    HANDHOLD_TRY(TellOfClocks());
    if (plan_.points.size() > 65'535 ||
        plan_.analog.size() * static_cast<size_t>(std::max(1, plan_.ratio)) > 65'535)
      return Error{ErrorCode::kUnsupported,
                   "a C3D frame holds at most 65535 points and 65535 analog values: choose fewer "
                   "with --streams"};
    PlanFrames();
    HANDHOLD_TRY(WeighGaps());
    return std::move(plan_);
  }

 private:
  void Lose(const std::string& where, std::string what) {
    issues_.push_back({where, Severity::kLoss, std::move(what)});
  }

  Status Select() {
    HANDHOLD_TRY(CheckStreamNames(clip_, options_.streams));
    for (const StreamInfo& stream : clip_.streams()) {
      const bool wanted =
          options_.streams.empty() ||
          std::count(options_.streams.begin(), options_.streams.end(), stream.name) > 0;
      if (!wanted) continue;
      if (clip_.Extent(stream.id).length().ns() <= 0) {
        issues_.push_back({stream.name, Severity::kNote, "is empty"});
      } else if (stream.kind == StreamKind::kUnlabelledPoints || stream.kind == StreamKind::kText) {
        Lose(stream.name, "C3D has no place for " +
                              std::string(recording::StreamKindName(stream.kind)) + " streams");
      } else if (stream.rate.numerator <= 0) {
        Lose(stream.name, "is not evenly sampled");
      } else if (seen_.insert(stream.name).second) {
        streams_.push_back(&stream);
      } else {
        Lose(stream.name, "epoch " + std::to_string(stream.epoch) +
                              ": C3D's channels cannot change within a file; the first epoch is "
                              "written");
      }
    }
    return {};
  }

  /// The longest marker stream, else the slowest of all.
  void ChooseBase() {
    const StreamInfo* base = nullptr;
    for (const StreamInfo* stream : streams_) {
      const auto rank = [&](const StreamInfo& s) {
        const int kind = s.kind == StreamKind::kMarkers ? 2 : s.kind == StreamKind::kRigidPoses;
        return std::tuple(
            kind, kind == 2 ? static_cast<double>(clip_.Extent(s.id).length().ns()) : -s.rate.hz());
      };
      if (base == nullptr || rank(*stream) > rank(*base)) base = stream;
    }
    if (base == nullptr) return;
    plan_.base_stream = base->id;
    plan_.rate = base->rate;
  }

  void Keep(const StreamInfo& stream) { plan_.streams.push_back(stream.name); }

  std::string Unique(std::set<std::string>& taken, const std::string& label) {
    std::string unique = label;
    for (int k = 2; !taken.insert(unique).second; ++k) unique = label + "#" + std::to_string(k);
    return unique;
  }

  void PlanPoints() {
    std::set<std::string> labels;
    for (const StreamInfo* stream : streams_) {
      if (stream->kind != StreamKind::kMarkers) continue;
      if (!(RatioOf(stream->rate, plan_.rate) == 1)) {
        Lose(stream->name, "its rate of " + Hz(stream->rate) + " is not the points' " +
                               Hz(plan_.rate) + ": export it alone");
        continue;
      }
      Keep(*stream);
      const int step = stream->channels_per_item();
      const std::vector<std::string> names = stream->ItemNames();
      for (size_t i = 0; i < names.size(); ++i) {
        PointPlan point;
        point.stream_id = stream->id;
        point.channel = static_cast<int>(i) * step;
        if (step > 3) point.residual = point.channel + 3;
        point.label = Unique(labels, names[i]);
        plan_.points.push_back(point);
      }
    }
    PlanOutputs(labels);
    for (const StreamInfo* stream : streams_) {
      if (stream->name != "c3d/cameras" || RatioOf(stream->rate, plan_.rate) != 1) continue;
      Keep(*stream);
      cameras_ = stream->id;
      for (PointPlan& point : plan_.points) {
        point.camera_channel = stream->FindChannel(point.label);
        if (point.camera_channel >= 0) point.camera_stream = stream->id;
      }
    }
  }

  /// Channels in threes, "KneeAngle.x" "KneeAngle.y" "KneeAngle.z" of one unit, at the points'
  /// rate: what C3D keeps beside the markers.
  bool IsOutputs(const StreamInfo& stream) const {
    if (stream.kind != StreamKind::kAnalog || RatioOf(stream.rate, plan_.rate) != 1) return false;
    const auto& channels = stream.channels;
    for (size_t c = 0; c + 2 < channels.size(); c += 3) {
      const std::string& x = channels[c].name;
      if (!x.ends_with(".x") || channels[c + 1].name != x.substr(0, x.size() - 1) + "y" ||
          channels[c + 2].name != x.substr(0, x.size() - 1) + "z")
        return false;
      if (channels[c].unit != channels[c + 1].unit || channels[c].unit != channels[c + 2].unit)
        return false;
    }
    return !channels.empty() && channels.size() % 3 == 0;
  }

  /// The group for a unit: that of its kind, else one that is free; null when all six hold others.
  OutputGroup* OutputGroupFor(const std::string& unit) {
    static constexpr std::pair<const char*, const char*> kGroups[] = {
        {"ANGLES", "ANGLE_UNITS"}, {"FORCES", "FORCE_UNITS"},   {"MOMENTS", "MOMENT_UNITS"},
        {"POWERS", "POWER_UNITS"}, {"SCALARS", "SCALAR_UNITS"}, {"REACTIONS", "REACTION_UNITS"}};
    const std::string first = unit.substr(0, unit.find_first_of("/ *."));
    const size_t natural = first == "deg" || first == "rad"                      ? 0
                           : first == "N" && unit.find('m') == std::string::npos ? 1
                           : first.starts_with("N")                              ? 2
                           : first.ends_with("W")                                ? 3
                                                                                 : 4;
    for (const size_t kind :
         {natural, size_t{4}, size_t{5}, size_t{0}, size_t{1}, size_t{2}, size_t{3}}) {
      const auto found = std::find_if(
          plan_.outputs.begin(), plan_.outputs.end(),
          [&](const OutputGroup& group) { return group.labels_name == kGroups[kind].first; });
      if (found != plan_.outputs.end() && found->unit != unit) continue;
      if (found != plan_.outputs.end()) return &*found;
      plan_.outputs.push_back({kGroups[kind].first, kGroups[kind].second, unit, {}});
      return &plan_.outputs.back();
    }
    return nullptr;
  }

  void PlanOutputs(std::set<std::string>& labels) {
    for (const StreamInfo* stream : streams_) {
      if (!IsOutputs(*stream)) continue;
      outputs_.insert(stream->id);
      if (options_.as_integers) {
        Lose(stream->name, "a model's outputs: 16-bit integers have one scale, that of positions");
        continue;
      }
      Keep(*stream);
      for (size_t c = 0; c < stream->channels.size(); c += 3) {
        const recording::Channel& channel = stream->channels[c];
        const std::string name = channel.name.substr(0, channel.name.size() - 2);
        OutputGroup* group = OutputGroupFor(channel.unit);
        if (group == nullptr) {
          Lose(stream->name, "'" + name + "' in " + channel.unit +
                                 ": C3D holds a model's outputs in six units at most");
          continue;
        }
        PointPlan point;
        point.stream_id = stream->id;
        point.channel = static_cast<int>(c);
        point.label = Unique(labels, name);
        point.is_output = true;
        group->labels.push_back(point.label);
        plan_.points.push_back(point);
      }
    }
  }

  const ForceSensor* SensorOf(int stream_id) const {
    for (const ForceSensor& sensor : clip_.force_sensors()) {
      if (sensor.stream_id == stream_id) return &sensor;
    }
    return nullptr;
  }

  bool IsAnalog(const StreamInfo& stream) const {
    return stream.id != cameras_ && outputs_.count(stream.id) == 0 &&
           (stream.kind == StreamKind::kForceTorque || stream.kind == StreamKind::kAnalog ||
            stream.kind == StreamKind::kPressureArray);
  }

  void PlanAnalog() {
    // One rate for all: that of the transducers, else of the most channels.
    std::map<int64_t, double> votes;
    for (const StreamInfo* stream : streams_) {
      if (!IsAnalog(*stream)) continue;
      const int64_t ratio = RatioOf(stream->rate, plan_.rate);
      if (ratio > 0)
        votes[ratio] +=
            (stream->kind == StreamKind::kForceTorque ? 1e6 : 0) + stream->channel_count();
    }
    int64_t ratio = 0;
    double most = 0;
    for (const auto& [candidate, vote] : votes) {
      if (vote > most) {
        most = vote;
        ratio = candidate;
      }
    }
    plan_.ratio = static_cast<int>(ratio);
    std::set<std::string> labels;
    for (const StreamInfo* stream : streams_) {
      if (!IsAnalog(*stream)) continue;
      if (RatioOf(stream->rate, plan_.rate) != ratio || ratio == 0) {
        Lose(stream->name,
             "its rate of " + Hz(stream->rate) + " is not C3D's one analog rate here, " +
                 (ratio == 0 ? "a whole multiple of the points' " + Hz(plan_.rate)
                             : Hz({plan_.rate.numerator * ratio, plan_.rate.denominator})) +
                 ": export it alone with --streams");
        continue;
      }
      Keep(*stream);
      const ForceSensor* sensor =
          stream->kind == StreamKind::kForceTorque ? SensorOf(stream->id) : nullptr;
      const bool moves = sensor != nullptr && !recording::FixedSensorPose(clip_.info(), *sensor);
      if (moves)
        Lose(stream->name,
             "its sensor moves, and a C3D's platform stands still: its counts are written");
      if (sensor != nullptr && !moves) {
        PlanSensor(*stream, *sensor, labels);
        continue;
      }
      for (int c = 0; c < stream->channel_count(); ++c) {
        const recording::Channel& channel = stream->channels[static_cast<size_t>(c)];
        plan_.analog.push_back(
            {stream->id, c, nullptr, Unique(labels, channel.name), channel.unit, 1.0f});
      }
    }
  }

  /// A platform of the calibrated components, and its counts beside them, which no program can make
  /// of the former without the calibration.
  void PlanSensor(const StreamInfo& stream, const ForceSensor& sensor,
                  std::set<std::string>& labels) {
    static constexpr const char* kNames[] = {".Fx", ".Fy", ".Fz", ".Mx", ".My", ".Mz"};
    for (int k = 0; k < 6; ++k)
      plan_.analog.push_back({stream.id, k, &sensor, Unique(labels, sensor.name + kNames[k]),
                              k < 3 ? "N" : "Nmm", 1.0f});
    plan_.platforms.push_back(PlatformOf(stream, sensor));
    int counts = 0;
    for (int c = 0; c < stream.channel_count(); ++c) {
      const recording::Channel& channel = stream.channels[static_cast<size_t>(c)];
      if (channel.unit != "count") continue;
      ++counts;
      plan_.analog.push_back({stream.id, c, nullptr,
                              Unique(labels, sensor.name + ".raw." + channel.name), channel.unit,
                              1.0f});
    }
    std::string what =
        "its channels become the calibrated reaction on the hand, a platform of type 2";
    if (counts > 0) what += "; its counts are kept as analog channels";
    issues_.push_back({stream.name, Severity::kNote,
                       what + "; the calibration itself is not in the file" +
                           (surface_known_ ? ", the corners are those of the file it came from"
                                           : ", and where the corners of its surface are is not "
                                             "known: CORNERS is an assumed square of 100 mm about "
                                             "the sensor's origin")});
  }

  /// With the corners that are known and agree with where the sensor stands; else assumed ones.
  PlatformExport PlatformOf(const StreamInfo& stream, const ForceSensor& sensor) {
    PlatformExport platform{&sensor};
    const geometry::RigidTransform X_WS = recording::FixedSensorPose(clip_.info(), sensor).value();
    const auto known = options_.corners_m.find(stream.name);
    geometry::RigidTransform X_WC;
    surface_known_ = known != options_.corners_m.end() && PlateAxes(known->second, X_WC) &&
                     (X_WC.R - X_WS.R).norm() < 1e-3;
    if (surface_known_) {
      platform.corners_m = known->second;
      platform.origin_m = X_WS.R.transpose() * (X_WC.p - X_WS.p);
      // What rounding leaves would be a vector, and on the wrong side of the surface.
      platform.origin_m = (platform.origin_m.array().abs() < 1e-6).select(0.0, platform.origin_m);
      return platform;
    }
    size_t corner = 0;
    for (const auto& [x, y] : {std::pair(0.05, 0.05), {-0.05, 0.05}, {-0.05, -0.05}, {0.05, -0.05}})
      platform.corners_m[corner++] = X_WS * geometry::Vec3(x, y, 0);
    return platform;
  }

  void PlanBodies() {
    std::set<std::string> labels;
    for (const StreamInfo* stream : streams_) {
      if (stream->kind != StreamKind::kRigidPoses) continue;
      const int64_t ratio = RatioOf(stream->rate, plan_.rate);
      if (ratio == 0 || (plan_.body_ratio != 0 && plan_.body_ratio != ratio)) {
        Lose(stream->name, "its rate of " + Hz(stream->rate) +
                               " is no whole multiple of the points', or not that of other bodies");
        continue;
      }
      Keep(*stream);
      plan_.body_ratio = static_cast<int>(ratio);
      const std::vector<std::string> names = stream->ItemNames();
      for (size_t i = 0; i < names.size(); ++i)
        plan_.bodies.push_back({stream->id, static_cast<int>(i) * 7, Unique(labels, names[i])});
    }
  }

  void TellOfTheRest() {
    const auto note = [&](const char* what) {
      issues_.push_back({"clip", Severity::kNote, std::string("C3D has no place for ") + what});
    };
    const recording::ClipInfo& info = clip_.info();
    std::string said;
    for (const auto& [what, text] : {std::pair("the subject", &info.subject),
                                     {"the session", &info.session},
                                     {"the task", &info.task}}) {
      if (!text->empty()) said += (said.empty() ? "" : ", ") + (what + (" '" + *text + "'"));
    }
    if (!said.empty()) note(said.c_str());
    std::string things;
    for (const recording::Thing& thing : info.things)
      things += (things.empty() ? "" : ", ") + thing.name;
    if (!things.empty()) note(("its things: " + things).c_str());
    if (info.utc_start.ns() != 0) note("the time it began");
    if (!info.properties.empty()) {
      std::string names;
      for (const auto& [name, value] : info.properties) names += (names.empty() ? "" : ", ") + name;
      note(("its " + std::to_string(info.properties.size()) + " properties: " + names).c_str());
    }
    if (!clip_.quality().items.empty() || !clip_.quality().advice.empty() || !clip_.quality().keep)
      note("the quality record");
    if (!clip_.gaps().empty()) note("the causes of gaps");
    for (const StreamInfo* stream : streams_) {
      if (!stream->made_by.empty()) {
        note("how derived streams were made");
        break;
      }
    }
    size_t with_length = 0;
    for (const recording::Event& event : clip_.events())
      with_length += event.length.ns() != 0 || event.value != 0 || event.stream_id != 0 ? 1 : 0;
    if (with_length > 0)
      Lose("events", std::to_string(with_length) +
                         " have a length, a value or a stream, which C3D's have not");
    if (clip_.events().size() > kMaxEvents)
      Lose("events", std::to_string(clip_.events().size() - kMaxEvents) + " of " +
                         std::to_string(clip_.events().size()) + ": C3D holds 255");
  }

  Status TellOfClocks() {
    for (const StreamInfo* stream : streams_) {
      HANDHOLD_ASSIGN(const auto pairs, clip_.ClockPairs(stream->id));
      if (!pairs.empty())
        issues_.push_back({stream->name, Severity::kWarning,
                           std::to_string(pairs.size()) +
                               " raw clock pairs and the clock fitted to them: C3D's samples have "
                               "no times but those of one even rate"});
    }
    return {};
  }

  void PlanFrames() {
    const TimeRange extent = clip_.Extent(plan_.base_stream);
    const auto& clock = clip_.clock_map(plan_.base_stream);
    const int64_t host = clip_.info().host_start_ns;
    const auto counter = [&](Timestamp t) {
      const double device_s =
          static_cast<double>(clock.ToDevice(Timestamp::FromNanoseconds(t.ns() + host))) * 1e-9;
      return std::llround(device_s * plan_.rate.hz());
    };
    plan_.first_counter = counter(extent.begin);
    plan_.frames = std::max<int64_t>(1, counter(extent.end) - plan_.first_counter);
    const auto& properties = clip_.info().properties;
    const bool from_c3d = properties.count("c3d.first_frame") > 0;
    if (from_c3d && plan_.first_counter >= 0) plan_.first_frame = plan_.first_counter + 1;
    if (const auto scale = properties.find("c3d.point_scale_mm"); scale != properties.end()) {
      const double mm = std::strtod(scale->second.c_str(), nullptr);
      if (std::isfinite(mm) && mm > 0) plan_.scale = static_cast<float>(mm);
    }
  }

  /// C3D counts its frames through a gap: each is written, empty.
  Status WeighGaps() {
    int64_t empty = 0;
    for (const recording::Gap& gap : clip_.gaps()) {
      if (gap.stream_id != plan_.base_stream) continue;
      const int64_t begin = std::max(gap.first_missing_counter, plan_.first_counter);
      const int64_t end =
          std::min(gap.first_missing_counter + gap.count, plan_.first_counter + plan_.frames);
      empty += std::max<int64_t>(0, end - begin);
    }
    const std::string what = std::to_string(empty) + " of " + std::to_string(plan_.frames) +
                             " frames lie in gaps and are empty";
    const int64_t filled = plan_.frames - empty;
    if (empty >= kManyEmptyFrames && empty / kEmptyPerFilled >= filled)
      return Error{ErrorCode::kUnsupported, what + ": write CSV, which has gaps"};
    if (empty > filled) issues_.push_back({"frames", Severity::kWarning, what});
    return {};
  }

  const ClipSource& clip_;
  const C3dWriteOptions& options_;
  Issues& issues_;
  std::vector<const StreamInfo*> streams_;
  std::set<std::string> seen_;
  int cameras_ = 0;
  std::set<int> outputs_;       ///< streams of a model's outputs
  bool surface_known_ = false;  ///< of the platform that was planned last
  C3dExportPlan plan_;
};

/// NAME, NAME2, ... of at most 255 texts each.
void PutTexts(C3dGroup& group, const std::string& name, const std::vector<std::string>& texts) {
  for (size_t begin = 0, part = 1; begin < texts.size() || part == 1; begin += 255, ++part) {
    const size_t end = std::min(texts.size(), begin + 255);
    group.parameters.push_back(
        C3dParameter::OfTexts(part == 1 ? name : name + std::to_string(part),
                              {texts.begin() + static_cast<std::ptrdiff_t>(begin),
                               texts.begin() + static_cast<std::ptrdiff_t>(end)}));
    if (end == texts.size()) return;
  }
}

void PutNumbers(C3dGroup& group, const std::string& name, const std::vector<double>& numbers,
                bool as_floats) {
  for (size_t begin = 0, part = 1; begin < numbers.size(); begin += 255, ++part) {
    const size_t n = std::min<size_t>(255, numbers.size() - begin);
    const std::string title = part == 1 ? name : name + std::to_string(part);
    const std::span<const double> values(&numbers[begin], n);
    if (as_floats) {
      group.parameters.push_back(C3dParameter::OfFloats(title, {static_cast<int>(n)}, values));
    } else {
      std::vector<int> ints(values.begin(), values.end());
      group.parameters.push_back(C3dParameter::OfInts(title, {static_cast<int>(n)}, ints));
    }
  }
}

void PutInt(C3dGroup& group, const std::string& name, int64_t value) {
  const int word = static_cast<int>(value);
  group.parameters.push_back(C3dParameter::OfInts(name, {}, std::span(&word, 1)));
}
void PutFloat(C3dGroup& group, const std::string& name, double value) {
  group.parameters.push_back(C3dParameter::OfFloats(name, {}, std::span(&value, 1)));
}

void PutPlatforms(const C3dExportPlan& plan, C3dParameters& parameters) {
  C3dGroup& group = parameters.Group("FORCE_PLATFORM");
  const auto n = static_cast<int>(plan.platforms.size());
  PutInt(group, "USED", n);
  const int zero[2] = {1, 0};
  group.parameters.push_back(C3dParameter::OfInts("ZERO", {2}, zero));
  std::vector<int> types(static_cast<size_t>(n), 2), channels;
  std::vector<double> corners, origins;
  const auto put = [](std::vector<double>& numbers, const geometry::Vec3& at_m) {
    for (int k = 0; k < 3; ++k) numbers.push_back(MetresToMillimetres(at_m(k)));
  };
  for (const PlatformExport& platform : plan.platforms) {
    for (size_t c = 0; c < plan.analog.size(); ++c) {
      if (plan.analog[c].sensor == platform.sensor) channels.push_back(static_cast<int>(c) + 1);
    }
    for (const geometry::Vec3& corner_m : platform.corners_m) put(corners, corner_m);
    put(origins, platform.origin_m);
  }
  group.parameters.push_back(C3dParameter::OfInts("TYPE", {n}, types));
  group.parameters.push_back(C3dParameter::OfInts("CHANNEL", {6, n}, channels));
  group.parameters.push_back(C3dParameter::OfFloats("CORNERS", {3, 4, n}, corners));
  group.parameters.push_back(C3dParameter::OfFloats("ORIGIN", {3, n}, origins));
}

void PutEvents(const recording::ClipSource& clip, const C3dExportPlan& plan,
               C3dParameters& parameters) {
  const size_t n = std::min<size_t>(clip.events().size(), kMaxEvents);
  if (n == 0) return;
  C3dGroup& group = parameters.Group("EVENT");
  std::vector<std::string> labels, contexts;
  std::vector<double> times;
  const double first_s = static_cast<double>(plan.first_frame - 1) / plan.rate.hz();
  const Timestamp begin = FrameTime(clip, plan, 0);
  for (size_t e = 0; e < n; ++e) {
    const recording::Event& event = clip.events()[e];
    labels.push_back(event.kind);
    contexts.push_back(event.text);
    const double time_s = (event.clip_time - begin).seconds() + first_s;
    const double minutes = std::floor(time_s / 60);
    times.push_back(minutes);
    times.push_back(time_s - minutes * 60);
  }
  PutInt(group, "USED", static_cast<int64_t>(n));
  PutTexts(group, "LABELS", labels);
  PutTexts(group, "CONTEXTS", contexts);
  group.parameters.push_back(C3dParameter::OfFloats("TIMES", {2, static_cast<int>(n)}, times));
}

}  // namespace

Timestamp FrameTime(const ClipSource& clip, const C3dExportPlan& plan, int64_t frame) {
  const int64_t device_ns = recording::DeviceTimeOfCounter(plan.first_counter + frame, plan.rate);
  return Timestamp::FromNanoseconds(clip.clock_map(plan.base_stream).ToHost(device_ns).ns() -
                                    clip.info().host_start_ns);
}

Result<C3dExportPlan> PlanC3dExport(const ClipSource& clip, const C3dWriteOptions& options,
                                    Issues& issues) {
  return Planner(clip, options, issues).Plan();
}

C3dParameters C3dExportParameters(const ClipSource& clip, const C3dExportPlan& plan,
                                  const C3dWriteOptions& options, int data_block,
                                  int rotation_block, Issues* issues) {
  C3dParameters parameters;
  C3dGroup& point = parameters.Group("POINT");
  std::vector<std::string> labels;
  for (const PointPlan& p : plan.points) labels.push_back(p.label);
  const double sign = options.as_integers ? 1 : -1;
  PutInt(point, "USED", static_cast<int64_t>(plan.points.size()));
  PutFloat(point, "SCALE", sign * static_cast<double>(plan.scale));
  PutFloat(point, "RATE", plan.rate.hz());
  PutInt(point, "DATA_START", data_block);
  if (plan.frames < 65'535) {
    PutInt(point, "FRAMES", plan.frames);
  } else {
    PutFloat(point, "FRAMES", static_cast<double>(plan.frames));
    PutFloat(point, "LONG_FRAMES", static_cast<double>(plan.frames));
  }
  if (plan.frames >= (int64_t{1} << 24) && issues != nullptr)
    issues->push_back({"POINT:FRAMES", Severity::kNote,
                       "more frames than a float counts exactly; "
                       "TRIAL holds the exact number"});
  point.parameters.push_back(C3dParameter::OfTexts("UNITS", {"mm"}));
  PutTexts(point, "LABELS", labels);
  PutTexts(point, "DESCRIPTIONS", std::vector<std::string>(labels.size(), ""));
  for (const OutputGroup& group : plan.outputs) {
    PutTexts(point, group.labels_name, group.labels);
    point.parameters.push_back(C3dParameter::OfTexts(group.unit_name, {group.unit}));
  }

  C3dGroup& analog = parameters.Group("ANALOG");
  PutInt(analog, "USED", static_cast<int64_t>(plan.analog.size()));
  if (!plan.analog.empty()) {
    std::vector<std::string> names, units;
    std::vector<double> scales, offsets(plan.analog.size(), 0.0);
    for (const AnalogPlan& a : plan.analog) {
      names.push_back(a.label);
      units.push_back(a.unit);
      scales.push_back(static_cast<double>(a.scale));
    }
    PutFloat(analog, "RATE", plan.rate.hz() * plan.ratio);
    PutFloat(analog, "GEN_SCALE", 1.0);
    PutTexts(analog, "LABELS", names);
    PutTexts(analog, "DESCRIPTIONS", std::vector<std::string>(names.size(), ""));
    PutTexts(analog, "UNITS", units);
    PutNumbers(analog, "SCALE", scales, true);
    PutNumbers(analog, "OFFSET", offsets, false);
  }
  if (!plan.platforms.empty()) PutPlatforms(plan, parameters);
  PutEvents(clip, plan, parameters);
  if (plan.frames >= 65'535 || plan.first_frame + plan.frames > 65'535) {
    C3dGroup& trial = parameters.Group("TRIAL");
    const int64_t last = plan.first_frame + plan.frames - 1;
    const int first_words[2] = {static_cast<int>(plan.first_frame & 0xFFFF),
                                static_cast<int>(plan.first_frame >> 16)};
    const int last_words[2] = {static_cast<int>(last & 0xFFFF), static_cast<int>(last >> 16)};
    trial.parameters.push_back(C3dParameter::OfInts("ACTUAL_START_FIELD", {2}, first_words));
    trial.parameters.push_back(C3dParameter::OfInts("ACTUAL_END_FIELD", {2}, last_words));
  }
  if (!plan.bodies.empty()) {
    C3dGroup& rotation = parameters.Group("ROTATION");
    std::vector<std::string> names;
    for (const BodyPlan& body : plan.bodies) names.push_back(body.label);
    PutInt(rotation, "USED", static_cast<int64_t>(plan.bodies.size()));
    PutInt(rotation, "DATA_START", rotation_block);
    PutInt(rotation, "RATIO", plan.body_ratio);
    PutFloat(rotation, "RATE", plan.rate.hz() * plan.body_ratio);
    PutTexts(rotation, "LABELS", names);
  }
  C3dGroup& maker = parameters.Group("MANUFACTURER");
  maker.parameters.push_back(C3dParameter::OfTexts("COMPANY", {"Handhold"}));
  maker.parameters.push_back(C3dParameter::OfTexts("SOFTWARE", {"handhold"}));
  return parameters;
}

}  // namespace handhold::exchange
