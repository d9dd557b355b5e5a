#include "capture/simulator/link.h"

#include <cmath>

#include "database/base/units.h"

namespace handhold::capture {

Duration Link::Delay() {
  Duration delay = options_.minimum;
  if (options_.jitter_median > Duration()) {
    // Box-Muller on our own uniforms: the standard library's normal differs between
    // implementations.
    const double u = 1.0 - Uniform();
    const double normal = std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * kPi * Uniform());
    delay += Duration::FromSeconds(options_.jitter_median.seconds() *
                                   std::exp(options_.jitter_sigma * normal));
  }
  if (burst_left_ == 0 && options_.late_fraction > 0 && Uniform() < options_.late_fraction) {
    burst_left_ = options_.late_burst;
    burst_delay_ =
        options_.late_min +
        Duration::FromSeconds((options_.late_max - options_.late_min).seconds() * Uniform());
  }
  if (burst_left_ > 0) {
    --burst_left_;
    delay += burst_delay_;
  }
  return delay;
}

}  // namespace handhold::capture
