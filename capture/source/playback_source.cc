#include "capture/source/playback_source.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "capture/wire/cancel.h"
#include "capture/wire/socket.h"
#include "database/base/check.h"

namespace handhold::capture {
namespace {

using recording::Gap;
using recording::SampleWindow;
using recording::StreamInfo;
using recording::StreamKind;

/// Of a device whose samples come `speed` times as fast: as a fraction, exact where it is a simple
/// one. Unpaced (0) there is no such rate, and the recording's stands.
recording::Rate AtSpeed(recording::Rate rate, double speed) {
  if (speed <= 0) return rate;
  int64_t parts = 1;
  while (parts < 1000 && std::abs(speed * static_cast<double>(parts) -
                                  std::round(speed * static_cast<double>(parts))) > 1e-9)
    ++parts;
  if (parts == 1000) parts = 1'000'000;
  rate.numerator *= std::max<int64_t>(1, std::llround(speed * static_cast<double>(parts)));
  rate.denominator *= parts;
  const int64_t common = std::gcd(rate.numerator, rate.denominator);
  return {rate.numerator / common, rate.denominator / common};
}

class PlaybackSource : public Source {
 public:
  PlaybackSource(std::shared_ptr<const recording::ClipSource> clip, PlaybackOptions options)
      : clip_(std::move(clip)), options_(std::move(options)) {
    CHECK(clip_ != nullptr);
    CHECK_GE(options_.speed, 0.0);
    CHECK_GT(options_.window.ns(), 0);
    // Text has no even rate and no counter: it is not a device's stream.
    for (const StreamInfo& info : clip_->streams()) {
      if (info.kind == StreamKind::kText) continue;
      recorded_rates_.push_back(info.rate);
      streams_.push_back(info);
      streams_.back().rate = AtSpeed(info.rate, options_.speed);
    }
    for (const StreamInfo& info : streams_) {
      const TimeRange extent = clip_->Extent(info.id);
      if (extent.length() <= Duration()) continue;
      range_ = range_.length() <= Duration() ? extent
                                             : TimeRange{std::min(range_.begin, extent.begin),
                                                         std::max(range_.end, extent.end)};
    }
  }
  ~PlaybackSource() override { Stop(); }

  const std::string& name() const override { return options_.name; }
  Result<std::vector<StreamInfo>> Probe(Duration) override {
    if (streams_.empty()) {
      return Error{ErrorCode::kNotFound,
                   "clip '" + clip_->info().name + "' has no stream that can be played"};
    }
    return streams_;
  }
  std::vector<recording::ForceSensor> ForceSensors() const override {
    return clip_->force_sensors();
  }
  Status Start(Sink* sink) override;
  void Stop() override {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  SourceHealth Health() const override;

 private:
  void Run();
  Status PlayOnce(Timestamp host_begin, int64_t pass);
  Status PlayWindow(size_t stream, TimeRange range, Timestamp host, int64_t pass);
  void Send(size_t stream, const SampleWindow& window, int begin, int count, Timestamp host,
            int64_t offset);
  void EndFirstPass();

  const std::shared_ptr<const recording::ClipSource> clip_;
  const PlaybackOptions options_;
  std::vector<StreamInfo> streams_;  ///< at the speed asked
  std::vector<recording::Rate> recorded_rates_;
  TimeRange range_;
  Sink* sink_ = nullptr;
  int base_ = 0;
  // Per stream.
  std::vector<int64_t> first_;        ///< the clip's first counter
  std::vector<int64_t> next_;         ///< the counter expected next, with the pass's offset
  std::vector<int64_t> pass_length_;  ///< counters that one pass takes; known after the first
  std::vector<double> values_;        ///< of one block
  std::thread thread_;
  std::atomic<bool> stop_{false}, connected_{false};
  std::atomic<int64_t> packets_{0}, lost_{0}, bad_{0}, last_host_ns_{0};
};

Status PlaybackSource::Start(Sink* sink) {
  CHECK(sink != nullptr);
  if (thread_.joinable())
    return Error{ErrorCode::kBusy, "playback '" + options_.name + "' is already started"};
  if (range_.length() <= Duration()) {
    return Error{ErrorCode::kNotFound, "clip '" + clip_->info().name + "' has no samples to play"};
  }
  sink_ = sink;
  stop_ = false;
  thread_ = std::thread([this] { Run(); });
  return {};
}

SourceHealth PlaybackSource::Health() const {
  SourceHealth health;
  health.connected = connected_;
  health.packets = packets_;
  health.lost_samples = lost_;
  health.bad_packets = bad_;
  health.last_packet_host = Timestamp::FromNanoseconds(last_host_ns_);
  return health;
}

void PlaybackSource::Run() {
  base_ = sink_->OnStreams(streams_);
  first_.assign(streams_.size(), INT64_MIN);
  next_.assign(streams_.size(), INT64_MIN);
  pass_length_.assign(streams_.size(), 0);
  connected_ = true;
  sink_->OnState(true, "playback '" + options_.name + "' runs");
  Timestamp host = HostNow();
  for (int64_t pass = 0; !stop_; ++pass) {
    if (auto played = PlayOnce(host, pass); !played) {
      ++bad_;
      sink_->OnState(false, played.error().message);
      break;
    }
    if (pass == 0) EndFirstPass();
    if (options_.speed > 0)
      host += Duration::FromSeconds(range_.length().seconds() / options_.speed);
    if (!options_.loop) break;
  }
  connected_ = false;
  if (!stop_)
    sink_->OnState(false, "playback '" + options_.name + "' has reached the end of its clip");
}

// A pass takes the whole clip's time of every stream, and never fewer counters than were played: a
// device clock that runs fast has more samples than the nominal rate says.
void PlaybackSource::EndFirstPass() {
  for (size_t s = 0; s < streams_.size(); ++s) {
    const int64_t nominal = std::llround(range_.length().seconds() * recorded_rates_[s].hz());
    pass_length_[s] = next_[s] == INT64_MIN ? nominal : std::max(nominal, next_[s] - first_[s]);
  }
}

Status PlaybackSource::PlayOnce(Timestamp host_begin, int64_t pass) {
  for (Timestamp begin = range_.begin; begin < range_.end && !stop_; begin += options_.window) {
    const TimeRange range{begin, std::min(begin + options_.window, range_.end)};
    Timestamp host = HostNow();
    if (options_.speed > 0) {
      // A window is whole when its end has come.
      host =
          host_begin + Duration::FromSeconds((range.end - range_.begin).seconds() / options_.speed);
      while (!stop_ && HostNow() < host)
        wire::SleepUntil(std::min(host, HostNow() + wire::kCancelPeriod));
      host = std::max(host, HostNow());
    }
    for (size_t s = 0; s < streams_.size() && !stop_; ++s)
      HANDHOLD_TRY(PlayWindow(s, range, host, pass));
  }
  return {};
}

Status PlaybackSource::PlayWindow(size_t stream, TimeRange range, Timestamp host, int64_t pass) {
  const StreamInfo& info = streams_[stream];
  HANDHOLD_ASSIGN(const SampleWindow window, clip_->Read(info.id, range));
  const int64_t offset = pass * pass_length_[stream];
  for (int begin = 0; begin < window.count();) {
    int end = begin + 1;
    while (end < window.count() && window.counters[end] == window.counters[end - 1] + 1) ++end;
    const int64_t counter = window.counters[begin] + offset;
    if (next_[stream] != INT64_MIN && counter > next_[stream]) {
      const int64_t missing = counter - next_[stream];
      recording::GapCause cause = recording::GapCause::kDeviceSkipped;
      for (const Gap& gap : clip_->gaps()) {
        if (gap.stream_id == info.id && gap.first_missing_counter + offset == next_[stream])
          cause = gap.cause;
      }
      lost_ += missing;
      sink_->OnGap(base_ + static_cast<int>(stream), next_[stream], missing, cause);
    }
    if (next_[stream] == INT64_MIN) first_[stream] = counter;
    Send(stream, window, begin, end - begin, host, offset);
    next_[stream] = counter + (end - begin);
    begin = end;
  }
  return {};
}

void PlaybackSource::Send(size_t stream, const SampleWindow& window, int begin, int count,
                          Timestamp host, int64_t offset) {
  SampleView view;
  view.stream = base_ + static_cast<int>(stream);
  view.first_counter = window.counters[begin] + offset;
  view.count = count;
  if (!window.point_counts.empty()) {
    size_t first = 0, length = 0;
    for (int i = 0; i < begin + count; ++i)
      (i < begin ? first : length) += 4 * static_cast<size_t>(window.point_counts[i]);
    view.values = std::span(window.values).subspan(first, length);
    view.point_counts = std::span(window.point_counts)
                            .subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
  } else {
    values_.resize(static_cast<size_t>(window.channel_count) * static_cast<size_t>(count));
    for (int c = 0; c < window.channel_count; ++c) {
      for (int i = 0; i < count; ++i)
        values_[static_cast<size_t>(c) * count + i] = window.value(c, begin + i);
    }
    view.values = values_;
  }
  const recording::Rate rate = streams_[stream].rate;
  view.clock.counter = view.first_counter;
  view.clock.device_ns = recording::DeviceTimeOfCounter(view.first_counter, rate);
  view.clock.host_ns = host.ns();
  view.clock.latency_ns = recording::DeviceTimeOfCounter(count - 1, rate);
  ++packets_;
  last_host_ns_ = host.ns();
  sink_->OnSamples(view);
}

}  // namespace

std::unique_ptr<Source> MakePlaybackSource(std::shared_ptr<const recording::ClipSource> clip,
                                           PlaybackOptions options) {
  return std::make_unique<PlaybackSource>(std::move(clip), std::move(options));
}

}  // namespace handhold::capture
