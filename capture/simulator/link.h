/// The way from a device to the host as a seeded random process: delay, loss, duplication.
#pragma once

#include <cstdint>
#include <random>

#include "database/base/time.h"

namespace handhold::capture {

/// Delay of a packet = minimum + exp(normal) x median (+ now and then a late one). Defaults: a
/// perfect wire.
struct LinkOptions {
  uint64_t seed = 1;
  Duration minimum{};               ///< constant part
  Duration jitter_median{};         ///< of the log-normal part; 0: none
  double jitter_sigma = 0.98;       ///< of its logarithm; median 21 us and p99 208 us: ln(208/21)
                                    ///< / 2.326 = 0.986
  double late_fraction = 0.0;       ///< share of packets that are late ...
  Duration late_min{}, late_max{};  ///< ... by this much, uniformly
  int late_burst = 1;               ///< packets that share one late delay
  double loss_fraction = 0.0;       ///< datagrams only
  double duplicate_fraction = 0.0;  ///< datagrams only
};

/// One call of each per packet, in order: the sequence depends on the seed alone.
class Link {
 public:
  explicit Link(const LinkOptions& options) : options_(options), random_(options.seed) {}
  Duration Delay();
  bool Lose() { return options_.loss_fraction > 0 && Uniform() < options_.loss_fraction; }
  bool Duplicate() {
    return options_.duplicate_fraction > 0 && Uniform() < options_.duplicate_fraction;
  }

 private:
  double Uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

  LinkOptions options_;
  std::mt19937_64 random_;
  int burst_left_ = 0;
  Duration burst_delay_;
};

}  // namespace handhold::capture
