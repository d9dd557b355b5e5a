/// The tables of a clip file, row by row: what writer, compactor, reader and artefacts share.
/// Internal to the store.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/recording/clip.h"
#include "database/store/chunk.h"
#include "database/store/schema.h"
#include "database/store/sqlite.h"

namespace handhold::store {

/// Where a chunk is, without opening it.
struct ChunkEntry {
  uint32_t sequence = 0;
  int64_t first_index = 0;
  int64_t first_counter = 0, last_counter = 0;
  int count = 0;
  int64_t first_time_ns = 0, last_time_ns = 0;
};

/// Everything of a clip but its samples.
struct ClipTables {
  recording::ClipInfo info;
  bool is_artefact = false;
  bool closed = false;
  bool recovered = false;  ///< closed by somebody else than its writer, after a crash
  bool lossless = false;
  std::vector<recording::StreamInfo> streams;
  std::vector<recording::ForceSensor> sensors;
  std::map<int, recording::ClockMap> clocks;  ///< by stream
  std::vector<recording::Event> events;       ///< ascending in time
  std::vector<recording::Gap> gaps;
  recording::QualityRecord quality;
  bool advised = false;  ///< the file says whether to keep it; else `quality` is what that means
  std::map<int, std::vector<ChunkEntry>> chunks;  ///< by stream, in order
};

inline int64_t ChunkId(int stream, uint32_t sequence) {
  return static_cast<int64_t>(stream) << 32 | sequence;
}
inline int StreamOfChunk(int64_t id) { return static_cast<int>(id >> 32); }

/// Creates the tables of an empty file and names it. The page size is 4 KiB, auto_vacuum
/// incremental (its pointer map is what makes reading inside a blob cheap).
Status CreateClipTables(Database& db, bool is_artefact, bool lossless);
Status PutInfo(Database& db, const recording::ClipInfo& info);  ///< with its things
Status PutThings(Database& db, const std::vector<recording::Thing>& things);
Status PutFlag(Database& db, const char* key, int64_t value);
Status PutStream(Database& db, const recording::StreamInfo& info);
Status PutForceSensor(Database& db, int position, const recording::ForceSensor& sensor);
Status PutClockMap(Database& db, int stream, const recording::ClockMap& map);
Status PutEvent(Database& db, const recording::Event& event);
Status PutGap(Database& db, const recording::Gap& gap);
Status PutQuality(Database& db, const recording::QualityRecord& quality);
/// One row per at most kMaxFrameSamples pairs; `id` as ChunkId.
Status PutClockPairs(Database& db, int64_t id, std::span<const recording::ClockPair> pairs);
Result<std::vector<recording::ClockPair>> GetClockPairs(const Database& db, int stream);
/// Those with counters in [begin, end), of a stream whose counters ascend and whose pairs lie in
/// rows 0 .. rows - 1. Reads as many rows as these take, and log2(rows) to find them.
Result<std::vector<recording::ClockPair>> GetClockPairs(const Database& db, int stream,
                                                        uint32_t rows, int64_t begin, int64_t end);
/// All of them row by row, each checked: at most kMaxFrameSamples at once. Stops at the first
/// error.
Status VisitClockPairs(const Database& db, int stream,
                       const std::function<Status(std::span<const recording::ClockPair>)>& visit);

/// Reads all tables but zone, clock_pairs and document. Where the file is closed, or has digests,
/// those of all tables are compared; with `damage` null the first that fails is returned, else all
/// are appended and reading goes on.
Result<ClipTables> GetTables(const Database& db, Issues* damage);
Result<std::vector<ChunkEntry>> GetChunkEntries(const Database& db, int stream);

/// Tables covered by a digest, and the digest: rows, and CRC-32C over every value of every row in
/// key order, each as its type byte, its length for text and blob, and its bytes. Blobs with
/// checksums of their own (chunk, zone, clock_pairs) are left out, their keys and other columns are
/// not.
const std::vector<std::string>& DigestTables();
struct TableDigest {
  int64_t rows = 0;
  uint32_t crc = 0;
};
Status WriteDigests(Database& db);

/// The map used where none is stored (a recording that was cut off): offset from the earliest of
/// the raw pairs, else such that clip time is device time.
Result<recording::ClockMap> FallbackClock(const Database& db, const recording::ClipInfo& info,
                                          int stream);

}  // namespace handhold::store
