#include "database/recording/clock_map.h"

#include <algorithm>
#include <cmath>

#include "database/base/check.h"

namespace handhold::recording {

const ClockSegment& ClockMap::SegmentAt(int64_t device_ns) const {
  CHECK(valid());
  const auto after =
      std::upper_bound(segments.begin() + 1, segments.end(), device_ns,
                       [](int64_t t, const ClockSegment& s) { return t < s.device_begin_ns; });
  return *(after - 1);
}

Timestamp ClockMap::ToHost(int64_t device_ns) const {
  const ClockSegment& s = SegmentAt(device_ns);
  const int64_t elapsed = device_ns - s.device_begin_ns;
  // elapsed stays an integer and only its small rate correction is a double: exact to 1 ns over
  // days.
  return Timestamp::FromNanoseconds(s.host_begin_ns + elapsed +
                                    std::llround(static_cast<double>(elapsed) * s.rate_error) -
                                    constant_delay_ns);
}

int64_t ClockMap::ToDevice(Timestamp host) const {
  CHECK(valid());
  const int64_t host_ns = host.ns() + constant_delay_ns;
  const auto after =
      std::upper_bound(segments.begin() + 1, segments.end(), host_ns,
                       [](int64_t t, const ClockSegment& s) { return t < s.host_begin_ns; });
  const ClockSegment& s = *(after - 1);
  const int64_t elapsed = host_ns - s.host_begin_ns;
  return s.device_begin_ns + elapsed -
         std::llround(static_cast<double>(elapsed) * (s.rate_error / (1.0 + s.rate_error)));
}

ClockMap ClockMap::Identity(int64_t offset_ns) {
  ClockMap map;
  ClockSegment segment;
  segment.host_begin_ns = offset_ns;
  map.segments.push_back(segment);
  return map;
}

}  // namespace handhold::recording
