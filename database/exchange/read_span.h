/// How much of a clip an export reads at once: 2 s, or so little of it that the values take 4 MB,
/// however many channels a stream has.
#pragma once

#include <algorithm>

#include "database/recording/stream.h"

namespace handhold::exchange {

inline constexpr Duration kMaxReadSpan = Duration::Seconds(2);
inline constexpr int64_t kMaxReadBytes = 4 << 20;

/// Of streams that give `values_per_second`, together.
inline Duration ReadSpan(double values_per_second) {
  const double most_s =
      static_cast<double>(kMaxReadBytes) / (8.0 * std::max(1.0, values_per_second));
  return std::clamp(Duration::FromSeconds(std::min(most_s, kMaxReadSpan.seconds())),
                    Duration::Nanoseconds(1), kMaxReadSpan);
}

/// Of a stream whose samples come as they come and vary in size: half as much as last time when
/// that was too much, twice as much when it was less than a quarter.
inline Duration NextSpan(Duration last, const recording::SampleWindow& window) {
  int64_t bytes = static_cast<int64_t>(window.values.size() * sizeof(double));
  for (const std::string& text : window.texts) bytes += static_cast<int64_t>(text.size());
  if (bytes > kMaxReadBytes) return std::max(last / 2, Duration::Nanoseconds(1));
  return bytes < kMaxReadBytes / 4 ? std::min(last * 2, kMaxReadSpan) : last;
}

}  // namespace handhold::exchange
