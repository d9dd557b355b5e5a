/// The chunk: some tenths of a second, or two seconds, of one stream as one self-describing byte
/// string.
///
/// header | frame table | frames. The header alone says which stream, which samples and when, so
/// that a torn file still indexes; one CRC-32C covers header and table, one each frame. Layout:
/// schemas/README.md, "Chunk".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/recording/stream.h"
#include "database/store/codec.h"

namespace handhold::store {

/// Most values (samples x channels) of a chunk; what a damaged or hostile file can make a reader
/// allocate follows from it.
inline constexpr int64_t kMaxChunkValues = int64_t{1} << 22;
/// Most values that this program puts into a chunk: 8 MB of doubles, whatever a stream's width.
/// Streams with fewer than 524 288 values a second still get their 2 s.
inline constexpr int64_t kMaxWrittenValues = int64_t{1} << 20;
/// Most bytes of texts in a chunk.
inline constexpr size_t kMaxTextBytes = 32u << 20;

/// Where the device counter runs on evenly from: sample `at` of the chunk has this counter, the
/// next ones + 1 each.
struct CounterRun {
  int at = 0;
  int64_t counter = 0;
};

/// Samples of one stream, in columns that grow: what waits for the next chunk, and what a chunk
/// decodes to.
class ChunkSamples {
 public:
  explicit ChunkSamples(int columns = 0) : columns_(columns) {}

  /// Adds samples [begin, end) of a block whose shape fits the kind (the caller has checked).
  void Append(recording::StreamKind kind, const recording::SampleBlock& block, int begin, int end);
  void Append(const ChunkSamples& other, int begin, int end);
  /// Back to `count` samples.
  void Truncate(int count);
  void DropFront(int count);
  void Clear() { Truncate(0); }
  /// Makes room for `values` values per column, uninitialised: for decoding.
  void Reset(int columns, int count, int value_count);

  int count() const { return count_; }
  int columns() const { return columns_; }
  int value_count() const { return value_count_; }  ///< = count, but for ragged points
  size_t stride() const { return stride_; }
  double* column(int c) { return values_.data() + static_cast<size_t>(c) * stride_; }
  const double* column(int c) const { return values_.data() + static_cast<size_t>(c) * stride_; }
  const uint8_t* origin_column(int c) const {
    return origins_.data() + static_cast<size_t>(c) * stride_;
  }
  bool has_origins() const { return !origins_.empty(); }
  int64_t CounterAt(int i) const;
  int64_t first_counter() const { return runs.front().counter; }
  int64_t last_counter() const { return runs.back().counter + (count_ - 1 - runs.back().at); }
  /// Values before sample i, per column.
  int ValueBegin(int i) const;
  /// The same samples: values by bits (any NaN equals any), counters, times, texts, origins.
  bool SameAs(const ChunkSamples& other) const;

  std::vector<CounterRun> runs;
  std::vector<int32_t> point_counts;
  std::vector<int64_t> host_times;
  std::vector<std::string> texts;

 private:
  friend class ChunkDecoder;
  void Grow(int value_count);
  void NeedOrigins();
  void AddRun(int64_t counter, int count);

  int columns_ = 0, count_ = 0, value_count_ = 0;
  size_t stride_ = 0;
  std::vector<double> values_;
  std::vector<uint8_t> origins_;
};

struct ChunkHeader {
  static constexpr int kFixedBytes = 80;
  uint32_t stream = 0;
  uint32_t sequence = 0;
  int64_t first_index = 0;  ///< index in the stream of the first sample
  int64_t first_counter = 0, last_counter = 0;
  int64_t first_time_ns = 0;  ///< device time of the first sample; uneven streams: its host time
  uint32_t count = 0;
  uint32_t value_count = 0;  ///< values per column; = count but for ragged points
  uint32_t columns = 0;
  uint32_t columns_per_frame = 1;
  uint16_t flags = 0;
  struct Frame {
    uint32_t begin = 0, size = 0, crc = 0;  ///< begin: from the chunk's first byte
  };
  std::vector<Frame> frames;

  int value_frames() const {
    return static_cast<int>((columns + columns_per_frame - 1) / columns_per_frame);
  }
  size_t bytes() const { return kFixedBytes + frames.size() * 8; }

  static constexpr uint16_t kHasOrigins = 1, kHasRuns = 2, kHasTimes = 4, kHasPoints = 8,
                            kHasTexts = 16;
  /// Index of the first frame of a part, or -1.
  int FrameOf(uint16_t flag) const;
  int FrameCount() const;
};

/// What is constant for the chunks of a stream.
struct ChunkLayout {
  uint32_t stream = 0;
  recording::StreamKind kind = recording::StreamKind::kAnalog;
  recording::Rate rate;
  std::vector<double> quanta;  ///< one per column
  int columns_per_frame = 1;
  bool lossless = false;

  /// `compacted`: a frame per marker, body or transducer, so that a window of few channels reads
  /// few bytes; else one frame for all, as chunks of 0.1 s are too short to be split.
  static ChunkLayout Of(const recording::StreamInfo& info, bool compacted, bool lossless);
};

class ChunkEncoder {
 public:
  /// Samples [begin, end) as a chunk, replacing `out`. Precondition: within the limits above.
  void Encode(const ChunkLayout& layout, uint32_t sequence, int64_t first_index,
              const ChunkSamples& samples, int begin, int end, Bytes& out);

 private:
  FrameEncoder frames_;
  std::vector<int64_t> integers_;
};

/// Parses header and table; `bytes` may be the chunk's beginning only, if it reaches past the table
/// (HeaderBytes).
Result<ChunkHeader> ParseChunkHeader(std::span<const uint8_t> bytes, int64_t chunk_bytes);
/// Bytes of header and table, from the first kFixedBytes of a chunk.
Result<int> ChunkHeaderBytes(std::span<const uint8_t> fixed);

class ChunkDecoder {
 public:
  /// The whole chunk. Verifies every checksum and that the content agrees with the layout.
  Status Decode(const ChunkLayout& layout, std::span<const uint8_t> chunk, ChunkHeader& header,
                ChunkSamples& out);
  /// Everything but values and origins: runs, times, point counts, texts. `frame(i)` gives the
  /// verified bytes of frame i.
  template <typename FrameSource>
  Status DecodeIndex(const ChunkHeader& header, const FrameSource& frame, ChunkSamples& out);
  FrameDecoder& frames() { return frames_; }

 private:
  Status DecodeRuns(const ChunkHeader& header, std::span<const uint8_t> frame, ChunkSamples& out);
  Status DecodeTimes(const ChunkHeader& header, std::span<const uint8_t> frame, ChunkSamples& out);
  Status DecodePoints(const ChunkHeader& header, std::span<const uint8_t> frame, ChunkSamples& out);
  Status DecodeTexts(const ChunkHeader& header, std::span<const uint8_t> lengths,
                     std::span<const uint8_t> text, ChunkSamples& out);
  FrameDecoder frames_;
  std::vector<int64_t> integers_;
};

/// kCorrupt unless the chunk's shape is that of its stream.
Status CheckLayout(const ChunkLayout& layout, const ChunkHeader& header);
/// kCorrupt unless the checksum of frame i matches.
Status CheckFrame(const ChunkHeader& header, int i, std::span<const uint8_t> frame);

template <typename FrameSource>
Status ChunkDecoder::DecodeIndex(const ChunkHeader& header, const FrameSource& frame,
                                 ChunkSamples& out) {
  using H = ChunkHeader;
  out.runs.assign(1, {0, header.first_counter});
  out.host_times.clear();
  out.point_counts.clear();
  out.texts.clear();
  const auto part = [&](uint16_t flag, int k, std::span<const uint8_t>& bytes) -> Status {
    HANDHOLD_ASSIGN(bytes, frame(header.FrameOf(flag) + k));
    return {};
  };
  std::span<const uint8_t> a, b;
  if ((header.flags & H::kHasRuns) != 0) {
    HANDHOLD_TRY(part(H::kHasRuns, 0, a));
    HANDHOLD_TRY(DecodeRuns(header, a, out));
  }
  if ((header.flags & H::kHasTimes) != 0) {
    HANDHOLD_TRY(part(H::kHasTimes, 0, a));
    HANDHOLD_TRY(DecodeTimes(header, a, out));
  }
  if ((header.flags & H::kHasPoints) != 0) {
    HANDHOLD_TRY(part(H::kHasPoints, 0, a));
    HANDHOLD_TRY(DecodePoints(header, a, out));
  }
  if ((header.flags & H::kHasTexts) != 0) {
    HANDHOLD_TRY(part(H::kHasTexts, 0, a));
    const Bytes lengths(a.begin(), a.end());  // the source may reuse its buffer
    HANDHOLD_TRY(part(H::kHasTexts, 1, b));
    HANDHOLD_TRY(DecodeTexts(header, lengths, b, out));
  }
  return {};
}

}  // namespace handhold::store
