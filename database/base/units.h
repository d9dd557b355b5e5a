/// Every unit conversion at the edge of the program, by name. Inside it is metres, radians,
/// newtons, seconds, kilograms.
///
/// A conversion is one multiplication, rounded once: there and back may differ in the last
/// place, so what is stored is SI and never converted back. NaN and infinity go
/// through. No sign changes: which way an angle or a force counts is said by its name, not here.
/// Factors are exact by definition where said so (NIST SP 811, appendix B). Pinned by
/// tests/database/base/units_test.cc.
#pragma once

namespace handhold {

inline constexpr double kPi = 3.14159265358979323846;

// Lengths. Factors exact by definition, as near as a double comes. Vicon, C3D and OBJ files of
// laboratories are in mm.
constexpr double MillimetresToMetres(double mm) { return mm * 1e-3; }
constexpr double MetresToMillimetres(double m) { return m * 1e3; }

// Angles. Turns are kept: 720 degrees are 4 pi.
constexpr double DegreesToRadians(double deg) { return deg * (kPi / 180.0); }
constexpr double RadiansToDegrees(double rad) { return rad * (180.0 / kPi); }

// Torques of force plates and of C3D, whose lengths are in mm. Exact.
constexpr double NewtonMillimetresToNewtonMetres(double n_mm) { return n_mm * 1e-3; }
constexpr double NewtonMetresToNewtonMillimetres(double n_m) { return n_m * 1e3; }

/// Mass, not weight. Exact.
constexpr double GramsToKilograms(double g) { return g * 1e-3; }

// The units a force/torque sensor may be set to. Exact products of the international pound
// (0.45359237 kg), standard gravity (9.80665 m/s^2), inch (0.0254 m) and foot (0.3048 m).
constexpr double PoundsForceToNewtons(double lbf) { return lbf * 4.4482216152605; }
constexpr double KilogramsForceToNewtons(double kgf) { return kgf * 9.80665; }
constexpr double PoundForceInchesToNewtonMetres(double lbf_in) {
  return lbf_in * 0.1129848290276167;
}
constexpr double PoundForceFeetToNewtonMetres(double lbf_ft) { return lbf_ft * 1.3558179483314004; }
constexpr double KilogramForceCentimetresToNewtonMetres(double kgf_cm) {
  return kgf_cm * 0.0980665;
}

}  // namespace handhold
