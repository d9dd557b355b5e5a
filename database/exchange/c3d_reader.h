/// Reads C3D files: Intel, DEC and MIPS, integer and floating point, whatever the length, in
/// constant memory.
///
/// Streams (those that the file has): "c3d/markers" (x y z residual per point, metres),
/// "c3d/outputs" (points that are a model's angles, moments, ...: in the file's unit),
/// "c3d/cameras" (which cameras saw a point, as a 7-bit mask), "c3d/plate1", ... (raw channels;
/// their ForceSensor makes the wrench of the hand on the object), "c3d/analog" (all other channels,
/// scaled, in the file's unit), "c3d/rotations" (bodies' poses). Counters are frame numbers less
/// one, so a trial cut out of a longer one keeps its frame numbers; clip time 0 is the first frame.
///
/// A point is missing (NaN) where its fourth word is negative, where a coordinate is not finite,
/// and where all three are exactly 0. Rules, in order of trust: reference/formats.md 2.1;
/// decisions: README.md.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "database/exchange/byte_source.h"
#include "database/exchange/c3d_force.h"
#include "database/exchange/import_source.h"

namespace handhold::exchange {

/// What to believe of the fourth word's sign.
enum class C3dInvalid {
  kAuto,   ///< believe it, unless it calls every point of the file invalid
  kTrust,  ///< believe it
  kIgnore  ///< points are where their coordinates say
};

struct C3dReadOptions {
  C3dInvalid invalid = C3dInvalid::kAuto;
  C3dPlateSign plate_sign = C3dPlateSign::kReaction;
  C3dPlateZero plate_zero = C3dPlateZero::kFrames;
  double rate_Hz = 0.0;          ///< for files that give none; 0: those are refused
  double metres_per_unit = 0.0;  ///< for files that name no unit; 0: guessed, with a warning
};

/// Fails with kNotFound or kIo (the file), kCorrupt or kUnsupported (its content), naming the
/// reason, without reading more than header and parameters; all else is in issues(). Memory: 16 MB
/// at most, and what the visitor keeps.
Result<std::unique_ptr<ImportSource>> OpenC3d(const std::string& path,
                                              const C3dReadOptions& options = {});

/// The same on any source of bytes.
Result<std::unique_ptr<ImportSource>> OpenC3d(std::unique_ptr<ByteSource> bytes,
                                              const std::string& name,
                                              const C3dReadOptions& options = {});

/// The same on bytes (fuzzing, tests); they must outlive the source. `name` stands for the path.
Result<std::unique_ptr<ImportSource>> OpenC3d(std::span<const uint8_t> bytes,
                                              const std::string& name,
                                              const C3dReadOptions& options = {});

}  // namespace handhold::exchange
