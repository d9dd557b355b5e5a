#include "database/exchange/import_source.h"

namespace handhold::exchange {

Result<recording::Clip> ReadWhole(ImportSource& source) {
  recording::Clip clip(source.info());
  for (const recording::StreamInfo& stream : source.streams())
    clip.AddStream(stream, source.clock_map(stream.id));
  for (const recording::ForceSensor& sensor : source.force_sensors()) clip.AddForceSensor(sensor);
  for (const recording::Event& event : source.events()) clip.AddEvent(event);
  for (const recording::Gap& gap : source.gaps()) clip.AddGap(gap);
  clip.SetQuality(source.quality());
  HANDHOLD_TRY(
      source.ForEachBlock(Duration::Seconds(2), [&](const recording::SampleBlock& block) -> Status {
        clip.Append(block);
        return {};
      }));
  return clip;
}

}  // namespace handhold::exchange
