/// Sources without a device: one that a test plays by hand, and one with a thread that generates
/// samples on a clock of the test's choosing.
#pragma once

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "capture/source/source.h"
#include "capture/wire/schedule.h"
#include "database/recording/clip.h"

namespace handhold::testing {

inline recording::StreamInfo MarkerStream(const std::string& name, int markers, int64_t rate_hz) {
  recording::StreamInfo info;
  info.name = name;
  info.kind = recording::StreamKind::kMarkers;
  info.rate = {rate_hz, 1};
  info.frame = "W";
  for (int m = 0; m < markers; ++m) {
    for (const char* axis : {".x", ".y", ".z"})
      info.channels.push_back({"M" + std::to_string(m) + axis, "m", 1e-5});
  }
  return info;
}

inline recording::StreamInfo ForceStream(const std::string& name, int64_t rate_hz) {
  recording::StreamInfo info;
  info.name = name;
  info.kind = recording::StreamKind::kForceTorque;
  info.rate = {rate_hz, 1};
  info.sign = "hand_on_object";
  for (const char* axis : {"Fx", "Fy", "Fz", "Tx", "Ty", "Tz"})
    info.channels.push_back({axis, "count", 1.0});
  return info;
}

inline recording::StreamInfo AnalogStream(const std::string& name, int channels, int64_t rate_hz) {
  recording::StreamInfo info;
  info.name = name;
  info.kind = recording::StreamKind::kAnalog;
  info.rate = {rate_hz, 1};
  for (int c = 0; c < channels; ++c) info.channels.push_back({"A" + std::to_string(c), "V", 1e-4});
  return info;
}

/// A smooth value that tells stream, channel and counter apart, on the grid of marker quanta.
inline double ScriptedValue(int stream, int channel, int64_t counter) {
  return 1e-5 * static_cast<double>((counter * 7 + channel * 131 + stream * 1009) % 20'000);
}

/// The test is its thread.
class HandSource : public capture::Source {
 public:
  HandSource(std::string name, std::vector<recording::StreamInfo> streams)
      : name_(std::move(name)), streams_(std::move(streams)) {}

  const std::string& name() const override { return name_; }
  Result<std::vector<recording::StreamInfo>> Probe(Duration) override {
    if (!probe_error.empty()) return Error{ErrorCode::kTimeout, probe_error};
    return streams_;
  }
  std::vector<recording::ForceSensor> ForceSensors() const override { return sensors; }
  Status Start(capture::Sink* to) override {
    sink = to;
    return {};
  }
  void Stop() override {}
  capture::SourceHealth Health() const override { return health; }

  void Announce() { base = sink->OnStreams(streams_); }
  void Announce(std::vector<recording::StreamInfo> streams) {
    streams_ = std::move(streams);
    Announce();
  }
  /// `count` samples of `stream` from `counter` on, received at `host_ns`, just after the last.
  void Send(int stream, int64_t counter, int count, int64_t host_ns, double visible = 1.0) {
    const recording::StreamInfo& info = streams_[static_cast<size_t>(stream)];
    const int channels = info.channel_count();
    values_.resize(static_cast<size_t>(channels) * static_cast<size_t>(count));
    for (int c = 0; c < channels; ++c) {
      for (int i = 0; i < count; ++i) {
        const bool seen = c / 3 < std::lround(visible * (channels / 3.0)) || visible >= 1.0;
        values_[static_cast<size_t>(c) * count + i] =
            seen ? ScriptedValue(stream, c, counter + i) : std::numeric_limits<double>::quiet_NaN();
      }
    }
    capture::SampleView view;
    view.stream = base + stream;
    view.first_counter = counter;
    view.count = count;
    view.saturated = saturated;
    view.values = values_;
    view.clock.counter = counter;
    view.clock.device_ns = recording::DeviceTimeOfCounter(counter, info.rate);
    view.clock.host_ns = host_ns;
    view.clock.latency_ns = recording::DeviceTimeOfCounter(count - 1, info.rate);
    sink->OnSamples(view);
  }
  const std::vector<recording::StreamInfo>& streams() const { return streams_; }

  capture::Sink* sink = nullptr;
  int base = 0;
  std::vector<recording::ForceSensor> sensors;
  capture::SourceHealth health;
  int saturated = 0;  ///< samples of every packet of which the device says so
  std::string probe_error;

 private:
  std::string name_;
  std::vector<recording::StreamInfo> streams_;
  std::vector<double> values_;
};

/// Streams of 1 / rate, all from one thread, at `speed` times real time by the given clock: packets
/// of `packet` seconds of every stream. Host stamps are exact: start + counter / rate.
class PacedSource : public HandSource {
 public:
  struct Options {
    double packet_s = 0.01;
    double speed = 1.0;
    Timestamp begin{};  ///< host instant of counter 0; 0: when it is started
  };
  PacedSource(std::string name, std::vector<recording::StreamInfo> streams, Options options)
      : HandSource(std::move(name), std::move(streams)), options_(options) {}
  ~PacedSource() override { Stop(); }

  Status Start(capture::Sink* to) override {
    sink = to;
    stop_ = false;
    thread_ = std::thread([this] { Run(); });
    return {};
  }
  void Stop() override {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// Device time delivered so far, s.
  double delivered_s() const { return 1e-9 * static_cast<double>(delivered_ns_.load()); }
  std::atomic<bool> silent{false};

 private:
  void Run() {
    capture::wire::AskForRealTime(capture::wire::Urgency::kDevice);  // as punctual as a device
    Announce();
    sink->OnState(true, name() + " streams");
    const Timestamp begin = options_.begin.ns() == 0 ? HostNow() : options_.begin;
    std::vector<int64_t> next(streams().size(), 0);
    for (int64_t k = 1; !stop_; ++k) {
      const double device_s = static_cast<double>(k) * options_.packet_s;
      const Timestamp due = begin + Duration::FromSeconds(device_s / options_.speed);
      while (!stop_ && HostNow() < due) {
        const int64_t left = std::min<int64_t>((due - HostNow()).ns(), 5'000'000);
        const timespec pause{0, static_cast<long>(std::max<int64_t>(left, 0))};
        nanosleep(&pause, nullptr);
      }
      if (silent) continue;
      for (size_t s = 0; s < streams().size(); ++s) {
        const auto end = std::llround(device_s * streams()[s].rate.hz());
        if (end > next[s])
          Send(static_cast<int>(s), next[s], static_cast<int>(end - next[s]),
               begin.ns() + std::llround(1e9 * device_s));
        next[s] = end;
      }
      delivered_ns_ = std::llround(1e9 * device_s);
    }
  }

  const Options options_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> delivered_ns_{0};
};

}  // namespace handhold::testing
