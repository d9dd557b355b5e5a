#include "database/exchange/csv_writer.h"

#include <algorithm>

#include "database/exchange/clip_json.h"
#include "database/exchange/file_writer.h"
#include "database/exchange/lines.h"
#include "database/exchange/read_span.h"

namespace handhold::exchange {
namespace {

using recording::SampleWindow;
using recording::StreamInfo;
using recording::StreamKind;

class CsvExport {
 public:
  CsvExport(const recording::ClipSource& clip, const CsvWriteOptions& options, FileWriter& file,
            ExportReport& report)
      : clip_(clip), options_(options), file_(file), report_(report) {}

  Status WriteHead(const std::vector<const StreamInfo*>& streams) {
    HANDHOLD_ASSIGN(const std::string head, text::WriteJson(ClipHeadToJson(clip_)));
    HANDHOLD_TRY(file_.Write("#handhold-csv 1\n#clip " + head + "\n"));
    for (const StreamInfo* stream : streams) {
      HANDHOLD_ASSIGN(const std::string json,
                      text::WriteJson(StreamToJson(*stream, clip_.clock_map(stream->id))));
      HANDHOLD_TRY(file_.Write("#stream " + json + "\n"));
    }
    return {};
  }

  Status WriteStream(const StreamInfo& stream, size_t place) {
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
    Duration span =
        even ? ReadSpan(stream.rate.hz() * stream.channel_count()) : Duration::Milliseconds(100);
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
  Status WriteRows(const StreamInfo& stream, const SampleWindow& window) {
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
      } else {
        for (int c = 0; c < window.channel_count; ++c) Cell(window.value(c, i));
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
          {stream->name, Severity::kLoss,
           std::to_string(pairs.size()) + " raw clock pairs: CSV holds the fitted clock only"});
  }
  HANDHOLD_TRY(file.Publish());
  report.bytes = options.dry_run ? 0 : file.size();
  return report;
}

}  // namespace handhold::exchange
