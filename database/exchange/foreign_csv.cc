// Tables that other programs wrote: names, perhaps units, rows of numbers.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "database/base/names.h"
#include "database/exchange/c3d_contents.h"
#include "database/exchange/csv_source.h"

namespace handhold::exchange {
namespace {

using recording::StreamInfo;

constexpr size_t kMaxColumns = 65'536;

// How far a row may lie off the even grid, in periods: more could belong to the sample next to it.
constexpr double kMostOff = 0.25;
// Up to here nothing is said of it.
constexpr double kSilentOff = 1e-4;
// What rounding explains, in steps of the last decimal place: half a step, and the line's own
// error.
constexpr double kRoundingSteps = 0.8;
constexpr int64_t kRowsOfGuess = 10'000;

/// Units that mean something here (those of queries, and what they are made of); others are kept as
/// they are written, and named.
bool IsKnownUnit(std::string_view unit) {
  static const std::set<std::string_view> kKnown = {
      "1",  "%",   "count", "counts", "N",    "mN",   "kN",    "lbf",    "kgf",    "gf",  "N m",
      "Nm", "N.m", "mN m",  "mNm",    "N mm", "Nmm",  "N.mm",  "m",      "cm",     "mm",  "um",
      "s",  "ms",  "us",    "ns",     "min",  "h",    "rad",   "deg",    "V",      "mV",  "uV",
      "Pa", "kPa", "MPa",   "K",      "degC", "Hz",   "kHz",   "g",      "kg",     "m/s", "mm/s",
      "A",  "mA",  "rad/s", "deg/s",  "bool", "m/s2", "m/s^2", "deg/s2", "rad/s2", "W",   "J"};
  return kKnown.contains(unit);
}

/// "Fx [mN]", "Fx (mN)": name and unit. In round brackets only what is a unit: "Elbow (R)" has
/// none.
std::pair<std::string, std::string> SplitUnitOff(const std::string& name) {
  for (const char* brackets : {"[]", "()"}) {
    const size_t open = name.rfind(brackets[0]);
    if (open == std::string::npos || open == 0 || name.back() != brackets[1]) continue;
    const std::string unit = name.substr(open + 1, name.size() - open - 2);
    // "C7[0]" is an element, not a marker in the unit 0.
    if (unit.find_first_not_of("0123456789 ,:") == std::string::npos) continue;
    if (brackets[0] == '(' && !IsKnownUnit(unit)) continue;
    const std::string stem = name.substr(0, name.find_last_not_of(' ', open - 1) + 1);
    if (!stem.empty()) return {stem, unit};
  }
  return {name, ""};
}

/// The rate of rows and what their printed times say of it, fitted in one pass.
///
/// A row's sample number follows from the row before and a first guess of the period, so that an
/// error of the guess does not add up; the rate is the slope of the straight line through all rows.
class RateFit {
 public:
  /// `period_s`: the guess; `no_gaps`: every row is the next sample.
  RateFit(double period_s, bool no_gaps) : period_s_(period_s), no_gaps_(no_gaps) {}

  /// Times from the first row's, which is 0; they ascend.
  void Add(double t_s) {
    if (rows_ > 0)
      n_ += no_gaps_ ? 1 : std::max<int64_t>(1, std::llround((t_s - last_s_) / period_s_));
    last_s_ = t_s;
    ++rows_;
    const long double n = static_cast<long double>(n_), t = t_s;
    sum_n_ += n;
    sum_t_ += t;
    sum_nn_ += n * n;
    sum_nt_ += n * t;
    sum_tt_ += t * t;
  }

  double period_s() const {
    const long double rows = rows_;
    return static_cast<double>((rows * sum_nt_ - sum_n_ * sum_t_) /
                               (rows * sum_nn_ - sum_n_ * sum_n_));
  }
  /// Time of sample 0 where the period is this.
  double begin_s(double period_s) const {
    return static_cast<double>((sum_t_ - static_cast<long double>(period_s) * sum_n_) / rows_);
  }
  /// Root mean square of the rows' distances from the line.
  double scatter_s() const {
    const long double rows = rows_, T = period_s();
    const long double spread =
        sum_tt_ - sum_t_ * sum_t_ / rows - T * (sum_nt_ - sum_n_ * sum_t_ / rows);
    return std::sqrt(std::max(0.0, static_cast<double>(spread / rows)));
  }
  int64_t last_n() const { return n_; }

 private:
  const double period_s_;
  const bool no_gaps_;
  int64_t n_ = 0, rows_ = 0;
  double last_s_ = 0;
  long double sum_n_ = 0, sum_t_ = 0, sum_nn_ = 0, sum_nt_ = 0, sum_tt_ = 0;
};

/// The simplest fraction whose last sample lies within `bound_s` of where the fitted period has it.
recording::Rate SimplestRate(double period_s, int64_t last_n, double bound_s) {
  constexpr int64_t kFinest = 1'000'000;  // of a hertz; the store's fast path ends there
  const double hz = 1.0 / period_s;
  for (int64_t denominator = 1; denominator <= 1001; ++denominator) {
    const auto numerator = std::llround(hz * static_cast<double>(denominator));
    if (numerator < 1) continue;
    const double period = static_cast<double>(denominator) / static_cast<double>(numerator);
    if (std::fabs(period - period_s) * static_cast<double>(last_n) <= bound_s)
      return {numerator, denominator};
  }
  return {std::llround(hz * static_cast<double>(kFinest)), kFinest};
}

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
      names.push_back(Trimmed(cell));
      named = named || !ParseNumber(cell, number);
    }
    if (!named) {
      // By number then, if somebody says when its rows were: names are columns' numbers from 1.
      if (options_.rate_Hz <= 0 && options_.time_column.empty())
        return At(ErrorCode::kUnsupported,
                  "begins with numbers. Write a row of column names first; or say its rate, or in "
                  "a head which column is the time (#table): its columns are then called column1, "
                  "column2 and so on");
      for (size_t c = 0; c < names.size(); ++c) names[c] = "column" + std::to_string(c + 1);
      head_rows_ = 0;
      units.resize(names.size());
      HANDHOLD_TRY(FindTimeColumn(names));
      HANDHOLD_TRY(FindTimeUnit(names, units));
      HANDHOLD_TRY(FindRate());
      return MakeStream(names, units);
    }
    HANDHOLD_TRY(FindTimeColumn(names));
    HANDHOLD_ASSIGN(more, NextLine());
    head_rows_ = 1;
    if (more) {
      SplitCells(line_, separator_, cells_);
      HANDHOLD_ASSIGN(const bool has_units, IsUnitsRow());
      if (has_units) {
        for (const std::string_view cell : cells_) units.push_back(Trimmed(cell));
        head_rows_ = 2;
      }
    }
    units.resize(names.size());
    HANDHOLD_TRY(FindTimeUnit(names, units));
    HANDHOLD_TRY(FindRate());
    return MakeStream(names, units);
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
    const double hz = head_.streams[0].rate.hz(), rounding = kRoundingSteps * rounding_s_ * hz;
    double most_off = 0;
    int64_t most_off_line = 0, inexact = 0;
    std::string first_inexact;
    while (true) {
      HANDHOLD_ASSIGN(more, NextLine());
      if (!more) break;
      if (line_.find_first_not_of(" ,;\t") == std::string_view::npos) continue;
      HANDHOLD_TRY(SplitRow());
      int64_t counter = row++;
      if (time_column_ >= 0) {
        HANDHOLD_ASSIGN(const double time_s, TimeOf());
        const double at = (time_s - first_s_ - begin_s_) * hz;
        if (!no_gaps_) counter = std::llround(at);
        const double off = at - static_cast<double>(counter);
        if (std::fabs(off) > std::max(kMostOff, rounding))
          return At(ErrorCode::kUnsupported, "is not evenly sampled: this row lies " + Short(off) +
                                                 " periods off the rate of " + Short(hz) +
                                                 " Hz that fits all rows best");
        if (std::fabs(off) > most_off) {
          most_off = std::fabs(off);
          most_off_line = lines_.number();
        }
        if (counter <= last) return At(ErrorCode::kCorrupt, "its time does not increase");
      }
      if (rows.block.count >= most || rows.by_row.size() >= kValuesPerBlock ||
          (rows.block.count > 0 && counter != last + 1))
        HANDHOLD_TRY(rows.Flush(visit));
      if (rows.block.count == 0) rows.block.first_counter = counter;
      for (const size_t c : columns_) {
        double value = 0;
        if (!ParseNumber(Bare(cells_[c]), value)) return NoNumber(cells_[c]);
        if (std::fabs(value) >= 0x1p53 && !IsExact(Bare(cells_[c]), value) && inexact++ == 0)
          first_inexact = "line " + std::to_string(lines_.number()) + ": " +
                          std::string(Bare(cells_[c]).substr(0, 40));
        rows.by_row.push_back(value);
      }
      ++rows.block.count;
      last = counter;
    }
    HANDHOLD_TRY(rows.Flush(visit));
    TellOfDeviation(most_off, rounding, most_off_line);
    if (inexact > 0 && !std::exchange(told_inexact_, true)) {
      issues_.push_back(
          {"values", Severity::kWarning,
           std::to_string(inexact) + (inexact == 1 ? " integer is" : " integers are") +
               " above 2^53 and rounded to what a double holds (first in " + first_inexact + ")"});
    }
    return {};
  }

 private:
  static std::string Short(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", number);
    return text;
  }

  /// Whether an integer is kept whole; what is written with decimals or an exponent is rounded as
  /// such numbers are.
  static bool IsExact(std::string_view cell, double value) {
    if (!cell.empty() && (cell.front() == '-' || cell.front() == '+')) cell.remove_prefix(1);
    if (cell.find_first_not_of("0123456789") != std::string_view::npos) return true;
    cell.remove_prefix(std::min(cell.find_first_not_of('0'), cell.size()));
    char held[400];
    std::snprintf(held, sizeof held, "%.0f", std::fabs(value));
    return cell == held;
  }

  /// A clip's even stream has no times of its own but those of its rate.
  void TellOfDeviation(double most_off, double rounding, int64_t line) {
    if (told_ || most_off <= std::max(kSilentOff, rounding)) return;
    told_ = true;
    const double hz = rate_.hz();
    issues_.push_back({"time", Severity::kWarning,
                       "is not quite even: rows lie up to " + Short(most_off / hz) + " s (" +
                           Short(most_off) + " periods, line " + std::to_string(line) +
                           ") off the even times at " + Short(hz) + " Hz that they get"});
  }

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

  /// A cell's text without quotes and the blanks that people align columns with.
  static std::string Trimmed(std::string_view cell) {
    const auto without_blanks = [](std::string_view text) {
      const size_t first = text.find_first_not_of(' ');
      return first == std::string_view::npos
                 ? std::string_view()
                 : text.substr(first, text.find_last_not_of(' ') - first + 1);
    };
    return std::string(without_blanks(Unquoted(without_blanks(cell))));
  }

  /// "time", "t", "timestamp", "Time (ms)", "t_us", ...; its unit, if the name holds one.
  static bool IsTime(const std::string& given, std::string& unit) {
    std::string name;
    for (const char ch : given)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
    for (const char* stamp : {"time_stamp", "time stamp"}) {
      if (name.starts_with(stamp)) name.erase(4, 1);
    }
    const size_t cut = name.find_first_of("_ ([");
    unit = cut == std::string::npos ? "" : name.substr(cut);
    std::erase_if(unit, [](char ch) {
      return std::string_view("_ ()[]").find(ch) != std::string_view::npos;
    });
    const std::string stem = name.substr(0, cut);
    return stem == "time" || stem == "t" || stem == "timestamp";
  }

  Status FindTimeColumn(const std::vector<std::string>& names) {
    width_ = names.size();
    if (width_ > kMaxColumns)
      return At(ErrorCode::kUnsupported, "has " + std::to_string(width_) + " columns; at most " +
                                             std::to_string(kMaxColumns) + " are read");
    if (!options_.time_column.empty() && std::ranges::count(names, options_.time_column) == 0)
      return At(ErrorCode::kInvalid, "has no column '" + options_.time_column +
                                         "', which the head calls its time" +
                                         DidYouMean(options_.time_column, names));
    std::string unit;
    for (size_t c = 0; c < names.size(); ++c) {
      bool is_time =
          options_.time_column.empty() ? IsTime(names[c], unit) : names[c] == options_.time_column;
      // A "t" may be a torque or a temperature; who says the rate needs no times.
      if (is_time && options_.time_column.empty() && options_.rate_Hz > 0 &&
          (names[c] == "t" || names[c] == "T")) {
        is_time = false;
        issues_.push_back({"column " + std::to_string(c + 1) + " '" + names[c] + "'",
                           Severity::kNote, "is read as data, not as times: the rate was given"});
      }
      if (time_column_ < 0 && is_time) {
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
    const std::string unit = !options_.time_unit.empty() ? options_.time_unit
                             : !units[at].empty()        ? units[at]
                             : in_name.empty()           ? "s"
                                                         : in_name;
    const auto seconds = kSeconds.find(unit);
    if (seconds == kSeconds.end() &&
        std::ranges::count_if(unit, [](unsigned char ch) { return std::isdigit(ch) != 0; }) > 3)
      return At(ErrorCode::kUnsupported, "the column '" + names[at] + "' begins with '" + unit +
                                             "': times are numbers, in s, ms, us or ns");
    if (seconds == kSeconds.end())
      return At(ErrorCode::kUnsupported, "the column '" + names[at] + "' has the unit '" + unit +
                                             "': s, ms, us and ns are known");
    seconds_per_unit_ = seconds->second;
    return {};
  }

  /// What a double of that size can tell apart.
  static double FinestOf(double time_s) { return std::fabs(time_s) * 0x1p-51; }

  /// One step of the last decimal place that is printed.
  double RoundingOf(double time_s) const {
    const std::string_view cell = Bare(cells_[static_cast<size_t>(time_column_)]);
    if (cell.find_first_of("eE") != std::string_view::npos) return FinestOf(time_s);
    const size_t point = cell.find('.');
    const auto decimals =
        point == std::string_view::npos ? 0.0 : static_cast<double>(cell.size() - point - 1);
    return std::max(FinestOf(time_s), std::pow(10.0, -decimals) * seconds_per_unit_);
  }

  /// Calls `take` with the times of the first rows of samples, which must ascend.
  template <typename Take>
  Status ForEachTime(int64_t most_rows, const Take& take) {
    lines_.Rewind();
    for (int skip = 0; skip < head_rows_; ++skip) HANDHOLD_TRY(NextLine());
    double last_s = -std::numeric_limits<double>::infinity();
    for (int64_t row = 0; row < most_rows;) {
      HANDHOLD_ASSIGN(const bool more, NextLine());
      if (!more) break;
      if (line_.find_first_not_of(" ,;\t") == std::string_view::npos) continue;
      HANDHOLD_TRY(SplitRow());
      HANDHOLD_ASSIGN(const double t_s, TimeOf());
      if (!(t_s > last_s)) return At(ErrorCode::kCorrupt, "its time does not increase");
      take(t_s);
      last_s = t_s;
      ++row;
    }
    return {};
  }

  /// From all rows: times are rounded in print, may jitter, and rows may be missing.
  Status FindRate() {
    if (time_column_ < 0) {
      if (!(options_.rate_Hz >= 1e-3 && options_.rate_Hz <= 1e7))
        return At(
            ErrorCode::kUnsupported,
            "has no column called time, t or timestamp: name one so, say in a head which it is "
            "(#table), or pass --rate HZ");
      rate_ = RateFromHz(options_.rate_Hz);
      return {};
    }
    HANDHOLD_ASSIGN(const double guess_s, GuessPeriod());
    RateFit fit(guess_s, no_gaps_);
    HANDHOLD_TRY(ForEachTime(std::numeric_limits<int64_t>::max(),
                             [&](double t_s) { fit.Add(t_s - first_s_); }));
    const double period_s = fit.period_s();
    if (!(period_s >= 1e-7 && period_s <= 1e3))
      return At(ErrorCode::kUnsupported, "its times do not increase");
    rate_ = SimplestRate(period_s, fit.last_n(), std::max(0.5 * rounding_s_, fit.scatter_s()));
    begin_s_ = fit.begin_s(1.0 / rate_.hz());
    if (options_.rate_Hz > 0) {
      issues_.push_back({"time", Severity::kWarning,
                         "says the rate, " + Short(rate_.hz()) + " Hz: --rate " +
                             Short(options_.rate_Hz) + " is not used"});
    }
    return {};
  }

  /// The period of the first rows, by their usual step; sets what printing rounds to.
  Result<double> GuessPeriod() {
    std::vector<double> steps;
    double last_s = 0;
    bool first = true;
    HANDHOLD_TRY(ForEachTime(kRowsOfGuess, [&](double t_s) {
      const double places_s = RoundingOf(t_s);
      if (first) {
        first_s_ = t_s;
      } else {
        steps.push_back(t_s - last_s);
      }
      // "0.1" between "0.09" and "0.11": the finest that any row shows.
      rounding_s_ = first ? places_s : std::min(rounding_s_, places_s);
      last_s = t_s;
      first = false;
    }));
    rounding_s_ = std::max(rounding_s_, FinestOf(last_s));
    if (steps.empty()) return At(ErrorCode::kUnsupported, "has fewer than two rows of samples");
    if (StepsAreSpreadEvenly(steps)) {
      no_gaps_ = true;
      return (last_s - first_s_) / static_cast<double>(steps.size());
    }
    std::vector<double> sorted = steps;
    const size_t middle = (steps.size() - 1) / 2;  // the lower: gaps make steps longer
    std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(middle),
                     sorted.end());
    // Steps of rounded times are of two lengths (16 and 17 ms at 60 Hz): their mean is the period.
    double sum = 0;
    int64_t count = 0;
    for (const double step : steps) {
      if (step > 1.5 * sorted[middle] + 1e-3 * rounding_s_) continue;
      sum += step;
      ++count;
    }
    return sum / static_cast<double>(count);
  }

  /// Where printing rounds to more than half a period, a row that is missing and one that is merely
  /// rounded up look alike: 900 Hz in ms has nine steps of 1 and one of 2, as 1 kHz with every
  /// tenth row lost. Even rows have their long steps at even distances, losses do not.
  bool StepsAreSpreadEvenly(const std::vector<double>& steps) {
    int64_t since = 0, shortest = 0, longest = 0, long_steps = 0;
    for (const double step : steps) {
      const double units = step / rounding_s_;
      ++since;
      if (std::fabs(units - 1) < 0.1) continue;
      if (std::fabs(units - 2) > 0.1) return false;
      if (long_steps > 0) {
        shortest = long_steps == 1 ? since : std::min(shortest, since);
        longest = std::max(longest, since);
      }
      ++long_steps;
      since = 0;
    }
    if (long_steps == 0 || long_steps == static_cast<int64_t>(steps.size())) return false;
    const bool even = long_steps > 4 && longest - shortest <= 1;
    issues_.push_back({"time", Severity::kWarning,
                       "is rounded to " + Short(rounding_s_) +
                           " s, more than half a period: rows that are missing and rows that are "
                           "rounded up look alike; taken as " +
                           (even ? "none missing" : "missing") + " (write more decimals)"});
    return even;
  }

  /// The unit of a column, of which `name` becomes what stands before it.
  Result<std::string> UnitOf(size_t column, std::string& name, const std::string& in_row) {
    const std::string where = "column " + std::to_string(column + 1) + " '" + name + "'";
    const auto [stem, in_name] = SplitUnitOff(name);
    const bool both = !in_name.empty() && !in_row.empty();
    if (both && in_name != in_row) {
      return Error{ErrorCode::kCorrupt, path_ + ":2: " + where + " has the unit '" + in_row +
                                            "' in the row of units and another in its name: write "
                                            "one of them"};
    }
    const std::string unit = !in_row.empty() ? in_row : in_name;
    if (!in_name.empty()) {
      name = stem;
      issues_.push_back({where, Severity::kNote,
                         "is read as '" + name + "' in the unit '" + unit + "' (line 1)"});
    }
    if (!unit.empty() && !IsKnownUnit(unit)) {
      issues_.push_back(
          {where, Severity::kWarning,
           "its unit '" + unit + "' (line " + (in_row.empty() ? "1" : "2") +
               ") is none that is known: its numbers are kept as they are, under that "
               "word, and no query converts them"});
    }
    return unit.empty() ? std::string("1") : unit;
  }

  Status MakeStream(const std::vector<std::string>& names, const std::vector<std::string>& units) {
    StreamInfo stream;
    stream.id = 1;
    stream.name = "csv/data";
    stream.device = "csv";
    stream.rate = rate_;
    std::set<std::string> taken;
    for (const size_t c : columns_) {
      std::string name = names[c].empty() ? "column" + std::to_string(c + 1) : names[c];
      HANDHOLD_ASSIGN(const std::string unit, UnitOf(c, name, units[c]));
      if (!taken.insert(name).second) {
        issues_.push_back(
            {name, Severity::kWarning, "occurs more than once; got its column's number"});
        name += "#" + std::to_string(c + 1);
        while (!taken.insert(name).second) name += "#";
      }
      stream.channels.push_back({name, unit});
    }
    head_.streams.push_back(std::move(stream));
    head_.clocks.push_back(recording::ClockMap::Identity());
    head_.info.name = std::filesystem::path(path_).stem().string();
    head_.info.properties["import.format"] = "csv";
    head_.info.properties["import.file"] = std::filesystem::path(path_).filename().string();
    if (time_column_ >= 0 && first_s_ != 0)
      head_.info.properties["csv.first_time_s"] = std::to_string(first_s_);
    return {};
  }

  const CsvReadOptions options_;
  char separator_ = ',';
  int head_rows_ = 1;
  size_t width_ = 0;
  int time_column_ = -1;
  double seconds_per_unit_ = 1.0, first_s_ = 0.0;
  double begin_s_ = 0.0;     ///< of sample 0, from first_s_ on: the line through all rows
  double rounding_s_ = 0.0;  ///< one step of the last decimal place that times are printed with
  bool no_gaps_ = false, told_ = false, told_inexact_ = false;
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
