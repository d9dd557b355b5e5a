#include "database/recording/clip.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

namespace {

struct Part {  ///< samples [begin, end) of a block
  const SampleBlock* block;
  int begin, end;
};

/// Clip time of sample i of a block.
Timestamp TimeOf(const ClipInfo& clip, const StreamInfo& stream, const ClockMap& clock,
                 const SampleBlock& block, int i) {
  const Timestamp host =
      block.host_times.empty()
          ? clock.ToHost(DeviceTimeOfCounter(block.first_counter + i, stream.rate))
          : block.host_times[i];
  return Timestamp::FromNanoseconds(host.ns() - clip.host_start_ns);
}

/// Whether later device times never get earlier host times: no step of the clock goes back.
bool Ascends(const ClockMap& clock) {
  for (size_t k = 0; k < clock.segments.size(); ++k) {
    if (!(clock.segments[k].rate_error > -1.0)) return false;
    if (k == 0) continue;
    const ClockSegment& last = clock.segments[k - 1];
    const int64_t elapsed = clock.segments[k].device_begin_ns - last.device_begin_ns - 1;
    const int64_t end =
        last.host_begin_ns + elapsed + std::llround(static_cast<double>(elapsed) * last.rate_error);
    if (elapsed < 0 || clock.segments[k].host_begin_ns < end) return false;
  }
  return true;
}

/// The samples in `range`: by bisection where times ascend, as they do unless the clock stepped
/// back or samples came with times of their own; else by looking at each.
template <typename TimeOfSample>
std::vector<Part> Find(const std::vector<SampleBlock>& blocks, bool ascending, TimeRange range,
                       const TimeOfSample& time) {
  std::vector<Part> parts;
  if (!ascending) {
    for (const SampleBlock& block : blocks) {
      for (int i = 0; i < block.count; ++i) {
        if (!range.Contains(time(block, i))) continue;
        if (!parts.empty() && parts.back().block == &block && parts.back().end == i) {
          ++parts.back().end;
        } else {
          parts.push_back({&block, i, i + 1});
        }
      }
    }
    return parts;
  }
  // The number of samples of a block before t.
  const auto before = [&](const SampleBlock& block, Timestamp t) {
    int low = 0, high = block.count;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (time(block, middle) < t) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  auto block = std::partition_point(blocks.begin(), blocks.end(), [&](const SampleBlock& b) {
    return time(b, b.count - 1) < range.begin;
  });
  for (; block != blocks.end(); ++block) {
    const int begin = before(*block, range.begin), end = before(*block, range.end);
    if (begin < end) parts.push_back({&*block, begin, end});
    if (end < block->count) break;
  }
  return parts;
}

void CopyPoints(const std::vector<Part>& parts, SampleWindow& window) {
  for (const Part& part : parts) {
    const auto counts = part.block->point_counts.begin();
    const auto first = 4 * std::accumulate(counts, counts + part.begin, std::ptrdiff_t{0});
    const auto length =
        4 * std::accumulate(counts + part.begin, counts + part.end, std::ptrdiff_t{0});
    window.point_counts.insert(window.point_counts.end(), counts + part.begin, counts + part.end);
    const auto values = part.block->values.begin() + first;
    window.values.insert(window.values.end(), values, values + length);
  }
}

void CopyColumns(const std::vector<Part>& parts, const std::vector<int>& wanted,
                 SampleWindow& window) {
  const bool any_origin = std::any_of(parts.begin(), parts.end(),
                                      [](const Part& p) { return !p.block->origins.empty(); });
  window.values.reserve(wanted.size() * window.times.size());
  for (const int c : wanted) {
    for (const Part& p : parts) {
      const size_t column = static_cast<size_t>(c) * p.block->count;
      const auto values = p.block->values.begin() + static_cast<std::ptrdiff_t>(column);
      window.values.insert(window.values.end(), values + p.begin, values + p.end);
      for (int i = p.begin; i < p.end && any_origin; ++i) {
        const SampleOrigin measured =
            std::isnan(values[i]) ? SampleOrigin::kMissing : SampleOrigin::kMeasured;
        window.origins.push_back(p.block->origins.empty() ? measured
                                                          : p.block->origins[column + i]);
      }
    }
  }
}

}  // namespace

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
      const bool even = block.host_times.empty();
      gaps_.push_back({stream.id, expected, block.first_counter - expected,
                       GapCause::kDeviceSkipped,
                       even ? ClipTime(stream, data, expected)
                            : TimeOf(info_, stream, data.clock, last, last.count - 1),
                       TimeOf(info_, stream, data.clock, block, 0)});
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
  const SampleBlock& last = data.blocks.back();
  if (!last.host_times.empty()) {
    return {TimeOf(info_, *stream, data.clock, data.blocks.front(), 0),
            TimeOf(info_, *stream, data.clock, last, last.count - 1) + Duration::Nanoseconds(1)};
  }
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
  const auto time = [&](const SampleBlock& block, int i) {
    return TimeOf(info_, *stream, data.clock, block, i);
  };
  const bool ascending =
      Ascends(data.clock) && std::all_of(data.blocks.begin(), data.blocks.end(),
                                         [](const SampleBlock& b) { return b.host_times.empty(); });
  const std::vector<Part> parts = Find(data.blocks, ascending, range, time);
  for (const Part& part : parts) {
    for (int i = part.begin; i < part.end; ++i) {
      window.times.push_back(time(*part.block, i));
      window.counters.push_back(part.block->first_counter + i);
      if (stream->kind == StreamKind::kText) window.texts.push_back(part.block->texts[i]);
    }
  }
  if (stream->kind == StreamKind::kText) return window;
  if (stream->kind == StreamKind::kUnlabelledPoints) {
    CopyPoints(parts, window);
  } else {
    CopyColumns(parts, wanted, window);
  }
  return window;
}

}  // namespace handhold::recording
