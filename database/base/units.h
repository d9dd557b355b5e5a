/// Every unit conversion at the edge of the program, by name. Inside it is metres, radians,
/// newtons, seconds, kilograms.
#pragma once

namespace handhold {

inline constexpr double kPi = 3.14159265358979323846;

constexpr double MillimetresToMetres(double mm) { return mm * 1e-3; }
constexpr double MetresToMillimetres(double m) { return m * 1e3; }
constexpr double DegreesToRadians(double deg) { return deg * (kPi / 180.0); }
constexpr double RadiansToDegrees(double rad) { return rad * (180.0 / kPi); }
constexpr double NewtonMillimetresToNewtonMetres(double n_mm) { return n_mm * 1e-3; }
constexpr double NewtonMetresToNewtonMillimetres(double n_m) { return n_m * 1e3; }
constexpr double GramsToKilograms(double g) { return g * 1e-3; }
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
