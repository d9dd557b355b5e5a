#include <algorithm>
#include <cmath>

#include "database/base/check.h"
#include "tools/lab/subject.h"

namespace handhold::lab {

SensorFeed::SensorFeed(Data data) : data_(std::move(data)) {
  CHECK(!data_.marker_names.empty());
  CHECK_EQ(data_.markers_m.size() % (3 * data_.marker_names.size()), size_t{0});
  CHECK_EQ(data_.wrench_S.size() % 6, size_t{0});
}

int64_t SensorFeed::frame_count() const {
  return static_cast<int64_t>(data_.markers_m.size() / (3 * data_.marker_names.size()));
}
int64_t SensorFeed::force_count() const { return static_cast<int64_t>(data_.wrench_S.size() / 6); }

void SensorFeed::Markers(int64_t frame, std::span<double> xyz_m) const {
  CHECK(frame >= 0 && frame < frame_count());
  const size_t n = 3 * data_.marker_names.size();
  CHECK_EQ(xyz_m.size(), n);
  const auto begin =
      data_.markers_m.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(frame) * n);
  std::copy(begin, begin + static_cast<std::ptrdiff_t>(n), xyz_m.begin());
}

void SensorFeed::Wrench(int64_t sample, std::span<double, 6> wrench_S) const {
  CHECK(sample >= 0 && sample < force_count());
  const auto begin = data_.wrench_S.begin() + static_cast<std::ptrdiff_t>(sample * 6);
  std::copy(begin, begin + 6, wrench_S.begin());
}

SensorFeed SensorFeed::Cut(double begin_s, double end_s) const {
  const double marker_rate = data_.marker_rate_hz * (1.0 + data_.marker_clock_ppm * 1e-6);
  const double force_rate = data_.force_rate_hz * (1.0 + data_.force_clock_ppm * 1e-6);
  const auto frame = [&](double t) {
    return std::clamp<int64_t>(std::llround(t * marker_rate), 0, frame_count());
  };
  const int64_t first = frame(begin_s), last = std::max(first, frame(end_s));
  // Force samples keep their distance to the frames to half a force period.
  const auto sample = [&](int64_t f) {
    return std::clamp<int64_t>(std::llround(static_cast<double>(f) / marker_rate * force_rate), 0,
                               force_count());
  };
  Data cut = data_;
  const size_t n = 3 * data_.marker_names.size();
  const auto slice = [](const std::vector<float>& v, int64_t a, int64_t b, size_t width) {
    return std::vector<float>(
        v.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(a) * width),
        v.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(b) * width));
  };
  cut.markers_m = slice(data_.markers_m, first, last, n);
  cut.wrench_S = slice(data_.wrench_S, sample(first), sample(last), 6);
  const double zero = static_cast<double>(first) / marker_rate,
               length = static_cast<double>(last - first) / marker_rate;
  cut.events.clear(), cut.takes.clear();
  for (FeedEvent event : data_.events) {
    event.begin_s -= zero;
    if (event.begin_s >= -1e-9 && event.begin_s + event.length_s <= length + 1e-9)
      cut.events.push_back(event);
  }
  for (TruthTake take : data_.takes) {
    take.begin_s -= zero, take.end_s -= zero;
    if (take.begin_s >= -1e-9 && take.end_s <= length + 1e-9) cut.takes.push_back(take);
  }
  return SensorFeed(std::move(cut));
}

}  // namespace handhold::lab
