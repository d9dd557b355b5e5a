#include "database/store/clip_file.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "database/base/check.h"
#include "database/store/crc32c.h"

namespace handhold::store {
namespace {

using recording::ClockPair;
using recording::ForceSensor;
using recording::StreamInfo;

template <typename Derived>
Bytes DoublesOf(const Eigen::DenseBase<Derived>& matrix) {
  Bytes bytes;
  for (Eigen::Index c = 0; c < matrix.cols(); ++c) {
    for (Eigen::Index r = 0; r < matrix.rows(); ++r)
      PutFixed(bytes, static_cast<double>(matrix(r, c)));
  }
  return bytes;
}

/// The rotation column by column, then the position.
Bytes PoseBytes(const geometry::RigidTransform& X) {
  Bytes bytes = DoublesOf(X.R);
  for (int i = 0; i < 3; ++i) PutFixed(bytes, X.p[i]);
  return bytes;
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
                                   {"task", &info.task}}) {
    HANDHOLD_TRY(put.Bind(1, key).Bind(2, *value).Run());
  }
  HANDHOLD_TRY(put.Bind(1, "utc_start_ns").Bind(2, info.utc_start.ns()).Run());
  HANDHOLD_TRY(put.Bind(1, "host_start_ns").Bind(2, info.host_start_ns).Run());
  HANDHOLD_TRY(db.Execute("DELETE FROM property"));
  HANDHOLD_ASSIGN(Statement property, db.Prepare("INSERT INTO property VALUES(?1, ?2)"));
  for (const auto& [key, value] : info.properties)
    HANDHOLD_TRY(property.Bind(1, key).Bind(2, value).Run());
  return PutThings(db, info.things);
}

Status PutThings(Database& db, const std::vector<recording::Thing>& things) {
  HANDHOLD_TRY(db.Execute("DELETE FROM thing"));
  HANDHOLD_TRY(db.Execute("DELETE FROM thing_item"));
  HANDHOLD_ASSIGN(Statement put,
                  db.Prepare("INSERT INTO thing VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)"));
  HANDHOLD_ASSIGN(Statement item, db.Prepare("INSERT INTO thing_item VALUES(?1, ?2, ?3)"));
  for (size_t i = 0; i < things.size(); ++i) {
    const recording::Thing& thing = things[i];
    const auto position = static_cast<int64_t>(i);
    const Bytes pose = PoseBytes(thing.X_WT);
    put.Bind(1, position)
        .Bind(2, thing.name)
        .Bind(3, ThingKindName(thing.kind))
        .Bind(4, thing.model)
        .Bind(5, ThingPoseName(thing.pose))
        .Bind(6, std::span(pose))
        .Bind(7, thing.stream);
    HANDHOLD_TRY(put.Run());
    for (size_t k = 0; k < thing.items.size(); ++k)
      HANDHOLD_TRY(
          item.Bind(1, position).Bind(2, static_cast<int64_t>(k)).Bind(3, thing.items[k]).Run());
  }
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
          "INSERT OR REPLACE INTO force_sensor VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
          "?11)"));
  const Bytes calibration = DoublesOf(sensor.calibration), bias = DoublesOf(sensor.bias),
              normal = DoublesOf(sensor.normal_S), pose = PoseBytes(sensor.X_MS);
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
      .Bind(11, sensor.mounted_on)
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
      : bad_(CorruptFile(db, "clock pairs of stream " + std::to_string(stream) + " are damaged")) {}
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
      return CorruptFile(db, "clock pairs of stream " + std::to_string(stream) + " are missing");
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

}  // namespace handhold::store
