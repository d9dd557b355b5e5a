/// What the units of a force sensor's channels say when there is no calibration.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <Eigen/Core>

#include "database/base/result.h"
#include "database/recording/stream.h"

namespace handhold::recording {

/// Newtons in one of a unit of force ("N", "mN", "kN", "lbf", "kgf", "gf"), newton metres in one of
/// a moment ("N m", "Nm", "N.mm", "lbf in", ...: blanks, points and hyphens say nothing). None: not
/// known here. Pinned by tests/database/recording/force_units_test.cc.
std::optional<double> NewtonsIn(std::string_view unit);
std::optional<double> NewtonMetresIn(std::string_view unit);

/// What turns six channels (three forces, three moments) into N and N m when nothing but their
/// units is known. kInvalid, naming the channel, for another number of channels, and for a unit
/// that is no force's or moment's: counts and volts say nothing without a calibration.
Result<Eigen::Matrix<double, 6, Eigen::Dynamic>> CalibrationByUnits(
    std::span<const Channel> channels);

}  // namespace handhold::recording
