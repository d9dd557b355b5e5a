// Somebody's table with a head that says what its columns are: schemas/exchange/csv.md.
#include <algorithm>
#include <sstream>

#include "database/base/names.h"
#include "database/exchange/csv_source.h"

namespace handhold::exchange {
namespace {

using recording::SampleBlock;
using recording::StreamInfo;
using recording::StreamKind;

constexpr std::string_view kTableLine = "#table ";
constexpr int kNamedColumns = 8;  // in a message

class HeadedTable final : public ImportSource {
 public:
  explicit HeadedTable(std::unique_ptr<ImportSource> table) : table_(std::move(table)) {}

  Status Open(const std::string& head, const std::string& name) {
    std::istringstream in(head);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      const std::string source = name + ":" + std::to_string(number);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.starts_with("#clip ")) {
        HANDHOLD_ASSIGN(const text::Json json, text::ParseJson(line.substr(6), {.source = source}));
        HANDHOLD_TRY(ClipHeadFromJson(text::JsonView(json, source), head_));
      } else if (line.starts_with("#stream ")) {
        HANDHOLD_ASSIGN(const text::Json json, text::ParseJson(line.substr(8), {.source = source}));
        HANDHOLD_TRY(AddStream(text::JsonView(json, source)));
      } else if (!line.empty() && line != kCsvMagic && !line.starts_with(kTableLine)) {
        return Error{ErrorCode::kInvalid,
                     source +
                         ": a head has the lines '#clip {...}', '#table {...}' and '#stream "
                         "{...}' alone"};
      }
    }
    if (head_.streams.empty()) return Error{ErrorCode::kInvalid, name + ": names no #stream"};
    HANDHOLD_TRY(PlaceSensors(name));
    HANDHOLD_ASSIGN(const TableHead table, ReadTableHead(head, name));
    TellOfUnused(table.ignored);
    recording::ClipInfo& info = head_.info;
    if (info.name.empty()) info.name = table_->info().name;
    for (const auto& [key, value] : table_->info().properties) info.properties[key] = value;
    return {};
  }

  std::string_view format() const override { return table_->format(); }
  const recording::ClipInfo& info() const override { return head_.info; }
  const std::vector<StreamInfo>& streams() const override { return head_.streams; }
  const recording::ClockMap& clock_map(int) const override { return table_->clock_map(1); }
  const std::vector<recording::ForceSensor>& force_sensors() const override {
    return head_.sensors;
  }
  const std::vector<recording::Event>& events() const override { return head_.events; }
  const recording::QualityRecord& quality() const override { return head_.quality; }
  const Issues& issues() const override { return issues_; }
  int64_t bytes() const override { return table_->bytes(); }

  Status ForEachBlock(Duration span, const BlockVisitor& visit) override {
    SampleBlock out;
    HANDHOLD_TRY(table_->ForEachBlock(span, [&](const SampleBlock& block) -> Status {
      const auto n = static_cast<size_t>(block.count);
      for (size_t s = 0; s < picks_.size(); ++s) {
        out.stream_id = static_cast<int>(s) + 1;
        out.first_index = block.first_index;
        out.first_counter = block.first_counter;
        out.count = block.count;
        out.values.clear();
        for (const int column : picks_[s]) {
          const auto begin =
              block.values.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(column) * n);
          out.values.insert(out.values.end(), begin, begin + block.count);
        }
        if (Status taken = visit(out); !taken) return taken;
      }
      return {};
    }));
    if (!std::exchange(told_, true))
      issues_.insert(issues_.begin(), table_->issues().begin(), table_->issues().end());
    return {};
  }

 private:
  /// Its channels are the table's columns of the same names, or those that "columns" names.
  Status AddStream(const text::JsonView& json) {
    HANDHOLD_TRY(StreamFromJson(json, head_));
    StreamInfo& stream = head_.streams.back();
    const StreamInfo& table = table_->streams().front();
    if (stream.kind == StreamKind::kText || stream.kind == StreamKind::kUnlabelledPoints)
      return json.Fail(
          "kind: a table has no texts and no points without labels: write our own CSV");
    stream.rate = table.rate;
    std::vector<std::string> columns;
    if (json.Has("columns")) {
      HANDHOLD_ASSIGN(columns, json.Get<std::vector<std::string>>("columns"));
      if (columns.size() != stream.channels.size())
        return json.Fail(std::string("columns: wants ") + std::to_string(stream.channels.size()) +
                             ", one for each channel, has " + std::to_string(columns.size()),
                         ErrorCode::kInvalid);
    } else {
      for (const recording::Channel& channel : stream.channels) columns.push_back(channel.name);
    }
    std::vector<std::string> known;
    for (const recording::Channel& column : table.channels) known.push_back(column.name);
    std::vector<int>& picks = picks_.emplace_back();
    for (size_t c = 0; c < columns.size(); ++c) {
      const int at = table.FindChannel(columns[c]);
      if (at < 0)
        return json.Fail(std::string("the table has no column '") + columns[c] + "'" +
                             DidYouMean(columns[c], known),
                         ErrorCode::kInvalid);
      const std::string& unit = table.channels[static_cast<size_t>(at)].unit;
      if (unit != "1" && unit != stream.channels[c].unit)
        return json.Fail(std::string("'") + columns[c] + "' is in '" + unit +
                             "' in the table, in '" + stream.channels[c].unit +
                             "' here: write the table's",
                         ErrorCode::kInvalid);
      picks.push_back(at);
    }
    return {};
  }

  /// Sensors and events speak of streams by the ids of the head.
  Status PlaceSensors(const std::string& name) {
    if (const Status known = CalibrateByUnits(head_); !known)
      return Error{known.error().code, name + ": " + known.error().message};
    const auto placed = [&](int& id) {
      const auto found = std::ranges::find(head_.given_ids, id);
      if (found == head_.given_ids.end()) return false;
      id = static_cast<int>(found - head_.given_ids.begin()) + 1;
      return true;
    };
    for (recording::ForceSensor& sensor : head_.sensors) {
      if (!placed(sensor.stream_id))
        return Error{ErrorCode::kInvalid, name + ": the sensor '" + sensor.name +
                                              "' reads stream " + std::to_string(sensor.stream_id) +
                                              ", which no #stream is ('id')"};
      const StreamInfo& stream = head_.streams[static_cast<size_t>(sensor.stream_id) - 1];
      if (sensor.calibration.cols() != stream.channel_count())
        return Error{ErrorCode::kInvalid,
                     name + ": the sensor '" + sensor.name + "' is calibrated for " +
                         std::to_string(sensor.calibration.cols()) + " channels, '" + stream.name +
                         "' has " + std::to_string(stream.channel_count())};
    }
    for (recording::Event& event : head_.events) {
      if (event.stream_id != 0 && !placed(event.stream_id)) event.stream_id = 0;
    }
    return {};
  }

  void TellOfUnused(const std::vector<std::string>& ignored) {
    const StreamInfo& table = table_->streams().front();
    std::string unused;
    int count = 0;
    for (int c = 0; c < table.channel_count(); ++c) {
      const bool used = std::ranges::any_of(
          picks_, [&](const std::vector<int>& picks) { return std::ranges::count(picks, c) > 0; });
      const std::string& column = table.channels[static_cast<size_t>(c)].name;
      if (used || std::ranges::count(ignored, column) > 0) continue;
      if (++count <= kNamedColumns) unused += (count > 1 ? ", '" : "'") + column + "'";
    }
    if (count > kNamedColumns) unused += " and " + std::to_string(count - kNamedColumns) + " more";
    if (count > 0)
      issues_.push_back({"columns", Severity::kNote,
                         std::to_string(count) + (count == 1 ? " is" : " are") +
                             " given to no stream by the head and not kept: " + unused});
  }

  const std::unique_ptr<ImportSource> table_;
  ClipHead head_;
  std::vector<std::vector<int>> picks_;  ///< by stream: the table's columns
  Issues issues_;
  bool told_ = false;
};

}  // namespace

Result<TableHead> ReadTableHead(const std::string& head, const std::string& name) {
  TableHead table;
  std::istringstream in(head);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (!line.starts_with(kTableLine)) continue;
    const std::string source = name + ":" + std::to_string(number);
    HANDHOLD_ASSIGN(const text::Json json,
                    text::ParseJson(line.substr(kTableLine.size()), {.source = source}));
    const text::JsonView view(json, source);
    const std::vector<std::string> known = {"time", "time_unit", "ignore"};
    for (const text::JsonMember& member : json.members()) {
      if (std::ranges::count(known, member.key) == 0)
        return view.Fail("unknown '" + member.key + "'" + DidYouMean(member.key, known),
                         ErrorCode::kInvalid);
    }
    HANDHOLD_ASSIGN(table.time, view.GetOr<std::string>("time", ""));
    HANDHOLD_ASSIGN(table.time_unit, view.GetOr<std::string>("time_unit", ""));
    HANDHOLD_ASSIGN(table.ignored, view.GetOr<std::vector<std::string>>("ignore", {}));
  }
  return table;
}

Result<std::unique_ptr<ImportSource>> WithHead(std::unique_ptr<ImportSource> table,
                                               const std::string& head, const std::string& name) {
  auto source = std::make_unique<HeadedTable>(std::move(table));
  HANDHOLD_TRY(source->Open(head, name));
  return std::unique_ptr<ImportSource>(std::move(source));
}

}  // namespace handhold::exchange
