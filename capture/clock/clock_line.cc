#include "capture/clock/clock_line.h"

#include <algorithm>
#include <cmath>

namespace handhold::capture {

using recording::ClockPair;

namespace {

bool TurnsUp(const Point& a, const Point& b, const Point& c) {
  const __int128 left = static_cast<__int128>(b.host_ns - a.host_ns) * (c.device_ns - b.device_ns);
  const __int128 right = static_cast<__int128>(c.host_ns - b.host_ns) * (b.device_ns - a.device_ns);
  return right > left;
}
Line Through(const Point& a, const Point& b) {
  const auto run = static_cast<double>(b.device_ns - a.device_ns);
  return {a, static_cast<double>((b.host_ns - a.host_ns) - (b.device_ns - a.device_ns)) / run};
}

}  // namespace

void LowerHull::Add(const Point& p) {
  if (!points_.empty() && points_.back().device_ns == p.device_ns) {
    if (p.host_ns >= points_.back().host_ns) return;
    points_.pop_back();
  }
  while (points_.size() >= 2 && !TurnsUp(points_[points_.size() - 2], points_.back(), p))
    points_.pop_back();
  points_.push_back(p);
}

Line LowerHull::EdgeAt(double device_ns) const {
  size_t i = 1;
  while (i + 1 < points_.size() && static_cast<double>(points_[i].device_ns) < device_ns) ++i;
  return Through(points_[i - 1], points_[i]);
}

Line EdgeOf(std::span<const ClockPair> pairs, const ClockFitOptions& options) {
  LowerHull hull;
  double mean = 0.0;
  for (const ClockPair& pair : pairs) {
    hull.Add(PointOf(pair));
    mean += static_cast<double>(pair.device_ns - pairs.front().device_ns) /
            static_cast<double>(pairs.size());
  }
  Line line = hull.EdgeAt(static_cast<double>(pairs.front().device_ns) + mean);
  if (std::abs(line.rate_error) <= options.largest_rate_error) return line;
  line.rate_error = std::copysign(options.largest_rate_error, line.rate_error);
  const auto least =
      std::min_element(pairs.begin(), pairs.end(), [&](const ClockPair& a, const ClockPair& b) {
        return line.Residual(PointOf(a)) < line.Residual(PointOf(b));
      });
  line.at = PointOf(*least);
  return line;
}

double Quantile(std::vector<double>* values, double share) {
  const auto k = static_cast<std::ptrdiff_t>(share * static_cast<double>(values->size() - 1));
  std::nth_element(values->begin(), values->begin() + k, values->end());
  return (*values)[static_cast<size_t>(k)];
}

}  // namespace handhold::capture
