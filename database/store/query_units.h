/// The units that queries know, each named, with its conversion to SI.
///
/// "2 N", "0.2 s", "10 %", "200 ms": a number is compared with a channel only when both are of one
/// dimension; an unknown unit is answered with the nearest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"

namespace handhold::store {

/// What a number measures. kNumber has no unit: counts, fractions, ratings.
enum class Dimension {
  kNumber,
  kForce,
  kTorque,
  kLength,
  kTime,
  kAngle,
  kVoltage,
  kPressure,
  kTemperature,
  kFrequency,
  kSpeed,
  kCompliance,
};
/// "a force", "a time", ...: for messages.
std::string_view DimensionName(Dimension dimension);
/// "N", "s", "": the unit in which values of a dimension are kept and answered.
std::string_view SiUnit(Dimension dimension);

struct Unit {
  std::string_view name;
  Dimension dimension;
  double si_per_unit;
};

/// Null for an unknown one. "": kNumber.
const Unit* FindUnit(std::string_view name);
/// The names of all, or of one dimension, for messages and suggestions.
std::vector<std::string> UnitNames();
std::vector<std::string> UnitNames(Dimension dimension);
/// `number` of `unit` in SI: 200 ms is the double nearest to 0.2 (a division where that is exact).
double ToSi(double number, const Unit& unit);
/// The same to the nearest nanosecond. kInvalid beyond 292 years.
Result<int64_t> ToNanoseconds(double number, const Unit& unit);

}  // namespace handhold::store
