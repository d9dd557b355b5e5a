/// Force platforms of C3D files as recording::ForceSensor: where they stand, how their channels
/// become the wrench of the hand on the object.
///
/// Sign. C3D holds what the plate does to the subject, in the plate's axes (z down): standing on
/// one reads a negative Fz in every file at hand (17 with platforms, 6 makers). Handhold stores the
/// force of the hand on the object, so ForceSensor::sign is -1. c3d_samples_test.cc pins the sign
/// on real files (the subject presses on the plate), force_platform_test.cc every type by statics.
#pragma once

#include <optional>
#include <span>

#include "database/exchange/c3d_contents.h"
#include "database/recording/force_sensor.h"

namespace handhold::exchange {

/// How a platform's channels are kept.
struct PlatformPlan {
  /// The channels a kForceTorque stream reads, raw (as stored, before OFFSET and SCALE), in the
  /// order of the sensor's columns. Type 1 (centre of pressure) is not linear in its channels: its
  /// stream holds the six components computed from them, and the channels stay analog too.
  std::vector<int> channels;
  bool is_computed = false;
  recording::ForceSensor sensor;  ///< name and stream still to be set
};

/// What a file's platforms hold: C3D's rule, or what some writers give instead.
enum class C3dPlateSign {
  kReaction,  ///< what the plate does to the subject, as C3D has it
  kAction     ///< what the subject does to the plate
};

/// What a plate reads with nothing on it.
enum class C3dPlateZero {
  kFrames,   ///< the mean over the frames that FORCE_PLATFORM:ZERO names, where it names some
  kChannels  ///< each channel's OFFSET alone
};

/// None when the platform is of a vendor's type or does not say enough; an issue then says why, and
/// its channels are kept as analog.
std::optional<PlatformPlan> PlanPlatform(const C3dContents& contents, int platform, Issues& issues);

/// Where the axes of a platform with these corners are, about its surface's centre: x from corner 2
/// to 1 and 3 to 4, y from 4 to 1 and 3 to 2. False when the corners are no rectangle.
bool PlateAxes(const std::array<geometry::Vec3, 4>& corners_m, geometry::RigidTransform& X_WC);

/// Newton metres per unit of a channel's moment: "Nmm", "N.mm", "ntmm" -> 1e-3, "Nm" -> 1. A unit
/// not understood is the newton times the file's unit of length, as the guide wants it.
double NewtonMetresPerUnit(std::string_view unit, double metres_per_unit);

/// Does what the file says of a platform fit its samples? Judged by where a loaded plate (half of
/// its largest load and more; 20 N at least) is pressed: the centre of pressure must lie on it.
/// Moments for which it does when they are 1000 times smaller or larger have been given another
/// unit than the file names: `sensor` is corrected (types 2 and 4), and that is a warning; so is a
/// plate that no unit puts right, one that is only ever pulled, and one of type 3 whose ORIGIN
/// gives no distances, so that its moments are 0. `wrenches_S` are samples of `sensor`, hand on
/// object.
void JudgePlatform(const C3dPlatform& platform, const std::string& where,
                   std::span<const geometry::Vec6> wrenches_S, recording::ForceSensor& sensor,
                   Issues& issues);

/// Were the frames of FORCE_PLATFORM:ZERO taken under load? `tare_S` is the wrench (hand on object)
/// that their mean has by the channels' own offsets, `wrenches_S` are samples with that mean as the
/// zero. A plate that by its offsets carried 20 N and more in those frames, and in others a tenth
/// of that or nothing, was not empty: that is a warning with both figures.
void JudgeZero(const std::string& where, const geometry::Vec6& tare_S,
               std::span<const geometry::Vec6> wrenches_S, const recording::ForceSensor& sensor,
               Issues& issues);

/// The six components of a type 1 platform, about its surface's centre: values are physical.
/// M = (Px, Py, 0) x F + (0, 0, Tz).
std::array<double, 6> WrenchOfType1(const std::array<double, 6>& fx_fy_fz_px_py_tz);

}  // namespace handhold::exchange
