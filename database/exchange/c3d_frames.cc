#include "database/exchange/c3d_frames.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace handhold::exchange {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();
constexpr int kTile = 8;  // frames: a cache line of doubles

template <typename T>
const T* Words(const C3dFrames& frames);
template <>
const float* Words<float>(const C3dFrames& frames) {
  return frames.floats;
}
template <>
const int16_t* Words<int16_t>(const C3dFrames& frames) {
  return frames.ints;
}

/// Calls `work` with the number type of the frames.
template <typename Work>
void Typed(const C3dFrames& frames, const Work& work) {
  if (frames.floats != nullptr) {
    work(float{});
  } else {
    work(int16_t{});
  }
}

/// The fourth word as the integer it means; negative: invalid. Floats hold the integer's value.
inline int FourthWord(int16_t word) { return word; }
inline int FourthWord(float word) {
  if (!(word >= 0)) return -1;  // NaN too
  if (word >= 65'536.0f) return -1;
  return static_cast<int16_t>(static_cast<uint16_t>(word));
}

inline float Coordinate(float value, float) { return value; }
inline float Coordinate(int16_t value, float scale) { return static_cast<float>(value) * scale; }

enum class PointState { kThere, kMissing, kAtOrigin, kNotFinite };

template <typename T>
PointState StateOf(const T* p, const PointRules& rules) {
  if (!rules.ignore_word && FourthWord(p[3]) < 0) return PointState::kMissing;
  if constexpr (std::is_same_v<T, float>) {
    // One subtraction finds NaN and infinity in any of them.
    const float sum = p[0] * 0 + p[1] * 0 + p[2] * 0;
    if (sum != 0) return PointState::kNotFinite;
  }
  if (p[0] == 0 && p[1] == 0 && p[2] == 0) return PointState::kAtOrigin;
  return PointState::kThere;
}

template <typename T>
void Markers(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
             double* out, PointCounts& counts) {
  const auto n = static_cast<size_t>(frames.count);
  const double metres = rules.metres_per_unit;
  for (size_t begin = 0; begin < n; begin += kTile) {
    const size_t end = std::min<size_t>(n, begin + kTile);
    for (size_t i = 0; i < points.size(); ++i) {
      double* column = out + i * 4 * n;
      const T* p = Words<T>(frames) + static_cast<size_t>(frames.words) * begin +
                   static_cast<size_t>(points[i]) * 4;
      for (size_t f = begin; f < end; ++f, p += frames.words) {
        const PointState state = StateOf(p, rules);
        if (state == PointState::kThere) [[likely]] {
          const int word = FourthWord(p[3]);
          column[f] = static_cast<double>(Coordinate(p[0], rules.scale)) * metres;
          column[n + f] = static_cast<double>(Coordinate(p[1], rules.scale)) * metres;
          column[2 * n + f] = static_cast<double>(Coordinate(p[2], rules.scale)) * metres;
          column[3 * n + f] =
              word < 0
                  ? kNoValue
                  : static_cast<double>(static_cast<float>(word & 0xFF) * rules.scale) * metres;
          continue;
        }
        for (size_t k = 0; k < 4; ++k) column[k * n + f] = kNoValue;
        counts.at_origin += state == PointState::kAtOrigin ? 1 : 0;
        counts.not_finite += state == PointState::kNotFinite ? 1 : 0;
      }
    }
  }
}

template <typename T>
void Outputs(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
             double* out, PointCounts& counts) {
  const auto n = static_cast<size_t>(frames.count);
  if (n == 0) return;  // a file without frames has no words to point into
  for (size_t i = 0; i < points.size(); ++i) {
    const T* p = Words<T>(frames) + static_cast<size_t>(points[i]) * 4;
    for (size_t f = 0; f < n; ++f, p += frames.words) {
      const bool there = rules.ignore_word || FourthWord(p[3]) >= 0;
      counts.outputs_at_zero += there && p[0] == 0 && p[1] == 0 && p[2] == 0 ? 1 : 0;
      for (size_t k = 0; k < 3; ++k)
        out[(i * 3 + k) * n + f] =
            there ? static_cast<double>(Coordinate(p[k], rules.scale)) : kNoValue;
    }
  }
}

template <typename T>
void Cameras(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
             double* out) {
  const auto n = static_cast<size_t>(frames.count);
  for (size_t begin = 0; begin < n; begin += kTile) {
    const size_t end = std::min<size_t>(n, begin + kTile);
    for (size_t i = 0; i < points.size(); ++i) {
      const T* p = Words<T>(frames) + static_cast<size_t>(frames.words) * begin +
                   static_cast<size_t>(points[i]) * 4;
      for (size_t f = begin; f < end; ++f, p += frames.words) {
        const int word = FourthWord(p[3]);
        const bool there = word >= 0 && StateOf(p, rules) == PointState::kThere;
        out[i * n + f] = there ? static_cast<double>(word >> 8) : kNoValue;
      }
    }
  }
}

template <typename T, typename Value>
void Analog(const C3dContents& contents, const C3dFrames& frames,
            std::span<const AnalogColumn> columns, double* out) {
  const auto n = static_cast<size_t>(frames.count), ratio = static_cast<size_t>(contents.ratio);
  const size_t samples = n * ratio, channels = contents.channels.size();
  const T* analog = Words<T>(frames) + contents.points.size() * 4;
  const auto words = static_cast<size_t>(frames.words);
  // Tiles of at least a cache line of samples: whole frames, or parts of one.
  const size_t frames_per_tile = std::max<size_t>(1, kTile / ratio);
  const size_t per_tile = std::max<size_t>(1, std::min<size_t>(ratio, 16));
  for (size_t f0 = 0; f0 < n; f0 += frames_per_tile) {
    const size_t f1 = std::min(n, f0 + frames_per_tile);
    for (size_t k0 = 0; k0 < ratio; k0 += per_tile) {
      const size_t k1 = std::min(ratio, k0 + per_tile);
      for (size_t i = 0; i < columns.size(); ++i) {
        const AnalogColumn& column = columns[i];
        for (size_t f = f0; f < f1; ++f) {
          const T* from = analog + f * words + static_cast<size_t>(column.channel);
          double* to = out + i * samples + f * ratio;
          for (size_t k = k0; k < k1; ++k) {
            to[k] = (static_cast<double>(static_cast<Value>(from[k * channels])) - column.offset) *
                    column.scale;
          }
        }
      }
    }
  }
}

}  // namespace

C3dFrames NativeFrames(const C3dContents& contents, std::span<uint8_t> bytes, int count) {
  C3dFrames frames;
  frames.count = count;
  frames.words = contents.words_per_frame();
  const size_t words = static_cast<size_t>(frames.words) * static_cast<size_t>(count);
  if (!contents.is_float) {
    auto* ints = reinterpret_cast<uint16_t*>(bytes.data());
    if (contents.processor == C3dProcessor::kMips) {
      for (size_t i = 0; i < words; ++i) ints[i] = __builtin_bswap16(ints[i]);
    }
    frames.ints = reinterpret_cast<const int16_t*>(ints);
    return frames;
  }
  auto* bits = reinterpret_cast<uint32_t*>(bytes.data());
  if (contents.processor == C3dProcessor::kMips) {
    for (size_t i = 0; i < words; ++i) bits[i] = __builtin_bswap32(bits[i]);
  } else if (contents.processor == C3dProcessor::kDec) {
    for (size_t i = 0; i < words; ++i)
      bits[i] = std::bit_cast<uint32_t>(FloatFromVax(std::rotl(bits[i], 16)));
  }
  frames.floats = reinterpret_cast<const float*>(bits);
  return frames;
}

void DecodeMarkers(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
                   double* out, PointCounts& counts) {
  Typed(frames, [&](auto type) { Markers<decltype(type)>(frames, points, rules, out, counts); });
}

void DecodeOutputs(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
                   double* out, PointCounts& counts) {
  Typed(frames, [&](auto type) { Outputs<decltype(type)>(frames, points, rules, out, counts); });
}

void DecodeCameras(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
                   double* out) {
  Typed(frames, [&](auto type) { Cameras<decltype(type)>(frames, points, rules, out); });
}

void DecodeAnalog(const C3dContents& contents, const C3dFrames& frames,
                  std::span<const AnalogColumn> columns, double* out) {
  if (frames.floats != nullptr) {
    Analog<float, float>(contents, frames, columns, out);
  } else if (contents.is_analog_unsigned) {
    Analog<int16_t, uint16_t>(contents, frames, columns, out);
  } else {
    Analog<int16_t, int16_t>(contents, frames, columns, out);
  }
}

void SurveyWords(const C3dFrames& frames, int points, WordSurvey& survey) {
  Typed(frames, [&](auto type) {
    using T = decltype(type);
    for (size_t f = 0; f < static_cast<size_t>(frames.count); ++f) {
      const T* p = Words<T>(frames) + f * static_cast<size_t>(frames.words);
      for (int i = 0; i < points; ++i, p += 4) {
        const int word = FourthWord(p[3]);
        survey.any_valid |= word >= 0;
        survey.any_mask |= word >= 256;
      }
    }
  });
}

}  // namespace handhold::exchange
