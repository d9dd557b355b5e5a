/// Time as whole nanoseconds: a Timestamp is an instant on one named clock, a Duration the distance
/// of two.
///
/// Which clock a Timestamp belongs to is said by the variable's name: `host` (CLOCK_MONOTONIC of
/// the recording machine), `device` (a device's own counter, scaled), `clip` (host time with 0 at
/// the first sample of the take), `utc` (for people). The types do not tell clocks apart; the
/// fitted ClockMap (database/recording) converts them.
///
/// int64 ns reach 292 years to either side of the clock's zero. Arithmetic is exact and does not
/// check for overflow (UBSan does, in the dev preset): who reads times from files or packets checks
/// their range first. Doubles of seconds are for formulas and for printing only: beyond
/// 104 days they no longer hold a nanosecond. Pinned by tests/database/base/time_test.cc.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace handhold {

/// How long; negative: backwards. Zero by default.
class Duration {
 public:
  constexpr Duration() = default;
  static constexpr Duration Nanoseconds(int64_t ns) { return Duration(ns); }
  // Preconditions: the nanoseconds fit into 64 bits, that is |s| < 9.2e9.
  static constexpr Duration Microseconds(int64_t us) { return Duration(us * 1'000); }
  static constexpr Duration Milliseconds(int64_t ms) { return Duration(ms * 1'000'000); }
  static constexpr Duration Seconds(int64_t s) { return Duration(s * 1'000'000'000); }
  /// Rounds to the nearest nanosecond, ties away from 0. Precondition: |s| < 9.2e9 and finite
  /// (CHECKed).
  static Duration FromSeconds(double s);
  /// How long `count` samples last at `rate_hz`, for numbers that a device or a file says: at most
  /// 30 years to either side, so that a Timestamp plus it stays one, and 30 years at no rate.
  static Duration OfSamples(int64_t count, double rate_hz);

  constexpr int64_t ns() const { return ns_; }
  /// Rounded to a double: 16 digits.
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration o) const { return Duration(ns_ + o.ns_); }
  constexpr Duration operator-(Duration o) const { return Duration(ns_ - o.ns_); }
  constexpr Duration operator-() const { return Duration(-ns_); }
  constexpr Duration operator*(int64_t k) const { return Duration(ns_ * k); }
  /// Cut towards 0: 2 ms / 3 is 666'666 ns. Precondition: k != 0.
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

/// When, on the clock that the variable's name says; 0 by default, the clock's zero. Two of them
/// can be subtracted and compared, not added.
class Timestamp {
 public:
  constexpr Timestamp() = default;
  static constexpr Timestamp FromNanoseconds(int64_t ns) { return Timestamp(ns); }
  /// Rounded as Duration::FromSeconds, with its precondition. For tests and for people's input: a
  /// sample's time comes from its counter, never from a double.
  static Timestamp FromSeconds(double s) { return Timestamp(Duration::FromSeconds(s).ns()); }

  constexpr int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Timestamp&) const = default;
  constexpr Timestamp operator+(Duration d) const { return Timestamp(ns_ + d.ns()); }
  constexpr Timestamp operator-(Duration d) const { return Timestamp(ns_ - d.ns()); }
  /// From `o` to this: positive when this is later. Precondition: both are of the same clock.
  constexpr Duration operator-(Timestamp o) const { return Duration::Nanoseconds(ns_ - o.ns_); }
  constexpr Timestamp& operator+=(Duration d) {
    ns_ += d.ns();
    return *this;
  }

 private:
  constexpr explicit Timestamp(int64_t ns) : ns_(ns) {}
  int64_t ns_ = 0;
};

/// A half-open span of time [begin, end), so that ranges that follow one another share no sample.
/// Empty, and containing nothing, where end <= begin.
struct TimeRange {
  Timestamp begin;
  Timestamp end;
  bool Contains(Timestamp t) const { return begin <= t && t < end; }
  /// Negative when end < begin: nobody has put them in order.
  Duration length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

/// CLOCK_MONOTONIC now: never goes back, stands while the machine sleeps, means nothing on another
/// machine or after a restart. Thread-safe, does not allocate.
Timestamp HostNow();
/// CLOCK_REALTIME now, ns since 1970, for people and for ids; never for the time of a sample: it
/// steps when somebody sets the clock.
Timestamp UtcNow();
/// "2026-11-18T11:26:03.123456789Z": all nine decimals, so that text sorts as time does.
std::string FormatUtc(Timestamp utc);
/// "1.250000000 s": exact, nine decimals.
std::string FormatSeconds(Duration d);

}  // namespace handhold
