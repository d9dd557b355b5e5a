#include <algorithm>
#include <map>

#include "database/store/clip_writer.h"

namespace handhold::store {
namespace {

using recording::SampleBlock;
using recording::SampleWindow;
using recording::StreamInfo;
using recording::StreamKind;

/// Passes a window on in blocks whose counters run evenly.
Status AppendWindow(const StreamInfo& info, const SampleWindow& window, int64_t host_start_ns,
                    int64_t& index, ClipWriter& writer) {
  const auto n = static_cast<size_t>(window.count());
  const bool uneven = info.kind == StreamKind::kText || info.rate.numerator == 0;
  const bool ragged = info.kind == StreamKind::kUnlabelledPoints;
  const size_t columns =
      info.kind == StreamKind::kText || ragged ? 0 : static_cast<size_t>(window.channel_count);
  size_t point = 0;
  for (size_t begin = 0; begin < n;) {
    size_t end = begin + 1;
    while (end < n && window.counters[end] == window.counters[end - 1] + 1) ++end;
    SampleBlock block;
    block.stream_id = info.id;
    block.first_index = index;
    block.first_counter = window.counters[begin];
    block.count = static_cast<int>(end - begin);
    for (size_t c = 0; c < columns; ++c) {
      const auto from = window.values.begin() + static_cast<std::ptrdiff_t>(c * n);
      block.values.insert(block.values.end(), from + static_cast<std::ptrdiff_t>(begin),
                          from + static_cast<std::ptrdiff_t>(end));
      if (window.origins.empty()) continue;
      const auto origin = window.origins.begin() + static_cast<std::ptrdiff_t>(c * n);
      block.origins.insert(block.origins.end(), origin + static_cast<std::ptrdiff_t>(begin),
                           origin + static_cast<std::ptrdiff_t>(end));
    }
    for (size_t i = begin; i < end; ++i) {
      if (uneven)
        block.host_times.push_back(window.times[i] + Duration::Nanoseconds(host_start_ns));
      if (info.kind == StreamKind::kText) block.texts.push_back(window.texts[i]);
      if (!ragged) continue;
      const auto length = static_cast<size_t>(window.point_counts[i]) * 4;
      block.point_counts.push_back(window.point_counts[i]);
      block.values.insert(block.values.end(),
                          window.values.begin() + static_cast<std::ptrdiff_t>(point),
                          window.values.begin() + static_cast<std::ptrdiff_t>(point + length));
      point += length;
    }
    HANDHOLD_TRY(writer.Append(block));
    index += block.count;
    begin = end;
  }
  return {};
}

}  // namespace

Status WriteClip(const recording::ClipSource& clip, const std::string& path,
                 const ClipWriterOptions& options,
                 const std::map<std::string, std::vector<uint8_t>>& documents) {
  HANDHOLD_ASSIGN(const std::unique_ptr<ClipWriter> writer,
                  ClipWriter::Create(path, clip.info(), options));
  std::map<int, int> ids = {{0, 0}};
  for (const StreamInfo& info : clip.streams()) {
    HANDHOLD_ASSIGN(const int id, writer->AddStream(info));
    ids[info.id] = id;
    HANDHOLD_TRY(writer->SetClockMap(id, clip.clock_map(info.id)));
    HANDHOLD_ASSIGN(const std::vector<recording::ClockPair> pairs, clip.ClockPairs(info.id));
    HANDHOLD_TRY(writer->AddClockPairs(id, pairs));
  }
  for (recording::ForceSensor sensor : clip.force_sensors()) {
    sensor.stream_id = ids[sensor.stream_id];
    HANDHOLD_TRY(writer->AddForceSensor(sensor));
  }
  for (recording::Event event : clip.events()) {
    event.stream_id = ids[event.stream_id];
    HANDHOLD_TRY(writer->AddEvent(event));
  }
  for (recording::Gap gap : clip.gaps()) {
    gap.stream_id = ids[gap.stream_id];
    HANDHOLD_TRY(writer->AddGap(gap));
  }
  HANDHOLD_TRY(writer->SetQuality(clip.quality()));
  for (const auto& [name, data] : documents) HANDHOLD_TRY(writer->PutDocument(name, data));
  for (const StreamInfo& source : clip.streams()) {
    StreamInfo info = source;
    info.id = ids[source.id];
    const TimeRange extent = clip.Extent(source.id);
    int64_t index = 0;
    // By two seconds: what a source must hold at once stays small.
    for (Timestamp t = extent.begin; t < extent.end; t += Duration::Seconds(2)) {
      HANDHOLD_ASSIGN(const SampleWindow window,
                      clip.Read(source.id, {t, std::min(extent.end, t + Duration::Seconds(2))}));
      HANDHOLD_TRY(AppendWindow(info, window, clip.info().host_start_ns, index, *writer));
    }
  }
  return writer->Close();
}

}  // namespace handhold::store
