/// Reads spans of samples of one stream out of its chunks, touching only the frames of the channels
/// asked for. Internal to the store.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "database/store/clip_file.h"
#include "database/store/clip_times.h"

namespace handhold::store {

class WindowReader {
 public:
  /// `db`, `info` and the clock must outlive this.
  WindowReader(const Database& db, const recording::StreamInfo& info,
               std::vector<ChunkEntry> entries, ClipTimes times, int64_t host_start_ns);

  /// Samples with clip time in `range`; replaces the content of `out`, reusing its memory.
  Status Read(TimeRange range, const std::vector<int>& channels, recording::SampleWindow& out);
  /// Samples of the chunks [first, last).
  Status ReadChunks(size_t first, size_t last, const std::vector<int>& channels,
                    recording::SampleWindow& out);
  /// Decodes every chunk. One that cannot be read is left out from then on, as if it had never
  /// been; of one whose frames are damaged the channels in them are missing. Each is told, and what
  /// is not there between chunks is answered as gaps.
  std::vector<recording::Gap> ReadAround(Issues& damage);
  const std::vector<ChunkEntry>& entries() const { return entries_; }
  TimeRange Extent() const;
  /// Clip time of a chunk's first sample, and of the end of its last.
  TimeRange RangeOf(const ChunkEntry& entry) const;
  bool uneven() const { return uneven_; }
  /// An open blob holds a read transaction, which would keep a recorder's log from being emptied:
  /// for a clip that is still being written, it is closed after every read.
  void CloseAfterEachRead() { close_after_read_ = true; }

 private:
  struct Piece {
    const ChunkEntry* entry;
    int begin, end;  ///< samples of the chunk
    bool even_run;   ///< its counters run without a jump and its times follow from them
  };
  Status OpenChunk(const ChunkEntry& entry);
  Status LoadIndex();
  Result<std::span<const uint8_t>> Frame(int i);
  Status AddPiece(const ChunkEntry& entry, TimeRange range, bool whole);
  Status Finish(Status status);
  Status Fill(const std::vector<int>& channels, recording::SampleWindow& out);
  Status FillValues(const Piece& piece, size_t at, size_t stride, bool origins,
                    recording::SampleWindow& out);
  Status FillFrame(int frame, size_t first, size_t last, const Piece& piece, size_t at,
                   size_t stride, bool origins, recording::SampleWindow& out);
  Status FillPoints(const Piece& piece, recording::SampleWindow& out);
  /// Whether everything of the chunk but its values can be read, and of which groups of channels
  /// these cannot.
  Status TryChunk(const ChunkEntry& entry, std::set<int>& bad_groups, std::string& why);
  Error Where(const Error& error, const ChunkEntry& entry) const;

  const Database& db_;
  const recording::StreamInfo& info_;
  std::vector<ChunkEntry> entries_;
  ClipTimes times_;
  int64_t host_start_ns_;
  bool uneven_;
  bool close_after_read_ = false;
  ChunkLayout layout_;
  ChunkDecoder decoder_;
  BlobHandle blob_;
  const ChunkEntry* open_ = nullptr;  ///< whose header is in header_
  bool index_loaded_ = false;         ///< its runs, times, points, texts are in index_
  ChunkHeader header_;
  ChunkSamples index_;
  Bytes head_, bytes_;
  size_t bytes_begin_ = 0;                        ///< what of the open chunk is in bytes_
  std::map<uint32_t, std::set<int>> bad_groups_;  ///< of chunks, by sequence: what is missing
  std::vector<Piece> pieces_;
  std::vector<std::pair<int, size_t>> wanted_;  ///< channel, position in the window; ascending in
                                                ///< channel
  std::vector<int> columns_;
  std::vector<double> scratch_;
  std::vector<int64_t> integers_;
};

}  // namespace handhold::store
