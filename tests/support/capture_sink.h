/// A Sink that keeps everything it is told, for tests of sources: per stream the counters, values
/// and gaps.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "capture/source/source.h"

namespace handhold::test {

/// Thread-safe: the source's thread writes, the test reads copies.
class CaptureSink : public capture::Sink {
 public:
  struct Stream {
    recording::StreamInfo info;
    std::vector<int64_t> counters;
    std::vector<std::vector<double>> samples;  ///< one vector per sample, in channel order; ragged:
                                               ///< all its points
    std::vector<recording::ClockPair> pairs;
    std::vector<recording::Gap> gaps;
    std::vector<int64_t> resets;
  };
  struct State {
    bool connected = false;
    std::string text;
    Timestamp host;
  };

  int OnStreams(std::span<const recording::StreamInfo> streams) override {
    const std::lock_guard lock(mutex_);
    const int base = static_cast<int>(streams_.size());
    for (const auto& info : streams) {
      streams_.push_back({});
      streams_.back().info = info;
    }
    return base;
  }
  void OnSamples(const capture::SampleView& view) noexcept override {
    const std::lock_guard lock(mutex_);
    Stream& stream = streams_[view.stream];
    stream.pairs.push_back(view.clock);
    const size_t channels = stream.info.channels.size();
    size_t ragged = 0;
    for (int i = 0; i < view.count; ++i) {
      stream.counters.push_back(view.first_counter + i);
      std::vector<double> sample;
      if (!view.point_counts.empty()) {
        const size_t n = 4 * static_cast<size_t>(view.point_counts[i]);
        sample.assign(view.values.begin() + ragged, view.values.begin() + ragged + n);
        ragged += n;
      } else {
        for (size_t c = 0; c < channels; ++c) sample.push_back(view.values[c * view.count + i]);
      }
      stream.samples.push_back(std::move(sample));
    }
  }
  void OnGap(int stream, int64_t first, int64_t count,
             recording::GapCause cause) noexcept override {
    const std::lock_guard lock(mutex_);
    streams_[stream].gaps.push_back({.stream_id = stream,
                                     .first_missing_counter = first,
                                     .count = count,
                                     .cause = cause,
                                     .clip_begin = {},
                                     .clip_end = {}});
  }
  void OnClockReset(int stream, int64_t counter) noexcept override {
    const std::lock_guard lock(mutex_);
    streams_[stream].resets.push_back(counter);
  }
  void OnState(bool connected, std::string_view text) noexcept override {
    const std::lock_guard lock(mutex_);
    states_.push_back({connected, std::string(text), HostNow()});
  }

  std::vector<Stream> streams() const {
    const std::lock_guard lock(mutex_);
    return streams_;
  }
  std::vector<State> states() const {
    const std::lock_guard lock(mutex_);
    return states_;
  }
  /// Samples of the first stream called `name`; 0 before it is announced.
  size_t Count(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    size_t count = 0;
    for (const Stream& s : streams_) {
      if (s.info.name == name) count += s.counters.size();
    }
    return count;
  }
  /// Highest counter seen on streams called `name`, or -1.
  int64_t LastCounter(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    int64_t last = -1;
    for (const Stream& s : streams_) {
      if (s.info.name == name && !s.counters.empty()) last = s.counters.back();
    }
    return last;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Stream> streams_;
  std::vector<State> states_;
};

/// Polls until `done` or `seconds` have passed: generous, since the machine may be loaded. Returns
/// done().
inline bool WaitUntil(const std::function<bool()>& done, double seconds = 60.0) {
  const Timestamp end = HostNow() + Duration::FromSeconds(seconds);
  while (!done()) {
    if (HostNow() > end) return done();
    timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

/// The missing counters as [begin, end) ranges, merged, in order.
inline std::vector<std::pair<int64_t, int64_t>> GapRanges(const std::vector<recording::Gap>& gaps) {
  std::vector<std::pair<int64_t, int64_t>> out;
  for (const auto& gap : gaps) {
    const int64_t end = gap.first_missing_counter + gap.count;
    if (!out.empty() && out.back().second == gap.first_missing_counter) {
      out.back().second = end;
    } else {
      out.emplace_back(gap.first_missing_counter, end);
    }
  }
  return out;
}

}  // namespace handhold::test
