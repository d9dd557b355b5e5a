#include "database/store/query_units.h"

#include <cmath>

#include "database/base/units.h"

namespace handhold::store {
namespace {

constexpr Unit kUnits[] = {
    {"", Dimension::kNumber, 1.0},
    {"%", Dimension::kNumber, 0.01},
    {"count", Dimension::kNumber, 1.0},
    {"counts", Dimension::kNumber, 1.0},
    {"N", Dimension::kForce, 1.0},
    {"mN", Dimension::kForce, 1e-3},
    {"kN", Dimension::kForce, 1e3},
    {"lbf", Dimension::kForce, PoundsForceToNewtons(1.0)},
    {"kgf", Dimension::kForce, KilogramsForceToNewtons(1.0)},
    {"gf", Dimension::kForce, KilogramsForceToNewtons(1e-3)},
    {"N m", Dimension::kTorque, 1.0},
    {"Nm", Dimension::kTorque, 1.0},
    {"mN m", Dimension::kTorque, 1e-3},
    {"mNm", Dimension::kTorque, 1e-3},
    {"N mm", Dimension::kTorque, NewtonMillimetresToNewtonMetres(1.0)},
    {"Nmm", Dimension::kTorque, NewtonMillimetresToNewtonMetres(1.0)},
    {"m", Dimension::kLength, 1.0},
    {"cm", Dimension::kLength, 1e-2},
    {"mm", Dimension::kLength, MillimetresToMetres(1.0)},
    {"um", Dimension::kLength, 1e-6},
    {"s", Dimension::kTime, 1.0},
    {"ms", Dimension::kTime, 1e-3},
    {"us", Dimension::kTime, 1e-6},
    {"ns", Dimension::kTime, 1e-9},
    {"min", Dimension::kTime, 60.0},
    {"h", Dimension::kTime, 3600.0},
    {"rad", Dimension::kAngle, 1.0},
    {"deg", Dimension::kAngle, DegreesToRadians(1.0)},
    {"V", Dimension::kVoltage, 1.0},
    {"mV", Dimension::kVoltage, 1e-3},
    {"uV", Dimension::kVoltage, 1e-6},
    {"Pa", Dimension::kPressure, 1.0},
    {"kPa", Dimension::kPressure, 1e3},
    {"MPa", Dimension::kPressure, 1e6},
    {"K", Dimension::kTemperature, 1.0},
    {"Hz", Dimension::kFrequency, 1.0},
    {"kHz", Dimension::kFrequency, 1e3},
    {"m/s", Dimension::kSpeed, 1.0},
    {"cm/s", Dimension::kSpeed, 1e-2},
    {"mm/s", Dimension::kSpeed, MillimetresToMetres(1.0)},
    {"rad/Nm", Dimension::kCompliance, 1.0},
    {"deg/Nm", Dimension::kCompliance, DegreesToRadians(1.0)},
};

}  // namespace

std::string_view DimensionName(Dimension dimension) {
  switch (dimension) {
    case Dimension::kNumber:
      return "a plain number";
    case Dimension::kForce:
      return "a force";
    case Dimension::kTorque:
      return "a torque";
    case Dimension::kLength:
      return "a length";
    case Dimension::kTime:
      return "a time";
    case Dimension::kAngle:
      return "an angle";
    case Dimension::kVoltage:
      return "a voltage";
    case Dimension::kPressure:
      return "a pressure";
    case Dimension::kTemperature:
      return "a temperature";
    case Dimension::kFrequency:
      return "a frequency";
    case Dimension::kSpeed:
      return "a speed";
    case Dimension::kCompliance:
      return "a compliance";
  }
  return "";
}

std::string_view SiUnit(Dimension dimension) {
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension && unit.si_per_unit == 1.0) return unit.name;
  }
  return "";
}

const Unit* FindUnit(std::string_view name) {
  // The micro sign and the Greek mu, as keyboards have them.
  for (const std::string_view mu : {"\xC2\xB5", "\xCE\xBC"}) {
    if (name.substr(0, 2) == mu) {
      const std::string plain = "u" + std::string(name.substr(2));
      return FindUnit(plain);
    }
  }
  // A stored "1" is a channel without a unit.
  if (name == "1") name = "";
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

std::vector<std::string> UnitNames() {
  std::vector<std::string> names;
  for (const Unit& unit : kUnits) {
    if (!unit.name.empty()) names.emplace_back(unit.name);
  }
  return names;
}

std::vector<std::string> UnitNames(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : kUnits) {
    if (unit.dimension == dimension && !unit.name.empty()) names.emplace_back(unit.name);
  }
  return names;
}

double ToSi(double number, const Unit& unit) {
  // 200 / 1000 is the double nearest to 0.2, 200 * 1e-3 need not be.
  const double inverse = std::round(1.0 / unit.si_per_unit);
  if (unit.si_per_unit < 1.0 && 1.0 / inverse == unit.si_per_unit) return number / inverse;
  return number * unit.si_per_unit;
}

Result<int64_t> ToNanoseconds(double number, const Unit& unit) {
  const double seconds = ToSi(number, unit);
  if (!(std::abs(seconds) < 9.2e9))
    return Error{ErrorCode::kInvalid, "a time of more than 292 years"};
  return static_cast<int64_t>(std::llround(seconds * 1e9));
}

}  // namespace handhold::store
