#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "database/text/json_view.h"
#include "tools/live/rehearsal.h"

namespace handhold::live {
namespace {

using recording::Gap;
using recording::StreamInfo;

/// The reported gaps of one name of streams, all epochs, neighbours merged, in order.
std::vector<Gap> ReportedGaps(const recording::ClipSource& clip, const std::string& stream) {
  std::vector<Gap> gaps;
  for (const StreamInfo* info : clip.FindStreams(stream)) {
    for (const Gap& gap : clip.gaps())
      if (gap.stream_id == info->id) gaps.push_back(gap);
  }
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) {
    return a.first_missing_counter < b.first_missing_counter;
  });
  std::vector<Gap> merged;
  for (const Gap& gap : gaps) {
    if (!merged.empty() &&
        merged.back().first_missing_counter + merged.back().count == gap.first_missing_counter) {
      merged.back().count += gap.count;
      merged.back().clip_end = gap.clip_end;
    } else {
      merged.push_back(gap);
    }
  }
  return merged;
}

/// How near the take's end it is left to chance whether a silence is one.
Duration Margin(double rate_hz) {
  return Duration::Milliseconds(10) + Duration::FromSeconds(4.0 / rate_hz);
}

/// The newest of anything that the clip holds or says to be missing: where the take ended.
Timestamp EndOf(const recording::ClipSource& clip) {
  Timestamp end;
  for (const StreamInfo& info : clip.streams()) end = std::max(end, clip.Extent(info.id).end);
  for (const Gap& gap : clip.gaps()) end = std::max(end, gap.clip_end);
  return end;
}

/// Those of the source that lie between the first sample of the stream's take and the take's end;
/// what goes on after the end, up to it.
std::vector<InjectedGap> WithinTake(const std::vector<InjectedGap>& injected,
                                    const std::string& source, const StreamInfo& info,
                                    const recording::ClipSource& clip) {
  TimeRange take;
  bool any = false;
  for (const StreamInfo* epoch : clip.FindStreams(info.name)) {
    const TimeRange extent = clip.Extent(epoch->id);
    if (extent.length() <= Duration()) continue;
    take = any ? TimeRange{std::min(take.begin, extent.begin), std::max(take.end, extent.end)}
               : extent;
    any = true;
  }
  const Timestamp end = EndOf(clip);
  std::vector<InjectedGap> within;
  for (const InjectedGap& gap : injected) {
    const Timestamp at = gap.host_begin - Duration::Nanoseconds(clip.info().host_start_ns);
    const Duration length = Duration::FromSeconds(static_cast<double>(gap.count) / gap.rate_hz);
    if (gap.source != source || at <= take.begin) continue;
    if (at + length >= take.end && at + Margin(gap.rate_hz) >= end) continue;
    within.push_back(gap);
    if (at + length >= end) within.back().count = std::llround((end - at).seconds() * gap.rate_hz);
  }
  return within;
}

std::string Shown(const std::string& stream, int64_t count, double at_s) {
  char text[96];
  std::snprintf(text, sizeof text, ": %lld samples at %.3f s", static_cast<long long>(count), at_s);
  return stream + text;
}

void CompareStream(const std::vector<InjectedGap>& injected, const StreamInfo& info,
                   const recording::ClipSource& clip, std::vector<std::string>* out) {
  std::vector<Gap> reported = ReportedGaps(clip, info.name);
  if (reported.size() > injected.size() &&
      reported.back().clip_begin + Margin(info.rate.hz()) >= EndOf(clip))
    reported.pop_back();
  // An analog stream has several samples to a frame.
  const auto per_index = [&](const InjectedGap& gap) {
    return std::max<int64_t>(1, std::llround(info.rate.hz() / gap.rate_hz));
  };
  std::optional<int64_t> offset;  // of the device's counter against the session's index
  const size_t most = std::max(injected.size(), reported.size());
  for (size_t i = 0; i < most; ++i) {
    if (i >= reported.size()) {
      const double at =
          injected[i].host_begin.seconds() - 1e-9 * static_cast<double>(clip.info().host_start_ns);
      out->push_back(Shown(info.name, injected[i].count, at) + ": injected, not reported");
      continue;
    }
    const Gap& gap = reported[i];
    if (i >= injected.size()) {
      out->push_back(Shown(info.name, gap.count, gap.clip_begin.seconds()) +
                     ": reported, not injected");
      continue;
    }
    const int64_t per = per_index(injected[i]);
    const int64_t k = gap.first_missing_counter - injected[i].first_index * per;
    if (!offset) offset = k;
    // The counters tell to the sample how gaps lie to each other; one of them, by its time, which
    // session they belong to.
    const double late_s =
        1e-9 * static_cast<double>(clip.info().host_start_ns + gap.clip_begin.ns() -
                                   injected[i].host_begin.ns());
    // Of one that goes on after the take nobody can say to the sample how much of it was the
    // take's.
    const bool cut = EndOf(clip) - gap.clip_end < Margin(injected[i].rate_hz);
    const double margin = cut ? Margin(injected[i].rate_hz).seconds() * info.rate.hz() : 0.0;
    const auto differs = static_cast<double>(std::abs(gap.count - injected[i].count * per));
    if (differs > margin || k != *offset || std::abs(late_s) > 5e-3) {
      out->push_back(Shown(info.name, gap.count, gap.clip_begin.seconds()) + ": injected were " +
                     std::to_string(injected[i].count * per) + ", " + std::to_string(1e3 * late_s) +
                     " ms earlier");
    }
  }
}

}  // namespace

std::vector<std::string> CompareGaps(const std::vector<InjectedGap>& injected,
                                     const capture::Rig& rig, const recording::ClipSource& clip) {
  std::vector<std::string> differences;
  for (const capture::RigSource& source : rig.sources) {
    int streams = 0;
    for (const StreamInfo& info : clip.streams()) {
      if (info.device != source.name || info.epoch != 0) continue;
      ++streams;
      CompareStream(WithinTake(injected, source.name, info, clip), info, clip, &differences);
    }
    if (streams == 0) differences.push_back(source.name + ": the clip holds no stream of it");
  }
  return differences;
}

int InjectedWithin(const std::vector<InjectedGap>& injected, const capture::Rig& rig,
                   const recording::ClipSource& clip) {
  size_t count = 0;
  for (const capture::RigSource& source : rig.sources) {
    size_t most = 0;  // streams of one device begin together, to a packet
    for (const StreamInfo& info : clip.streams()) {
      if (info.device == source.name && info.epoch == 0)
        most = std::max(most, WithinTake(injected, source.name, info, clip).size());
    }
    count += most;
  }
  return static_cast<int>(count);
}

Result<std::vector<InjectedGap>> ReadInjectedGaps(const std::string& path) {
  HANDHOLD_ASSIGN(const text::Json json, text::ReadJsonFile(path));
  const text::JsonView root(json, path);
  HANDHOLD_ASSIGN(const std::string format, root.Get<std::string>("format"));
  if (format != "handhold.injected") return root.Fail("not a list of injected faults");
  HANDHOLD_ASSIGN(const std::vector<text::JsonView> items, root.GetItems("gaps"));
  std::vector<InjectedGap> gaps;
  for (const text::JsonView& item : items) {
    InjectedGap gap;
    HANDHOLD_ASSIGN(gap.source, item.Get<std::string>("source"));
    HANDHOLD_ASSIGN(gap.first_index, item.Get<int64_t>("first_index"));
    HANDHOLD_ASSIGN(gap.count, item.Get<int64_t>("count"));
    HANDHOLD_ASSIGN(gap.rate_hz, item.Get<double>("rate_hz"));
    HANDHOLD_ASSIGN(const std::string ns, item.Get<std::string>("host_begin_ns"));
    int64_t value = 0;
    if (std::from_chars(ns.data(), ns.data() + ns.size(), value).ec != std::errc{})
      return item.Fail("host_begin_ns: expected nanoseconds");
    gap.host_begin = Timestamp::FromNanoseconds(value);
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

}  // namespace handhold::live
