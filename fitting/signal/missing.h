/// What stands in a series of numbers where nothing was measured.
#pragma once

#include <limits>

namespace handhold::fitting {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace handhold::fitting
