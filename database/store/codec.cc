#include "database/store/codec.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "database/base/check.h"

namespace handhold::store {
namespace {

constexpr uint8_t kStoredPlain = 0;
constexpr uint8_t kStoredZstd = 1;
constexpr int kZstdLevel = 1;
constexpr int kPredictors = 4;
/// Samples a predictor needs before it; they are stored as varints in the column's head.
constexpr std::array<int, kPredictors> kWarmUp = {0, 1, 2, 4};
constexpr uint8_t kKindMask = 0x07, kPredictorShift = 3, kPredictorMask = 0x03, kHasMissing = 0x20,
                  kReservedMask = 0xC0;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Adding it rounds a double below 2^51 to the nearest integer, which then stands in the low bits.
constexpr double kRoundingMagic = 6755399441055744.0;  // 1.5 * 2^52

/// Order-preserving integers from float bits: neighbouring floats become neighbouring integers,
/// across zero too.
constexpr uint32_t FromFloatBits(uint32_t bits) {
  return bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) & 0x7FFFFFFFu);
}
constexpr uint64_t FromFloatBits(uint64_t bits) {
  return bits ^ (static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63) & 0x7FFFFFFFFFFFFFFFu);
}

/// Half of a difference, rounded down, in wrapping arithmetic: the same on both sides whatever the
/// values.
template <typename U>
constexpr U Half(U difference) {
  return static_cast<U>(static_cast<std::make_signed_t<U>>(difference) >> 1);
}

template <typename U>
constexpr U Predict(int predictor, const U* x) {  // x points at the value to be guessed; enough
                                                  // history is before it
  switch (predictor) {
    case 1:
      return x[-1];
    case 2:
      return static_cast<U>(2 * x[-1] - x[-2]);
    case 3:
      return static_cast<U>(x[-1] + Half<U>(x[-2] - x[-4]));
    default:
      return 0;
  }
}

/// The predictor whose differences are smallest in sum: close to the fewest bits, as differences
/// are noise. Of 32-bit ones the sums are whole numbers, so that the loop is vectorised; those of
/// 64-bit ones could overflow.
template <typename U>
int ChoosePredictor(const U* x, int n) {
  if (n <= kWarmUp[3]) return n <= 1 ? 0 : 1;
  using Sum = std::conditional_t<sizeof(U) == 8, double, uint64_t>;
  const auto cost_of = [](U difference) { return static_cast<Sum>(ZigZag<U>(difference)); };
  Sum none = 0, hold = 0, line = 0, slope = 0;
  for (int i = kWarmUp[3]; i < n; ++i) {
    const U step = static_cast<U>(x[i] - x[i - 1]);
    none += cost_of(x[i]);
    hold += cost_of(step);
    line += cost_of(static_cast<U>(step - (x[i - 1] - x[i - 2])));
    slope += cost_of(static_cast<U>(step - Half<U>(static_cast<U>(x[i - 2] - x[i - 4]))));
  }
  const std::array<Sum, kPredictors> cost = {none, hold, line, slope};
  return static_cast<int>(std::min_element(cost.begin(), cost.end()) - cost.begin());
}

template <typename U>
void Differences(int predictor, const U* x, int n, U* z) {  // z[i] for i in [warm-up, n)
  const int first = kWarmUp[static_cast<size_t>(predictor)];
  switch (predictor) {
    case 0:
      for (int i = first; i < n; ++i) z[i] = ZigZag<U>(x[i]);
      break;
    case 1:
      for (int i = first; i < n; ++i) z[i] = ZigZag<U>(x[i] - x[i - 1]);
      break;
    case 2:
      for (int i = first; i < n; ++i) z[i] = ZigZag<U>(x[i] - 2 * x[i - 1] + x[i - 2]);
      break;
    default:
      for (int i = first; i < n; ++i)
        z[i] = ZigZag<U>(x[i] - x[i - 1] - Half<U>(x[i - 2] - x[i - 4]));
  }
}

/// Warm-up samples are guessed by the longest difference that fits before them.
template <typename U>
U PredictWarmUp(const U* x, int i) {
  return i == 0 ? U{0} : Predict<U>(i == 1 ? 1 : 2, x + i);
}

/// Appends width, warm-up values and planes of `n` integers.
template <typename U>
void PutColumn(const U* x, int n, int predictor, std::vector<U>& scratch, Bytes& out) {
  scratch.resize(static_cast<size_t>(n));
  const int warm = std::min(n, kWarmUp[static_cast<size_t>(predictor)]);
  U* z = scratch.data();
  Differences<U>(predictor, x, n, z);
  U all = 0;
  for (int i = warm; i < n; ++i) all |= z[i];
  const auto width = static_cast<size_t>((std::bit_width(all) + 7) / 8);
  out.push_back(static_cast<uint8_t>(width));
  for (int i = 0; i < warm; ++i) PutVarint(out, ZigZag<U>(x[i] - PredictWarmUp<U>(x, i)));
  const auto rest = static_cast<size_t>(n - warm);
  const size_t at = out.size();
  out.resize(at + width * rest);
  for (size_t p = 0; p < width; ++p) {
    uint8_t* plane = out.data() + at + p * rest;
    for (size_t i = 0; i < rest; ++i)
      plane[i] = static_cast<uint8_t>(z[static_cast<size_t>(warm) + i] >> (8 * p));
  }
}

/// Reads what PutColumn wrote, up to value `needed` (exclusive) of `n`; false when the bytes
/// contradict themselves.
template <typename U>
bool TakeColumn(ByteReader& in, int n, int predictor, int needed, U* x) {
  const auto width = in.Fixed<uint8_t>();
  if (width > sizeof(U)) return false;
  const int warm = std::min(n, kWarmUp[static_cast<size_t>(predictor)]);
  for (int i = 0; i < warm; ++i) {
    const uint64_t raw = in.Varint();
    if (raw > std::numeric_limits<U>::max()) return false;
    x[i] = static_cast<U>(UnZigZag<U>(static_cast<U>(raw)) + PredictWarmUp<U>(x, i));
  }
  const auto rest = static_cast<size_t>(n - warm);
  const std::span<const uint8_t> planes = in.Take(width * rest);
  if (!in.ok()) return false;
  if (needed <= warm) return true;
  const auto count = static_cast<size_t>(needed - warm);
  const uint8_t* const p0 = planes.data();
  U* const d = x + warm;
  switch (width) {
    case 0:
      std::fill(d, d + count, U{0});
      break;
    case 1:
      for (size_t i = 0; i < count; ++i) d[i] = UnZigZag<U>(static_cast<U>(p0[i]));
      break;
    case 2: {
      const uint8_t* const p1 = p0 + rest;
      for (size_t i = 0; i < count; ++i)
        d[i] = UnZigZag<U>(static_cast<U>(p0[i] | static_cast<uint32_t>(p1[i]) << 8));
      break;
    }
    default:
      for (size_t i = 0; i < count; ++i) {
        U z = 0;
        for (size_t p = 0; p < width; ++p)
          z |= static_cast<U>(static_cast<U>(p0[p * rest + i]) << (8 * p));
        d[i] = UnZigZag<U>(z);
      }
  }
  switch (predictor) {
    case 0:
      break;
    case 1: {
      U last = x[0];
      for (size_t i = 0; i < count; ++i) d[i] = last = static_cast<U>(last + d[i]);
      break;
    }
    case 2: {
      U last = x[1], slope = static_cast<U>(x[1] - x[0]);
      for (size_t i = 0; i < count; ++i) {
        slope = static_cast<U>(slope + d[i]);
        d[i] = last = static_cast<U>(last + slope);
      }
      break;
    }
    default: {
      U x1 = x[3], x2 = x[2], x3 = x[1], x4 = x[0];
      for (size_t i = 0; i < count; ++i) {
        const U next = static_cast<U>(static_cast<U>(d[i] + Half<U>(x2 - x4)) + x1);
        x4 = x3;
        x3 = x2;
        x2 = x1;
        d[i] = x1 = next;
      }
    }
  }
  return true;
}

/// Missing samples as runs: number of runs, then for each the distance from the last run's end and
/// its length.
void PutRuns(const double* values, int count, Bytes& out) {
  Bytes runs;
  uint64_t run_count = 0;
  int end = 0;
  for (int i = 0; i < count;) {
    if (!std::isnan(values[i])) {
      ++i;
      continue;
    }
    const int begin = i;
    while (i < count && std::isnan(values[i])) ++i;
    PutVarint(runs, static_cast<uint64_t>(begin - end));
    PutVarint(runs, static_cast<uint64_t>(i - begin));
    end = i;
    ++run_count;
  }
  PutVarint(out, run_count);
  out.insert(out.end(), runs.begin(), runs.end());
}

struct Run {
  int begin, end;
};

bool TakeRuns(ByteReader& in, int count, std::vector<Run>& runs, int& missing) {
  const uint64_t run_count = in.Varint();
  if (!in.ok() || run_count == 0 || run_count > static_cast<uint64_t>(count)) return false;
  uint64_t at = 0, total = 0;
  for (uint64_t r = 0; r < run_count; ++r) {
    const uint64_t gap = in.Varint(), length = in.Varint();
    if (!in.ok() || gap > static_cast<uint64_t>(count) || length == 0 ||
        length > static_cast<uint64_t>(count))
      return false;
    const uint64_t begin = at + gap;
    at = begin + length;
    if (at > static_cast<uint64_t>(count)) return false;
    runs.push_back({static_cast<int>(begin), static_cast<int>(at)});
    total += length;
  }
  missing = static_cast<int>(total);
  return true;
}

/// Steps of `quantum` nearest to the values; false when one value would be further off than half a
/// step.
bool ToCounts(const double* v, int n, double quantum, uint32_t* x) {
  const double inverse = 1.0 / quantum, half = 0.5 * quantum;
  // A tie may land an ulp beyond half a step: that is the rounding of the value itself, not of the
  // grid.
  constexpr double kUlp = 2.5e-16;
  int bad = 0;
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<uint32_t>(std::bit_cast<uint64_t>(v[i] * inverse + kRoundingMagic));
    x[i] = k;
    // Subtracted, not added, so that an infinity compares false.
    bad |= !(std::abs(static_cast<int32_t>(k) * quantum - v[i]) - kUlp * std::abs(v[i]) <= half)
               ? 1
               : 0;
  }
  return bad == 0;
}

/// Exactly these values as steps of `quantum`, in double or rounded to float.
bool ToExactCounts(const double* v, int n, double quantum, bool as_float, uint32_t* x) {
  const double inverse = 1.0 / quantum;
  for (int i = 0; i < n; ++i) {
    const auto k = static_cast<uint32_t>(std::bit_cast<uint64_t>(v[i] * inverse + kRoundingMagic));
    double back = static_cast<int32_t>(k) * quantum;
    if (as_float) back = static_cast<double>(static_cast<float>(back));
    if (std::bit_cast<uint64_t>(back) != std::bit_cast<uint64_t>(v[i])) return false;
    x[i] = k;
  }
  return true;
}

bool ToFloat32(const double* v, int n, uint32_t* x) {
  int bad = 0;
  for (int i = 0; i < n; ++i) {
    // Beyond float's range the conversion is undefined, except for the infinities.
    const bool fits = std::abs(v[i]) <= static_cast<double>(std::numeric_limits<float>::max()) ||
                      std::isinf(v[i]);
    const float f = fits ? static_cast<float>(v[i]) : 0.0f;
    bad |= std::bit_cast<uint64_t>(static_cast<double>(f)) != std::bit_cast<uint64_t>(v[i]) ? 1 : 0;
    x[i] = FromFloatBits(std::bit_cast<uint32_t>(f));
  }
  return bad == 0;
}

/// Exactly these values as floats times 0.001: what MillimetresToMetres makes of a file's floats.
bool ToMilliFloat32(const double* v, int n, uint32_t* x) {
  for (int i = 0; i < n; ++i) {
    const double milli = v[i] * 1e3;
    if (!(std::abs(milli) <= static_cast<double>(std::numeric_limits<float>::max()))) return false;
    const auto f = static_cast<float>(milli);
    if (std::bit_cast<uint64_t>(static_cast<double>(f) * 1e-3) != std::bit_cast<uint64_t>(v[i]))
      return false;
    x[i] = FromFloatBits(std::bit_cast<uint32_t>(f));
  }
  return true;
}

}  // namespace

struct FrameEncoder::Scratch {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::vector<double> valid;
  std::vector<uint32_t> x32, z32;
  std::vector<uint64_t> x64, z64;
  Bytes payload, runs;

  ~Scratch() { ZSTD_freeCCtx(context); }

  void PutIntegers(ColumnKind kind, int n, uint8_t flags, bool wide) {
    const int predictor = wide ? ChoosePredictor(x64.data(), n) : ChoosePredictor(x32.data(), n);
    payload.push_back(
        static_cast<uint8_t>(static_cast<uint8_t>(kind) | predictor << kPredictorShift | flags));
    if (flags != 0) payload.insert(payload.end(), runs.begin(), runs.end());
    if (wide) {
      PutColumn(x64.data(), n, predictor, z64, payload);
    } else {
      PutColumn(x32.data(), n, predictor, z32, payload);
    }
  }

  void PutValues(const double* v, int count, double quantum, bool lossless) {
    runs.clear();
    uint8_t flags = 0;
    int n = count, missing = 0;
    for (int i = 0; i < count; ++i) missing |= v[i] != v[i] ? 1 : 0;  // to the end: vectorised
    if (missing != 0) {
      flags = kHasMissing;
      PutRuns(v, count, runs);
      valid.clear();
      std::copy_if(v, v + count, std::back_inserter(valid),
                   [](double value) { return value == value; });
      v = valid.data();
      n = static_cast<int>(valid.size());
    }
    x32.resize(static_cast<size_t>(n));
    if (quantum > 0 && (lossless ? ToExactCounts(v, n, quantum, false, x32.data())
                                 : ToCounts(v, n, quantum, x32.data()))) {
      PutIntegers(ColumnKind::kCounts, n, flags, false);
    } else if (quantum > 0 && lossless && ToExactCounts(v, n, quantum, true, x32.data())) {
      PutIntegers(ColumnKind::kFloatCounts, n, flags, false);
    } else if (ToFloat32(v, n, x32.data())) {
      PutIntegers(ColumnKind::kFloat32, n, flags, false);
    } else if (ToMilliFloat32(v, n, x32.data())) {
      PutIntegers(ColumnKind::kMilliFloat32, n, flags, false);
    } else {
      x64.resize(static_cast<size_t>(n));
      for (int i = 0; i < n; ++i)
        x64[static_cast<size_t>(i)] = FromFloatBits(std::bit_cast<uint64_t>(v[i]));
      PutIntegers(ColumnKind::kFloat64, n, flags, true);
    }
  }

  void Finish(std::span<const uint8_t> bytes, Bytes& out) {
    const size_t bound = ZSTD_compressBound(bytes.size());
    const size_t at = out.size();
    out.push_back(kStoredZstd);
    PutVarint(out, bytes.size());
    const size_t body = out.size();
    out.resize(body + bound);
    const size_t size = ZSTD_compressCCtx(context, out.data() + body, bound, bytes.data(),
                                          bytes.size(), kZstdLevel);
    CHECK(ZSTD_isError(size) == 0);
    if (body + size < at + 1 + bytes.size()) {
      out.resize(body + size);
      return;
    }
    out.resize(at);
    out.push_back(kStoredPlain);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
};

FrameEncoder::FrameEncoder() : scratch_(std::make_unique<Scratch>()) {}
FrameEncoder::~FrameEncoder() = default;

void FrameEncoder::EncodeValues(const double* values, size_t stride, int count,
                                std::span<const double> quanta, bool lossless, Bytes& out) {
  CHECK_GT(count, 0);
  CHECK_LE(count, kMaxFrameSamples);
  scratch_->payload.clear();
  for (size_t c = 0; c < quanta.size(); ++c)
    scratch_->PutValues(values + c * stride, count, quanta[c], lossless);
  scratch_->Finish(scratch_->payload, out);
}

void FrameEncoder::EncodeIntegers(const int64_t* values, size_t stride, int count, int columns,
                                  Bytes& out) {
  CHECK_GT(count, 0);
  CHECK_LE(count, kMaxFrameSamples);
  scratch_->payload.clear();
  for (int c = 0; c < columns; ++c) {
    const int64_t* v = values + static_cast<size_t>(c) * stride;
    scratch_->x64.resize(static_cast<size_t>(count));
    std::copy(v, v + count, scratch_->x64.begin());
    scratch_->PutIntegers(ColumnKind::kIntegers, count, 0, true);
  }
  scratch_->Finish(scratch_->payload, out);
}

void FrameEncoder::EncodeBytes(std::span<const uint8_t> bytes, Bytes& out) {
  scratch_->Finish(bytes, out);
}

namespace {

/// zstd's memory for decompressing, 150 kB: the thread's, as no frame is left half read.
ZSTD_DCtx* ThreadContext() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  CHECK(context != nullptr);
  return context.get();
}

}  // namespace

struct FrameDecoder::Scratch {
  Bytes payload;
  std::vector<uint32_t> x32;
  std::vector<uint64_t> x64;
  std::vector<double> valid;
  std::vector<Run> runs;

  /// The frame's payload, decompressed where need be; at most `limit` bytes.
  Result<std::span<const uint8_t>> Open(std::span<const uint8_t> frame, size_t limit) {
    ByteReader in(frame);
    const auto storage = in.Fixed<uint8_t>();
    if (in.ok() && storage == kStoredPlain) {
      const std::span<const uint8_t> rest = in.Take(in.left());
      if (rest.size() > limit)
        return Error{ErrorCode::kCorrupt, "a frame is larger than its samples can be"};
      return rest;
    }
    if (!in.ok() || storage != kStoredZstd)
      return Error{ErrorCode::kCorrupt, "a frame of unknown storage"};
    const uint64_t size = in.Varint();
    if (!in.ok() || size > limit)
      return Error{ErrorCode::kCorrupt, "a frame declares more bytes than its samples can need"};
    if (payload.size() < std::max<size_t>(size, 1)) payload.resize(std::max<size_t>(size, 1));
    const std::span<const uint8_t> packed = in.Take(in.left());
    const size_t got =
        ZSTD_decompressDCtx(ThreadContext(), payload.data(), size, packed.data(), packed.size());
    if (ZSTD_isError(got) != 0 || got != size)
      return Error{ErrorCode::kCorrupt, "a frame's compressed bytes are damaged"};
    return std::span<const uint8_t>(payload.data(), size);
  }

  void Convert(ColumnKind kind, double quantum, int begin, int end, double* out) const {
    switch (kind) {
      case ColumnKind::kCounts:
        for (int i = begin; i < end; ++i)
          out[i - begin] = static_cast<int32_t>(x32[static_cast<size_t>(i)]) * quantum;
        break;
      case ColumnKind::kFloatCounts:
        for (int i = begin; i < end; ++i) {
          out[i - begin] = static_cast<double>(
              static_cast<float>(static_cast<int32_t>(x32[static_cast<size_t>(i)]) * quantum));
        }
        break;
      case ColumnKind::kFloat32:
        for (int i = begin; i < end; ++i) {
          out[i - begin] =
              static_cast<double>(std::bit_cast<float>(FromFloatBits(x32[static_cast<size_t>(i)])));
        }
        break;
      case ColumnKind::kMilliFloat32:
        for (int i = begin; i < end; ++i) {
          const float f = std::bit_cast<float>(FromFloatBits(x32[static_cast<size_t>(i)]));
          out[i - begin] = static_cast<double>(f) * 1e-3;
        }
        break;
      default:
        for (int i = begin; i < end; ++i)
          out[i - begin] = std::bit_cast<double>(FromFloatBits(x64[static_cast<size_t>(i)]));
    }
  }

  /// Spreads the valid values of the window [begin, end) around the missing runs.
  void Spread(ColumnKind kind, double quantum, int begin, int end, double* out) {
    int missing_before = 0;
    for (const Run& run : runs) {
      if (run.end <= begin) missing_before += run.end - run.begin;
    }
    int at = begin;
    for (const Run& run : runs) {
      if (run.end <= begin) continue;
      if (run.begin >= end) break;
      if (run.begin > at) {
        Convert(kind, quantum, at - missing_before, run.begin - missing_before, out + (at - begin));
      }
      const int from = std::max(run.begin, begin), to = std::min(run.end, end);
      std::fill(out + (from - begin), out + (to - begin), kNaN);
      missing_before += run.end - run.begin;
      at = run.end;
    }
    if (at < end)
      Convert(kind, quantum, at - missing_before, end - missing_before, out + (at - begin));
  }
};

FrameDecoder::FrameDecoder() : scratch_(std::make_unique<Scratch>()) {}
FrameDecoder::~FrameDecoder() = default;

Status FrameDecoder::DecodeValues(std::span<const uint8_t> frame, std::span<const double> quanta,
                                  int count, std::span<const int> wanted, int begin, int end,
                                  double* out, size_t stride) {
  const Error damaged{ErrorCode::kCorrupt, "a frame contradicts itself"};
  CHECK_GE(begin, 0);
  CHECK_LE(end, count);
  if (count <= 0 || count > kMaxFrameSamples) return damaged;
  HANDHOLD_ASSIGN(const std::span<const uint8_t> payload,
                  scratch_->Open(frame, quanta.size() * (static_cast<size_t>(count) * 8 + 64)));
  ByteReader in(payload);
  size_t next = 0;
  for (size_t c = 0; c < quanta.size(); ++c) {
    const auto head = in.Fixed<uint8_t>();
    const int predictor = (head >> kPredictorShift) & kPredictorMask;
    const auto kind = static_cast<ColumnKind>(head & kKindMask);
    if (!in.ok() || (head & kReservedMask) != 0 ||
        (kind > ColumnKind::kFloat64 && kind != ColumnKind::kMilliFloat32))
      return damaged;
    scratch_->runs.clear();
    int missing = 0;
    if ((head & kHasMissing) != 0 && !TakeRuns(in, count, scratch_->runs, missing)) return damaged;
    const int n = count - missing;
    const bool take = next < wanted.size() && wanted[next] == static_cast<int>(c);
    // Valid samples before `end`: the prediction chain is followed no further than that.
    int needed = take ? end : 0;
    for (const Run& run : scratch_->runs)
      needed -= std::max(0, std::min(run.end, take ? end : 0) - run.begin);
    bool good;
    if (kind == ColumnKind::kFloat64) {
      scratch_->x64.resize(std::max<size_t>(static_cast<size_t>(n), 4));
      good = TakeColumn(in, n, predictor, needed, scratch_->x64.data());
    } else {
      scratch_->x32.resize(std::max<size_t>(static_cast<size_t>(n), 4));
      good = TakeColumn(in, n, predictor, needed, scratch_->x32.data());
    }
    if (!good) return damaged;
    if (!take) continue;
    if (scratch_->runs.empty()) {
      scratch_->Convert(kind, quanta[c], begin, end, out + next * stride);
    } else {
      scratch_->Spread(kind, quanta[c], begin, end, out + next * stride);
    }
    if (++next == wanted.size()) return {};
  }
  CHECK_EQ(next, wanted.size());
  if (in.left() != 0 || !in.ok()) return damaged;
  return {};
}

Status FrameDecoder::DecodeIntegers(std::span<const uint8_t> frame, int columns, int count,
                                    int64_t* out, size_t stride) {
  const Error damaged{ErrorCode::kCorrupt, "a frame of whole numbers contradicts itself"};
  if (count <= 0 || count > kMaxFrameSamples || columns < 0) return damaged;
  HANDHOLD_ASSIGN(
      const std::span<const uint8_t> payload,
      scratch_->Open(frame, static_cast<size_t>(columns) * (static_cast<size_t>(count) * 8 + 64)));
  ByteReader in(payload);
  scratch_->x64.resize(std::max<size_t>(static_cast<size_t>(count), 4));
  for (int c = 0; c < columns; ++c) {
    const auto head = in.Fixed<uint8_t>();
    const int predictor = (head >> kPredictorShift) & kPredictorMask;
    if (!in.ok() ||
        (head & ~(kPredictorMask << kPredictorShift)) != static_cast<int>(ColumnKind::kIntegers))
      return damaged;
    if (!TakeColumn(in, count, predictor, count, scratch_->x64.data())) return damaged;
    for (int i = 0; i < count; ++i) {
      out[static_cast<size_t>(c) * stride + static_cast<size_t>(i)] =
          static_cast<int64_t>(scratch_->x64[static_cast<size_t>(i)]);
    }
  }
  if (in.left() != 0 || !in.ok()) return damaged;
  return {};
}

Result<Bytes> FrameDecoder::DecodeBytes(std::span<const uint8_t> frame, size_t limit) {
  HANDHOLD_ASSIGN(const std::span<const uint8_t> payload, scratch_->Open(frame, limit));
  return Bytes(payload.begin(), payload.end());
}

}  // namespace handhold::store
