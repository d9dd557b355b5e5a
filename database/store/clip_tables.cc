// Reading the tables of a clip file: each is passed over once, by what reads its rows and by its
// digest together.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "database/base/utf8.h"
#include "database/store/clip_file.h"
#include "database/store/crc32c.h"

namespace handhold::store {
namespace {

using recording::ForceSensor;
using recording::GapCause;
using recording::StreamInfo;
using recording::StreamKind;
using RowVisitor = std::function<Status(Statement&)>;

constexpr StreamKind kKinds[] = {StreamKind::kMarkers,       StreamKind::kUnlabelledPoints,
                                 StreamKind::kForceTorque,   StreamKind::kAnalog,
                                 StreamKind::kPressureArray, StreamKind::kRigidPoses,
                                 StreamKind::kText};
constexpr GapCause kCauses[] = {GapCause::kDeviceSkipped, GapCause::kNetworkLoss,
                                GapCause::kRingOverflow, GapCause::kDisconnected,
                                GapCause::kOverrun};

Result<std::vector<double>> DoublesFrom(std::span<const uint8_t> bytes, const char* what) {
  if (bytes.size() % sizeof(double) != 0)
    return Error{ErrorCode::kCorrupt, std::string(what) + " has a broken length"};
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// The columns a digest covers, in key order; of other tables than these "SELECT *", so that a
/// column's index is its place in schemas/migrations.
std::string DigestQuery(const std::string& table) {
  if (table == "chunk") {
    return "SELECT id, first_index, first_counter, last_counter, count, first_time_ns, "
           "last_time_ns FROM chunk ORDER BY id";
  }
  if (table == "zone") return "SELECT id FROM zone ORDER BY id";
  if (table == "clock_pairs") return "SELECT id, count FROM clock_pairs ORDER BY id";
  if (table == "document") return "SELECT name, data FROM document ORDER BY name";
  static const std::map<std::string, std::string> keys = {{"info", "key"},
                                                          {"property", "key"},
                                                          {"channel", "stream, position"},
                                                          {"clock_segment", "stream, position"},
                                                          {"force_sensor", "position"},
                                                          {"thing", "position"},
                                                          {"thing_item", "thing, position"},
                                                          {"quality", "position"},
                                                          {"clock_map", "stream"}};
  const auto key = keys.find(table);
  return "SELECT * FROM " + table + " ORDER BY " + (key == keys.end() ? "id" : key->second);
}

/// Computes a table's digest and shows its rows to `visit` (may be empty) until it fails, which
/// `visited` then says.
Result<TableDigest> Pass(const Database& db, const std::string& table, const RowVisitor& visit,
                         Status& visited) {
  TableDigest digest;
  HANDHOLD_ASSIGN(Statement list, db.Prepare(DigestQuery(table)));
  Bytes bytes;
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    bytes.clear();
    row.PutColumns(0, row.column_count(), bytes);
    digest.crc = Crc32c(bytes, digest.crc);
    ++digest.rows;
    if (visit && visited) visited = visit(row);
    return {};
  }));
  return digest;
}

/// Fills a ClipTables.
class TableReader {
 public:
  TableReader(const Database& db, ClipTables& tables, Issues* damage)
      : db_(db), t_(tables), damage_(damage) {}

  Status ReadAll() {
    HANDHOLD_TRY(ReadInfo());
    HANDHOLD_TRY(Read("property", [&](Statement& row) -> Status {
      t_.info.properties[row.String(0)] = row.String(1);
      return {};
    }));
    HANDHOLD_TRY(ReadThings());
    HANDHOLD_TRY(ReadStreams());
    HANDHOLD_TRY(ReadClocks());
    HANDHOLD_TRY(Read("clock_pairs", {}));
    HANDHOLD_TRY(ReadEvents());
    HANDHOLD_TRY(ReadQuality());
    HANDHOLD_TRY(Read("chunk", [&](Statement& row) -> Status {
      t_.chunks[StreamOfChunk(row.Integer(0))].push_back(
          {static_cast<uint32_t>(row.Integer(0)), row.Integer(1), row.Integer(2), row.Integer(3),
           row.Int(4), row.Integer(5), row.Integer(6)});
      return {};
    }));
    HANDHOLD_TRY(Read("zone", {}));
    HANDHOLD_TRY(Read("document", {}));
    std::erase_if(t_.clocks, [](const auto& entry) { return !entry.second.valid(); });
    if (damage_ != nullptr) MendTexts();
    return {};
  }

 private:
  /// What is left of a damaged file must be fit for a page, a terminal and another file.
  void MendTexts() {
    int mended = 0;
    const auto mend = [&](auto&... texts) {
      for (std::string* text : {&texts...}) {
        if (IsUtf8(*text)) continue;
        *text = Printable(*text);
        ++mended;
      }
    };
    mend(t_.info.name, t_.info.subject, t_.info.session, t_.info.task, t_.quality.advice);
    for (recording::Thing& thing : t_.info.things) {
      mend(thing.name, thing.model, thing.stream);
      for (std::string& item : thing.items) mend(item);
    }
    std::map<std::string, std::string> properties;
    for (const auto& entry : t_.info.properties) {
      std::string key = entry.first, value = entry.second;
      mend(key, value);
      properties[key] = value;
    }
    t_.info.properties = std::move(properties);
    for (StreamInfo& s : t_.streams) {
      mend(s.name, s.device, s.frame, s.sign, s.made_by);
      for (recording::Channel& channel : s.channels) mend(channel.name, channel.unit);
    }
    for (ForceSensor& sensor : t_.sensors) mend(sensor.name, sensor.serial, sensor.mounted_on);
    for (recording::Event& event : t_.events) mend(event.kind, event.origin, event.text);
    for (recording::QualityItem& item : t_.quality.items) mend(item.stream, item.what, item.cause);
    if (mended > 0) {
      damage_->push_back(
          {"texts", Severity::kLoss,
           std::to_string(mended) + " are not UTF-8: their broken bytes are written as \\xNN"});
    }
  }

  /// Appended to the damage, or returned where nobody asked for what is left.
  Status Tolerate(const std::string& table, Status status) {
    if (status || damage_ == nullptr) return status;
    damage_->push_back({table, Severity::kLoss, status.error().message});
    return {};
  }

  /// Whether the table is as it was written. What its rows say comes second: they may be nonsense
  /// because it is not.
  Status Compare(const std::string& table, const Result<TableDigest>& computed) {
    if (!HasDigests()) return {};
    const auto stored = digests_.find(table);
    if (computed && t_.closed && stored != digests_.end() &&
        stored->second.rows == computed->rows && stored->second.crc == computed->crc)
      return {};
    std::string what = "table '" + table + "' is not as it was written (its digest does not match)";
    if (damage_ == nullptr) {
      what += "; 'handhold library check' says what can still be read";
      return CorruptFile(db_, what);
    }
    damage_->push_back({table, Severity::kLoss, what});
    return {};
  }
  bool HasDigests() const { return t_.closed || !digests_.empty(); }

  Status Read(const std::string& table, const RowVisitor& visit) {
    if (!HasDigests()) return visit ? Tolerate(table, List(table, visit)) : Status();
    Status visited;
    const Result<TableDigest> digest = Pass(db_, table, visit, visited);
    HANDHOLD_TRY(Compare(table, digest));
    if (!digest) return visit ? Tolerate(table, digest.error()) : Status();  // the digest told it
    return Tolerate(table, visited);
  }

  Status List(const std::string& table, const RowVisitor& visit) {
    HANDHOLD_ASSIGN(Statement list, db_.Prepare(DigestQuery(table)));
    return list.ForEach(visit);
  }

  /// First of all: it says whether there are digests.
  Status ReadInfo() {
    Status visited;
    const Result<TableDigest> digest =
        Pass(db_, "info", [&](Statement& row) { return TakeInfo(row); }, visited);
    HANDHOLD_TRY(Tolerate("info", digest ? visited : Status(digest.error())));
    if (!t_.advised && (!t_.closed || t_.recovered)) {  // killed before it said anything of itself
      t_.quality.keep = false;
      t_.quality.advice =
          "The recorder ended before it said whether to keep this take: look at it.";
    }
    HANDHOLD_ASSIGN(Statement list, db_.Prepare("SELECT name, rows, crc FROM digest"));
    HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
      digests_[row.String(0)] = {row.Integer(1), static_cast<uint32_t>(row.Integer(2))};
      return {};
    }));
    return Compare("info", digest);
  }

  Status TakeInfo(Statement& row) {
    const std::string key = row.String(0);
    if (key == "id") {
      HANDHOLD_ASSIGN(t_.info.id, ClipId::Parse(row.Text(1)));
    } else if (key == "name") {
      t_.info.name = row.String(1);
    } else if (key == "subject") {
      t_.info.subject = row.String(1);
    } else if (key == "session") {
      t_.info.session = row.String(1);
    } else if (key == "task") {
      t_.info.task = row.String(1);
    } else if (key == "utc_start_ns") {
      t_.info.utc_start = Timestamp::FromNanoseconds(row.Integer(1));
    } else if (key == "host_start_ns") {
      t_.info.host_start_ns = row.Integer(1);
    } else if (key == "is_artefact") {
      t_.is_artefact = row.Integer(1) != 0;
    } else if (key == "closed") {
      t_.closed = row.Integer(1) != 0;
    } else if (key == "recovered") {
      t_.recovered = row.Integer(1) != 0;
    } else if (key == "lossless") {
      t_.lossless = row.Integer(1) != 0;
    } else if (key == "min_reader" && row.Integer(1) > kMinReader) {
      return Error{ErrorCode::kVersion, db_.path() +
                                            ": was written by a newer Handhold and asks for "
                                            "level " +
                                            std::to_string(row.Integer(1)) +
                                            " to be read (this program: " +
                                            std::to_string(kMinReader) + "): update Handhold"};
    } else if (key == "keep") {
      t_.quality.keep = row.Integer(1) != 0;
      t_.advised = true;
    } else if (key == "advice") {
      t_.quality.advice = row.String(1);
    }
    return {};
  }

  Result<StreamInfo> TakeStream(Statement& row) const {
    StreamInfo info;
    info.id = row.Int(0);
    info.name = row.String(1);
    const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [&](StreamKind k) { return StreamKindName(k) == row.Text(2); });
    if (info.id < 1 || kind == std::end(kKinds))
      return CorruptFile(db_, "stream '" + info.name + "' is of unknown kind");
    info.kind = *kind;
    info.epoch = row.Int(3);
    info.device = row.String(4);
    info.rate = {row.Integer(5), row.Integer(6)};
    info.frame = row.String(7);
    info.sign = row.String(8);
    info.made_by = row.String(9);
    const bool even = info.rate.numerator > 0 && info.rate.denominator > 0;
    if (!even && (info.rate.numerator != 0 || info.rate.denominator < 1))
      return CorruptFile(db_, "stream '" + info.name + "' has no valid rate");
    return info;
  }

  Result<ForceSensor> TakeSensor(Statement& row) const {
    ForceSensor sensor;
    sensor.name = row.String(1);
    sensor.stream_id = row.Int(2);
    HANDHOLD_ASSIGN(const std::vector<double> calibration, DoublesFrom(row.Blob(3), "calibration"));
    HANDHOLD_ASSIGN(const std::vector<double> bias, DoublesFrom(row.Blob(4), "bias"));
    HANDHOLD_ASSIGN(const std::vector<double> pose, DoublesFrom(row.Blob(6), "pose"));
    HANDHOLD_ASSIGN(const std::vector<double> normal, DoublesFrom(row.Blob(7), "normal"));
    if (calibration.size() % 6 != 0 || pose.size() != 12 || normal.size() != 3)
      return CorruptFile(db_, "force sensor '" + sensor.name + "' is malformed");
    sensor.calibration = Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic>>(
        calibration.data(), 6, static_cast<Eigen::Index>(calibration.size() / 6));
    sensor.bias =
        Eigen::Map<const Eigen::VectorXd>(bias.data(), static_cast<Eigen::Index>(bias.size()));
    if (sensor.bias.size() != 0 && sensor.bias.size() != sensor.calibration.cols())
      return CorruptFile(db_, "force sensor '" + sensor.name + "' is malformed");
    sensor.sign = row.Real(5);
    sensor.X_MS = PoseFrom(pose);
    sensor.normal_S = Eigen::Vector3d(normal[0], normal[1], normal[2]);
    sensor.full_scale_N = row.Real(8);
    sensor.serial = row.String(9);
    sensor.mounted_on = row.String(10);
    return sensor;
  }

  static geometry::RigidTransform PoseFrom(const std::vector<double>& pose) {
    return {Eigen::Map<const Eigen::Matrix3d>(pose.data()),
            Eigen::Vector3d(pose[9], pose[10], pose[11])};
  }

  Status ReadThings() {
    HANDHOLD_TRY(Read("thing", [&](Statement& row) -> Status {
      recording::Thing thing;
      thing.name = row.String(1), thing.model = row.String(3), thing.stream = row.String(6);
      const auto kind = recording::ParseThingKind(row.Text(2));
      const auto pose = recording::ParseThingPose(row.Text(4));
      HANDHOLD_ASSIGN(const std::vector<double> X, DoublesFrom(row.Blob(5), "pose"));
      if (!kind || !pose || X.size() != 12)
        return CorruptFile(db_, "thing '" + thing.name + "' is malformed");
      thing.kind = *kind, thing.pose = *pose, thing.X_WT = PoseFrom(X);
      t_.info.things.push_back(std::move(thing));
      return {};
    }));
    HANDHOLD_TRY(Read("thing_item", [&](Statement& row) -> Status {
      const int64_t thing = row.Integer(0);
      if (thing < 0 || thing >= static_cast<int64_t>(t_.info.things.size()))
        return CorruptFile(db_, "an item of no thing");
      t_.info.things[static_cast<size_t>(thing)].items.push_back(row.String(2));
      return {};
    }));
    return Tolerate("thing", recording::CheckThings(t_.info.things));
  }

  Status ReadStreams() {
    HANDHOLD_TRY(Read("stream", [&](Statement& row) -> Status {
      HANDHOLD_ASSIGN(StreamInfo info, TakeStream(row));
      t_.streams.push_back(std::move(info));
      return {};
    }));
    HANDHOLD_TRY(Read("channel", [&](Statement& row) -> Status {
      const auto info = std::ranges::find(t_.streams, row.Int(0), &StreamInfo::id);
      if (info == t_.streams.end()) return {};
      const double quantum = row.Real(4);
      if (row.Integer(1) != info->channel_count() || !(quantum >= 0.0) || std::isinf(quantum))
        return CorruptFile(db_, "channels of stream '" + info->name + "' are damaged");
      info->channels.push_back({row.String(2), row.String(3), quantum});
      return {};
    }));
    for (StreamInfo& info : t_.streams) info.channels.shrink_to_fit();
    return Read("force_sensor", [&](Statement& row) -> Status {
      HANDHOLD_ASSIGN(ForceSensor sensor, TakeSensor(row));
      t_.sensors.push_back(std::move(sensor));
      return {};
    });
  }

  Status ReadClocks() {
    HANDHOLD_TRY(Read("clock_map", [&](Statement& row) -> Status {
      recording::ClockMap& map = t_.clocks[row.Int(0)];
      map.constant_delay_ns = row.Integer(1);
      map.constant_delay_sd_ns = row.Integer(2);
      return {};
    }));
    return Read("clock_segment", [&](Statement& row) -> Status {
      recording::ClockSegment s;
      s.device_begin_ns = row.Integer(2);
      s.device_end_ns = row.Integer(3);
      s.host_begin_ns = row.Integer(4);
      s.rate_error = row.Real(5);
      s.offset_sd_ns = row.Real(6);
      s.rate_sd = row.Real(7);
      s.residual_p50_ns = row.Real(8);
      s.residual_p90_ns = row.Real(9);
      s.residual_p99_ns = row.Real(10);
      s.residual_max_ns = row.Real(11);
      s.pair_count = row.Integer(12);
      t_.clocks[row.Int(0)].segments.push_back(s);
      return {};
    });
  }

  Status ReadEvents() {
    HANDHOLD_TRY(Read("event", [&](Statement& row) -> Status {
      t_.events.push_back({Timestamp::FromNanoseconds(row.Integer(1)),
                           Duration::Nanoseconds(row.Integer(2)), row.String(3), row.String(4),
                           row.Int(5), row.Real(6), row.String(7)});
      return {};
    }));
    std::ranges::stable_sort(t_.events, {}, &recording::Event::clip_time);
    return Read("gap", [&](Statement& row) -> Status {
      const auto cause = std::ranges::find(kCauses, row.Text(4), &recording::GapCauseName);
      t_.gaps.push_back({row.Int(1), row.Integer(2), row.Integer(3),
                         cause == std::end(kCauses) ? GapCause::kDeviceSkipped : *cause,
                         Timestamp::FromNanoseconds(row.Integer(5)),
                         Timestamp::FromNanoseconds(row.Integer(6))});
      return {};
    });
  }

  Status ReadQuality() {
    return Read("quality", [&](Statement& row) -> Status {
      t_.quality.items.push_back({row.String(1), row.String(2), row.Real(3), row.Real(4),
                                  row.Real(5), row.Integer(6) != 0, row.Integer(7) != 0,
                                  Timestamp::FromNanoseconds(row.Integer(8)), row.String(9)});
      return {};
    });
  }

  const Database& db_;
  ClipTables& t_;
  Issues* const damage_;
  std::map<std::string, TableDigest> digests_;  ///< as written
};

}  // namespace

const std::vector<std::string>& DigestTables() {
  static const std::vector<std::string> tables = {
      "info",         "property",  "thing",         "thing_item",  "stream", "channel",
      "force_sensor", "clock_map", "clock_segment", "clock_pairs", "event",  "gap",
      "quality",      "chunk",     "zone",          "document"};
  return tables;
}

Status WriteDigests(Database& db) {
  HANDHOLD_TRY(db.Execute("DELETE FROM digest"));
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT INTO digest VALUES(?1, ?2, ?3)"));
  for (const std::string& table : DigestTables()) {
    Status visited;
    HANDHOLD_ASSIGN(const TableDigest digest, Pass(db, table, {}, visited));
    HANDHOLD_TRY(
        put.Bind(1, table).Bind(2, digest.rows).Bind(3, static_cast<int64_t>(digest.crc)).Run());
  }
  return {};
}

Result<ClipTables> GetTables(const Database& db, Issues* damage) {
  ClipTables tables;
  HANDHOLD_TRY(TableReader(db, tables, damage).ReadAll());
  return tables;
}

}  // namespace handhold::store
