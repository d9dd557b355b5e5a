/// Planted clocks and arrival times: packets of a device whose clock drifts, received late by a
/// known law.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "database/recording/clip.h"
#include "database/recording/clock_map.h"

namespace handhold::testing {

struct PlantedClock {
  double rate_hz = 500.0;
  double seconds = 60.0;
  double rate_error = 40e-6;            ///< host seconds per device second - 1
  int64_t offset_ns = 987'654'321'012;  ///< host time of device time 0
  int64_t least_delay_ns = 70'000;      ///< constant, on every packet
  double jitter_median_ns = 21'000.0;   ///< log-normal ...
  double jitter_p99_ns = 208'000.0;
  double late_share = 1e-4;  ///< ... and this share late by another 1-12 ms
  int burst = 1;             ///< packets delivered together, when the last of them is ready
  uint64_t seed = 1;
};

struct PlantedArrivals {
  std::vector<recording::ClockPair> pairs;
  std::vector<int64_t> true_host_ns;  ///< of each sample's instant, without any delay
};

inline PlantedArrivals Arrivals(const PlantedClock& c) {
  std::mt19937_64 rng(c.seed);
  const double sigma = std::log(c.jitter_p99_ns / c.jitter_median_ns) / 2.3263478740408408;
  std::lognormal_distribution<double> jitter(std::log(c.jitter_median_ns), sigma);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  PlantedArrivals out;
  const auto n = static_cast<int64_t>(c.seconds * c.rate_hz);
  for (int64_t i = 0; i < n; ++i) {
    recording::ClockPair pair;
    pair.counter = i;
    pair.device_ns = recording::DeviceTimeOfCounter(i, {static_cast<int64_t>(c.rate_hz), 1});
    const int64_t truth = c.offset_ns + pair.device_ns +
                          std::llround(static_cast<double>(pair.device_ns) * c.rate_error);
    double late = jitter(rng);
    if (uniform(rng) < c.late_share) late += 1e6 + 11e6 * uniform(rng);
    pair.host_ns = truth + c.least_delay_ns + std::llround(late);
    if (!out.pairs.empty())
      pair.host_ns = std::max(pair.host_ns, out.pairs.back().host_ns);  // TCP and loopback keep
                                                                        // order
    out.pairs.push_back(pair);
    out.true_host_ns.push_back(truth);
  }
  for (size_t i = 0; c.burst > 1 && i < out.pairs.size(); i += static_cast<size_t>(c.burst)) {
    const size_t end = std::min(out.pairs.size(), i + static_cast<size_t>(c.burst));
    for (size_t k = i; k < end; ++k) out.pairs[k].host_ns = out.pairs[end - 1].host_ns;
  }
  return out;
}

/// |map - truth - least delay| of every sample, ns.
inline std::vector<double> AlignmentErrors(const recording::ClockMap& map,
                                           const PlantedArrivals& arrivals,
                                           int64_t least_delay_ns) {
  std::vector<double> errors;
  for (size_t i = 0; i < arrivals.pairs.size(); ++i) {
    const int64_t fitted = map.ToHost(arrivals.pairs[i].device_ns).ns();
    errors.push_back(
        std::abs(static_cast<double>(fitted - arrivals.true_host_ns[i] - least_delay_ns)));
  }
  return errors;
}

}  // namespace handhold::testing
