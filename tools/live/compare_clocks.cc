#include <algorithm>
#include <cmath>
#include <numeric>

#include "capture/simulator/device_clock.h"
#include "tools/live/rehearsal.h"

namespace handhold::live {
namespace {

using recording::StreamInfo;

constexpr int kInstants = 2000;

/// Counters of the stream less the session's index: the same for every sample of a device that was
/// not restarted. From the first gap when there is one (exact), else by the nearest sample.
int64_t CounterOffset(const std::vector<InjectedGap>& injected, const StreamInfo& info,
                      const recording::ClipSource& clip, const capture::DeviceClock& clock,
                      Timestamp host) {
  for (const InjectedGap& gap : injected) {
    if (gap.source != info.device) continue;
    for (const recording::Gap& reported : clip.gaps()) {
      if (reported.stream_id == info.id && reported.count == gap.count)
        return reported.first_missing_counter - gap.first_index;
    }
  }
  const int64_t index = clock.IndexAt(host);
  const int64_t device_ns = clip.clock_map(info.id).ToDevice(clock.HostOf(index));
  return std::llround(1e-9 * static_cast<double>(device_ns) * info.rate.hz()) - index;
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0.0;
  const auto at = static_cast<size_t>(std::ceil(q * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

}  // namespace

Result<ClockAgreement> Rehearsal::CompareClocks(const recording::ClipSource& clip) const {
  ClockAgreement out;
  std::vector<std::vector<double>> late_s;
  for (const Device& device : devices_) {
    const StreamInfo* info = nullptr;
    for (const StreamInfo& stream : clip.streams())
      if (stream.device == device.source && info == nullptr) info = &stream;
    if (info == nullptr)
      return Error{ErrorCode::kNotFound, device.source + ": the clip holds no stream of it"};
    const Timestamp clip_begin = Timestamp::FromNanoseconds(clip.info().host_start_ns);
    const TimeRange extent = clip.Extent(info->id);
    const Timestamp begin = std::max(session_.begin, clip_begin + (extent.begin - Timestamp()));
    const Timestamp end = std::min(session_.end, clip_begin + (extent.end - Timestamp()));
    if (end <= begin)
      return Error{ErrorCode::kNotFound, device.source + ": nothing of it within the session"};
    const capture::DeviceClock truth{session_.begin, device.rate_hz, device.ppm};
    const Timestamp middle = begin + (end - begin) / 2;
    const int64_t offset = CounterOffset(gaps_, *info, clip, truth, middle);
    std::vector<double> errors, sizes;
    for (int i = 0; i < kInstants; ++i) {
      const int64_t index = truth.IndexAt(begin + (end - begin) * i / kInstants);
      const Timestamp mapped = clip.clock_map(info->id).ToHost(
          recording::DeviceTimeOfCounter(index + offset, info->rate));
      errors.push_back((mapped - truth.HostOf(index)).seconds());
      sizes.push_back(std::abs(errors.back()));
    }
    const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) / kInstants;
    out.devices.push_back({device.source, mean, Quantile(sizes, 0.99)});
    late_s.push_back(std::move(errors));
  }
  if (late_s.size() == 2) {
    std::vector<double> between, sizes, net;
    for (size_t i = 0; i < late_s[0].size(); ++i) {
      between.push_back(late_s[0][i] - late_s[1][i]);
      sizes.push_back(std::abs(between.back()));
    }
    const double constant = Quantile(between, 0.5);
    for (const double b : between) net.push_back(std::abs(b - constant));
    out.between_p99_s = Quantile(std::move(sizes), 0.99);
    out.between_net_p99_s = Quantile(std::move(net), 0.99);
  }
  return out;
}

}  // namespace handhold::live
