/// Walks the chunks of one stream in order, decoded whole. Internal to the store: compaction,
/// checks, zone maps.
#pragma once

#include <string>
#include <vector>

#include "database/store/clip_file.h"

namespace handhold::store {

class ClipCursor {
 public:
  /// `db` and `info` must outlive the cursor.
  ClipCursor(const Database& db, const recording::StreamInfo& info,
             std::vector<ChunkEntry> entries);

  bool done() const { return next_ == entries_.size(); }
  const ChunkEntry& entry() const { return entries_[next_]; }  ///< that Next will read
  /// Reads and verifies the next chunk; after an error it has still been stepped over.
  Status Next(ChunkSamples& out);

 private:
  const Database& db_;
  const recording::StreamInfo& info_;
  ChunkLayout layout_;
  std::vector<ChunkEntry> entries_;
  size_t next_ = 0;
  BlobHandle blob_;
  ChunkDecoder decoder_;
  ChunkHeader header_;
  Bytes bytes_;
};

/// kCorrupt unless a chunk's header is what its row says, for which index and time were looked up.
Status CheckEntry(const ChunkHeader& header, const ChunkEntry& entry);
/// Inserts samples [begin, end) as one chunk. `bytes` is scratch.
Status InsertChunk(Statement& insert, ChunkEncoder& encoder, const ChunkLayout& layout,
                   uint32_t sequence, int64_t first_index, const ChunkSamples& samples, int begin,
                   int end, Bytes& bytes);
inline constexpr char kInsertChunk[] = "INSERT INTO chunk VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
/// Where the chunk that begins at sample `begin` should end: `length` later, sooner where a limit
/// of the format is met.
int ChunkEnd(const ChunkLayout& layout, const ChunkSamples& samples, int begin, Duration length);
/// Samples that make a chunk of `length`; uneven streams: 1024.
int NominalCount(recording::Rate rate, Duration length);

}  // namespace handhold::store
