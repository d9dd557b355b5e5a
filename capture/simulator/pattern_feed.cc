#include "capture/simulator/pattern_feed.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "database/base/check.h"
#include "database/base/units.h"

namespace handhold::capture {

PatternFeed::PatternFeed(PatternOptions options) : options_(std::move(options)) {
  if (options_.subjects.empty()) {
    FeedSubject hand{.name = "Hand", .marker_names = {}};
    for (int m = 0; m < options_.marker_count; ++m) {
      std::string digits = std::to_string(m);
      hand.marker_names.push_back(
          "M" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits);
    }
    options_.subjects.push_back(std::move(hand));
  }
  for (const FeedSubject& subject : options_.subjects)
    marker_count_ += static_cast<int>(subject.marker_names.size());
}

int64_t PatternFeed::frame_count() const {
  return static_cast<int64_t>(options_.seconds * options_.marker_rate_hz);
}

int64_t PatternFeed::force_count() const {
  return static_cast<int64_t>(options_.seconds * options_.force_rate_hz);
}

void PatternFeed::Markers(int64_t frame, std::span<double> xyz_m) const {
  CHECK_EQ(xyz_m.size(), static_cast<size_t>(3 * marker_count_));
  const double phase = 2.0 * kPi * static_cast<double>(frame % 1000) / 1000.0;
  for (int m = 0; m < marker_count_; ++m) {
    xyz_m[3 * m] = 0.1 * std::sin(phase + m);
    xyz_m[3 * m + 1] = 0.010 * m;
    xyz_m[3 * m + 2] = 1e-5 * static_cast<double>(frame % 65536);
  }
}

void PatternFeed::Wrench(int64_t sample, std::span<double, 6> wrench_S) const {
  for (int c = 0; c < 6; ++c) wrench_S[c] = c + 1 + static_cast<double>(sample % 500) / 500.0;
}

int PatternFeed::Unlabelled(int64_t frame, std::span<FeedPoint> points) const {
  const int count = std::min<int>(options_.unlabelled_count, static_cast<int>(points.size()));
  for (int k = 0; k < count; ++k) {
    points[k] = {.xyz_m = {0.5, 0.010 * k, 1e-5 * static_cast<double>(frame % 65536)},
                 .trajectory_id = static_cast<uint32_t>(5000 + k)};
  }
  return count;
}

void PatternFeed::Analog(int device, int64_t frame, std::span<double> values) const {
  const FeedDevice& info = options_.devices[device];
  const int n = info.samples_per_frame;
  for (size_t c = 0; c * n < values.size(); ++c) {
    for (int s = 0; s < n; ++s) {
      const int64_t i = frame * n + s;
      values[c * n + s] =
          static_cast<double>((i * 7 + static_cast<int64_t>(c) * 13 + device * 29) % 1000) / 100.0;
    }
  }
}

}  // namespace handhold::capture
