// Our own CSV: schemas/exchange/csv.md.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "database/exchange/csv_source.h"

namespace handhold::exchange {
namespace {

using recording::StreamInfo;
using recording::StreamKind;

bool ParseInt(std::string_view cell, int64_t& number) {
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  return error == std::errc() && end == cell.data() + cell.size();
}

/// Exactly, as a double holds it.
bool IsWhole(double value) { return std::fabs(value) <= 0x1p53 && value == std::trunc(value); }

class OwnCsv final : public CsvSource {
 public:
  using CsvSource::CsvSource;

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
    // A clip without streams ends here, and says so: else its streams were cut off.
    if (head_.streams.empty() && (!more || line_ != "#end 0"))
      return At(ErrorCode::kCorrupt, "names no #stream");
    if (const Status known = CalibrateByUnits(head_); !known)
      return Error{known.error().code, path_ + ":2: " + known.error().message};
    Renumber();
    return {};
  }

  Status ForEachBlock(Duration span, const BlockVisitor& visit) override {
    if (head_.streams.empty()) return {};
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
    CsvRows rows;
    rows.block.stream_id = stream.id;
    rows.columns = stream.kind == StreamKind::kText || stream.kind == StreamKind::kUnlabelledPoints
                       ? 0
                       : stream.channels.size();
    size_t text_bytes = 0;
    int64_t row_count = 0;
    bool more = true;
    while (true) {
      HANDHOLD_ASSIGN(more, NextLine());
      if (!more || line_.starts_with('#')) break;
      ++row_count;
      SplitCells(line_, ',', cells_);
      int64_t time_ns = 0, counter = 0;
      if (cells_.size() < 2 || !ParseInt(cells_[0], time_ns) || !ParseInt(cells_[1], counter))
        return At(ErrorCode::kCorrupt, "wants time and counter as whole numbers");
      const int64_t expected = rows.block.first_counter + rows.block.count;
      if (last_id_ == stream.id && counter < next_counter_)
        return At(ErrorCode::kCorrupt, "counter " + std::to_string(counter) + " runs backwards");
      if (rows.block.count >= most || rows.by_row.size() >= kValuesPerBlock ||
          rows.block.values.size() + text_bytes / sizeof(double) >= kValuesPerBlock ||
          (rows.block.count > 0 && counter != expected))
        HANDHOLD_TRY(rows.Flush(visit));
      if (rows.block.count == 0) {
        rows.block.first_counter = counter;
        text_bytes = 0;
      }
      HANDHOLD_TRY(TakeRow(stream, rows));
      if (!rows.block.texts.empty()) text_bytes += rows.block.texts.back().size();
      if (uneven)
        rows.block.host_times.push_back(
            Timestamp::FromNanoseconds(time_ns + head_.info.host_start_ns));
      ++rows.block.count;
      last_id_ = stream.id;
      next_counter_ = counter + 1;
    }
    last_id_ = 0;
    HANDHOLD_TRY(rows.Flush(visit));
    return ReadEnd(stream, row_count, more);
  }

  /// The line that says how many rows there were, on which `line_` stands if there is one. False at
  /// the end of the file.
  Result<bool> ReadEnd(const StreamInfo& stream, int64_t row_count, bool more) {
    int64_t written = 0;
    const bool ends = more && line_.starts_with("#end ");
    if (ends && !ParseInt(line_.substr(5), written))
      return At(ErrorCode::kCorrupt, "wants the line #end N here");
    if (!told_ && (!ends || written != row_count)) {
      issues_.push_back(
          {stream.name, Severity::kLoss,
           ends ? "has " + std::to_string(row_count) + " rows and was written with " +
                      std::to_string(written) + ": rows were removed or added"
                : "ends after " + std::to_string(row_count) +
                      " rows without the line #end: the file is truncated, or was edited"});
    }
    return ends ? NextLine() : Result<bool>(more);
  }

  Status TakeRow(const StreamInfo& stream, CsvRows& rows) {
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
      // Ids of trajectories and sets of cameras are numbers that count, not that measure.
      const bool id = begin == 3 && c % 4 == 3;
      const bool mask = stream.name == "c3d/cameras" && !std::isnan(value);
      if ((id && !IsWhole(value)) || (mask && !(IsWhole(value) && value >= 0 && value <= 127)))
        return At(ErrorCode::kCorrupt,
                  "column " + std::to_string(begin + c + 1) + ": '" +
                      std::string(cells_[begin + c].substr(0, 40)) + "' is no " +
                      (id ? "trajectory's id, which is a whole number"
                          : "set of cameras, which is a whole number from 0 to 127"));
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

}  // namespace

Result<std::unique_ptr<ImportSource>> OpenOwnCsv(std::unique_ptr<ByteSource> bytes,
                                                 const std::string& name) {
  auto source = std::make_unique<OwnCsv>(std::move(bytes), name);
  HANDHOLD_TRY(source->Open());
  return std::unique_ptr<ImportSource>(std::move(source));
}

}  // namespace handhold::exchange
