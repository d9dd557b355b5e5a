#include "database/exchange/import_source.h"

#include <algorithm>
#include <cmath>

namespace handhold::exchange {

recording::Gap GapAtEnd(const recording::StreamInfo& stream, const recording::ClockMap& clock,
                        int64_t first_missing, int64_t count) {
  constexpr double kMostSeconds = 100 * 365.25 * 86'400;
  const auto time = [&](int64_t counter) {
    return clock.ToHost(recording::DeviceTimeOfCounter(counter, stream.rate));
  };
  recording::Gap gap;
  gap.stream_id = stream.id;
  gap.first_missing_counter = first_missing;
  gap.count = static_cast<int64_t>(
      std::min(static_cast<double>(count), std::ceil(kMostSeconds * stream.rate.hz())));
  gap.cause = recording::GapCause::kDisconnected;
  gap.clip_begin = time(first_missing);
  gap.clip_end = time(first_missing + gap.count);
  return gap;
}

Result<recording::Clip> ReadWhole(ImportSource& source) {
  recording::Clip clip(source.info());
  for (const recording::StreamInfo& stream : source.streams())
    clip.AddStream(stream, source.clock_map(stream.id));
  for (const recording::ForceSensor& sensor : source.force_sensors()) clip.AddForceSensor(sensor);
  for (const recording::Event& event : source.events()) clip.AddEvent(event);
  const size_t told_gaps = source.gaps().size();
  for (const recording::Gap& gap : source.gaps()) clip.AddGap(gap);
  clip.SetQuality(source.quality());
  HANDHOLD_TRY(
      source.ForEachBlock(Duration::Seconds(2), [&](const recording::SampleBlock& block) -> Status {
        clip.Append(block);
        return {};
      }));
  for (size_t i = told_gaps; i < source.gaps().size(); ++i) clip.AddGap(source.gaps()[i]);
  return clip;
}

}  // namespace handhold::exchange
