// Longer than most: our own CSV and foreign ones are two readers that share how rows become blocks.
#include "database/exchange/csv_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

#include "database/exchange/c3d_contents.h"
#include "database/exchange/clip_json.h"
#include "database/exchange/lines.h"

namespace handhold::exchange {
namespace {

using recording::SampleBlock;
using recording::StreamInfo;
using recording::StreamKind;

constexpr std::string_view kMagic = "#handhold-csv 1";
constexpr int kRowsPerBlock = 4096;
constexpr size_t kValuesPerBlock = 1 << 19;

bool ParseInt(std::string_view cell, int64_t& number) {
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return error == std::errc() && end == cell.data() + cell.size();
}

/// What all readers of text share.
class TextSource : public ImportSource {
 public:
  TextSource(std::unique_ptr<ByteSource> bytes, std::string name)
      : bytes_(std::move(bytes)), path_(std::move(name)), lines_(*bytes_) {}
  std::string_view format() const override { return "csv"; }
  const recording::ClipInfo& info() const override { return head_.info; }
  const std::vector<StreamInfo>& streams() const override { return head_.streams; }
  const recording::ClockMap& clock_map(int stream_id) const override {
    return head_.clocks[static_cast<size_t>(stream_id) - 1];
  }
  const std::vector<recording::ForceSensor>& force_sensors() const override {
    return head_.sensors;
  }
  const std::vector<recording::Event>& events() const override { return head_.events; }
  const std::vector<recording::Gap>& gaps() const override { return head_.gaps; }
  const recording::QualityRecord& quality() const override { return head_.quality; }
  const Issues& issues() const override { return issues_; }
  int64_t bytes() const override { return bytes_->size(); }

 protected:
  Error At(ErrorCode code, const std::string& what) const {
    return Error{code, path_ + ":" + std::to_string(lines_.number()) + ": " + what};
  }
  /// The next line; false at the end.
  Result<bool> NextLine() {
    HANDHOLD_ASSIGN(const std::optional<std::string_view> line, lines_.Next());
    if (line) line_ = *line;
    return line.has_value();
  }

  const std::unique_ptr<ByteSource> bytes_;
  const std::string path_;
  LineReader lines_;
  std::string_view line_;
  std::vector<std::string_view> cells_;
  ClipHead head_;
  Issues issues_;
};

/// Rows collected until they make a block: counters in sequence, values row by row.
struct Rows {
  SampleBlock block;
  std::vector<double> by_row;
  size_t columns = 0;
  int64_t next_index = 0;

  /// Turns rows into columns and passes them on.
  Status Flush(const BlockVisitor& visit) {
    if (block.count == 0) return {};
    const auto n = static_cast<size_t>(block.count);
    if (block.point_counts.empty()) {
      block.values.resize(columns * n);
      for (size_t i = 0; i < n; ++i) {
        for (size_t c = 0; c < columns; ++c) block.values[c * n + i] = by_row[i * columns + c];
      }
    } else {
      block.values = by_row;
    }
    if (!block.origins.empty()) {
      std::vector<recording::SampleOrigin> turned(block.origins.size());
      for (size_t i = 0; i < n; ++i) {
        for (size_t c = 0; c < columns; ++c) turned[c * n + i] = block.origins[i * columns + c];
      }
      block.origins = std::move(turned);
    }
    block.first_index = next_index;
    HANDHOLD_TRY(visit(block));
    next_index += block.count;
    block.count = 0;
    by_row.clear();
    block.origins.clear();
    block.point_counts.clear();
    block.texts.clear();
    block.host_times.clear();
    return {};
  }
};

class OwnCsv final : public TextSource {
 public:
  using TextSource::TextSource;

  Status Open() {
    HANDHOLD_ASSIGN(bool more, NextLine());
    HANDHOLD_ASSIGN(more, NextLine());
    if (!more || !line_.starts_with("#clip "))
      return At(ErrorCode::kCorrupt, "wants the line #clip {...} here");
    HANDHOLD_TRY(ParseHead());
    while (true) {
      HANDHOLD_ASSIGN(more, NextLine());
      if (!more || !line_.starts_with("#stream ")) break;
      HANDHOLD_TRY(ParseStream());
    }
    if (head_.streams.empty()) return At(ErrorCode::kCorrupt, "names no #stream");
    Renumber();
    return {};
  }

  Status ForEachBlock(Duration span, const BlockVisitor& visit) override {
    lines_.Rewind();
    std::vector<bool> seen(head_.streams.size(), false);
    HANDHOLD_ASSIGN(bool more, NextLine());
    while (more && !line_.starts_with("#data ")) {
      HANDHOLD_ASSIGN(more, NextLine());
    }
    while (more) {
      int64_t id = 0;
      if (!line_.starts_with("#data ") || !ParseInt(line_.substr(6), id))
        return At(ErrorCode::kCorrupt, "wants the line #data N here");
      const auto found = std::find(head_.given_ids.begin(), head_.given_ids.end(), id);
      if (found == head_.given_ids.end())
        return At(ErrorCode::kCorrupt, "no #stream has the id " + std::to_string(id));
      const auto place = static_cast<size_t>(found - head_.given_ids.begin());
      if (seen[place]) return At(ErrorCode::kCorrupt, "stream " + std::to_string(id) + " again");
      seen[place] = true;
      HANDHOLD_ASSIGN(more, ReadStream(head_.streams[place], span, visit));
    }
    for (size_t s = 0; s < seen.size(); ++s) {
      if (!seen[s] && !told_)
        issues_.push_back({head_.streams[s].name, Severity::kLoss,
                           "has no #data: the file is truncated, or was edited"});
    }
    told_ = true;
    return {};
  }

 private:
  Status ParseHead() {
    HANDHOLD_ASSIGN(const text::Json json,
                    text::ParseJson(line_.substr(6), {.source = path_ + ":2"}));
    return ClipHeadFromJson(text::JsonView(json, path_ + ":2"), head_);
  }

  Status ParseStream() {
    const std::string source = path_ + ":" + std::to_string(lines_.number());
    HANDHOLD_ASSIGN(const text::Json json, text::ParseJson(line_.substr(8), {.source = source}));
    if (head_.streams.size() >= 10'000) return At(ErrorCode::kUnsupported, "too many streams");
    return StreamFromJson(text::JsonView(json, source), head_);
  }

  /// Streams are 1, 2, ... here; what speaks of one that the file does not hold is left out.
  void Renumber() {
    std::map<int, int> ids;
    for (size_t s = 0; s < head_.given_ids.size(); ++s)
      ids[head_.given_ids[s]] = static_cast<int>(s) + 1;
    const auto gone = [&](auto& item) {
      const auto found = ids.find(item.stream_id);
      if (found != ids.end()) item.stream_id = found->second;
      return found == ids.end();
    };
    std::erase_if(head_.sensors, [&](recording::ForceSensor& sensor) {
      return gone(sensor) ||
             sensor.calibration.cols() !=
                 head_.streams[static_cast<size_t>(sensor.stream_id) - 1].channel_count();
    });
    std::erase_if(head_.gaps, gone);
    for (recording::Event& event : head_.events) {
      if (event.stream_id != 0 && gone(event)) event.stream_id = 0;
    }
  }

  /// The two rows for people must say what the stream says.
  Status CheckNames(const StreamInfo& stream) {
    for (const bool units : {false, true}) {
      HANDHOLD_ASSIGN(const bool more, NextLine());
      if (!more) return At(ErrorCode::kCorrupt, "truncated: wants names and units here");
      if (stream.kind == StreamKind::kText || stream.kind == StreamKind::kUnlabelledPoints)
        continue;
      SplitCells(line_, ',', cells_);
      for (size_t c = 0; c < stream.channels.size(); ++c) {
        const std::string& want = units ? stream.channels[c].unit : stream.channels[c].name;
        if (c + 2 >= cells_.size() || Unquoted(cells_[c + 2]) != want)
          return At(ErrorCode::kCorrupt, "column " + std::to_string(c + 3) + " should be '" + want +
                                             "', as #stream says");
      }
    }
    return {};
  }

  /// False at the end of the file.
  Result<bool> ReadStream(const StreamInfo& stream, Duration span, const BlockVisitor& visit) {
    HANDHOLD_TRY(CheckNames(stream));
    const bool uneven = stream.kind == StreamKind::kText || stream.rate.numerator == 0;
    const double in_span = span.seconds() * stream.rate.hz();
    const int most =
        uneven ? kRowsPerBlock : static_cast<int>(std::clamp(in_span, 1.0, double{kRowsPerBlock}));
    Rows rows;
    rows.block.stream_id = stream.id;
    rows.columns = stream.kind == StreamKind::kText || stream.kind == StreamKind::kUnlabelledPoints
                       ? 0
                       : stream.channels.size();
    bool more = true;
    while (true) {
      HANDHOLD_ASSIGN(more, NextLine());
      if (!more || line_.starts_with('#')) break;
      SplitCells(line_, ',', cells_);
      int64_t time_ns = 0, counter = 0;
      if (cells_.size() < 2 || !ParseInt(cells_[0], time_ns) || !ParseInt(cells_[1], counter))
        return At(ErrorCode::kCorrupt, "wants time and counter as whole numbers");
      const int64_t expected = rows.block.first_counter + rows.block.count;
      if (last_id_ == stream.id && counter < next_counter_)
        return At(ErrorCode::kCorrupt, "counter " + std::to_string(counter) + " runs backwards");
      if (rows.block.count >= most || rows.by_row.size() >= kValuesPerBlock ||
          (rows.block.count > 0 && counter != expected))
        HANDHOLD_TRY(rows.Flush(visit));
      if (rows.block.count == 0) rows.block.first_counter = counter;
      HANDHOLD_TRY(TakeRow(stream, rows));
      if (uneven)
        rows.block.host_times.push_back(
            Timestamp::FromNanoseconds(time_ns + head_.info.host_start_ns));
      ++rows.block.count;
      last_id_ = stream.id;
      next_counter_ = counter + 1;
    }
    last_id_ = 0;
    HANDHOLD_TRY(rows.Flush(visit));
    return more;
  }

  Status TakeRow(const StreamInfo& stream, Rows& rows) {
    if (stream.kind == StreamKind::kText) {
      if (cells_.size() != 3) return At(ErrorCode::kCorrupt, "wants time, counter and a text");
      rows.block.texts.push_back(Unquoted(cells_[2]));
      return {};
    }
    size_t begin = 2, count = rows.columns;
    if (stream.kind == StreamKind::kUnlabelledPoints) {
      int64_t points = 0;
      if (cells_.size() < 3 || !ParseInt(cells_[2], points) || points < 0 ||
          cells_.size() != 3 + static_cast<size_t>(points) * 4)
        return At(ErrorCode::kCorrupt, "wants the number of points, then x y z id of each");
      rows.block.point_counts.push_back(static_cast<int32_t>(points));
      begin = 3;
      count = static_cast<size_t>(points) * 4;
    }
    const bool origins = !stream.made_by.empty() && begin == 2;
    if (cells_.size() != begin + count + (origins ? 1 : 0))
      return At(ErrorCode::kCorrupt, "has " + std::to_string(cells_.size()) + " cells instead of " +
                                         std::to_string(begin + count + (origins ? 1 : 0)));
    for (size_t c = 0; c < count; ++c) {
      double value = 0;
      if (!ParseNumber(cells_[begin + c], value))
        return At(ErrorCode::kCorrupt,
                  "'" + std::string(cells_[begin + c].substr(0, 40)) + "' is no number");
      rows.by_row.push_back(value);
    }
    if (!origins) return {};
    const std::string_view codes = cells_.back();
    if (codes.size() != count || codes.find_first_not_of("0123") != std::string_view::npos)
      return At(ErrorCode::kCorrupt, "origins: one digit from 0 to 3 per channel");
    for (const char code : codes)
      rows.block.origins.push_back(static_cast<recording::SampleOrigin>(code - '0'));
    return {};
  }

  int last_id_ = 0;
  int64_t next_counter_ = 0;
  bool told_ = false;
};

class ForeignCsv final : public TextSource {
 public:
  ForeignCsv(std::unique_ptr<ByteSource> bytes, std::string name, const CsvReadOptions& options)
      : TextSource(std::move(bytes), std::move(name)), options_(options) {}

  Status Open() {
    HANDHOLD_ASSIGN(bool more, NextLine());
    if (!more) return At(ErrorCode::kCorrupt, "is empty");
    separator_ = line_.find('\t') != std::string_view::npos  ? '\t'
                 : line_.find(';') != std::string_view::npos ? ';'
                                                             : ',';
    SplitCells(line_, separator_, cells_);
    std::vector<std::string> names, units;
    double number = 0;
    bool named = false;
    for (const std::string_view cell : cells_) {
      names.push_back(Unquoted(cell));
      named = named || !ParseNumber(cell, number);
    }
    if (!named)
      return At(ErrorCode::kUnsupported,
                "begins with numbers; a row of column names must stand first");
    HANDHOLD_ASSIGN(more, NextLine());
    head_rows_ = 1;
    if (more) {
      SplitCells(line_, separator_, cells_);
      bool has_units = false;
      for (const std::string_view cell : cells_)
        has_units = has_units || !ParseNumber(cell, number);
      if (has_units) {
        for (const std::string_view cell : cells_) units.push_back(Unquoted(cell));
        head_rows_ = 2;
      }
    }
    units.resize(names.size());
    HANDHOLD_TRY(FindTime(names, units));
    HANDHOLD_TRY(FindRate());
    MakeStream(names, units);
    return {};
  }

  Status ForEachBlock(Duration span, const BlockVisitor& visit) override {
    lines_.Rewind();
    bool more = true;
    for (int skip = 0; skip < head_rows_; ++skip) HANDHOLD_TRY(NextLine());
    const double in_span = span.seconds() * head_.streams[0].rate.hz();
    const int most = static_cast<int>(std::clamp(in_span, 1.0, double{kRowsPerBlock}));
    Rows rows;
    rows.block.stream_id = 1;
    rows.columns = columns_.size();
    int64_t row = 0, last = -1;
    while (true) {
      HANDHOLD_ASSIGN(more, NextLine());
      if (!more) break;
      if (line_.find_first_not_of(" ,;\t") == std::string_view::npos) continue;
      HANDHOLD_TRY(SplitRow());
      int64_t counter = row++;
      if (time_column_ >= 0) {
        HANDHOLD_ASSIGN(const double time_s, TimeOf());
        const double at = (time_s - first_s_) * head_.streams[0].rate.hz();
        counter = std::llround(at);
        if (std::fabs(at - static_cast<double>(counter)) > 0.25)
          return At(ErrorCode::kUnsupported, "is not evenly sampled: a row lies " +
                                                 std::to_string(at - static_cast<double>(counter)) +
                                                 " periods off");
        if (counter <= last) return At(ErrorCode::kCorrupt, "its time does not increase");
      }
      if (rows.block.count >= most || rows.by_row.size() >= kValuesPerBlock ||
          (rows.block.count > 0 && counter != last + 1))
        HANDHOLD_TRY(rows.Flush(visit));
      if (rows.block.count == 0) rows.block.first_counter = counter;
      for (const size_t c : columns_) {
        double value = 0;
        if (!ParseNumber(Bare(cells_[c]), value))
          return At(ErrorCode::kCorrupt,
                    "'" + std::string(cells_[c].substr(0, 40)) + "' is no number");
        rows.by_row.push_back(value);
      }
      ++rows.block.count;
      last = counter;
    }
    return rows.Flush(visit);
  }

 private:
  static std::string_view Bare(std::string_view cell) {
    if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"')
      return cell.substr(1, cell.size() - 2);
    return cell;
  }

  Status SplitRow() {
    SplitCells(line_, separator_, cells_);
    if (cells_.size() == width_ + 1 && cells_.back().empty()) cells_.pop_back();
    if (cells_.size() != width_)
      return At(ErrorCode::kCorrupt, "has " + std::to_string(cells_.size()) + " cells, the names " +
                                         std::to_string(width_));
    return {};
  }

  Result<double> TimeOf() {
    double value = 0;
    const std::string_view cell = cells_[static_cast<size_t>(time_column_)];
    if (!ParseNumber(Bare(cell), value) || !std::isfinite(value))
      return At(ErrorCode::kCorrupt, "'" + std::string(cell.substr(0, 40)) + "' is no time");
    return value * seconds_per_unit_;
  }

  Status FindTime(const std::vector<std::string>& names, const std::vector<std::string>& units) {
    width_ = names.size();
    static const std::map<std::string, double> kSeconds = {
        {"s", 1.0}, {"sec", 1.0}, {"seconds", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    for (size_t c = 0; c < names.size(); ++c) {
      std::string name, unit = units[c];
      for (const char ch : names[c])
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
      const size_t cut = name.find_first_of("_ ([");
      std::string suffix = cut == std::string::npos ? "" : name.substr(cut);
      std::erase_if(suffix, [](char ch) {
        return std::string_view("_ ()[]").find(ch) != std::string_view::npos;
      });
      const std::string stem = name.substr(0, cut);
      if ((stem != "time" && stem != "t") || time_column_ >= 0) {
        columns_.push_back(c);
        continue;
      }
      if (unit.empty()) unit = suffix.empty() ? "s" : suffix;
      const auto seconds = kSeconds.find(unit);
      if (seconds == kSeconds.end())
        return At(ErrorCode::kUnsupported, "the column '" + names[c] + "' has the unit '" + unit +
                                               "': s, ms, us and ns are known");
      time_column_ = static_cast<int>(c);
      seconds_per_unit_ = seconds->second;
    }
    if (columns_.empty()) return At(ErrorCode::kUnsupported, "has no column but the time");
    return {};
  }

  /// From the first thousand rows: their median step finds the sample numbers, the whole stretch
  /// the rate.
  Status FindRate() {
    if (time_column_ < 0) {
      if (!(options_.rate_Hz >= 1e-3 && options_.rate_Hz <= 1e7))
        return At(ErrorCode::kUnsupported,
                  "has no column called time: name one so, or pass --rate HZ");
      rate_ = RateFromHz(options_.rate_Hz);
      return {};
    }
    lines_.Rewind();
    std::vector<double> times, steps;
    for (int skip = 0; skip < head_rows_; ++skip) HANDHOLD_TRY(NextLine());
    while (times.size() < 1000) {
      HANDHOLD_ASSIGN(const bool more, NextLine());
      if (!more) break;
      if (line_.find_first_not_of(" ,;\t") == std::string_view::npos) continue;
      HANDHOLD_TRY(SplitRow());
      HANDHOLD_ASSIGN(const double t, TimeOf());
      if (!times.empty()) steps.push_back(t - times.back());
      times.push_back(t);
    }
    if (steps.empty()) return At(ErrorCode::kUnsupported, "has fewer than two rows of samples");
    const size_t middle = (steps.size() - 1) / 2;  // the lower: gaps make steps longer
    std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(middle),
                     steps.end());
    const double step = steps[middle];
    if (!(step > 1e-7 && step < 1e3))
      return At(ErrorCode::kUnsupported, "its times do not increase");
    first_s_ = times.front();
    const double samples = std::round((times.back() - first_s_) / step);
    const double hz = samples / (times.back() - first_s_);
    if (!(hz >= 1e-3 && hz <= 1e7)) return At(ErrorCode::kUnsupported, "its times do not increase");
    // Printed times are rounded: a rate within 1 in 2000 of a whole number is that number.
    const double whole = std::round(hz);
    rate_ = whole >= 1 && std::fabs(hz - whole) < 5e-4 * whole
                ? recording::Rate{static_cast<int64_t>(whole), 1}
                : RateFromHz(hz);
    return {};
  }

  void MakeStream(const std::vector<std::string>& names, const std::vector<std::string>& units) {
    StreamInfo stream;
    stream.id = 1;
    stream.name = "csv/data";
    stream.device = "csv";
    stream.rate = rate_;
    for (const size_t c : columns_) {
      std::string name = names[c].empty() ? "column" + std::to_string(c + 1) : names[c];
      if (stream.FindChannel(name) >= 0) {
        issues_.push_back(
            {name, Severity::kWarning, "occurs more than once; got its column's number"});
        name += "#" + std::to_string(c + 1);
      }
      stream.channels.push_back({name, units[c].empty() ? "1" : units[c]});
    }
    head_.streams.push_back(std::move(stream));
    head_.clocks.push_back(recording::ClockMap::Identity());
    head_.info.name = std::filesystem::path(path_).stem().string();
    head_.info.properties["import.format"] = "csv";
    head_.info.properties["import.file"] = std::filesystem::path(path_).filename().string();
    if (time_column_ >= 0 && first_s_ != 0)
      head_.info.properties["csv.first_time_s"] = std::to_string(first_s_);
  }

  const CsvReadOptions options_;
  char separator_ = ',';
  int head_rows_ = 1;
  size_t width_ = 0;
  int time_column_ = -1;
  double seconds_per_unit_ = 1.0, first_s_ = 0.0;
  recording::Rate rate_;
  std::vector<size_t> columns_;
};

Result<std::unique_ptr<ImportSource>> Open(std::unique_ptr<ByteSource> bytes,
                                           const std::string& name, const CsvReadOptions& options) {
  bool own = false;
  {
    LineReader lines(*bytes);
    HANDHOLD_ASSIGN(const std::optional<std::string_view> first, lines.Next());
    own = first && *first == kMagic;
    if (first && first->starts_with("#handhold-csv ") && !own)
      return Error{ErrorCode::kVersion,
                   name + ": is '" + std::string(first->substr(0, 40)) + "', of a later program"};
  }
  if (own) {
    auto source = std::make_unique<OwnCsv>(std::move(bytes), name);
    HANDHOLD_TRY(source->Open());
    return std::unique_ptr<ImportSource>(std::move(source));
  }
  auto source = std::make_unique<ForeignCsv>(std::move(bytes), name, options);
  HANDHOLD_TRY(source->Open());
  return std::unique_ptr<ImportSource>(std::move(source));
}

}  // namespace

Result<std::unique_ptr<ImportSource>> OpenCsv(const std::string& path,
                                              const CsvReadOptions& options) {
  HANDHOLD_ASSIGN(std::unique_ptr<ByteSource> bytes, ByteSource::OpenFile(path));
  return Open(std::move(bytes), path, options);
}

Result<std::unique_ptr<ImportSource>> OpenCsv(std::span<const uint8_t> bytes,
                                              const std::string& name,
                                              const CsvReadOptions& options) {
  return Open(ByteSource::OfBytes(bytes), name, options);
}

}  // namespace handhold::exchange
