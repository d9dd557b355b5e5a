/// A simulated device's crystal: when sample i leaves the device, on the host clock, exactly.
///
/// Tests plant `ppm` and read it back from the fitted clock map; HostOf is the truth that map is
/// compared with.
#pragma once

#include <cmath>
#include <cstdint>

#include "database/base/time.h"

namespace handhold::capture {

struct DeviceClock {
  Timestamp host_start;    ///< host instant of index 0
  double rate_hz = 500.0;  ///< nominal, of the device's own clock
  double ppm = 0.0;  ///< > 0: the device's clock runs fast, so samples come more often than nominal

  /// Host instant of index `i`: host_start + i / (rate x (1 + ppm x 1e-6)).
  Timestamp HostOf(int64_t i) const {
    const double rate = rate_hz * (1.0 + ppm * 1e-6);
    // Whole seconds are split off so that a week of samples keeps its nanoseconds.
    const double whole = std::floor(static_cast<double>(i) / rate);
    const double rest = std::fma(-whole, rate, static_cast<double>(i)) / rate;
    return host_start + Duration::Seconds(static_cast<int64_t>(whole)) +
           Duration::FromSeconds(rest);
  }
  /// The last index at or before `host`; negative before the start.
  int64_t IndexAt(Timestamp host) const {
    const double rate = rate_hz * (1.0 + ppm * 1e-6);
    int64_t i = static_cast<int64_t>(std::floor((host - host_start).seconds() * rate));
    while (HostOf(i) > host) --i;
    while (HostOf(i + 1) <= host) ++i;
    return i;
  }
};

}  // namespace handhold::capture
