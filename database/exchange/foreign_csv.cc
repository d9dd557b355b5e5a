// Tables that other programs wrote: names, perhaps units, rows of numbers.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "database/exchange/c3d_contents.h"
#include "database/exchange/csv_source.h"

namespace handhold::exchange {
namespace {

using recording::StreamInfo;

constexpr size_t kMaxColumns = 65'536;

class ForeignCsv final : public CsvSource {
 public:
  ForeignCsv(std::unique_ptr<ByteSource> bytes, std::string name, const CsvReadOptions& options)
      : CsvSource(std::move(bytes), std::move(name)), options_(options) {}

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
    HANDHOLD_TRY(FindTimeColumn(names));
    HANDHOLD_ASSIGN(more, NextLine());
    head_rows_ = 1;
    if (more) {
      SplitCells(line_, separator_, cells_);
      HANDHOLD_ASSIGN(const bool has_units, IsUnitsRow());
      if (has_units) {
        for (const std::string_view cell : cells_) units.push_back(Unquoted(cell));
        head_rows_ = 2;
      }
    }
    units.resize(names.size());
    HANDHOLD_TRY(FindTimeUnit(names, units));
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
    CsvRows rows;
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
        if (!ParseNumber(Bare(cells_[c]), value)) return NoNumber(cells_[c]);
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
                                         std::to_string(width_) +
                                         (separator_ == ',' && cells_.size() > width_
                                              ? "; if its numbers have decimal commas, write points"
                                              : ""));
    return {};
  }

  Result<double> TimeOf() {
    double value = 0;
    const std::string_view cell = cells_[static_cast<size_t>(time_column_)];
    if (!ParseNumber(Bare(cell), value)) return NoNumber(cell);
    if (!std::isfinite(value))
      return At(ErrorCode::kCorrupt, "'" + std::string(cell.substr(0, 40)) + "' is no time");
    return value * seconds_per_unit_;
  }

  static bool HasDecimalComma(std::string_view cell) {
    std::string text(cell);
    const size_t comma = text.find(',');
    double value = 0;
    if (comma == std::string::npos) return false;
    text[comma] = '.';
    return ParseNumber(text, value);
  }

  Error NoNumber(std::string_view cell) const {
    return At(
        ErrorCode::kCorrupt,
        "'" + std::string(cell.substr(0, 40)) + "' is no number" +
            (HasDecimalComma(Bare(cell)) ? ": write decimals with a point, not a comma" : ""));
  }

  /// The second row: units, or the first samples? Decided by the time, or, without times, by
  /// whether any cell is a number ("1" is a unit too). A sample that is no number must not turn its
  /// row into units.
  Result<bool> IsUnitsRow() const {
    bool any_number = false, any_text = false;
    for (size_t c = 0; c < cells_.size(); ++c) {
      const std::string_view cell = Bare(cells_[c]);
      double number = 0;
      const bool is_number = ParseNumber(cell, number);
      if (!is_number && HasDecimalComma(cell)) return NoNumber(cell);
      if (static_cast<int>(c) == time_column_ && !cell.empty()) return !is_number;
      any_number = any_number || (is_number && !cell.empty() && cell != "1");
      any_text = any_text || !is_number;
    }
    return any_text && !any_number;
  }

  /// "time", "t", "Time (ms)", "t_us", ...; its unit, if the name holds one.
  static bool IsTime(const std::string& given, std::string& unit) {
    std::string name;
    for (const char ch : given)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
    const size_t cut = name.find_first_of("_ ([");
    unit = cut == std::string::npos ? "" : name.substr(cut);
    std::erase_if(unit, [](char ch) {
      return std::string_view("_ ()[]").find(ch) != std::string_view::npos;
    });
    const std::string stem = name.substr(0, cut);
    return stem == "time" || stem == "t";
  }

  Status FindTimeColumn(const std::vector<std::string>& names) {
    width_ = names.size();
    if (width_ > kMaxColumns)
      return At(ErrorCode::kUnsupported, "has " + std::to_string(width_) + " columns; at most " +
                                             std::to_string(kMaxColumns) + " are read");
    std::string unit;
    for (size_t c = 0; c < names.size(); ++c) {
      if (time_column_ < 0 && IsTime(names[c], unit)) {
        time_column_ = static_cast<int>(c);
      } else {
        columns_.push_back(c);
      }
    }
    if (columns_.empty()) return At(ErrorCode::kUnsupported, "has no column but the time");
    return {};
  }

  Status FindTimeUnit(const std::vector<std::string>& names,
                      const std::vector<std::string>& units) {
    static const std::map<std::string, double> kSeconds = {
        {"s", 1.0}, {"sec", 1.0}, {"seconds", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    if (time_column_ < 0) return {};
    const auto at = static_cast<size_t>(time_column_);
    std::string in_name;
    IsTime(names[at], in_name);
    const std::string unit = !units[at].empty() ? units[at] : in_name.empty() ? "s" : in_name;
    const auto seconds = kSeconds.find(unit);
    if (seconds == kSeconds.end())
      return At(ErrorCode::kUnsupported, "the column '" + names[at] + "' has the unit '" + unit +
                                             "': s, ms, us and ns are known");
    seconds_per_unit_ = seconds->second;
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
    std::set<std::string> taken;
    for (const size_t c : columns_) {
      std::string name = names[c].empty() ? "column" + std::to_string(c + 1) : names[c];
      if (!taken.insert(name).second) {
        issues_.push_back(
            {name, Severity::kWarning, "occurs more than once; got its column's number"});
        name += "#" + std::to_string(c + 1);
        while (!taken.insert(name).second) name += "#";
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

}  // namespace

Result<std::unique_ptr<ImportSource>> OpenForeignCsv(std::unique_ptr<ByteSource> bytes,
                                                     const std::string& name,
                                                     const CsvReadOptions& options) {
  auto source = std::make_unique<ForeignCsv>(std::move(bytes), name, options);
  HANDHOLD_TRY(source->Open());
  return std::unique_ptr<ImportSource>(std::move(source));
}

}  // namespace handhold::exchange
