#include "database/recording/force_units.h"

#include <algorithm>
#include <string>

#include "database/base/units.h"

namespace handhold::recording {
namespace {

struct NamedUnit {
  std::string_view name;
  double si;
};
constexpr NamedUnit kForces[] = {{"N", 1.0},
                                 {"uN", 1e-6},
                                 {"mN", 1e-3},
                                 {"kN", 1e3},
                                 {"lbf", PoundsForceToNewtons(1.0)},
                                 {"kgf", KilogramsForceToNewtons(1.0)},
                                 {"gf", 1e-3 * KilogramsForceToNewtons(1.0)}};
constexpr NamedUnit kMoments[] = {{"Nm", 1.0},
                                  {"uNm", 1e-6},
                                  {"mNm", 1e-3},
                                  {"kNm", 1e3},
                                  {"Nmm", 1e-3},
                                  {"Ncm", 1e-2},
                                  {"lbfin", PoundForceInchesToNewtonMetres(1.0)},
                                  {"inlbf", PoundForceInchesToNewtonMetres(1.0)},
                                  {"lbfft", PoundForceFeetToNewtonMetres(1.0)},
                                  {"ftlbf", PoundForceFeetToNewtonMetres(1.0)},
                                  {"kgfcm", KilogramForceCentimetresToNewtonMetres(1.0)},
                                  {"kgfm", KilogramsForceToNewtons(1.0)}};

std::optional<double> SiOf(std::span<const NamedUnit> units, std::string_view name) {
  const auto found = std::ranges::find(units, name, &NamedUnit::name);
  return found == units.end() ? std::nullopt : std::optional(found->si);
}

}  // namespace

std::optional<double> NewtonsIn(std::string_view unit) { return SiOf(kForces, unit); }

std::optional<double> NewtonMetresIn(std::string_view unit) {
  std::string letters(unit);
  std::erase_if(letters, [](char ch) { return ch == ' ' || ch == '.' || ch == '-' || ch == '*'; });
  return SiOf(kMoments, letters);
}

Result<Eigen::Matrix<double, 6, Eigen::Dynamic>> CalibrationByUnits(
    std::span<const Channel> channels) {
  if (channels.size() != 6)
    return Error{ErrorCode::kInvalid, "reads " + std::to_string(channels.size()) +
                                          " channels: without a calibration six are read, three "
                                          "forces and three moments"};
  Eigen::Matrix<double, 6, Eigen::Dynamic> calibration = Eigen::MatrixXd::Zero(6, 6);
  for (Eigen::Index k = 0; k < 6; ++k) {
    const Channel& channel = channels[static_cast<size_t>(k)];
    const std::optional<double> si = k < 3 ? NewtonsIn(channel.unit) : NewtonMetresIn(channel.unit);
    if (!si)
      return Error{ErrorCode::kInvalid,
                   "'" + channel.name + "' is in '" + channel.unit + "', which is no unit of a " +
                       (k < 3 ? "force (N, mN, kN, lbf, kgf, gf)"
                              : "moment (N m, N mm, N cm, mN m, lbf in, lbf ft, kgf cm)") +
                       ": only a calibration says what it means"};
    calibration(k, k) = *si;
  }
  return calibration;
}

}  // namespace handhold::recording
