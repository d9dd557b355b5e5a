#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/report/fill_parts.h"
#include "tools/report/html.h"
#include "tools/report/take_summary.h"

namespace handhold::report {
namespace {

// Values that are NaN within received samples, read in windows so that a long take fits.
Result<std::pair<int64_t, double>> CountSamples(const recording::ClipSource& clip,
                                                const recording::StreamInfo& stream) {
  const TimeRange extent = clip.Extent(stream.id);
  int64_t samples = 0, values = 0, missing = 0;
  for (Timestamp t = extent.begin; t < extent.end; t += Duration::Seconds(10)) {
    HANDHOLD_ASSIGN(const recording::SampleWindow window,
                    clip.Read(stream.id, {t, std::min(extent.end, t + Duration::Seconds(10))}));
    samples += window.count();
    values += static_cast<int64_t>(window.values.size());
    missing += std::count_if(window.values.begin(), window.values.end(),
                             [](double v) { return std::isnan(v); });
  }
  return std::pair{samples,
                   values > 0 ? static_cast<double>(missing) / static_cast<double>(values) : 0.0};
}

}  // namespace

Result<TakeSection> ReadTake(const recording::ClipSource& clip) {
  TakeSection take;
  take.clip_id = clip.info().id.ToString();
  take.name = clip.info().name, take.subject = clip.info().subject, take.task = clip.info().task;
  for (const recording::StreamInfo& stream : clip.streams()) {
    StreamRow row;
    row.name = stream.name, row.kind = recording::StreamKindName(stream.kind);
    row.rate_Hz = stream.rate.hz(), row.channels = stream.channel_count();
    row.length_s = clip.Extent(stream.id).length().seconds();
    take.length_s = std::max(take.length_s, row.length_s);
    HANDHOLD_ASSIGN(const auto counted, CountSamples(clip, stream));
    row.samples = counted.first, row.missing_share = counted.second;
    for (const recording::Gap& gap : clip.gaps()) {
      if (gap.stream_id != stream.id) continue;
      ++row.gaps, row.missing_samples += gap.count;
      take.gaps.push_back({stream.name, gap.clip_begin.seconds(),
                           (gap.clip_end - gap.clip_begin).seconds(), gap.count,
                           std::string(recording::GapCauseName(gap.cause))});
    }
    const recording::ClockMap& clock = clip.clock_map(stream.id);
    int64_t pairs = 0;
    for (const recording::ClockSegment& segment : clock.segments) {
      pairs += segment.pair_count;
      row.clock_sd_s = std::max(row.clock_sd_s, 1e-9 * segment.offset_sd_ns);
      row.clock_p99_s = std::max(row.clock_p99_s, 1e-9 * segment.residual_p99_ns);
    }
    if (clock.valid())
      row.clock_ppm = 1e6 * (1.0 / (1.0 + clock.segments.front().rate_error) - 1.0);
    if (pairs == 0) row.clock_p99_s = std::numeric_limits<double>::quiet_NaN();
    take.streams.push_back(std::move(row));
  }
  for (const recording::QualityItem& item : clip.quality().items) {
    take.health.push_back(
        {item.stream, item.what, item.cause, item.value, item.worst, item.threshold, item.red});
  }
  take.judged = !clip.quality().items.empty() || !clip.quality().advice.empty();
  take.keep = clip.quality().keep, take.advice = clip.quality().advice;
  return take;
}

Status FillTake(Filling* f) {
  HANDHOLD_ASSIGN(f->data->take, ReadTake(*f->from.clip));
  return {};
}

}  // namespace handhold::report
