/// The inner loops: frames as a C3D file holds them to columns as a recording does.
///
/// A frame is points x (x y z word), then ratio x channels analog values. Columns are
/// channel-major, so every loop goes over a few frames at a time, that the lines it writes stay in
/// the cache.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "database/exchange/c3d_contents.h"

namespace handhold::exchange {

/// Frames in native numbers: one of the two is filled, as the file's format is.
struct C3dFrames {
  int count = 0;
  int64_t words = 0;  ///< per frame
  const float* floats = nullptr;
  const int16_t* ints = nullptr;
};

/// Turns `bytes` of a file into native numbers, in place. Precondition: `bytes` is aligned for
/// them.
C3dFrames NativeFrames(const C3dContents& contents, std::span<uint8_t> bytes, int count);

/// How points become positions.
struct PointRules {
  float scale = 1.0f;
  double metres_per_unit = 1e-3;
  bool ignore_word = false;  ///< the sign of the fourth word says nothing
};

struct PointCounts {
  int64_t at_origin = 0;        ///< all three exactly 0, not marked invalid: read as missing
  int64_t not_finite = 0;       ///< likewise
  int64_t outputs_at_zero = 0;  ///< of a model's: all three exactly 0, not marked invalid: kept
};

/// Columns x y z residual of each of `points`, metres, to out[(4 i + k) * count + frame].
void DecodeMarkers(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
                   double* out, PointCounts& counts);
/// Columns x y z in the file's unit.
void DecodeOutputs(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
                   double* out, PointCounts& counts);
/// One column per point: the mask, NaN where the point is missing.
void DecodeCameras(const C3dFrames& frames, std::span<const int> points, const PointRules& rules,
                   double* out);

/// Which analog values, and how: out = (sample - offset) x scale.
struct AnalogColumn {
  int channel = 0;
  double offset = 0.0, scale = 1.0;
};
/// To out[i * count * ratio + frame * ratio + k].
void DecodeAnalog(const C3dContents& contents, const C3dFrames& frames,
                  std::span<const AnalogColumn> columns, double* out);

/// What the fourth words of some frames say together.
struct WordSurvey {
  bool any_valid = false, any_mask = false;
};
void SurveyWords(const C3dFrames& frames, int points, WordSurvey& survey);

}  // namespace handhold::exchange
