/// A library with random takes, the same takes in memory, and answers worked out from those by
/// brute force: nothing of the store takes part in them. For query_test.cc and sql_test.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "database/store/clip_writer.h"
#include "database/store/library.h"
#include "tests/database/store/clip_fixture.h"

namespace handhold::store::oracle {

/// True, false, or not known.
struct Maybe {
  int value = -1;  ///< 0, 1; -1: not known
  Maybe() = default;
  Maybe(std::nullopt_t) {}
  Maybe(bool b) : value(b ? 1 : 0) {}
  bool known() const { return value >= 0; }
};
inline Maybe And(Maybe a, Maybe b) {
  if (a.value == 0 || b.value == 0) return false;
  if (!a.known() || !b.known()) return {};
  return true;
}
inline Maybe Not(Maybe a) { return a.known() ? Maybe(a.value == 0) : a; }
inline Maybe Or(Maybe a, Maybe b) { return Not(And(Not(a), Not(b))); }

struct Span {
  double first_s = -1e9, last_s = 1e9;  ///< closed
  bool Holds(double t) const { return first_s - 1e-10 <= t && t <= last_s + 1e-10; }
};

/// What happens in a take, by brute force. Times in s of clip time.
struct Happening {
  std::string kind, origin, text;
  double t = 0, length = 0;
  int sensor = -1;
};

struct Take {
  recording::Clip clip;
  std::vector<std::string> tags;
  std::optional<int> rating;
  std::vector<Happening> events = {};  ///< contacts and planted ones, in order of time
};

constexpr double kForceRate = 1000.0, kMarkerRate = 100.0;

/// Samples of a sensor's normal force: time and N, by scalar arithmetic on the raw counts.
inline std::vector<std::pair<double, double>> NormalForce(const Take& take, int sensor) {
  const recording::ForceSensor& s = take.clip.force_sensors()[static_cast<size_t>(sensor)];
  const recording::SampleWindow w = take.clip.ReadAll(s.stream_id).value();
  std::vector<std::pair<double, double>> samples;
  for (int i = 0; i < w.count(); ++i) {
    double normal = 0;
    for (int k = 0; k < 3; ++k) {
      double f = 0;
      for (int c = 0; c < 6; ++c) f += s.calibration(k, c) * (w.value(c, i) - s.bias[c]);
      normal += s.sign * f * s.normal_S[k];
    }
    samples.push_back({w.times[static_cast<size_t>(i)].seconds(), -normal});
  }
  return samples;
}

inline std::vector<std::pair<double, double>> Channel(const Take& take, const std::string& name) {
  std::vector<std::pair<double, double>> samples;
  for (const recording::StreamInfo& info : take.clip.streams()) {
    for (int c = 0; c < info.channel_count(); ++c) {
      if (info.channels[static_cast<size_t>(c)].name != name) continue;
      const recording::SampleWindow w = take.clip.ReadAll(info.id).value();
      for (int i = 0; i < w.count(); ++i)
        samples.push_back({w.times[static_cast<size_t>(i)].seconds(), w.value(c, i)});
    }
  }
  return samples;
}

/// peak, min, mean, rms, range or missing over the span; none without a value.
inline std::optional<double> Figure(const std::string& function,
                                    const std::vector<std::pair<double, double>>& samples,
                                    const Span& span) {
  double high = -1e300, low = 1e300, sum = 0, squares = 0;
  int n = 0, missing = 0;
  for (const auto& [t, v] : samples) {
    if (!span.Holds(t)) continue;
    if (std::isnan(v)) {
      ++missing;
      continue;
    }
    ++n;
    high = std::max(high, v);
    low = std::min(low, v);
    sum += v;
    squares += v * v;
  }
  if (function == "occluded") {
    if (n + missing == 0) return std::nullopt;
    return static_cast<double>(missing) / (n + missing);
  }
  if (n == 0) return std::nullopt;
  if (function == "peak") return high;
  if (function == "min") return low;
  if (function == "mean") return sum / n;
  if (function == "rms") return std::sqrt(squares / n);
  return high - low;
}

/// Contacts by hysteresis, 0.5 N and 0.25 N: on at the first sample of at least 0.5, off at the
/// first below 0.25, or at the last sample.
inline void FindContacts(Take& take) {
  for (int s = 0; s < static_cast<int>(take.clip.force_sensors().size()); ++s) {
    const std::string name = take.clip.force_sensors()[static_cast<size_t>(s)].name;
    bool on = false;
    double began = 0;
    const auto samples = NormalForce(take, s);
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto [t, f] = samples[i];
      if (!on && f >= 0.5) {
        on = true;
        began = t;
      } else if (on && f < 0.25) {
        on = false;
        take.events.push_back({"contact_on", "indexer", name, began, t - began, s});
        take.events.push_back({"contact_off", "indexer", name, t, 0, s});
      }
    }
    if (on) {
      take.events.push_back(
          {"contact_on", "indexer", name, began, samples.back().first - began, s});
      take.events.push_back({"contact_off", "indexer", name, samples.back().first, 0, s});
    }
  }
  std::stable_sort(take.events.begin(), take.events.end(),
                   [](const Happening& a, const Happening& b) {
                     return std::llround(a.t * 1e9) < std::llround(b.t * 1e9);
                   });
}

/// A take of 4 s: one or two sensors pressed a few times in strokes, three markers, now and then
/// hidden; or (one in six) markers only.
inline Take MakeTake(std::mt19937_64& rng, int number) {
  const auto roll = [&](int n) { return static_cast<int>(rng() % static_cast<uint64_t>(n)); };
  recording::ClipInfo info;
  info.id = ClipId::New();
  char name[32];
  std::snprintf(name, sizeof name, "stroke_%03d", number + 1);
  info.name = name;
  info.subject = std::vector<std::string>{"S01", "S02", "S03"}[static_cast<size_t>(roll(3))];
  info.task = roll(3) == 0 ? "grip" : "stroke";
  info.things = {{.name = "a", .model = roll(2) == 0 ? "plate" : "ball"}};
  if (roll(4) == 0) info.things.push_back({.name = "b", .model = "wedge"});
  info.host_start_ns = 1'000'000'000'000;
  // 2026-11-01 12:00 UTC and one take a day.
  info.utc_start =
      Timestamp::FromNanoseconds((1'793'534'400ll + 86'400ll * number) * 1'000'000'000);
  info.properties = {{"room", roll(2) == 0 ? "north" : "south"}};
  Take take{recording::Clip(info), {}, std::nullopt};
  recording::Clip& clip = take.clip;

  recording::StreamInfo markers;
  markers.name = "vicon/markers";
  markers.kind = recording::StreamKind::kMarkers;
  markers.device = "vicon";
  markers.rate = {100, 1};
  markers.frame = "W";
  for (const char* m : {"RIFT", "RTIP", "RMCP"}) {
    for (const char* axis : {".x", ".y", ".z"})
      markers.channels.push_back({std::string(m) + axis, "m", 0.0});
  }
  const int id = clip.AddStream(markers, recording::ClockMap::Identity(info.host_start_ns));
  recording::SampleBlock block;
  block.stream_id = id;
  block.count = 400;
  const double hidden = 0.3 * roll(4) / 4.0;
  for (int m = 0; m < 3; ++m) {
    std::vector<bool> seen;
    for (int i = 0; i < block.count; ++i)
      seen.push_back(std::generate_canonical<double, 53>(rng) >= (m == 0 ? hidden : 0.05));
    for (int axis = 0; axis < 3; ++axis) {
      for (int i = 0; i < block.count; ++i)
        block.values.push_back(seen[static_cast<size_t>(i)]
                                   ? 0.1 * std::sin(0.01 * i * (m + 1) + axis + number)
                                   : std::numeric_limits<double>::quiet_NaN());
    }
  }
  clip.Append(block);

  const int sensors = number % 6 == 5 ? 0 : 1 + roll(2);
  std::vector<std::pair<double, double>> strokes;
  for (double t = 0.2; t < 3.2;) {
    const double length = 0.2 + 0.1 * roll(5);
    strokes.push_back({t, length});
    t += length + 0.1 * (1 + roll(4));
  }
  for (int s = 0; s < sensors; ++s) {
    recording::StreamInfo force = ForceStream(true);
    force.name = s == 0 ? "plate/wrench" : "wall/wrench";
    force.device = s == 0 ? "plate" : "wall";
    force.rate = {1000, 1};
    const int stream = clip.AddStream(force, recording::ClockMap::Identity(info.host_start_ns));
    recording::ForceSensor sensor;
    sensor.name = s == 0 ? "plate" : "wall";
    sensor.stream_id = stream;
    sensor.calibration = Eigen::Matrix<double, 6, 6>::Identity() * 0.01;
    sensor.bias = Eigen::VectorXd::Constant(6, 7.0);
    sensor.sign = roll(2) == 0 ? 1.0 : -1.0;
    clip.AddForceSensor(sensor);
    recording::SampleBlock raw;
    raw.stream_id = stream;
    raw.count = 4000;
    raw.values.assign(6 * 4000, 7.0);
    for (const auto& [t, length] : strokes) {
      if (roll(4) == 0) continue;  // a stroke in the air
      const double peak_N = 0.3 + 0.01 * roll(800), begin = t + 0.02 + 0.01 * roll(6);
      for (int i = static_cast<int>(begin * 1000); i < static_cast<int>((t + length) * 1000); ++i) {
        // Rises and falls with a kink, so that the peak may lie beyond 0.2 s of the contact.
        const double u = (i * 1e-3 - begin) / (t + length - begin);
        const double shape = u < 0.7 ? u / 0.7 : (1 - u) / 0.3;
        raw.value(2, i) = 7.0 - sensor.sign * std::round(100 * peak_N * shape);
      }
    }
    for (int c : {0, 1, 3, 4, 5}) {
      for (int i = 0; i < raw.count; ++i) raw.value(c, i) = 7.0 + roll(5) - 2;
    }
    clip.Append(raw);
  }
  for (const auto& [t, length] : strokes) {
    const char* text = roll(2) == 0 ? "exploring" : "scratching";
    clip.AddEvent({Timestamp::FromSeconds(t), Duration::FromSeconds(length), "stroke", "operator",
                   0, 0.0, text});
    take.events.push_back({"stroke", "operator", text, t, length, -1});
    if (roll(3) == 0) {
      clip.AddEvent({Timestamp::FromSeconds(t + 0.05), Duration(), "mark", "operator", 0, 0.0,
                     "thumb slipped"});
      take.events.push_back({"mark", "operator", "thumb slipped", t + 0.05, 0, -1});
    }
  }
  recording::QualityRecord quality;
  quality.items.push_back({"vicon/markers", "visible_fraction", 1 - hidden, 1 - hidden, 0.9,
                           hidden > 0.1, false, Timestamp(), ""});
  quality.items.push_back(
      {"", "last_sample_age_s", 0.01, 0.01 * roll(10), 0.05, false, false, Timestamp(), ""});
  quality.keep = roll(4) != 0;
  clip.SetQuality(quality);
  FindContacts(take);
  if (roll(2) == 0) take.tags.push_back("good");
  if (roll(3) == 0) take.tags.push_back("pilot");
  if (roll(2) == 0) take.rating = 1 + roll(5);
  return take;
}

struct World {
  std::unique_ptr<Library> library;
  std::vector<Take> takes;  ///< in the order of their start
};

inline void AddTo(Library& library, const Take& take) {
  const std::string id = take.clip.info().id.ToString();
  const Status written = WriteClip(take.clip, library.ClipPath(take.clip.info().id), {});
  ASSERT_TRUE(written) << written.error().message;
  const Status indexed = library.Index(take.clip.info().id);
  ASSERT_TRUE(indexed) << indexed.error().message;
  LedgerEntry e;
  e.clip = id;
  e.author = "ana";
  for (const std::string& tag : take.tags) {
    e.kind = LedgerKind::kTag;
    e.name = tag;
    ASSERT_TRUE(library.Say(e));
  }
  if (take.rating) {
    e.kind = LedgerKind::kRating;
    e.name = "";
    e.value = std::to_string(*take.rating);
    ASSERT_TRUE(library.Say(e));
  }
}

inline World MakeWorld(const std::string& path, int takes, uint64_t seed) {
  World world;
  world.library = Library::Create(path).value();
  std::mt19937_64 rng(seed);
  for (int k = 0; k < takes; ++k) {
    world.takes.push_back(MakeTake(rng, k));
    AddTo(*world.library, world.takes.back());
  }
  return world;
}

}  // namespace handhold::store::oracle
