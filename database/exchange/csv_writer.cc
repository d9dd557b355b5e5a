#include "database/exchange/csv_writer.h"

#include <algorithm>
#include <string_view>

#include "database/base/units.h"
#include "database/exchange/clip_json.h"
#include "database/exchange/file_writer.h"
#include "database/exchange/lines.h"
#include "database/exchange/read_span.h"

namespace handhold::exchange {
namespace {

using recording::SampleWindow;
using recording::StreamInfo;
using recording::StreamKind;

struct SiUnit {
  std::string_view from, to;
  double per_unit;
};
constexpr SiUnit kSiUnits[] = {{"mm", "m", 1e-3},
                               {"cm", "m", 1e-2},
                               {"um", "m", 1e-6},
                               {"mN", "N", 1e-3},
                               {"kN", "N", 1e3},
                               {"Nm", "N m", 1.0},
                               {"N.m", "N m", 1.0},
                               {"Nmm", "N m", 1e-3},
                               {"N mm", "N m", 1e-3},
                               {"N.mm", "N m", 1e-3},
                               {"mNm", "N m", 1e-3},
                               {"mN m", "N m", 1e-3},
                               {"ms", "s", 1e-3},
                               {"us", "s", 1e-6},
                               {"mV", "V", 1e-3},
                               {"uV", "V", 1e-6},
                               {"kPa", "Pa", 1e3},
                               {"MPa", "Pa", 1e6},
                               {"mm/s", "m/s", 1e-3},
                               {"kHz", "Hz", 1e3},
                               {"deg", "rad", DegreesToRadians(1.0)},
                               {"deg/s", "rad/s", DegreesToRadians(1.0)}};

/// A clip's head with its force sensors as `sensors`.
class WithSensors final : public recording::ClipSource {
 public:
  WithSensors(const recording::ClipSource& clip, std::vector<recording::ForceSensor> sensors)
      : clip_(clip), sensors_(std::move(sensors)) {}
  const recording::ClipInfo& info() const override { return clip_.info(); }
  const std::vector<StreamInfo>& streams() const override { return clip_.streams(); }
  const recording::ClockMap& clock_map(int id) const override { return clip_.clock_map(id); }
  Result<std::vector<recording::ClockPair>> ClockPairs(int id) const override {
    return clip_.ClockPairs(id);
  }
  const std::vector<recording::ForceSensor>& force_sensors() const override { return sensors_; }
  const std::vector<recording::Event>& events() const override { return clip_.events(); }
  const std::vector<recording::Gap>& gaps() const override { return clip_.gaps(); }
  const recording::QualityRecord& quality() const override { return clip_.quality(); }
  TimeRange Extent(int id) const override { return clip_.Extent(id); }
  Result<SampleWindow> Read(int id, TimeRange range,
                            const std::vector<int>& channels) const override {
    return clip_.Read(id, range, channels);
  }

 private:
  const recording::ClipSource& clip_;
  const std::vector<recording::ForceSensor> sensors_;
};

class CsvExport {
 public:
  CsvExport(const recording::ClipSource& clip, const CsvWriteOptions& options, FileWriter& file,
            ExportReport& report)
      : clip_(clip), options_(options), file_(file), report_(report) {}

  Status WriteHead(const std::vector<const StreamInfo*>& streams) {
    std::vector<recording::ForceSensor> sensors = clip_.force_sensors();
    for (recording::ForceSensor& sensor : sensors) {
      if (SensorOf(sensor.stream_id) == nullptr) continue;
      sensor.calibration = Eigen::MatrixXd::Identity(6, 6);
      sensor.bias = Eigen::VectorXd::Zero(6);
      sensor.sign = 1.0;
    }
    HANDHOLD_ASSIGN(const std::string head,
                    text::WriteJson(ClipHeadToJson(WithSensors(clip_, std::move(sensors)))));
    HANDHOLD_TRY(file_.Write("#handhold-csv 1\n#clip " + head + "\n"));
    for (const StreamInfo* stream : streams) {
      HANDHOLD_ASSIGN(const std::string json,
                      text::WriteJson(StreamToJson(Written(*stream), clip_.clock_map(stream->id))));
      HANDHOLD_TRY(file_.Write("#stream " + json + "\n"));
    }
    if (streams.empty()) return file_.Write(std::string_view("#end 0\n"));
    return {};
  }

  /// The stream as it is written: in SI, what a sensor measures instead of its channels.
  StreamInfo Written(const StreamInfo& stream) const {
    if (!options_.in_si) return stream;
    StreamInfo written = stream;
    if (SensorOf(stream.id) != nullptr) {
      written.channels.clear();
      for (const char* name : {"fx", "fy", "fz", "tx", "ty", "tz"})
        written.channels.push_back({name, name[0] == 'f' ? "N" : "N m", 0.0});
      written.sign = "hand_on_object";
      return written;
    }
    for (recording::Channel& channel : written.channels) {
      if (const SiUnit* si = SiOf(channel.unit)) channel = {channel.name, std::string(si->to), 0.0};
    }
    return written;
  }

  Status WriteStream(const StreamInfo& recorded, size_t place) {
    const StreamInfo stream = Written(recorded);
    factors_.clear();
    for (const recording::Channel& channel : recorded.channels) {
      const SiUnit* si = options_.in_si ? SiOf(channel.unit) : nullptr;
      factors_.push_back(si != nullptr ? si->per_unit : 1.0);
    }
    const int64_t before = report_.frames;
    HANDHOLD_TRY(file_.Write("#data " + std::to_string(place) + "\n"));
    std::string names = "time_ns,counter", units = "ns,1";
    if (stream.kind == StreamKind::kText) {
      names += ",text";
      units += ",";
    } else if (stream.kind == StreamKind::kUnlabelledPoints) {
      names += ",points,x y z id ...";
      units += ",1,";
    } else {
      for (const recording::Channel& channel : stream.channels) {
        names += "," + Quoted(channel.name);
        units += "," + Quoted(channel.unit);
      }
      if (!stream.made_by.empty()) {
        names += ",origins";
        units += ",";
      }
    }
    HANDHOLD_TRY(file_.Write(names + "\n" + units + "\n"));
    const TimeRange extent = clip_.Extent(stream.id);
    const bool even = stream.rate.numerator > 0 && !stream.channels.empty() &&
                      stream.kind != StreamKind::kUnlabelledPoints;
    Duration span = even ? ReadSpan(recorded.rate.hz() * recorded.channel_count())
                         : Duration::Milliseconds(100);
    for (Timestamp t = extent.begin; t < extent.end;) {
      if (options_.proceed && !options_.proceed()) return Error{ErrorCode::kCancelled, "cancelled"};
      const Timestamp end = std::min(extent.end, t + span);
      HANDHOLD_ASSIGN(const SampleWindow window, clip_.Read(stream.id, {t, end}));
      HANDHOLD_TRY(WriteRows(stream, window));
      if (!even) span = NextSpan(span, window);
      t = end;
    }
    HANDHOLD_TRY(file_.Write("#end " + std::to_string(report_.frames - before) + "\n"));
    report_.streams.push_back(stream.name);
    return {};
  }

 private:
  /// Of the stream, when its forces are written in SI: the one sensor that reads all its channels.
  const recording::ForceSensor* SensorOf(int stream_id) const {
    const recording::ForceSensor* found = nullptr;
    const StreamInfo* info = clip_.FindStream(stream_id);
    if (!options_.in_si || info == nullptr || info->kind != StreamKind::kForceTorque ||
        !info->made_by.empty())
      return nullptr;
    for (const recording::ForceSensor& sensor : clip_.force_sensors()) {
      if (sensor.stream_id != stream_id) continue;
      if (found != nullptr || sensor.calibration.cols() != info->channel_count()) return nullptr;
      found = &sensor;
    }
    return found;
  }
  static const SiUnit* SiOf(std::string_view unit) {
    for (const SiUnit& si : kSiUnits) {
      if (si.from == unit) return &si;
    }
    return nullptr;
  }

  Status WriteRows(const StreamInfo& stream, const SampleWindow& window) {
    const recording::ForceSensor* sensor = SensorOf(stream.id);
    Eigen::VectorXd raw(sensor != nullptr ? window.channel_count : 0);
    size_t point = 0;
    for (int i = 0; i < window.count(); ++i) {
      row_ = std::to_string(window.times[static_cast<size_t>(i)].ns()) + "," +
             std::to_string(window.counters[static_cast<size_t>(i)]);
      if (stream.kind == StreamKind::kText) {
        std::string line = window.texts[static_cast<size_t>(i)];
        if (line.find_first_of("\r\n") != std::string::npos) {
          std::replace(line.begin(), line.end(), '\n', ' ');
          std::replace(line.begin(), line.end(), '\r', ' ');
          ++broken_lines_;
        }
        row_ += "," + Quoted(line);
      } else if (stream.kind == StreamKind::kUnlabelledPoints) {
        const int32_t n = window.point_counts[static_cast<size_t>(i)];
        row_ += "," + std::to_string(n);
        for (int32_t k = 0; k < n * 4; ++k) Cell(window.values[point++]);
      } else if (sensor != nullptr) {
        for (int c = 0; c < window.channel_count; ++c) raw(c) = window.value(c, i);
        for (const double component : sensor->Wrench(raw)) Cell(component);
      } else {
        for (int c = 0; c < window.channel_count; ++c) {
          const double factor = factors_[static_cast<size_t>(c)];
          Cell(factor == 1.0 ? window.value(c, i) : window.value(c, i) * factor);
        }
        if (!stream.made_by.empty()) AppendOrigins(window, i);
      }
      row_ += '\n';
      HANDHOLD_TRY(file_.Write(row_));
      ++report_.frames;
    }
    if (broken_lines_ > 0 && !told_) {
      told_ = true;
      report_.issues.push_back(
          {stream.name, Severity::kLoss, "line breaks inside texts become blanks"});
    }
    return {};
  }

  void Cell(double value) {
    row_ += ',';
    AppendNumber(value, row_);
  }

  void AppendOrigins(const SampleWindow& window, int i) {
    row_ += ',';
    for (int c = 0; c < window.channel_count; ++c) {
      const size_t at = static_cast<size_t>(c) * window.times.size() + static_cast<size_t>(i);
      row_ += static_cast<char>(
          '0' + (window.origins.empty() ? 0 : static_cast<int>(window.origins[at])));
    }
  }

  const recording::ClipSource& clip_;
  const CsvWriteOptions& options_;
  FileWriter& file_;
  ExportReport& report_;
  std::vector<double> factors_;  ///< SI per recorded unit, of the stream at hand
  std::string row_;
  int64_t broken_lines_ = 0;
  bool told_ = false;
};

}  // namespace

Result<ExportReport> WriteCsv(const recording::ClipSource& clip, const std::string& path,
                              const CsvWriteOptions& options) {
  HANDHOLD_TRY(CheckStreamNames(clip, options.streams));
  ExportReport report;
  std::vector<const StreamInfo*> streams;
  for (const StreamInfo& stream : clip.streams()) {
    if (options.streams.empty() ||
        std::count(options.streams.begin(), options.streams.end(), stream.name) > 0)
      streams.push_back(&stream);
  }
  HANDHOLD_ASSIGN(FileWriter file, FileWriter::Create(options.dry_run ? "" : path));
  CsvExport writer(clip, options, file, report);
  HANDHOLD_TRY(writer.WriteHead(streams));
  for (const StreamInfo* stream : streams) {
    HANDHOLD_TRY(writer.WriteStream(*stream, static_cast<size_t>(stream->id)));
    HANDHOLD_ASSIGN(const auto pairs, clip.ClockPairs(stream->id));
    if (!pairs.empty())
      report.issues.push_back(
          {stream->name, Severity::kWarning,
           std::to_string(pairs.size()) + " raw clock pairs: CSV holds the fitted clock only"});
  }
  HANDHOLD_TRY(file.Publish());
  report.bytes = options.dry_run ? 0 : file.size();
  return report;
}

}  // namespace handhold::exchange
