#include "database/store/clip_reader.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "database/base/check.h"
#include "database/store/clip_cursor.h"
#include "database/store/window_reader.h"

namespace handhold::store {
namespace {

using recording::ClockMap;
using recording::SampleWindow;
using recording::StreamInfo;

/// What a file may cost SQLite: a tenth of a second, and what rows of its size can need.
constexpr int64_t kUntrustedSteps = 50'000'000;
constexpr int64_t kUntrustedStepsPerByte = 20;
constexpr int kStreamSeconds = 2;

/// As GetChunkEntries, but past damage: what can be listed from the front, then from the back.
std::vector<ChunkEntry> SalvageEntries(const Database& db, const StreamInfo& info, Issues& damage) {
  std::map<int64_t, ChunkEntry> found;
  for (const char* order : {"ASC", "DESC"}) {
    Result<Statement> list =
        db.Prepare(std::string("SELECT id, first_index, first_counter, last_counter, count, "
                               "first_time_ns, last_time_ns "
                               "FROM chunk WHERE id BETWEEN ?1 AND ?2 ORDER BY id ") +
                   order);
    if (!list) continue;
    list->Bind(1, ChunkId(info.id, 0))
        .Bind(2, ChunkId(info.id, std::numeric_limits<uint32_t>::max()));
    const Status status = list->ForEach([&](Statement& row) -> Status {
      found[row.Integer(0)] = {static_cast<uint32_t>(row.Integer(0)),
                               row.Integer(1),
                               row.Integer(2),
                               row.Integer(3),
                               row.Int(4),
                               row.Integer(5),
                               row.Integer(6)};
      return {};
    });
    if (status) break;
    damage.push_back({"stream '" + info.name + "'", Severity::kLoss,
                      "its list of chunks is damaged: " + status.error().message});
  }
  std::vector<ChunkEntry> entries;
  for (const auto& [id, entry] : found) entries.push_back(entry);
  return entries;
}

/// Rows that cannot be true are dropped in a salvage and refuse the clip otherwise.
Status CheckEntries(const Database& db, const StreamInfo& info, std::vector<ChunkEntry>& entries,
                    Issues* damage) {
  std::vector<ChunkEntry> good;
  for (const ChunkEntry& e : entries) {
    const bool possible =
        e.count > 0 && e.count <= kMaxFrameSamples && e.last_counter >= e.first_counter &&
        static_cast<uint64_t>(e.last_counter) - static_cast<uint64_t>(e.first_counter) >=
            static_cast<uint64_t>(e.count - 1) &&
        e.last_time_ns >= e.first_time_ns;
    const bool follows =
        good.empty() ||
        (e.first_counter > good.back().last_counter &&
         (damage != nullptr || e.first_index == good.back().first_index + good.back().count));
    const bool begins = !good.empty() || damage != nullptr || e.first_index == 0;
    if (possible && follows && begins) {
      good.push_back(e);
      continue;
    }
    const std::string what = "chunk " + std::to_string(e.sequence) + " of stream '" + info.name +
                             "' does not follow the one before it";
    if (damage == nullptr) return Error{ErrorCode::kCorrupt, db.path() + ": " + what};
    damage->push_back({"stream '" + info.name + "'", Severity::kLoss, what});
  }
  entries = std::move(good);
  return {};
}

class FileReader final : public ClipReader {
 public:
  explicit FileReader(std::string path) : path_(std::move(path)) {}
  Status Start(const ClipReaderOptions& options);
  /// Of a file that could not be opened: whether it is shorter than its header says, and what to
  /// do.
  Error Explained(Error error) const;

  const recording::ClipInfo& info() const override { return tables_.info; }
  const std::vector<StreamInfo>& streams() const override { return tables_.streams; }
  const std::vector<recording::ForceSensor>& force_sensors() const override {
    return tables_.sensors;
  }
  const std::vector<recording::Event>& events() const override { return tables_.events; }
  const std::vector<recording::Gap>& gaps() const override { return tables_.gaps; }
  const recording::QualityRecord& quality() const override { return tables_.quality; }
  const ClockMap& clock_map(int stream_id) const override {
    const auto clock = tables_.clocks.find(stream_id);
    CHECK(clock != tables_.clocks.end());
    return clock->second;
  }
  Result<std::vector<recording::ClockPair>> ClockPairs(int stream_id) const override {
    HANDHOLD_TRY(Find(stream_id));
    if (lost_pairs_.contains(stream_id)) return std::vector<recording::ClockPair>();
    return GetClockPairs(db_, stream_id);
  }
  recording::StreamInfo const* Info(int stream_id) const { return FindStream(stream_id); }
  TimeRange Extent(int stream_id) const override {
    const auto reader = readers_.find(stream_id);
    return reader == readers_.end() ? TimeRange{} : reader->second->Extent();
  }
  Result<SampleWindow> Read(int stream_id, TimeRange range,
                            const std::vector<int>& channels) const override {
    HANDHOLD_ASSIGN(WindowReader * reader, Find(stream_id));
    SampleWindow window;
    HANDHOLD_TRY(reader->Read(range, channels, window));
    return window;
  }
  Status Stream(int stream_id, const std::vector<int>& channels,
                const std::function<Status(const SampleWindow&)>& visit) const override;
  bool closed() const override { return tables_.closed; }
  Result<Issues> Check() const override;
  const std::string& path() const override { return path_; }
  bool is_artefact() const override { return tables_.is_artefact; }
  int64_t sample_count(int stream_id) const override {
    const auto reader = readers_.find(stream_id);
    if (reader == readers_.end()) return 0;
    int64_t count = 0;
    for (const ChunkEntry& entry : reader->second->entries()) count += entry.count;
    return count;
  }
  Result<std::vector<uint8_t>> Document(const std::string& name) const override;
  Result<std::vector<std::string>> DocumentNames() const override;
  Status VisitZones(int stream_id,
                    const std::function<Status(const TimedZone&)>& visit) const override;

 private:
  Result<WindowReader*> Find(int stream_id) const {
    const auto reader = readers_.find(stream_id);
    if (reader == readers_.end()) {
      return Error{ErrorCode::kNotFound,
                   "no stream " + std::to_string(stream_id) + " in clip " + tables_.info.name};
    }
    return reader->second.get();
  }
  Status OpenDatabase(const ClipReaderOptions& options);
  void LimitUntrusted() {
    std::error_code error;
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path_, error));
    db_.LimitWork(kUntrustedSteps + (error ? 0 : bytes * kUntrustedStepsPerByte));
  }
  void CheckStream(const StreamInfo& info, Issues& issues) const;
  std::vector<const recording::ForceSensor*> SensorsOf(int stream_id) const;

  std::string path_;
  Database db_;
  ClipTables tables_;
  std::map<int, std::unique_ptr<WindowReader>> readers_;
  std::set<int> lost_pairs_;  ///< streams whose clock pairs are damaged, and read around
};

Status FileReader::OpenDatabase(const ClipReaderOptions& options) {
  if (std::error_code error; !std::filesystem::is_regular_file(path_, error)) {
    return Error{
        ErrorCode::kNotFound,
        path_ + (std::filesystem::exists(path_, error) ? ": is not a file" : ": does not exist")};
  }
  DatabaseOptions open;
  open.vfs = options.vfs;
  open.cache_kib = 1024;
  open.inspect = HeaderCheck(FileKind::kClip);
  Result<Database> opened = Database::Open(path_, open);
  if (!opened && opened.error().code != ErrorCode::kCorrupt) {
    if (std::error_code error; std::filesystem::exists(path_ + "-journal", error)) {
      // Its recorder was killed while it closed the file: a connection that may write rolls the
      // journal back as it opens, one that only reads may not.
      DatabaseOptions writer = open;
      writer.mode = OpenMode::kReadWrite;
      if (const Result<Database> rolled_back = Database::Open(path_, writer); !rolled_back) {
        return Error{
            rolled_back.error().code,
            path_ + ": was cut off while it was closed and cannot be written; copy it and '" +
                path_ + "-journal' to a folder that can (" + rolled_back.error().message + ")"};
      }
      opened = Database::Open(path_, open);
    }
  }
  if (!opened) return opened.error();
  db_ = *std::move(opened);
  if (options.untrusted) LimitUntrusted();
  Status schema = CheckSchema(db_, FileKind::kClip);
  if (!schema && schema.error().code != ErrorCode::kCorrupt &&
      schema.error().code != ErrorCode::kVersion) {
    // A recording that was cut off needs its log's index written next to it. Where that cannot be
    // (read-only media) and there is no log, the file alone is the clip.
    if (std::error_code error; std::filesystem::exists(path_ + "-wal", error) &&
                               std::filesystem::file_size(path_ + "-wal", error) > 0) {
      return Error{
          ErrorCode::kIo,
          path_ + ": was cut off while recording and its folder cannot be written; copy it and '" +
              path_ + "-wal' to a folder that can (" + schema.error().message + ")"};
    }
    open.immutable = true;
    HANDHOLD_ASSIGN(db_, Database::Open(path_, open));
    if (options.untrusted) LimitUntrusted();
    schema = CheckSchema(db_, FileKind::kClip);
  }
  return schema;
}

Error FileReader::Explained(Error error) const {
  if (error.code != ErrorCode::kCorrupt) return error;
  if (error.message.find("copy it again") == std::string::npos &&
      error.message.find("'handhold library check'") == std::string::npos) {
    error.message +=
        "; 'handhold library check' says what can still be read, a copy of the file "
        "mends it";
  }
  return error;
}

Status FileReader::Start(const ClipReaderOptions& options) {
  HANDHOLD_TRY(OpenDatabase(options));
  if (options.untrusted) {
    HANDHOLD_ASSIGN(Statement check, db_.Prepare("PRAGMA quick_check(1)"));
    HANDHOLD_ASSIGN(const bool row, check.Step());
    // Whoever asks for what is left of a damaged file is told by Check.
    if (options.damage == nullptr && (!row || check.Text(0) != "ok")) {
      return Error{ErrorCode::kCorrupt, path_ + ": is damaged: " + check.String(0).substr(0, 200)};
    }
    check.Reset();
    LimitUntrusted();
  }
  // One read transaction: what is listed fits together while the clip is still being written, and
  // the file is locked once instead of for each of some forty statements.
  HANDHOLD_TRY(db_.Execute("BEGIN"));
  HANDHOLD_ASSIGN(tables_, GetTables(db_, options.damage));
  const auto say = [](const std::optional<std::string>& said, std::string& text) {
    if (said) text = *said;
  };
  say(options.name, tables_.info.name);
  say(options.subject, tables_.info.subject);
  say(options.session, tables_.info.session);
  say(options.task, tables_.info.task);
  if (options.prop && !options.prop->empty() && *options.prop != recording::PropNames(tables_.info))
    recording::SayProp(*options.prop, &tables_.info);
  if (tables_.recovered || !tables_.closed)
    tables_.info.properties["recovered"] = tables_.closed ? "closed after a crash" : "not closed";
  for (const StreamInfo& info : tables_.streams) {
    if (!tables_.clocks.contains(info.id)) {
      const Result<ClockMap> fallback = FallbackClock(db_, tables_.info, info.id);
      if (!fallback && options.damage == nullptr) return fallback.error();
      tables_.clocks[info.id] =
          fallback ? *fallback : ClockMap::Identity(tables_.info.host_start_ns);
    }
    std::vector<ChunkEntry> entries;
    if (options.damage != nullptr) {
      entries = SalvageEntries(db_, info, *options.damage);
    } else {
      entries = std::move(tables_.chunks[info.id]);
    }
    HANDHOLD_TRY(CheckEntries(db_, info, entries, options.damage));
    readers_[info.id] = std::make_unique<WindowReader>(
        db_, info, std::move(entries),
        ClipTimes(info.rate, &tables_.clocks.at(info.id), tables_.info.host_start_ns),
        tables_.info.host_start_ns);
    if (!tables_.closed) readers_[info.id]->CloseAfterEachRead();
    if (options.damage == nullptr || !options.read_around) continue;
    if (const auto pairs = VisitClockPairs(db_, info.id, [](const auto&) { return Status(); });
        !pairs) {
      options.damage->push_back({"stream '" + info.name + "'", Severity::kLoss,
                                 "its raw clock pairs are left out: " + pairs.error().message});
      lost_pairs_.insert(info.id);
    }
    for (recording::Gap& gap : readers_[info.id]->ReadAround(*options.damage))
      tables_.gaps.push_back(gap);
  }
  for (size_t i = 0; options.read_around && options.damage != nullptr && i < options.damage->size();
       ++i) {
    char key[32];
    std::snprintf(key, sizeof key, "damage.%03zu", i + 1);
    const Issue& issue = (*options.damage)[i];
    tables_.info.properties[key] = issue.where + ": " + issue.what;
  }
  tables_.chunks.clear();
  (void)db_.Execute("COMMIT").has_value();  // damage that was tolerated may have ended it
  return {};
}

Status FileReader::Stream(int stream_id, const std::vector<int>& channels,
                          const std::function<Status(const SampleWindow&)>& visit) const {
  HANDHOLD_ASSIGN(WindowReader * reader, Find(stream_id));
  const std::vector<ChunkEntry>& entries = reader->entries();
  SampleWindow window;
  for (size_t first = 0; first < entries.size();) {
    size_t last = first + 1;
    const Timestamp limit =
        reader->RangeOf(entries[first]).begin + Duration::Seconds(kStreamSeconds);
    const int64_t channels_read = static_cast<int64_t>(
        channels.empty() ? FindStream(stream_id)->channels.size() : channels.size());
    int64_t values = entries[first].count * channels_read;
    while (last < entries.size() && reader->RangeOf(entries[last]).end <= limit &&
           (values += entries[last].count * channels_read) <= kMaxWrittenValues)
      ++last;
    HANDHOLD_TRY(reader->ReadChunks(first, last, channels, window));
    HANDHOLD_TRY(visit(window));
    first = last;
  }
  return {};
}

std::vector<const recording::ForceSensor*> FileReader::SensorsOf(int stream_id) const {
  std::vector<const recording::ForceSensor*> sensors;
  for (const recording::ForceSensor& sensor : tables_.sensors) {
    if (sensor.stream_id == stream_id) sensors.push_back(&sensor);
  }
  return sensors;
}

Status FileReader::VisitZones(int stream_id,
                              const std::function<Status(const TimedZone&)>& visit) const {
  HANDHOLD_ASSIGN(const WindowReader* reader, Find(stream_id));
  if (tables_.closed) {
    HANDHOLD_ASSIGN(Statement get, db_.Prepare("SELECT data FROM zone WHERE id=?1"));
    for (const ChunkEntry& entry : reader->entries()) {
      const int64_t id = ChunkId(stream_id, entry.sequence);
      get.Bind(1, id);
      HANDHOLD_ASSIGN(const bool row, get.Step());
      if (!row) {
        if (FindStream(stream_id)->kind == recording::StreamKind::kText) return {};
        return Error{ErrorCode::kCorrupt, path_ + ": a zone map is missing"};
      }
      Result<Zone> zone = DecodeZone(id, get.Blob(0));
      get.Reset();
      if (!zone) return zone.error().Within(path_);
      HANDHOLD_TRY(visit({reader->RangeOf(entry), *std::move(zone)}));
    }
    return {};
  }
  const std::vector<const recording::ForceSensor*> sensors = SensorsOf(stream_id);
  ClipCursor cursor(db_, *FindStream(stream_id), reader->entries());
  ChunkSamples samples;
  while (!cursor.done()) {
    const ChunkEntry entry = cursor.entry();
    HANDHOLD_TRY(cursor.Next(samples));
    HANDHOLD_TRY(
        visit({reader->RangeOf(entry), ComputeZone(samples, stream_id, entry.sequence, sensors)}));
  }
  return {};
}

Result<std::vector<uint8_t>> FileReader::Document(const std::string& name) const {
  HANDHOLD_ASSIGN(Statement get, db_.Prepare("SELECT data FROM document WHERE name=?1"));
  get.Bind(1, name);
  HANDHOLD_ASSIGN(const bool row, get.Step());
  if (!row) return Error{ErrorCode::kNotFound, path_ + ": has no document '" + name + "'"};
  const std::span<const uint8_t> bytes = get.Blob(0);
  return std::vector<uint8_t>(bytes.begin(), bytes.end());
}

Result<std::vector<std::string>> FileReader::DocumentNames() const {
  HANDHOLD_ASSIGN(Statement list, db_.Prepare("SELECT name FROM document ORDER BY name"));
  std::vector<std::string> names;
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    names.push_back(row.String(0));
    return {};
  }));
  return names;
}

void FileReader::CheckStream(const StreamInfo& info, Issues& issues) const {
  const WindowReader& reader = *readers_.at(info.id);
  const std::vector<const recording::ForceSensor*> sensors = SensorsOf(info.id);
  ClipCursor cursor(db_, info, reader.entries());
  ChunkSamples samples;
  Result<Statement> get = db_.Prepare("SELECT data FROM zone WHERE id=?1");
  while (!cursor.done()) {
    const ChunkEntry entry = cursor.entry();
    const TimeRange range = reader.RangeOf(entry);
    const std::string where = "stream '" + info.name + "', " +
                              FormatSeconds(range.begin - Timestamp()) + " to " +
                              FormatSeconds(range.end - Timestamp());
    if (const Status status = cursor.Next(samples); !status) {
      issues.push_back({where, Severity::kLoss, status.error().message});
      continue;
    }
    if (!tables_.closed || info.kind == recording::StreamKind::kText || !get) continue;
    get->Bind(1, ChunkId(info.id, entry.sequence));
    const Result<bool> row = get->Step();
    const Bytes expected = EncodeZone(ComputeZone(samples, info.id, entry.sequence, sensors));
    const bool same = row && *row && std::ranges::equal(get->Blob(0), expected);
    get->Reset();
    if (!same)
      issues.push_back(
          {where, Severity::kWarning,
           "its zone map is damaged; the samples are whole, searches of them are not"});
  }
}

Result<Issues> FileReader::Check() const {
  Issues issues;
  const Result<std::string> verdict = db_.QueryText("PRAGMA integrity_check(1)");
  if (!verdict && verdict.error().code == ErrorCode::kBusy) return verdict.error();
  if (!verdict || *verdict != "ok") {
    issues.push_back({"file", Severity::kWarning,
                      "SQLite finds its structure damaged: " +
                          (verdict ? verdict->substr(0, 200) : verdict.error().message)});
  }
  (void)GetTables(db_, &issues).has_value();
  for (const StreamInfo& info : tables_.streams) {
    CheckStream(info, issues);
    const Status pairs = VisitClockPairs(
        db_, info.id, [](std::span<const recording::ClockPair>) -> Status { return {}; });
    if (!pairs) {
      issues.push_back({"stream '" + info.name + "'", Severity::kLoss, pairs.error().message});
    }
  }
  return issues;
}

}  // namespace

Result<std::vector<ClipReader::TimedZone>> ClipReader::Zones(int stream_id) const {
  std::vector<TimedZone> zones;
  HANDHOLD_TRY(VisitZones(stream_id, [&](const TimedZone& zone) -> Status {
    zones.push_back(zone);
    return {};
  }));
  return zones;
}

Result<std::unique_ptr<ClipReader>> ClipReader::Open(const std::string& path,
                                                     const ClipReaderOptions& options) {
  auto reader = std::make_unique<FileReader>(path);
  if (const Status started = reader->Start(options); !started)
    return reader->Explained(started.error());
  return std::unique_ptr<ClipReader>(std::move(reader));
}

}  // namespace handhold::store
