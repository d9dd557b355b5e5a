/// A feed without a subject: every value is computed from its index, so that a receiver can tell
/// each sample from every other. For tests, benches and `live simulate` without a take.
#pragma once

#include <string>
#include <vector>

#include "capture/simulator/simulator_feed.h"

namespace handhold::capture {

/// What the pattern has of each kind. Rates are of the devices' own clocks.
struct PatternOptions {
  double marker_rate_hz = 500.0;
  std::vector<FeedSubject> subjects{};  ///< empty: one subject "Hand" with `marker_count` markers
                                        ///< M000, M001, ...
  int marker_count = 60;
  int unlabelled_count = 0;           ///< points without a name in every frame
  std::vector<FeedDevice> devices{};  ///< analog devices and plates
  double force_rate_hz = 7000.0;      ///< 0: no force sensor
  double marker_clock_ppm = 0.0;      ///< how much faster than the host each device's clock runs
  double force_clock_ppm = 0.0;
  double seconds = 3600.0;  ///< length; a server may loop over it
};

/// Marker m at frame f: x = 0.1 m x sin(2 pi f / 1000 + m), y = m x 10 mm, z = (f mod 65536) x 10
/// um. Channel c of device d at sample i (over the whole run): ((i x 7 + c x 13 + d x 29) mod 1000)
/// / 100. Wrench channel c at sample i: c + 1 + ((i mod 500) / 500). All within what the wire
/// carries; z and the wrench tell a sample by itself.
class PatternFeed : public SimulatorFeed {
 public:
  /// Takes the options as they are and computes nothing ahead.
  explicit PatternFeed(PatternOptions options);

  double marker_rate_hz() const override { return options_.marker_rate_hz; }
  const std::string& subject() const override { return options_.subjects.front().name; }
  const std::vector<std::string>& marker_names() const override {
    return options_.subjects.front().marker_names;
  }
  int64_t frame_count() const override;
  void Markers(int64_t frame, std::span<double> xyz_m) const override;
  double force_rate_hz() const override { return options_.force_rate_hz; }
  int64_t force_count() const override;
  void Wrench(int64_t sample, std::span<double, 6> wrench_S) const override;
  double marker_clock_ppm() const override { return options_.marker_clock_ppm; }
  double force_clock_ppm() const override { return options_.force_clock_ppm; }
  std::vector<FeedSubject> subjects() const override { return options_.subjects; }
  int Unlabelled(int64_t frame, std::span<FeedPoint> points) const override;
  std::vector<FeedDevice> devices() const override { return options_.devices; }
  void Analog(int device, int64_t frame, std::span<double> values) const override;

 private:
  PatternOptions options_;
  int marker_count_ = 0;
};

}  // namespace handhold::capture
