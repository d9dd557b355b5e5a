#include "database/base/time.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "database/base/check.h"

namespace handhold {
namespace {

Timestamp ReadClock(clockid_t clock) {
  timespec ts{};
  clock_gettime(clock, &ts);
  return Timestamp::FromNanoseconds(static_cast<int64_t>(ts.tv_sec) * 1'000'000'000 + ts.tv_nsec);
}

}  // namespace

Duration Duration::FromSeconds(double s) {
  CHECK(std::isfinite(s));
  CHECK_LT(std::abs(s), 9.2e9);
  // Whole seconds and the rest apart: s * 1e9 alone loses nanoseconds beyond 2^53 ns (104 days).
  const double whole = std::trunc(s);
  return Duration::Nanoseconds(static_cast<int64_t>(whole) * 1'000'000'000 +
                               std::llround((s - whole) * 1e9));
}

Duration Duration::OfSamples(int64_t count, double rate_hz) {
  constexpr double kMost_s = 30 * 365.25 * 86'400;
  // A rate that is no number is none: max keeps its first.
  const double s = count == 0 ? 0.0 : static_cast<double>(count) / std::max(0.0, rate_hz);
  return FromSeconds(std::clamp(s, -kMost_s, kMost_s));
}

Timestamp HostNow() { return ReadClock(CLOCK_MONOTONIC); }
Timestamp UtcNow() { return ReadClock(CLOCK_REALTIME); }

std::string FormatUtc(Timestamp utc) {
  int64_t seconds = utc.ns() / 1'000'000'000;
  int64_t rest = utc.ns() % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    seconds -= 1;
  }
  const time_t t = seconds;
  std::tm tm{};
  gmtime_r(&t, &tm);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
  char out[64];
  std::snprintf(out, sizeof out, "%s.%09lldZ", date, static_cast<long long>(rest));
  return out;
}

std::string FormatSeconds(Duration d) {
  const char* sign = d.ns() < 0 ? "-" : "";
  const auto magnitude =
      d.ns() < 0 ? 0 - static_cast<uint64_t>(d.ns()) : static_cast<uint64_t>(d.ns());
  char out[48];
  std::snprintf(out, sizeof out, "%s%llu.%09llu s", sign,
                static_cast<unsigned long long>(magnitude / 1'000'000'000),
                static_cast<unsigned long long>(magnitude % 1'000'000'000));
  return out;
}

}  // namespace handhold
