#include "tools/live/screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <vector>

#include "capture/session/red_figures.h"

namespace handhold::live {
namespace {

using capture::HealthSnapshot;
using capture::SessionState;
using recording::QualityItem;
using text::Json;

/// A letter: five rows of five columns, the leftmost column in bit 4.
struct Glyph {
  char letter;
  std::array<uint8_t, 5> rows;
};
constexpr Glyph kGlyphs[] = {
    {'A', {14, 17, 31, 17, 17}}, {'B', {30, 17, 30, 17, 30}}, {'C', {15, 16, 16, 16, 15}},
    {'D', {30, 17, 17, 17, 30}}, {'E', {31, 16, 30, 16, 31}}, {'F', {31, 16, 30, 16, 16}},
    {'G', {15, 16, 19, 17, 15}}, {'H', {17, 17, 31, 17, 17}}, {'I', {14, 4, 4, 4, 14}},
    {'J', {7, 2, 2, 18, 12}},    {'K', {17, 18, 28, 18, 17}}, {'L', {16, 16, 16, 16, 31}},
    {'M', {17, 27, 21, 17, 17}}, {'N', {17, 25, 21, 19, 17}}, {'O', {14, 17, 17, 17, 14}},
    {'P', {30, 17, 30, 16, 16}}, {'Q', {14, 17, 21, 18, 13}}, {'R', {30, 17, 30, 18, 17}},
    {'S', {15, 16, 14, 1, 30}},  {'T', {31, 4, 4, 4, 4}},     {'U', {17, 17, 17, 17, 14}},
    {'V', {17, 17, 17, 10, 4}},  {'W', {17, 17, 21, 27, 17}}, {'X', {17, 10, 4, 10, 17}},
    {'Y', {17, 10, 4, 4, 4}},    {'Z', {31, 2, 4, 8, 31}},    {'0', {14, 19, 21, 25, 14}},
    {'1', {4, 12, 4, 4, 14}},    {'2', {30, 1, 14, 16, 31}},  {'3', {30, 1, 14, 1, 30}},
    {'4', {18, 18, 31, 2, 2}},   {'5', {31, 16, 30, 1, 30}},  {'6', {14, 16, 30, 17, 14}},
    {'7', {31, 1, 2, 4, 4}},     {'8', {14, 17, 14, 17, 14}}, {'9', {14, 17, 15, 1, 14}},
    {':', {0, 4, 0, 4, 0}},      {'.', {0, 0, 0, 0, 4}},      {'-', {0, 0, 14, 0, 0}},
    {' ', {0, 0, 0, 0, 0}},
};

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string Clock(Duration d) {
  const int64_t s = std::max<int64_t>(0, d.ns() / 1'000'000'000);
  return s >= 3600 ? Format("%lld:%02lld:%02lld", static_cast<long long>(s / 3600),
                            static_cast<long long>(s / 60 % 60), static_cast<long long>(s % 60))
                   : Format("%lld:%02lld", static_cast<long long>(s / 60),
                            static_cast<long long>(s % 60));
}

/// Cut or filled to the width; text of ours is ASCII, names and causes of others are cut by bytes
/// at a character's edge.
std::string Fitted(std::string text, int columns) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  auto width = static_cast<size_t>(columns);
  if (text.size() > width) {
    while (width > 0 && (static_cast<unsigned char>(text[width]) & 0xc0) == 0x80) --width;
    text.resize(width);
  }
  return text;
}

std::string Headline(const HealthSnapshot& h) {
  switch (h.state) {
    case SessionState::kRecording:
      return "REC " + Clock(h.recorded);
    case SessionState::kArmed:
      return h.watching ? "WATCHING" : "ARMED";
    case SessionState::kStored:
      return "STORED";
    case SessionState::kChecked:
      return "READY";
    case SessionState::kConfigured:
      return "NOT READY";
  }
  return "";
}

std::vector<capture::RedFigure> Unseen(const HealthSnapshot& h) {
  std::vector<QualityItem> items = h.items;
  std::erase_if(items, [](const QualityItem& item) { return item.acknowledged; });
  // What is required comes first.
  std::stable_partition(items.begin(), items.end(), [&](const QualityItem& item) {
    const std::string device = item.stream.substr(0, item.stream.find('/'));
    return std::ranges::any_of(h.sources, [&](const capture::SourceStatus& source) {
      return source.name == device && source.required;
    });
  });
  return capture::RedFigures(items);
}

/// What a key press has seen and nothing mends: samples that are lost, of the stream that lost
/// most. Empty: none are.
std::string Lost(const HealthSnapshot& h) {
  const QualityItem* most = nullptr;
  for (const QualityItem& item : h.items) {
    if (item.what != "lost_samples" || !item.red || item.value <= item.threshold) continue;
    if (most == nullptr || item.value > most->value) most = &item;
  }
  return most == nullptr ? "" : Format("SEEN: %s lost %.0f", most->stream.c_str(), most->value);
}

/// Why the bar is red, in few words; empty: it is green.
std::string Trouble(const HealthSnapshot& h) {
  if (!h.trouble.empty()) return h.trouble;
  std::string gone;
  int count = 0;
  for (const capture::SourceStatus& source : h.sources) {
    if (!source.required || source.connected) continue;
    gone += (count++ > 0 ? ", " : "") + source.name;
  }
  if (count > 0) return gone + (count > 1 ? " ARE GONE" : " IS GONE");
  const auto red = Unseen(h);
  if (red.empty()) return Lost(h);
  std::string text =
      "LOOK: " + (red[0].name.empty() ? "this machine" : red[0].name) + " " + red[0].item.what;
  if (red.size() > 1) text += Format(" and %zu more", red.size() - 1);
  return text;
}

const QualityItem* FindOf(const HealthSnapshot& h, const std::string& source,
                          std::string_view what) {
  const QualityItem* worst = nullptr;
  for (const QualityItem& item : h.items) {
    if (item.what != what) continue;
    if (item.stream != source && !item.stream.starts_with(source + "/")) continue;
    if (worst == nullptr) worst = &item;
  }
  return worst;
}

double SumOf(const HealthSnapshot& h, const std::string& source, std::string_view what) {
  double most = 0;
  for (const QualityItem& item : h.items) {
    if (item.what == what && (item.stream == source || item.stream.starts_with(source + "/")))
      most = std::max(most, item.value);
  }
  return most;
}

/// How long nothing has come from a source that should have sent three periods ago, s; 0: it sends.
/// The last rate of a source that fell silent would read as alive from across the room.
double Silent_s(const HealthSnapshot& h, const std::string& source) {
  const QualityItem* age = FindOf(h, source, "last_sample_age_s");
  const QualityItem* rate = FindOf(h, source, "rate_Hz");
  if (age == nullptr) return 0.0;
  const double period_s = rate != nullptr && rate->value > 0 ? 1.0 / rate->value : 0.0;
  return age->value > std::max(1.0, 3 * period_s) ? age->value : 0.0;
}

/// "   500.0 Hz  last    3 ms  lost 0  visible 100 %  clock +-12 us".
std::string SourceFigures(const HealthSnapshot& h, const std::string& name) {
  std::string out;
  if (const double silent_s = Silent_s(h, name); silent_s > 0) {
    out += Format(" SILENT %.1f s", silent_s);
  } else if (const QualityItem* rate = FindOf(h, name, "rate_Hz")) {
    out += Format("%8.1f Hz", rate->value);
  }
  if (const QualityItem* age = FindOf(h, name, "last_sample_age_s"))
    out += Format("  last %4.0f ms", 1e3 * age->value);
  out += Format("  lost %.0f", SumOf(h, name, "lost_samples"));
  if (const QualityItem* visible = FindOf(h, name, "visible_fraction"))
    out += Format("  visible %.0f %%", 100 * visible->value);
  double clock_s = 0.0;
  for (const capture::ClockStatus& clock : h.clocks)
    if (clock.stream == name || clock.stream.starts_with(name + "/"))
      clock_s = std::max(clock_s, clock.uncertainty_s);
  if (clock_s > 0) out += Format("  clock +-%.0f us", 1e6 * clock_s);
  return out;
}

class Painter {
 public:
  explicit Painter(const ScreenOptions& options) : options_(options) {}
  void Line(const std::string& text, const char* colour = "") {
    ++lines_;
    if (!out_.empty()) out_ += "\n";
    const std::string fitted = Fitted(text, options_.columns);
    out_ += options_.colour && *colour != '\0'
                ? std::string("\x1b[") + colour + "m" + fitted + "\x1b[0m"
                : fitted;
  }
  /// Coloured from edge to edge.
  void Bar(std::string text, const char* colour) {
    text = Fitted("  " + text, options_.columns);
    text.resize(static_cast<size_t>(options_.columns), ' ');
    Line(text, colour);
  }
  void Big(std::string_view text, const char* colour) {
    const std::string big = BigText(text, options_.columns);
    for (size_t at = 0; at < big.size();) {
      const size_t end = std::min(big.find('\n', at), big.size());
      Line(big.substr(at, end - at), colour);
      at = end + 1;
    }
  }
  int lines() const { return lines_; }
  std::string Take() { return std::move(out_); }

 private:
  const ScreenOptions& options_;
  std::string out_;
  int lines_ = 0;
};

/// A line below the bar. Where rows are few, details go first.
struct Row {
  std::string text;
  const char* colour;
  bool detail = false;
};

void LeaveOut(std::vector<Row>* rows, size_t most) {
  for (size_t at = rows->size(); at-- > 0 && rows->size() > most;)
    if ((*rows)[at].detail) rows->erase(rows->begin() + static_cast<std::ptrdiff_t>(at));
  if (rows->size() <= most) return;
  const size_t more = rows->size() - most + 1;
  rows->resize(most - 1);
  rows->push_back({Format("  and %zu lines more", more), "31"});
}

constexpr int kRowsForBig = 12;
constexpr const char* kRedBar = "1;97;41";
constexpr const char* kGreenBar = "1;30;42";

}  // namespace

std::string BigText(std::string_view text, int columns) {
  std::array<std::string, 5> rows;
  for (const char c : text) {
    const char upper = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    const auto* glyph = std::find_if(std::begin(kGlyphs), std::end(kGlyphs),
                                     [&](const Glyph& g) { return g.letter == upper; });
    if (glyph == std::end(kGlyphs)) continue;
    if (static_cast<int>(rows[0].size()) + 6 > columns) break;
    for (size_t r = 0; r < rows.size(); ++r) {
      for (int bit = 4; bit >= 0; --bit) rows[r] += (glyph->rows[r] >> bit & 1) != 0 ? '#' : ' ';
      rows[r] += ' ';
    }
  }
  std::string out;
  for (std::string& row : rows) {
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out;
}

std::string Screen(const HealthSnapshot& h, const ScreenOptions& options) {
  Painter paint(options);
  const std::string trouble = Trouble(h);
  const bool recording = h.state == SessionState::kRecording;
  const char* colour = recording ? "1;31" : "1;32";
  if (options.rows == 0 || options.rows >= kRowsForBig) {
    paint.Big(Headline(h), colour);
  } else {
    paint.Line(Headline(h), colour);
  }
  if (trouble.empty()) {
    paint.Bar("ALL GOOD", kGreenBar);
  } else {
    paint.Bar(trouble, kRedBar);
  }
  if (!h.take.empty() && recording) {
    paint.Line(Format("%s   %.1f MB on disk, %.0f ms behind", h.take.c_str(),
                      1e-6 * static_cast<double>(h.bytes), 1e3 * h.durable_age.seconds()));
  }
  if (!options.last.empty() && !recording)
    paint.Line("last: " + std::string(options.last), options.last_is_good ? "1;32" : "1;31");
  size_t widest = 4;
  for (const capture::SourceStatus& source : h.sources)
    widest = std::max(widest, source.name.size());
  std::vector<Row> rows;
  for (const capture::SourceStatus& source : h.sources) {
    std::string name = source.name;
    name.resize(widest, ' ');
    if (source.connected) {
      const bool silent = Silent_s(h, source.name) > 0;
      rows.push_back({(silent ? "  LOOK  " : "  ok    ") + name + SourceFigures(h, source.name),
                      silent ? "1;31" : "32"});
    } else {
      rows.push_back(
          {(source.required ? "  GONE  " : "  away  ") + name + "  " + source.text, "1;31"});
    }
  }
  for (const capture::RedFigure& red : Unseen(h)) {
    rows.push_back({Format("  RED   %s %s %.4g, limit %.4g", red.name.c_str(),
                           red.item.what.c_str(), red.item.worst, red.item.threshold),
                    "1;31"});
    if (!red.item.cause.empty()) rows.push_back({"        " + red.item.cause, "31", true});
  }
  if (options.rows > 0) {
    const int used = paint.lines() + (options.keys.empty() ? 0 : 1);
    LeaveOut(&rows, static_cast<size_t>(std::max(1, options.rows - used)));
  }
  for (const Row& row : rows) paint.Line(row.text, row.colour);
  if (!options.keys.empty()) paint.Line(std::string(options.keys), "2");
  return paint.Take();
}

std::string ScreenLine(const HealthSnapshot& h) {
  std::string out(h.state_word());
  if (h.state == SessionState::kRecording) out += " " + Clock(h.recorded);
  const std::string trouble = Trouble(h);
  out += trouble.empty() ? "  all good" : "  " + trouble;
  for (const capture::SourceStatus& source : h.sources) {
    out += "  " + source.name;
    if (!source.connected) {
      out += " gone";
      continue;
    }
    if (const double silent_s = Silent_s(h, source.name); silent_s > 0) {
      out += Format(" SILENT %.1f s", silent_s);
    } else if (const QualityItem* rate = FindOf(h, source.name, "rate_Hz")) {
      out += Format(" %.1f Hz", rate->value);
    }
    if (const double lost = SumOf(h, source.name, "lost_samples"); lost > 0)
      out += Format(" lost %.0f", lost);
  }
  return out;
}

Json HealthJson(const HealthSnapshot& h) {
  Json sources = Json::Array(), items = Json::Array();
  for (const capture::SourceStatus& source : h.sources) {
    sources.Push(Json::Object({{"name", source.name},
                               {"connected", source.connected},
                               {"required", source.required},
                               {"text", source.text}}));
  }
  const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(); };
  for (const QualityItem& item : h.items) {
    items.Push(Json::Object({{"stream", item.stream},
                             {"what", item.what},
                             {"value", number(item.value)},
                             {"worst", number(item.worst)},
                             {"threshold", number(item.threshold)},
                             {"red", item.red},
                             {"acknowledged", item.acknowledged},
                             {"cause", item.cause}}));
  }
  Json clocks = Json::Array();
  for (const capture::ClockStatus& clock : h.clocks)
    clocks.Push(
        Json::Object({{"stream", clock.stream}, {"uncertainty_s", number(clock.uncertainty_s)}}));
  return Json::Object({{"type", "health"},
                       {"host_ns", std::to_string(h.host.ns())},
                       {"state", h.state_word()},
                       {"take", h.take},
                       {"recorded_ns", std::to_string(h.recorded.ns())},
                       {"durable_age_ns", std::to_string(h.durable_age.ns())},
                       {"bytes", h.bytes},
                       {"red", h.red()},
                       {"trouble", h.trouble},
                       {"sources", std::move(sources)},
                       {"clocks", std::move(clocks)},
                       {"items", std::move(items)}});
}

Json CheckJson(const capture::CheckLine& line) {
  return Json::Object({{"type", "check"},
                       {"source", line.source},
                       {"stream", line.stream},
                       {"ok", line.ok},
                       {"required", line.required},
                       {"text", line.text}});
}

}  // namespace handhold::live
