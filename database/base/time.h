/// Time as whole nanoseconds: a Timestamp is an instant on one named clock, a Duration the distance
/// of two.
///
/// Which clock a Timestamp belongs to is said by the variable's name: `host` (CLOCK_MONOTONIC of
/// the recording machine), `device` (a device's own counter, scaled), `clip` (host time with 0 at
/// the first sample of the take), `utc` (for people). The types do not tell clocks apart; the
/// fitted ClockMap (database/recording) converts them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace handhold {

class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration Nanoseconds(int64_t ns) { return Duration(ns); }
  static constexpr Duration Microseconds(int64_t us) { return Duration(us * 1'000); }
  static constexpr Duration Milliseconds(int64_t ms) { return Duration(ms * 1'000'000); }
  static constexpr Duration Seconds(int64_t s) { return Duration(s * 1'000'000'000); }
  /// Rounds to the nearest nanosecond, ties away from 0. Precondition: |s| < 9.2e9 and finite
  /// (CHECKed).
  static Duration FromSeconds(double s);

  constexpr int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration o) const { return Duration(ns_ + o.ns_); }
  constexpr Duration operator-(Duration o) const { return Duration(ns_ - o.ns_); }
  constexpr Duration operator-() const { return Duration(-ns_); }
  constexpr Duration operator*(int64_t k) const { return Duration(ns_ * k); }
  constexpr Duration operator/(int64_t k) const { return Duration(ns_ / k); }
  constexpr Duration& operator+=(Duration o) {
    ns_ += o.ns_;
    return *this;
  }
  constexpr Duration& operator-=(Duration o) {
    ns_ -= o.ns_;
    return *this;
  }

 private:
  constexpr explicit Duration(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

class Timestamp {
 public:
  constexpr Timestamp() = default;
  static constexpr Timestamp FromNanoseconds(int64_t ns) { return Timestamp(ns); }
  static Timestamp FromSeconds(double s) { return Timestamp(Duration::FromSeconds(s).ns()); }

  constexpr int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Timestamp&) const = default;
  constexpr Timestamp operator+(Duration d) const { return Timestamp(ns_ + d.ns()); }
  constexpr Timestamp operator-(Duration d) const { return Timestamp(ns_ - d.ns()); }
  constexpr Duration operator-(Timestamp o) const { return Duration::Nanoseconds(ns_ - o.ns_); }
  constexpr Timestamp& operator+=(Duration d) {
    ns_ += d.ns();
    return *this;
  }

 private:
  constexpr explicit Timestamp(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

/// A half-open span of time [begin, end).
struct TimeRange {
  Timestamp begin;
  Timestamp end;
  bool Contains(Timestamp t) const { return begin <= t && t < end; }
  Duration length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

/// CLOCK_MONOTONIC now. Thread-safe, does not allocate.
Timestamp HostNow();
/// CLOCK_REALTIME now, for people and for ids; never for the time of a sample.
Timestamp UtcNow();
/// "2026-11-18T11:26:03.123456789Z".
std::string FormatUtc(Timestamp utc);
/// "1.250000000 s": exact, nine decimals.
std::string FormatSeconds(Duration d);

}  // namespace handhold
