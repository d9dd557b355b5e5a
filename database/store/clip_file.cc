#include "database/store/clip_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "database/base/check.h"
#include "database/store/crc32c.h"

namespace handhold::store {
namespace {

using recording::ClockPair;
using recording::ForceSensor;
using recording::GapCause;
using recording::StreamInfo;
using recording::StreamKind;

constexpr StreamKind kKinds[] = {StreamKind::kMarkers,       StreamKind::kUnlabelledPoints,
                                 StreamKind::kForceTorque,   StreamKind::kAnalog,
                                 StreamKind::kPressureArray, StreamKind::kRigidPoses,
                                 StreamKind::kText};
constexpr GapCause kCauses[] = {GapCause::kDeviceSkipped, GapCause::kNetworkLoss,
                                GapCause::kRingOverflow, GapCause::kDisconnected,
                                GapCause::kOverrun};

template <typename Derived>
Bytes DoublesOf(const Eigen::DenseBase<Derived>& matrix) {
  Bytes bytes;
  for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
    for (Eigen::Index r = 0; r < matrix.rows(); ++r)
      PutFixed(bytes, static_cast<double>(matrix(r, c)));
  }
  return bytes;
}

Result<std::vector<double>> DoublesFrom(std::span<const uint8_t> bytes, const char* what) {
  if (bytes.size() % sizeof(double) != 0)
    return Error{ErrorCode::kCorrupt, std::string(what) + " has a broken length"};
  std::vector<double> values(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Error Bad(const Database& db, const std::string& what) {
  return {ErrorCode::kCorrupt, db.path() + ": " + what};
}

Result<StreamInfo> ReadStream(const Database& db, Statement& row) {
  StreamInfo info;
  info.id = row.Int(0);
  info.name = row.String(1);
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](StreamKind k) { return StreamKindName(k) == row.Text(2); });
  if (info.id < 1 || kind == std::end(kKinds))
    return Bad(db, "stream '" + info.name + "' is of unknown kind");
  info.kind = *kind;
  info.epoch = row.Int(3);
  info.device = row.String(4);
  info.rate = {row.Integer(5), row.Integer(6)};
  info.frame = row.String(7);
  info.sign = row.String(8);
  info.made_by = row.String(9);
  const bool even = info.rate.numerator > 0 && info.rate.denominator > 0;
  if (!even && (info.rate.numerator != 0 || info.rate.denominator < 1))
    return Bad(db, "stream '" + info.name + "' has no valid rate");
  return info;
}

Result<ForceSensor> ReadSensor(const Database& db, Statement& row) {
  ForceSensor sensor;
  sensor.name = row.String(0);
  sensor.stream_id = row.Int(1);
  HANDHOLD_ASSIGN(const std::vector<double> calibration, DoublesFrom(row.Blob(2), "calibration"));
  HANDHOLD_ASSIGN(const std::vector<double> bias, DoublesFrom(row.Blob(3), "bias"));
  HANDHOLD_ASSIGN(const std::vector<double> pose, DoublesFrom(row.Blob(5), "pose"));
  HANDHOLD_ASSIGN(const std::vector<double> normal, DoublesFrom(row.Blob(6), "normal"));
  if (calibration.size() % 6 != 0 || pose.size() != 12 || normal.size() != 3)
    return Bad(db, "force sensor '" + sensor.name + "' is malformed");
  sensor.calibration = Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic>>(
      calibration.data(), 6, static_cast<Eigen::Index>(calibration.size() / 6));
  sensor.bias =
      Eigen::Map<const Eigen::VectorXd>(bias.data(), static_cast<Eigen::Index>(bias.size()));
  if (sensor.bias.size() != 0 && sensor.bias.size() != sensor.calibration.cols())
    return Bad(db, "force sensor '" + sensor.name + "' is malformed");
  sensor.sign = row.Real(4);
  sensor.X_WS.R = Eigen::Map<const Eigen::Matrix3d>(pose.data());
  sensor.X_WS.p = Eigen::Vector3d(pose[9], pose[10], pose[11]);
  sensor.normal_S = Eigen::Vector3d(normal[0], normal[1], normal[2]);
  sensor.full_scale_N = row.Real(7);
  sensor.serial = row.String(8);
  return sensor;
}

}  // namespace

Status CreateClipTables(Database& db, bool is_artefact, bool lossless) {
  HANDHOLD_TRY(db.Execute("PRAGMA page_size=4096"));
  HANDHOLD_TRY(db.Execute("PRAGMA auto_vacuum=INCREMENTAL"));
  HANDHOLD_TRY(Migrate(db, FileKind::kClip, 0));
  HANDHOLD_TRY(PutFlag(db, "format_version", kFormatVersion));
  HANDHOLD_TRY(PutFlag(db, "min_reader", kMinReader));
  HANDHOLD_TRY(PutFlag(db, "min_writer", kMinWriter));
  HANDHOLD_TRY(PutFlag(db, "is_artefact", is_artefact ? 1 : 0));
  HANDHOLD_TRY(PutFlag(db, "lossless", lossless ? 1 : 0));
  HANDHOLD_TRY(PutFlag(db, "closed", 0));
  return PutFlag(db, "recovered", 0);
}

Status PutFlag(Database& db, const char* key, int64_t value) {
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT OR REPLACE INTO info VALUES(?1, ?2)"));
  return put.Bind(1, key).Bind(2, value).Run();
}

Status PutInfo(Database& db, const recording::ClipInfo& info) {
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT OR REPLACE INTO info VALUES(?1, ?2)"));
  const std::string id = info.id.ToString();
  for (const auto& [key, value] : {std::pair<const char*, const std::string*>{"id", &id},
                                   {"name", &info.name},
                                   {"subject", &info.subject},
                                   {"session", &info.session},
                                   {"task", &info.task},
                                   {"prop", &info.prop}}) {
    HANDHOLD_TRY(put.Bind(1, key).Bind(2, *value).Run());
  }
  HANDHOLD_TRY(put.Bind(1, "utc_start_ns").Bind(2, info.utc_start.ns()).Run());
  HANDHOLD_TRY(put.Bind(1, "host_start_ns").Bind(2, info.host_start_ns).Run());
  HANDHOLD_TRY(db.Execute("DELETE FROM property"));
  HANDHOLD_ASSIGN(Statement property, db.Prepare("INSERT INTO property VALUES(?1, ?2)"));
  for (const auto& [key, value] : info.properties)
    HANDHOLD_TRY(property.Bind(1, key).Bind(2, value).Run());
  return {};
}

Status PutStream(Database& db, const StreamInfo& info) {
  HANDHOLD_ASSIGN(Statement put,
                  db.Prepare("INSERT INTO stream VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"));
  HANDHOLD_TRY(put.Bind(1, info.id)
                   .Bind(2, info.name)
                   .Bind(3, StreamKindName(info.kind))
                   .Bind(4, info.epoch)
                   .Bind(5, info.device)
                   .Bind(6, info.rate.numerator)
                   .Bind(7, info.rate.denominator)
                   .Bind(8, info.frame)
                   .Bind(9, info.sign)
                   .Bind(10, info.made_by)
                   .Run());
  HANDHOLD_ASSIGN(Statement channel, db.Prepare("INSERT INTO channel VALUES(?1, ?2, ?3, ?4, ?5)"));
  for (size_t c = 0; c < info.channels.size(); ++c) {
    const recording::Channel& ch = info.channels[c];
    HANDHOLD_TRY(channel.Bind(1, info.id)
                     .Bind(2, static_cast<int64_t>(c))
                     .Bind(3, ch.name)
                     .Bind(4, ch.unit)
                     .Bind(5, ch.quantum)
                     .Run());
  }
  return {};
}

Status PutForceSensor(Database& db, int position, const ForceSensor& sensor) {
  HANDHOLD_ASSIGN(
      Statement put,
      db.Prepare(
          "INSERT OR REPLACE INTO force_sensor VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"));
  const Bytes calibration = DoublesOf(sensor.calibration), bias = DoublesOf(sensor.bias),
              normal = DoublesOf(sensor.normal_S);
  Bytes pose = DoublesOf(sensor.X_WS.R);
  for (int i = 0; i < 3; ++i) PutFixed(pose, sensor.X_WS.p[i]);
  return put.Bind(1, position)
      .Bind(2, sensor.name)
      .Bind(3, sensor.stream_id)
      .Bind(4, std::span(calibration))
      .Bind(5, std::span(bias))
      .Bind(6, sensor.sign)
      .Bind(7, std::span(pose))
      .Bind(8, std::span(normal))
      .Bind(9, sensor.full_scale_N)
      .Bind(10, sensor.serial)
      .Run();
}

Status PutClockMap(Database& db, int stream, const recording::ClockMap& map) {
  HANDHOLD_ASSIGN(Statement drop, db.Prepare("DELETE FROM clock_segment WHERE stream=?1"));
  HANDHOLD_TRY(drop.Bind(1, stream).Run());
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT OR REPLACE INTO clock_map VALUES(?1, ?2, ?3)"));
  HANDHOLD_TRY(
      put.Bind(1, stream).Bind(2, map.constant_delay_ns).Bind(3, map.constant_delay_sd_ns).Run());
  HANDHOLD_ASSIGN(Statement add, db.Prepare("INSERT INTO clock_segment VALUES(?1, ?2, ?3, ?4, ?5, "
                                            "?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"));
  for (size_t i = 0; i < map.segments.size(); ++i) {
    const recording::ClockSegment& s = map.segments[i];
    HANDHOLD_TRY(add.Bind(1, stream)
                     .Bind(2, static_cast<int64_t>(i))
                     .Bind(3, s.device_begin_ns)
                     .Bind(4, s.device_end_ns)
                     .Bind(5, s.host_begin_ns)
                     .Bind(6, s.rate_error)
                     .Bind(7, s.offset_sd_ns)
                     .Bind(8, s.rate_sd)
                     .Bind(9, s.residual_p50_ns)
                     .Bind(10, s.residual_p90_ns)
                     .Bind(11, s.residual_p99_ns)
                     .Bind(12, s.residual_max_ns)
                     .Bind(13, s.pair_count)
                     .Run());
  }
  return {};
}

Status PutEvent(Database& db, const recording::Event& event) {
  HANDHOLD_ASSIGN(Statement put,
                  db.Prepare("INSERT INTO event VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  return put.Bind(1, event.clip_time.ns())
      .Bind(2, event.length.ns())
      .Bind(3, event.kind)
      .Bind(4, event.origin)
      .Bind(5, event.stream_id)
      .Bind(6, event.value)
      .Bind(7, event.text)
      .Run();
}

Status PutGap(Database& db, const recording::Gap& gap) {
  HANDHOLD_ASSIGN(Statement put,
                  db.Prepare("INSERT INTO gap VALUES(NULL, ?1, ?2, ?3, ?4, ?5, ?6)"));
  return put.Bind(1, gap.stream_id)
      .Bind(2, gap.first_missing_counter)
      .Bind(3, gap.count)
      .Bind(4, GapCauseName(gap.cause))
      .Bind(5, gap.clip_begin.ns())
      .Bind(6, gap.clip_end.ns())
      .Run();
}

Status PutQuality(Database& db, const recording::QualityRecord& quality) {
  HANDHOLD_TRY(db.Execute("DELETE FROM quality"));
  HANDHOLD_ASSIGN(
      Statement put,
      db.Prepare("INSERT INTO quality VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"));
  for (size_t i = 0; i < quality.items.size(); ++i) {
    const recording::QualityItem& q = quality.items[i];
    HANDHOLD_TRY(put.Bind(1, static_cast<int64_t>(i))
                     .Bind(2, q.stream)
                     .Bind(3, q.what)
                     .Bind(4, q.value)
                     .Bind(5, q.worst)
                     .Bind(6, q.threshold)
                     .Bind(7, q.red ? 1 : 0)
                     .Bind(8, q.acknowledged ? 1 : 0)
                     .Bind(9, q.clip_first_red.ns())
                     .Bind(10, q.cause)
                     .Run());
  }
  HANDHOLD_TRY(PutFlag(db, "keep", quality.keep ? 1 : 0));
  HANDHOLD_ASSIGN(Statement advice, db.Prepare("INSERT OR REPLACE INTO info VALUES('advice', ?1)"));
  return advice.Bind(1, quality.advice).Run();
}

Status PutClockPairs(Database& db, int64_t id, std::span<const ClockPair> pairs) {
  if (pairs.empty()) return {};
  CHECK_LE(pairs.size(), static_cast<size_t>(kMaxFrameSamples));
  std::vector<int64_t> columns;
  columns.reserve(pairs.size() * 4);
  for (const auto member :
       {&ClockPair::counter, &ClockPair::device_ns, &ClockPair::host_ns, &ClockPair::latency_ns}) {
    for (const ClockPair& pair : pairs) columns.push_back(pair.*member);
  }
  Bytes data(4);
  FrameEncoder().EncodeIntegers(columns.data(), pairs.size(), static_cast<int>(pairs.size()), 4,
                                data);
  const uint32_t crc = Crc32c(std::span(data).subspan(4));
  std::memcpy(data.data(), &crc, 4);
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT INTO clock_pairs VALUES(?1, ?2, ?3)"));
  return put.Bind(1, id).Bind(2, static_cast<int64_t>(pairs.size())).Bind(3, std::span(data)).Run();
}

namespace {

// Of one row after another.
class PairDecoder {
 public:
  PairDecoder(const Database& db, int stream)
      : bad_(Bad(db, "clock pairs of stream " + std::to_string(stream) + " are damaged")) {}
  /// `row`: count, data. The pairs hold until the next call.
  Result<std::span<const ClockPair>> Decode(Statement& row) {
    const int64_t count = row.Integer(0);
    const std::span<const uint8_t> data = row.Blob(1);
    uint32_t crc = 0;
    if (count < 1 || count > kMaxFrameSamples || data.size() < 4) return bad_;
    std::memcpy(&crc, data.data(), 4);
    if (Crc32c(data.subspan(4)) != crc) return bad_;
    const auto n = static_cast<size_t>(count);
    columns_.resize(n * 4);
    if (!decoder_.DecodeIntegers(data.subspan(4), 4, static_cast<int>(count), columns_.data(), n))
      return bad_;
    pairs_.clear();
    for (size_t i = 0; i < n; ++i)
      pairs_.push_back({columns_[i], columns_[n + i], columns_[2 * n + i], columns_[3 * n + i]});
    return std::span<const ClockPair>(pairs_);
  }

 private:
  const Error bad_;
  FrameDecoder decoder_;
  std::vector<int64_t> columns_;
  std::vector<ClockPair> pairs_;
};

}  // namespace

Status VisitClockPairs(const Database& db, int stream,
                       const std::function<Status(std::span<const ClockPair>)>& visit) {
  PairDecoder decoder(db, stream);
  HANDHOLD_ASSIGN(
      Statement list,
      db.Prepare("SELECT count, data FROM clock_pairs WHERE id BETWEEN ?1 AND ?2 ORDER BY id"));
  list.Bind(1, ChunkId(stream, 0)).Bind(2, ChunkId(stream, std::numeric_limits<uint32_t>::max()));
  return list.ForEach([&](Statement& row) -> Status {
    HANDHOLD_ASSIGN(const std::span<const ClockPair> pairs, decoder.Decode(row));
    return visit(pairs);
  });
}

Result<std::vector<ClockPair>> GetClockPairs(const Database& db, int stream, uint32_t rows,
                                             int64_t begin, int64_t end) {
  PairDecoder decoder(db, stream);
  HANDHOLD_ASSIGN(Statement one, db.Prepare("SELECT count, data FROM clock_pairs WHERE id = ?1"));
  std::span<const ClockPair> pairs;
  const auto read = [&](uint32_t row) -> Status {
    pairs = {};
    one.Reset();
    one.Bind(1, ChunkId(stream, row));
    HANDHOLD_TRY(one.ForEach([&](Statement& found) -> Status {
      HANDHOLD_ASSIGN(pairs, decoder.Decode(found));
      return {};
    }));
    if (pairs.empty())
      return Bad(db, "clock pairs of stream " + std::to_string(stream) + " are missing");
    return {};
  };
  uint32_t first = 0;  // row whose last pair is not before `begin`
  for (uint32_t past = rows; first < past;) {
    const uint32_t middle = first + (past - first) / 2;
    HANDHOLD_TRY(read(middle));
    if (pairs.back().counter < begin) {
      first = middle + 1;
    } else {
      past = middle;
    }
  }
  std::vector<ClockPair> out;
  for (uint32_t row = first; row < rows; ++row) {
    HANDHOLD_TRY(read(row));
    for (const ClockPair& pair : pairs) {
      if (pair.counter >= end) return out;
      if (pair.counter >= begin) out.push_back(pair);
    }
  }
  return out;
}

Result<std::vector<ClockPair>> GetClockPairs(const Database& db, int stream) {
  std::vector<ClockPair> all;
  HANDHOLD_TRY(VisitClockPairs(db, stream, [&](std::span<const ClockPair> pairs) -> Status {
    all.insert(all.end(), pairs.begin(), pairs.end());
    return {};
  }));
  return all;
}

Result<std::vector<ChunkEntry>> GetChunkEntries(const Database& db, int stream) {
  std::vector<ChunkEntry> entries;
  HANDHOLD_ASSIGN(
      Statement list,
      db.Prepare(
          "SELECT id, first_index, first_counter, last_counter, count, first_time_ns, last_time_ns "
          "FROM chunk WHERE id BETWEEN ?1 AND ?2 ORDER BY id"));
  list.Bind(1, ChunkId(stream, 0)).Bind(2, ChunkId(stream, std::numeric_limits<uint32_t>::max()));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    entries.push_back({static_cast<uint32_t>(row.Integer(0)), row.Integer(1), row.Integer(2),
                       row.Integer(3), row.Int(4), row.Integer(5), row.Integer(6)});
    return {};
  }));
  return entries;
}

Result<recording::ClockMap> FallbackClock(const Database& db, const recording::ClipInfo& info,
                                          int stream) {
  std::optional<int64_t> earliest;
  HANDHOLD_TRY(VisitClockPairs(db, stream, [&](std::span<const ClockPair> pairs) -> Status {
    for (const ClockPair& pair : pairs) {
      const int64_t offset = pair.host_ns - pair.latency_ns - pair.device_ns;
      earliest = std::min(earliest.value_or(offset), offset);
    }
    return {};
  }));
  return recording::ClockMap::Identity(earliest.value_or(info.host_start_ns));
}

// ---- reading all tables

namespace {

Status ReadInfo(const Database& db, ClipTables& t) {
  HANDHOLD_ASSIGN(Statement list, db.Prepare("SELECT key, value FROM info"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    const std::string key = row.String(0);
    if (key == "id") {
      HANDHOLD_ASSIGN(t.info.id, ClipId::Parse(row.Text(1)));
    } else if (key == "name") {
      t.info.name = row.String(1);
    } else if (key == "subject") {
      t.info.subject = row.String(1);
    } else if (key == "session") {
      t.info.session = row.String(1);
    } else if (key == "task") {
      t.info.task = row.String(1);
    } else if (key == "prop") {
      t.info.prop = row.String(1);
    } else if (key == "utc_start_ns") {
      t.info.utc_start = Timestamp::FromNanoseconds(row.Integer(1));
    } else if (key == "host_start_ns") {
      t.info.host_start_ns = row.Integer(1);
    } else if (key == "is_artefact") {
      t.is_artefact = row.Integer(1) != 0;
    } else if (key == "closed") {
      t.closed = row.Integer(1) != 0;
    } else if (key == "recovered") {
      t.recovered = row.Integer(1) != 0;
    } else if (key == "lossless") {
      t.lossless = row.Integer(1) != 0;
    } else if (key == "min_reader" && row.Integer(1) > kMinReader) {
      return Error{ErrorCode::kVersion, db.path() +
                                            ": was written by a newer Handhold and asks for "
                                            "level " +
                                            std::to_string(row.Integer(1)) +
                                            " to be read (this program: " +
                                            std::to_string(kMinReader) + "): update Handhold"};
    } else if (key == "keep") {
      t.quality.keep = row.Integer(1) != 0;
      t.advised = true;
    } else if (key == "advice") {
      t.quality.advice = row.String(1);
    }
    return {};
  }));
  if (!t.advised && (!t.closed || t.recovered)) {  // killed before it said anything of itself
    t.quality.keep = false;
    t.quality.advice = "The recorder ended before it said whether to keep this take: look at it.";
  }
  HANDHOLD_ASSIGN(Statement properties, db.Prepare("SELECT key, value FROM property"));
  return properties.ForEach([&](Statement& row) -> Status {
    t.info.properties[row.String(0)] = row.String(1);
    return {};
  });
}

Status ReadStreams(const Database& db, ClipTables& t) {
  HANDHOLD_ASSIGN(Statement list,
                  db.Prepare("SELECT id, name, kind, epoch, device, rate_numerator, "
                             "rate_denominator, frame, sign, made_by "
                             "FROM stream ORDER BY id"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    HANDHOLD_ASSIGN(StreamInfo info, ReadStream(db, row));
    t.streams.push_back(std::move(info));
    return {};
  }));
  HANDHOLD_ASSIGN(
      Statement channels,
      db.Prepare(
          "SELECT position, name, unit, quantum FROM channel WHERE stream=?1 ORDER BY position"));
  for (StreamInfo& info : t.streams) {
    channels.Bind(1, info.id);
    HANDHOLD_TRY(channels.ForEach([&](Statement& row) -> Status {
      const double quantum = row.Real(3);
      if (row.Integer(0) != info.channel_count() || !(quantum >= 0.0) || std::isinf(quantum)) {
        return Bad(db, "channels of stream '" + info.name + "' are damaged");
      }
      info.channels.push_back({row.String(1), row.String(2), quantum});
      return {};
    }));
    info.channels.shrink_to_fit();
  }
  HANDHOLD_ASSIGN(
      Statement sensors,
      db.Prepare("SELECT name, stream, calibration, bias, sign, pose, normal, full_scale_N, serial "
                 "FROM force_sensor ORDER BY position"));
  return sensors.ForEach([&](Statement& row) -> Status {
    HANDHOLD_ASSIGN(ForceSensor sensor, ReadSensor(db, row));
    t.sensors.push_back(std::move(sensor));
    return {};
  });
}

Status ReadClocks(const Database& db, ClipTables& t) {
  HANDHOLD_ASSIGN(
      Statement maps,
      db.Prepare("SELECT stream, constant_delay_ns, constant_delay_sd_ns FROM clock_map"));
  HANDHOLD_TRY(maps.ForEach([&](Statement& row) -> Status {
    recording::ClockMap& map = t.clocks[row.Int(0)];
    map.constant_delay_ns = row.Integer(1);
    map.constant_delay_sd_ns = row.Integer(2);
    return {};
  }));
  HANDHOLD_ASSIGN(
      Statement segments,
      db.Prepare("SELECT stream, device_begin_ns, device_end_ns, host_begin_ns, rate_error, "
                 "offset_sd_ns, rate_sd, "
                 "residual_p50_ns, residual_p90_ns, residual_p99_ns, residual_max_ns, pair_count "
                 "FROM clock_segment ORDER BY stream, position"));
  return segments.ForEach([&](Statement& row) -> Status {
    recording::ClockSegment s;
    s.device_begin_ns = row.Integer(1);
    s.device_end_ns = row.Integer(2);
    s.host_begin_ns = row.Integer(3);
    s.rate_error = row.Real(4);
    s.offset_sd_ns = row.Real(5);
    s.rate_sd = row.Real(6);
    s.residual_p50_ns = row.Real(7);
    s.residual_p90_ns = row.Real(8);
    s.residual_p99_ns = row.Real(9);
    s.residual_max_ns = row.Real(10);
    s.pair_count = row.Integer(11);
    t.clocks[row.Int(0)].segments.push_back(s);
    return {};
  });
}

Status ReadEvents(const Database& db, ClipTables& t) {
  HANDHOLD_ASSIGN(Statement events, db.Prepare("SELECT t_ns, length_ns, kind, origin, stream, "
                                               "value, text FROM event ORDER BY t_ns, id"));
  HANDHOLD_TRY(events.ForEach([&](Statement& row) -> Status {
    t.events.push_back({Timestamp::FromNanoseconds(row.Integer(0)),
                        Duration::Nanoseconds(row.Integer(1)), row.String(2), row.String(3),
                        row.Int(4), row.Real(5), row.String(6)});
    return {};
  }));
  HANDHOLD_ASSIGN(Statement gaps, db.Prepare("SELECT stream, first_missing_counter, count, cause, "
                                             "t_begin_ns, t_end_ns FROM gap ORDER BY id"));
  return gaps.ForEach([&](Statement& row) -> Status {
    const auto cause = std::find_if(std::begin(kCauses), std::end(kCauses),
                                    [&](GapCause c) { return GapCauseName(c) == row.Text(3); });
    t.gaps.push_back({row.Int(0), row.Integer(1), row.Integer(2),
                      cause == std::end(kCauses) ? GapCause::kDeviceSkipped : *cause,
                      Timestamp::FromNanoseconds(row.Integer(4)),
                      Timestamp::FromNanoseconds(row.Integer(5))});
    return {};
  });
}

Status ReadQuality(const Database& db, ClipTables& t) {
  HANDHOLD_ASSIGN(
      Statement list,
      db.Prepare(
          "SELECT stream, what, value, worst, threshold, red, acknowledged, t_first_red_ns, cause "
          "FROM quality ORDER BY position"));
  return list.ForEach([&](Statement& row) -> Status {
    t.quality.items.push_back({row.String(0), row.String(1), row.Real(2), row.Real(3), row.Real(4),
                               row.Integer(5) != 0, row.Integer(6) != 0,
                               Timestamp::FromNanoseconds(row.Integer(7)), row.String(8)});
    return {};
  });
}

/// The columns a digest covers, in key order.
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
                                                          {"quality", "position"},
                                                          {"clock_map", "stream"}};
  const auto key = keys.find(table);
  return "SELECT * FROM " + table + " ORDER BY " + (key == keys.end() ? "id" : key->second);
}

}  // namespace

const std::vector<std::string>& DigestTables() {
  static const std::vector<std::string> tables = {
      "info",        "property", "stream", "channel", "force_sensor", "clock_map", "clock_segment",
      "clock_pairs", "event",    "gap",    "quality", "chunk",        "zone",      "document"};
  return tables;
}

Result<TableDigest> ComputeDigest(const Database& db, const std::string& table) {
  TableDigest digest;
  HANDHOLD_ASSIGN(Statement list, db.Prepare(DigestQuery(table)));
  Bytes bytes;
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    bytes.clear();
    row.PutColumns(0, row.column_count(), bytes);
    digest.crc = Crc32c(bytes, digest.crc);
    ++digest.rows;
    return {};
  }));
  return digest;
}

Status WriteDigests(Database& db) {
  HANDHOLD_TRY(db.Execute("DELETE FROM digest"));
  HANDHOLD_ASSIGN(Statement put, db.Prepare("INSERT INTO digest VALUES(?1, ?2, ?3)"));
  for (const std::string& table : DigestTables()) {
    HANDHOLD_ASSIGN(const TableDigest digest, ComputeDigest(db, table));
    HANDHOLD_TRY(
        put.Bind(1, table).Bind(2, digest.rows).Bind(3, static_cast<int64_t>(digest.crc)).Run());
  }
  return {};
}

namespace {

Status CheckDigests(const Database& db, bool closed, Issues* damage) {
  std::map<std::string, TableDigest> stored;
  HANDHOLD_ASSIGN(Statement list, db.Prepare("SELECT name, rows, crc FROM digest"));
  HANDHOLD_TRY(list.ForEach([&](Statement& row) -> Status {
    stored[row.String(0)] = {row.Integer(1), static_cast<uint32_t>(row.Integer(2))};
    return {};
  }));
  if (!closed && stored.empty()) return {};
  for (const std::string& table : DigestTables()) {
    const auto digest = stored.find(table);
    const Result<TableDigest> computed = ComputeDigest(db, table);
    if (computed && closed && digest != stored.end() && digest->second.rows == computed->rows &&
        digest->second.crc == computed->crc)
      continue;
    const std::string what =
        "table '" + table + "' is not as it was written (its digest does not match)";
    if (damage == nullptr)
      return Bad(db, what + "; 'handhold library check' says what can still be read");
    damage->push_back({table, Severity::kLoss, what});
  }
  return {};
}

}  // namespace

Result<ClipTables> GetTables(const Database& db, Issues* damage) {
  ClipTables t;
  const auto tolerate = [&](const char* table, Status status) -> Status {
    if (status || damage == nullptr) return status;
    damage->push_back({table, Severity::kLoss, status.error().message});
    return {};
  };
  HANDHOLD_TRY(tolerate("info", ReadInfo(db, t)));
  HANDHOLD_TRY(CheckDigests(db, t.closed, damage));
  HANDHOLD_TRY(tolerate("stream", ReadStreams(db, t)));
  HANDHOLD_TRY(tolerate("clock_map", ReadClocks(db, t)));
  HANDHOLD_TRY(tolerate("event", ReadEvents(db, t)));
  HANDHOLD_TRY(tolerate("quality", ReadQuality(db, t)));
  std::erase_if(t.clocks, [](const auto& entry) { return !entry.second.valid(); });
  return t;
}

}  // namespace handhold::store
