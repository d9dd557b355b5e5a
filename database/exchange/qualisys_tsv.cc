#include "database/exchange/qualisys_tsv.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>

#include "database/base/units.h"
#include "database/exchange/c3d_contents.h"
#include "database/exchange/c3d_groups.h"
#include "database/exchange/lines.h"

namespace handhold::exchange {
namespace {

using recording::SampleBlock;

constexpr int kMaxMarkers = 100'000;
constexpr double kMostValues = 1 << 17;  // at once: 1 MB

class QualisysSource final : public ImportSource {
 public:
  QualisysSource(std::unique_ptr<ByteSource> bytes, std::string name)
      : bytes_(std::move(bytes)), path_(std::move(name)), lines_(*bytes_) {}

  std::string_view format() const override { return "qtm-tsv"; }
  const recording::ClipInfo& info() const override { return info_; }
  const std::vector<recording::StreamInfo>& streams() const override { return streams_; }
  const recording::ClockMap& clock_map(int) const override { return clock_; }
  const std::vector<recording::Gap>& gaps() const override { return gaps_; }
  const Issues& issues() const override { return issues_; }
  int64_t bytes() const override { return bytes_->size(); }

  Status Open() {
    info_.name = std::filesystem::path(path_).stem().string();
    info_.properties["import.format"] = "qtm-tsv";
    info_.properties["import.file"] = std::filesystem::path(path_).filename().string();
    std::vector<std::string> names;
    double rate_Hz = 0;
    for (;;) {
      HANDHOLD_ASSIGN(const std::optional<std::string_view> line, lines_.Next());
      if (!line) break;
      SplitCells(*line, '\t', cells_);
      const std::string key(cells_[0]);
      const auto value = [&](size_t k) { return cells_.size() > k ? std::string(cells_[k]) : ""; };
      double number = 0;
      // Data rows begin with a number; so do they when there is no Frame column.
      if (!key.empty() && ParseNumber(key, number)) break;
      head_rows_ = lines_.number();
      if (key == "Frame") {
        first_column_ = cells_.size() > 1 && cells_[1] == "Time" ? 2 : 1;
        break;
      }
      if (key == "MARKER_NAMES") {
        for (size_t k = 1; k < cells_.size(); ++k) names.push_back(value(k));
        while (!names.empty() && names.back().empty()) names.pop_back();
      } else if (key == "FREQUENCY") {
        if (!ParseNumber(value(1), rate_Hz)) rate_Hz = 0;
      } else if (key == "DATA_INCLUDED" && value(1) != "3D") {
        return At(ErrorCode::kUnsupported,
                  "holds '" + value(1) + "' data; only 3D trajectories are read");
      } else if (key == "NO_OF_FRAMES" && ParseNumber(value(1), number) && number > 0) {
        promised_ = static_cast<int64_t>(std::min(number, 1e12));
      } else if (key == "TIME_STAMP") {
        TakeTime(value(1));
      } else if (key == "TRAJECTORY_TYPES") {
        TellOfTypes();
      }
      if (key != "MARKER_NAMES" && !key.empty() && !value(1).empty())
        info_.properties["qtm." + key] = value(1);
    }
    if (names.empty()) return At(ErrorCode::kCorrupt, "has no MARKER_NAMES before its data");
    if (names.size() > kMaxMarkers) return At(ErrorCode::kUnsupported, "too many markers");
    if (!(rate_Hz >= 1e-3 && rate_Hz <= 1e7))
      return At(ErrorCode::kCorrupt, "has no FREQUENCY before its data");
    MakeStream(std::move(names), rate_Hz);
    return {};
  }

  Status ForEachBlock(Duration span, const BlockVisitor& visit) override {
    const size_t columns = streams_[0].channels.size();
    const double in_span = span.seconds() * streams_[0].rate.hz();
    const double most_rows = std::max(1.0, kMostValues / static_cast<double>(columns));
    const int most = static_cast<int>(std::clamp(in_span, 1.0, std::min(4096.0, most_rows)));
    lines_.Rewind();
    std::vector<double> by_row;
    SampleBlock block;
    block.stream_id = 1;
    int64_t rows = 0;
    const auto flush = [&]() -> Status {
      block.count = static_cast<int>(by_row.size() / columns);
      if (block.count == 0) return {};
      block.values.resize(by_row.size());
      const auto n = static_cast<size_t>(block.count);
      for (size_t i = 0; i < n; ++i) {
        for (size_t c = 0; c < columns; ++c) block.values[c * n + i] = by_row[i * columns + c];
      }
      by_row.clear();
      block.first_index = rows - block.count;
      block.first_counter = first_frame_ + block.first_index;
      return visit(block);
    };
    for (;;) {
      HANDHOLD_ASSIGN(const std::optional<std::string_view> line, lines_.Next());
      if (!line) break;
      if (lines_.number() <= head_rows_) continue;
      if (line->find_first_not_of(" \t") == std::string_view::npos) continue;
      HANDHOLD_TRY(TakeRow(*line, columns, rows, by_row));
      ++rows;
      if (by_row.size() >= static_cast<size_t>(most) * columns) HANDHOLD_TRY(flush());
    }
    HANDHOLD_TRY(flush());
    if (promised_ >= 0 && rows != promised_ && !told_)
      issues_.push_back({"NO_OF_FRAMES", rows < promised_ ? Severity::kLoss : Severity::kWarning,
                         (rows < promised_ ? "truncated: " : "says ") + std::to_string(promised_) +
                             " frames are promised, " + std::to_string(rows) + " are there"});
    if (rows < promised_ && !told_)
      gaps_.push_back(GapAtEnd(streams_[0], clock_, first_frame_ + rows, promised_ - rows));
    told_ = true;
    return {};
  }

 private:
  Error At(ErrorCode code, const std::string& what) const {
    return Error{code, path_ + ":" + std::to_string(lines_.number()) + ": " + what};
  }

  /// "2021-08-26, 15:19:24.317": local time of a place that the file does not name.
  void TakeTime(const std::string& text) {
    int y = 0, mo = 0, d = 0, h = 0, mi = 0;
    double s = 0;
    if (std::sscanf(text.c_str(), "%d-%d-%d, %d:%d:%lf", &y, &mo, &d, &h, &mi, &s) != 6) return;
    std::tm tm{};
    tm.tm_year = y - 1900;
    tm.tm_mon = mo - 1;
    tm.tm_mday = d;
    tm.tm_hour = h;
    tm.tm_min = mi;
    if (y < 1970 || y > 2200 || !(s >= 0 && s < 61)) return;
    info_.utc_start = Timestamp::FromNanoseconds(int64_t{::timegm(&tm)} * 1'000'000'000 +
                                                 static_cast<int64_t>(std::llround(s * 1e9)));
    info_.properties["import.utc_start"] = "local time of the recording, whose zone is not known";
  }

  void TellOfTypes() {
    int64_t filled = 0;
    for (size_t k = 1; k < cells_.size(); ++k)
      filled += cells_[k] != "Measured" && !cells_[k].empty() ? 1 : 0;
    if (filled > 0)
      issues_.push_back(
          {"TRAJECTORY_TYPES", Severity::kWarning,
           std::to_string(filled) +
               " trajectories hold filled samples, which the file does not tell apart "
               "from measured ones"});
  }

  void MakeStream(std::vector<std::string> names, double rate_Hz) {
    const int count = static_cast<int>(names.size());
    recording::StreamInfo stream;
    stream.id = 1;
    stream.name = "qtm/markers";
    stream.kind = recording::StreamKind::kMarkers;
    stream.device = "qtm";
    stream.frame = "W";
    stream.rate = RateFromHz(rate_Hz);
    for (const std::string& name :
         UniqueLabels(std::move(names), count, "M", "MARKER_NAMES", issues_)) {
      for (const char* axis : {".x", ".y", ".z"}) stream.channels.push_back({name + axis, "m"});
    }
    streams_.push_back(std::move(stream));
  }

  Status TakeRow(std::string_view line, size_t columns, int64_t rows, std::vector<double>& out) {
    SplitCells(line, '\t', cells_);
    if (cells_.size() == first_column_ + columns + 1 && cells_.back().empty()) cells_.pop_back();
    if (cells_.size() != first_column_ + columns)
      return At(ErrorCode::kCorrupt, "has " + std::to_string(cells_.size()) + " cells, " +
                                         std::to_string(columns / 3) + " markers need " +
                                         std::to_string(first_column_ + columns));
    if (first_column_ > 0) {
      double frame = 0;
      if (!ParseNumber(cells_[0], frame) || !(std::fabs(frame) <= 1e15))  // NaN too
        return At(ErrorCode::kCorrupt, "has no frame number");
      if (rows == 0) first_frame_ = static_cast<int64_t>(frame) - 1;
      if (static_cast<int64_t>(frame) != first_frame_ + 1 + rows)
        return At(ErrorCode::kCorrupt, "frame " + std::string(cells_[0]) + " is out of order");
    }
    for (size_t c = 0; c < columns; c += 3) {
      double mm[3];
      for (size_t k = 0; k < 3; ++k) {
        const std::string_view cell = cells_[first_column_ + c + k];
        if (!ParseNumber(cell, mm[k]))
          return At(ErrorCode::kCorrupt, "'" + std::string(cell.substr(0, 40)) + "' is no number");
      }
      const bool missing =
          !std::isfinite(mm[0] + mm[1] + mm[2]) || (mm[0] == 0 && mm[1] == 0 && mm[2] == 0);
      for (const double v : mm)
        out.push_back(missing ? std::numeric_limits<double>::quiet_NaN() : MillimetresToMetres(v));
    }
    return {};
  }

  const std::unique_ptr<ByteSource> bytes_;
  const std::string path_;
  LineReader lines_;
  std::vector<std::string_view> cells_;
  recording::ClipInfo info_;
  recording::ClockMap clock_ = recording::ClockMap::Identity();
  std::vector<recording::StreamInfo> streams_;
  std::vector<recording::Gap> gaps_;
  Issues issues_;
  int64_t head_rows_ = 0, promised_ = -1, first_frame_ = 0;
  size_t first_column_ = 0;
  bool told_ = false;
};

Result<std::unique_ptr<ImportSource>> Open(std::unique_ptr<ByteSource> bytes,
                                           const std::string& name) {
  auto source = std::make_unique<QualisysSource>(std::move(bytes), name);
  HANDHOLD_TRY(source->Open());
  return std::unique_ptr<ImportSource>(std::move(source));
}

}  // namespace

bool IsQualisysTsv(std::string_view beginning) {
  return beginning.starts_with("NO_OF_FRAMES\t") ||
         beginning.substr(0, 2000).find("\nMARKER_NAMES\t") != std::string_view::npos;
}

Result<std::unique_ptr<ImportSource>> OpenQualisysTsv(const std::string& path) {
  HANDHOLD_ASSIGN(std::unique_ptr<ByteSource> bytes, ByteSource::OpenFile(path));
  return Open(std::move(bytes), path);
}

Result<std::unique_ptr<ImportSource>> OpenQualisysTsv(std::span<const uint8_t> bytes,
                                                      const std::string& name) {
  return Open(ByteSource::OfBytes(bytes), name);
}

}  // namespace handhold::exchange
