/// How columns of numbers become few bytes and exactly the same numbers again: the frame, smallest
/// readable unit of a chunk.
///
/// A frame holds one or more columns of equal length. Each column is turned into integers (steps of
/// its quantum, or the bits of its floats), predicted from its own past by one of four integer
/// predictors, and the zigzagged differences are laid out byte plane by byte plane over all columns
/// and compressed with zstd level 1. What a column is stored as and which predictor fits is chosen
/// per column and frame. Layout: schemas/README.md, "Frame". Measured grounds: README.md,
/// Decisions.
///
/// Neither class is thread-safe; each owns its scratch, so that steady use does not allocate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "database/base/result.h"
#include "database/store/bytes.h"

namespace handhold::store {

/// What a column's values are stored as.
enum class ColumnKind : uint8_t {
  kCounts = 0,       ///< value = count x quantum, in double
  kFloatCounts = 1,  ///< value = count x quantum rounded to float: integer C3D data times its scale
  kFloat32 = 2,      ///< bits of a float: any value that a float holds exactly
  kFloat64 = 3,      ///< bits of a double
  kIntegers = 4,     ///< 64-bit integers: counters, times, lengths, origins
  kMilliFloat32 = 5,  ///< value = float x 0.001, in double: metres of a file in millimetres
};

/// How the next integer is guessed from the ones before it; what is stored is the difference.
enum class Predictor : uint8_t {
  kNone = 0,   ///< 0
  kHold = 1,   ///< x1                     first difference
  kLine = 2,   ///< 2 x1 - x2              second difference
  kSlope = 3,  ///< x1 + (x2 - x4) / 2     line through the last four by least squares: less noise
               ///< than kLine
};

/// Most samples a frame may hold; a chunk of 2 s stays below it up to 500 kHz.
inline constexpr int kMaxFrameSamples = 1 << 20;

class FrameEncoder {
 public:
  FrameEncoder();
  ~FrameEncoder();
  FrameEncoder(const FrameEncoder&) = delete;
  FrameEncoder& operator=(const FrameEncoder&) = delete;

  /// Appends to `out` the frame of quanta.size() columns with `count` values each; column c begins
  /// at values + c * stride. NaN is "missing": its position is kept, not its payload. With quantum
  /// > 0 a value differs from the given one by at most half a quantum, checked per value: a column
  /// that cannot keep this (infinite or huge values) is stored exactly. With `lossless`, or quantum
  /// 0, every other bit is kept; -0.0 too. Precondition: 0 < count <= kMaxFrameSamples.
  void EncodeValues(const double* values, size_t stride, int count, std::span<const double> quanta,
                    bool lossless, Bytes& out);
  /// The same for whole numbers.
  void EncodeIntegers(const int64_t* values, size_t stride, int count, int columns, Bytes& out);
  /// Any bytes, compressed where that helps.
  void EncodeBytes(std::span<const uint8_t> bytes, Bytes& out);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

class FrameDecoder {
 public:
  FrameDecoder();
  ~FrameDecoder();
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;

  /// Decodes the columns named by `wanted` (ascending positions in the frame) of a frame of
  /// quanta.size() columns with `count` values each, and writes values [begin, end) of the k-th
  /// wanted one to out + k * stride. Any bytes are safe to pass: what contradicts itself is
  /// kCorrupt, memory stays below 9 bytes per declared value.
  Status DecodeValues(std::span<const uint8_t> frame, std::span<const double> quanta, int count,
                      std::span<const int> wanted, int begin, int end, double* out, size_t stride);
  /// All columns, all values.
  Status DecodeIntegers(std::span<const uint8_t> frame, int columns, int count, int64_t* out,
                        size_t stride);
  /// What EncodeBytes was given; refuses more than `limit` bytes.
  Result<Bytes> DecodeBytes(std::span<const uint8_t> frame, size_t limit);

 private:
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace handhold::store
