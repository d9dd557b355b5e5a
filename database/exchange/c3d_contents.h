/// What a C3D file holds and where, decided from its header, its parameters and its length, which
/// often disagree.
///
/// The rules and their order: reference/formats.md 2.1, c3d.org's guide. Every disagreement becomes
/// an issue; what cannot be decided is refused by name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "database/base/issue.h"
#include "database/base/result.h"
#include "database/exchange/c3d_parameters.h"
#include "database/geometry/rotation.h"
#include "database/recording/stream.h"

namespace handhold::exchange {

struct C3dPoint {
  std::string label;  ///< unique in the file
  /// Empty: a marker's position. Else what a model computed (angles, moments), in the unit the file
  /// names: no position, so in a stream of its own.
  std::string output_unit;
  bool is_output = false;
};

/// One analog channel: value = (sample - offset) x scale, in `unit`.
struct C3dChannel {
  std::string label;   ///< unique in the file
  std::string unit;    ///< as the file says; empty: not said
  double scale = 1.0;  ///< SCALE x GEN_SCALE
  double offset = 0.0;
};

struct C3dEvent {
  double time_s = 0.0;  ///< after the file's first frame
  std::string label, context, subject;
};

struct C3dPlatform {
  int type = 0;  ///< 1-4: c3d.org; others: vendors'
  std::array<geometry::Vec3, 4> corners_m{};
  geometry::Vec3 origin_m = geometry::Vec3::Zero();
  std::vector<int> channels;        ///< from 0; -1: none
  std::vector<double> calibration;  ///< CAL_MATRIX, column by column; empty: none
  int calibration_rows = 0;
};

/// The ROTATION group of Visual3D and Theia: 4 x 4 matrices (column by column) and a reliability,
/// 17 floats each, in a data section of their own.
struct C3dRotations {
  std::vector<std::string> labels;
  int64_t offset = 0;  ///< byte in the file
  int ratio = 1;       ///< matrices per frame of points
  int64_t samples = 0;
};

struct C3dContents {
  C3dProcessor processor = C3dProcessor::kIntel;
  bool is_float = true;
  bool is_analog_unsigned = false;
  float scale = 1.0f;            ///< |POINT:SCALE|: of integer coordinates, and of residuals always
  double metres_per_unit = 0.0;  ///< of positions; 0: the file does not say
  recording::Rate rate;          ///< of points
  int ratio = 0;                 ///< analog samples per frame
  int64_t first_frame = 1;
  int64_t frames = 0;           ///< that are there
  int64_t promised_frames = 0;  ///< at least that many
  int64_t data_offset = 0;      ///< byte in the file
  std::vector<C3dPoint> points;
  std::vector<C3dChannel> channels;
  std::vector<C3dPlatform> platforms;
  std::optional<std::array<int64_t, 2>> zero_frames;  ///< FORCE_PLATFORM:ZERO, from 1 in the file
  std::vector<C3dEvent> events;
  C3dRotations rotations;

  int word_bytes() const { return is_float ? 4 : 2; }
  int64_t words_per_frame() const {
    return static_cast<int64_t>(points.size()) * 4 + static_cast<int64_t>(channels.size()) * ratio;
  }
  int64_t frame_bytes() const { return words_per_frame() * word_bytes(); }
};

struct C3dDecisions {
  double rate_Hz = 0.0;          ///< for files that give none; 0: such files are refused
  double metres_per_unit = 0.0;  ///< for files that name no unit
};

/// `header` is the header block (512 bytes), `shift` where in the file it begins (old Vicon files
/// have zeros before it).
Result<C3dContents> DecideC3dContents(std::span<const uint8_t> header, int64_t shift,
                                      int64_t file_bytes, const C3dParameters& parameters,
                                      const C3dDecisions& decisions, Issues& issues);

/// The simplest fraction that is this rate in single precision (59.94 -> 2997/50), else its exact
/// binary fraction. Precondition: finite, 1e-3 <= rate_Hz <= 1e7.
recording::Rate RateFromHz(double rate_Hz);

/// Metres per "mm", "cm", "m", ... ; 0: unknown.
double MetresPerUnit(std::string_view unit);

}  // namespace handhold::exchange
