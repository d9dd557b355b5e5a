/// What every bench of tests/bench is written with: repeat a measurement, compare it with a peer
/// measured in the same run, and print one JSON object per mark. tests/bench/README.md has an
/// example and says what each key of the object means.
///
/// Not for tests: no test asserts a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace handhold::bench {

/// Several measurements of one thing: their median, and half the interquartile range. A spread of 0
/// means that there was one measurement, or that the thing is a count.
struct Sample {
  double median = std::numeric_limits<double>::quiet_NaN();
  double spread = 0;
};

/// Median and half interquartile range (linear interpolation between order statistics). An empty
/// list gives NaN.
inline Sample Summarise(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const double at = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {quantile(0.5), 0.5 * (quantile(0.75) - quantile(0.25))};
}

/// Wall time of one call, in seconds (steady clock).
template <typename Fn>
double Seconds(Fn&& fn) {
  const auto begin = std::chrono::steady_clock::now();
  fn();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Keeps the optimiser from removing a computation whose result nobody reads.
template <typename T>
void Keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// True where tools/test asks only whether the bench still runs: every measurement once, over as
/// little as its setting up allows. No number of such a run means anything.
inline bool Brief() {
  static const bool brief = std::getenv("HANDHOLD_BENCH_BRIEF") != nullptr;
  return brief;
}

/// `fn` returns one measurement (whatever its unit). One call warms up and is thrown away.
template <typename Fn>
Sample Repeat(int times, Fn&& fn) {
  std::vector<double> values;
  if (Brief()) return Summarise({static_cast<double>(fn())});
  fn();
  for (int i = 0; i < times; ++i) values.push_back(fn());
  return Summarise(std::move(values));
}

/// Ours and a peer's measurement, taken alternately so that a change in the machine's speed during
/// the run meets both. Returns {ours, peer's}.
template <typename Ours, typename Peers>
std::pair<Sample, Sample> RepeatBoth(int times, Ours&& ours, Peers&& peers) {
  std::vector<double> a, b;
  if (Brief())
    return {Summarise({static_cast<double>(ours())}), Summarise({static_cast<double>(peers())})};
  ours();
  peers();
  for (int i = 0; i < times; ++i) {
    a.push_back(ours());
    b.push_back(peers());
  }
  return {Summarise(std::move(a)), Summarise(std::move(b))};
}

enum class Better { kLower, kHigher };

/// What a mark wants. `ratio` is always "how many times as good as the peer": peer / value where
/// lower is better, value / peer where higher is better.
struct Goal {
  enum class Kind { kNone, kRatioAtLeast, kValueAtMost, kValueAtLeast };
  Kind kind = Kind::kNone;
  double bound = 0;
  /// An absolute speed is promised for the machine kReferenceMachine; on a slower one see Judge.
  bool is_speed = false;

  static Goal None() { return {}; }
  /// At least `bound` times as good as the peer.
  static Goal RatioAtLeast(double bound) { return {Kind::kRatioAtLeast, bound, false}; }
  /// An error, a loss, a size: the machine's speed does not excuse it.
  static Goal AtMost(double bound) { return {Kind::kValueAtMost, bound, false}; }
  static Goal AtLeast(double bound) { return {Kind::kValueAtLeast, bound, false}; }
  /// A time or a rate on the named machine.
  static Goal SpeedAtMost(double bound) { return {Kind::kValueAtMost, bound, true}; }
  static Goal SpeedAtLeast(double bound) { return {Kind::kValueAtLeast, bound, true}; }
};

/// What a bench found for one mark.
struct Result {
  Sample value = {};
  std::string unit = {};  ///< "ns/query", "frames/s", "bytes/sample", "us", "count"
  Better better = Better::kLower;
  std::string peer = {};   ///< with its version: "Embree 3.13.5 rtcPointQuery"; empty: none
  Sample peer_value = {};  ///< same unit; measured in this run
  Goal goal = {};
};

/// The machine absolute speeds are promised for, and the calibration kernel's time there.
inline constexpr const char* kReferenceMachine = "AMD EPYC, 2 cores, GCC 12.2 -O2 (Debian 12)";
inline constexpr double kReferenceCalibration_ns = 1.89;

/// Time of one step of a fixed kernel, ns: a chain of dependent multiply-adds, a divide and a load
/// from a table of 256 KiB, as our hot loops mix them. Median of 15; about 50 ms.
inline double Calibrate_ns() {
  static const std::vector<double> table = [] {
    std::vector<double> t(32768);
    std::uint32_t state = 12345;
    for (double& x : t) {
      state = state * 1664525U + 1013904223U;
      x = 1.0 + static_cast<double>(state >> 8) * 0x1p-24;
    }
    return t;
  }();
  constexpr int kSteps = 1 << 20;
  const Sample sample = Repeat(15, [&] {
    double x = 1.0;
    std::uint32_t at = 1;
    const double seconds = Seconds([&] {
      for (int i = 0; i < kSteps; ++i) {
        at = at * 1664525U + 1013904223U;
        x = x * 0.5 + table[at >> 17];
        if ((i & 15) == 0) x = 1.0 / x;
      }
      Keep(x);
    });
    return seconds / kSteps * 1e9;
  });
  return sample.median;
}

struct Judgement {
  std::string peer;  ///< the calibration kernel stands in where an absolute speed has no peer
  double peer_value = std::numeric_limits<double>::quiet_NaN();
  double ratio = std::numeric_limits<double>::quiet_NaN();
  std::string goal;
  bool met = true;
};

inline std::string FormatNumber(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Decides a mark. An absolute speed without a peer gets the calibration kernel as its peer:
/// `ratio` is then the speed relative to the goal after correcting for this machine's speed, and it
/// decides where this machine is more than 20 % slower than the named one. A NaN value never meets
/// a goal.
inline Judgement Judge(const Result& r, double calibration_ns) {
  Judgement j;
  const double value = r.value.median;
  const bool lower = r.better == Better::kLower;
  if (!r.peer.empty()) {
    j.peer = r.peer;
    j.peer_value = r.peer_value.median;
    j.ratio = lower ? j.peer_value / value : value / j.peer_value;
  }
  switch (r.goal.kind) {
    case Goal::Kind::kNone:
      j.met = std::isfinite(value);
      break;
    case Goal::Kind::kRatioAtLeast:
      j.goal = "ratio >= " + FormatNumber(r.goal.bound);
      j.met = j.ratio >= r.goal.bound;
      break;
    case Goal::Kind::kValueAtMost:
    case Goal::Kind::kValueAtLeast: {
      const bool at_most = r.goal.kind == Goal::Kind::kValueAtMost;
      j.goal = std::string(at_most ? "<= " : ">= ") + FormatNumber(r.goal.bound) + " " + r.unit;
      j.met = at_most ? value <= r.goal.bound : value >= r.goal.bound;
      if (r.goal.is_speed && r.peer.empty()) {
        const double slowness = calibration_ns / kReferenceCalibration_ns;
        j.peer = "calibration kernel, ns (" + FormatNumber(kReferenceCalibration_ns) + " on " +
                 kReferenceMachine + ")";
        j.peer_value = calibration_ns;
        j.ratio = slowness * (at_most ? r.goal.bound / value : value / r.goal.bound);
        if (slowness > 1.2) j.met = j.ratio >= 1.0;
      }
      break;
    }
  }
  return j;
}

namespace internal {

inline std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + "\"";
}

inline std::string Number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// "geometry" and "geometry.closest_point" both select "geometry.closest_point".
inline bool Selects(std::string_view wanted, std::string_view mark) {
  return mark.substr(0, wanted.size()) == wanted &&
         (mark.size() == wanted.size() || mark[wanted.size()] == '.');
}

}  // namespace internal

/// One line of JSON, without its newline.
inline std::string ToJson(const std::string& name, const Result& r, const Judgement& j) {
  using internal::Number;
  using internal::Quote;
  return "{\"name\":" + Quote(name) + ",\"value\":" + Number(r.value.median) +
         ",\"spread\":" + Number(r.value.spread) + ",\"unit\":" + Quote(r.unit) +
         ",\"peer\":" + (j.peer.empty() ? "null" : Quote(j.peer)) +
         ",\"peer_value\":" + Number(j.peer_value) + ",\"ratio\":" + Number(j.ratio) +
         ",\"goal\":" + (j.goal.empty() ? "null" : Quote(j.goal)) +
         ",\"met\":" + (j.met ? "true" : "false") + "}";
}

/// Handed to a bench's Run function.
class Reporter {
 public:
  Reporter(std::vector<std::string> wanted, std::set<std::string> registered)
      : wanted_(std::move(wanted)), registered_(std::move(registered)) {}

  /// True when this mark was asked for: guard expensive set-up of several marks in one bench by it.
  bool wants(std::string_view name) const {
    return wanted_.empty() || std::any_of(wanted_.begin(), wanted_.end(), [&](const auto& w) {
             return internal::Selects(w, name);
           });
  }

  /// Prints the mark, unless it was not asked for. The name must be among the MARKS registered with
  /// handhold_bench in tests/bench/CMakeLists.txt.
  void Report(const std::string& name, const Result& result) {
    if (registered_.count(name) == 0) {
      throw std::logic_error("mark " + name + " is not among the MARKS of its handhold_bench()");
    }
    reported_.insert(name);
    if (!wants(name)) return;
    std::puts(ToJson(name, result, Judge(result, calibration_ns())).c_str());
    std::fflush(stdout);
  }

  /// Progress for people, on stderr.
  void Note(const std::string& text) const { std::fprintf(stderr, "bench: %s\n", text.c_str()); }

  /// The machine's calibration, measured once per process when first needed.
  double calibration_ns() {
    if (calibration_ns_ <= 0) calibration_ns_ = Calibrate_ns();
    return calibration_ns_;
  }

  /// Registered marks that were asked for and never reported.
  std::vector<std::string> Forgotten() const {
    std::vector<std::string> names;
    for (const auto& name : registered_) {
      if (wants(name) && reported_.count(name) == 0) names.push_back(name);
    }
    return names;
  }

 private:
  std::vector<std::string> wanted_;
  std::set<std::string> registered_, reported_;
  double calibration_ns_ = 0;
};

/// The whole of a bench's main: `--list` prints the registered marks, `--calibrate` the calibration
/// kernel's time in ns; names or dotted prefixes as arguments select among the marks. Exit 0 when
/// it ran, met or not; 1 when it could not run. `registered`: pass HANDHOLD_BENCH_MARKS, which
/// handhold_bench defines (names separated by ' ').
inline int Main(int argc, char** argv, std::string_view registered,
                const std::function<void(Reporter&)>& run) {
  std::set<std::string> marks;
  for (std::size_t at = 0; at < registered.size();) {
    const std::size_t end = std::min(registered.find(' ', at), registered.size());
    if (end > at) marks.insert(std::string(registered.substr(at, end - at)));
    at = end + 1;
  }
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--list") == 0) {
      for (const auto& name : marks) std::puts(name.c_str());
      return 0;
    }
    if (std::strcmp(argv[i], "--calibrate") == 0) {
      std::printf("%.4g\n", Calibrate_ns());
      return 0;
    }
    wanted.emplace_back(argv[i]);
  }
  Reporter reporter(std::move(wanted), marks);
  try {
    run(reporter);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench: %s: %s\n", argv[0], e.what());
    return 1;
  }
  const auto forgotten = reporter.Forgotten();
  for (const auto& name : forgotten) {
    std::fprintf(stderr, "bench: %s never reported its mark %s\n", argv[0], name.c_str());
  }
  return forgotten.empty() ? 0 : 1;
}

}  // namespace handhold::bench
