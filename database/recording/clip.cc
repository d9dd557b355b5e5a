#include "database/recording/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "database/base/check.h"

namespace handhold::recording {

int64_t DeviceTimeOfCounter(int64_t counter, Rate rate) {
  CHECK_GT(rate.numerator, 0);
  CHECK_GT(rate.denominator, 0);
  const __int128 scaled = static_cast<__int128>(counter) * rate.denominator * 1'000'000'000;
  const __int128 half = rate.numerator / 2;
  const __int128 rounded = (scaled >= 0 ? scaled + half : scaled - half) / rate.numerator;
  return static_cast<int64_t>(rounded);
}

Result<SampleWindow> ClipSource::ReadAll(int stream_id) const {
  const TimeRange everything{Timestamp::FromNanoseconds(std::numeric_limits<int64_t>::min()),
                             Timestamp::FromNanoseconds(std::numeric_limits<int64_t>::max())};
  return Read(stream_id, everything);
}

std::vector<const StreamInfo*> ClipSource::FindStreams(std::string_view name) const {
  std::vector<const StreamInfo*> found;
  for (const StreamInfo& s : streams()) {
    if (s.name == name) found.push_back(&s);
  }
  std::sort(found.begin(), found.end(),
            [](const StreamInfo* a, const StreamInfo* b) { return a->epoch < b->epoch; });
  return found;
}

const StreamInfo* ClipSource::FirstOfKind(StreamKind kind) const {
  for (const StreamInfo& s : streams()) {
    if (s.kind == kind) return &s;
  }
  return nullptr;
}

const StreamInfo* ClipSource::FindStream(int stream_id) const {
  for (const StreamInfo& s : streams()) {
    if (s.id == stream_id) return &s;
  }
  return nullptr;
}

const ForceSensor* ClipSource::FindForceSensor(std::string_view name) const {
  for (const ForceSensor& s : force_sensors()) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

Clip::Clip(ClipInfo info) : info_(std::move(info)) {}

int Clip::AddStream(StreamInfo info, ClockMap clock_map) {
  CHECK(clock_map.valid());
  info.id = static_cast<int>(streams_.size()) + 1;
  streams_.push_back(std::move(info));
  data_.push_back({std::move(clock_map), {}, {}});
  return streams_.back().id;
}

Timestamp Clip::ClipTime(const StreamInfo& stream, const StreamData& data, int64_t counter) const {
  return Timestamp::FromNanoseconds(
      data.clock.ToHost(DeviceTimeOfCounter(counter, stream.rate)).ns() - info_.host_start_ns);
}

void Clip::Append(const SampleBlock& block) {
  CHECK_GE(block.stream_id, 1);
  CHECK_LE(static_cast<size_t>(block.stream_id), streams_.size());
  const StreamInfo& stream = streams_[block.stream_id - 1];
  StreamData& data = data_[block.stream_id - 1];
  CHECK_GT(block.count, 0);
  if (stream.kind == StreamKind::kUnlabelledPoints) {
    CHECK_EQ(block.point_counts.size(), static_cast<size_t>(block.count));
  } else if (stream.kind == StreamKind::kText) {
    CHECK_EQ(block.texts.size(), static_cast<size_t>(block.count));
    CHECK_EQ(block.host_times.size(), static_cast<size_t>(block.count));
  } else {
    CHECK_EQ(block.values.size(), static_cast<size_t>(block.count) * stream.channels.size());
  }
  if (!data.blocks.empty()) {
    const SampleBlock& last = data.blocks.back();
    const int64_t expected = last.first_counter + last.count;
    CHECK_GE(block.first_counter, expected);
    const bool named = std::any_of(gaps_.begin(), gaps_.end(), [&](const Gap& g) {
      return g.stream_id == stream.id && g.first_missing_counter == expected;
    });
    if (block.first_counter > expected && !named && stream.kind != StreamKind::kText) {
      gaps_.push_back({stream.id, expected, block.first_counter - expected,
                       GapCause::kDeviceSkipped, ClipTime(stream, data, expected),
                       ClipTime(stream, data, block.first_counter)});
    }
  }
  data.blocks.push_back(block);
}

void Clip::AddForceSensor(ForceSensor sensor) { sensors_.push_back(std::move(sensor)); }
void Clip::AddGap(Gap gap) { gaps_.push_back(gap); }
void Clip::SetQuality(QualityRecord quality) { quality_ = std::move(quality); }

void Clip::AddEvent(Event event) {
  const auto at =
      std::upper_bound(events_.begin(), events_.end(), event,
                       [](const Event& a, const Event& b) { return a.clip_time < b.clip_time; });
  events_.insert(at, std::move(event));
}

void Clip::SetClockPairs(int stream_id, std::vector<ClockPair> pairs) {
  CHECK(FindStream(stream_id) != nullptr);
  data_[stream_id - 1].pairs = std::move(pairs);
}

const ClockMap& Clip::clock_map(int stream_id) const {
  CHECK(FindStream(stream_id) != nullptr);
  return data_[stream_id - 1].clock;
}

Result<std::vector<ClockPair>> Clip::ClockPairs(int stream_id) const {
  if (FindStream(stream_id) == nullptr)
    return Error{ErrorCode::kNotFound, "no stream " + std::to_string(stream_id)};
  return data_[stream_id - 1].pairs;
}

TimeRange Clip::Extent(int stream_id) const {
  const StreamInfo* stream = FindStream(stream_id);
  if (stream == nullptr || data_[stream_id - 1].blocks.empty()) return {};
  const StreamData& data = data_[stream_id - 1];
  if (stream->kind == StreamKind::kText) {
    return {data.blocks.front().host_times.front() - Duration::Nanoseconds(info_.host_start_ns),
            data.blocks.back().host_times.back() - Duration::Nanoseconds(info_.host_start_ns - 1)};
  }
  const SampleBlock& last = data.blocks.back();
  return {ClipTime(*stream, data, data.blocks.front().first_counter),
          ClipTime(*stream, data, last.first_counter + last.count)};
}

Result<SampleWindow> Clip::Read(int stream_id, TimeRange range,
                                const std::vector<int>& channels) const {
  const StreamInfo* stream = FindStream(stream_id);
  if (stream == nullptr)
    return Error{ErrorCode::kNotFound,
                 "no stream " + std::to_string(stream_id) + " in clip " + info_.name};
  const StreamData& data = data_[stream_id - 1];
  std::vector<int> wanted = channels;
  if (wanted.empty()) {
    for (int c = 0; c < stream->channel_count(); ++c) wanted.push_back(c);
  }
  for (const int c : wanted) {
    if (c < 0 || c >= stream->channel_count()) {
      return Error{ErrorCode::kNotFound,
                   "stream '" + stream->name + "' has no channel " + std::to_string(c)};
    }
  }
  SampleWindow window;
  window.stream_id = stream_id;
  window.channel_count = static_cast<int>(wanted.size());
  struct Place {
    const SampleBlock* block;
    int i;
  };
  std::vector<Place> places;
  for (const SampleBlock& block : data.blocks) {
    for (int i = 0; i < block.count; ++i) {
      const int64_t counter = block.first_counter + i;
      const Timestamp t =
          block.host_times.empty()
              ? ClipTime(*stream, data, counter)
              : Timestamp::FromNanoseconds(block.host_times[i].ns() - info_.host_start_ns);
      if (!range.Contains(t)) continue;
      places.push_back({&block, i});
      window.times.push_back(t);
      window.counters.push_back(counter);
      if (stream->kind == StreamKind::kText) window.texts.push_back(block.texts[i]);
    }
  }
  if (stream->kind == StreamKind::kText) return window;
  if (stream->kind == StreamKind::kUnlabelledPoints) {
    for (const Place& p : places) {
      size_t first = 0;
      for (int i = 0; i < p.i; ++i) first += static_cast<size_t>(p.block->point_counts[i]) * 4;
      const size_t length = static_cast<size_t>(p.block->point_counts[p.i]) * 4;
      window.point_counts.push_back(p.block->point_counts[p.i]);
      window.values.insert(window.values.end(),
                           p.block->values.begin() + static_cast<std::ptrdiff_t>(first),
                           p.block->values.begin() + static_cast<std::ptrdiff_t>(first + length));
    }
    return window;
  }
  const bool any_origin = std::any_of(places.begin(), places.end(),
                                      [](const Place& p) { return !p.block->origins.empty(); });
  window.values.reserve(wanted.size() * places.size());
  for (const int c : wanted) {
    for (const Place& p : places) {
      window.values.push_back(p.block->value(c, p.i));
      if (!any_origin) continue;
      const size_t at = static_cast<size_t>(c) * p.block->count + p.i;
      const SampleOrigin measured =
          std::isnan(p.block->values[at]) ? SampleOrigin::kMissing : SampleOrigin::kMeasured;
      window.origins.push_back(p.block->origins.empty() ? measured : p.block->origins[at]);
    }
  }
  return window;
}

}  // namespace handhold::recording
