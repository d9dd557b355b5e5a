#include "database/store/clip_times.h"

#include <cmath>
#include <limits>

namespace handhold::store {

Timestamp ClipTimes::At(int64_t counter) const {
  return Timestamp::FromNanoseconds(
      clock_->ToHost(recording::DeviceTimeOfCounter(counter, rate_)).ns() - host_start_ns_);
}

void ClipTimes::Append(int64_t counter, int count, std::vector<Timestamp>& out) const {
  constexpr int64_t kSecond = 1'000'000'000;
  // Quotient and remainder of counter x denominator x 1e9 / numerator are carried from sample to
  // sample. Beyond these bounds, which no real device meets, each time is computed on its own.
  const bool simple = counter >= 0 && counter < (int64_t{1} << 53) &&
                      rate_.denominator <= 1'000'000 && rate_.numerator <= kSecond * 1000;
  if (!simple) {
    for (int i = 0; i < count; ++i) out.push_back(At(counter + i));
    return;
  }
  const __int128 scaled =
      static_cast<__int128>(counter) * rate_.denominator * kSecond + rate_.numerator / 2;
  auto device_ns = static_cast<int64_t>(scaled / rate_.numerator);
  auto remainder = static_cast<int64_t>(scaled % rate_.numerator);
  const int64_t step = rate_.denominator * kSecond;
  const int64_t step_ns = step / rate_.numerator, step_remainder = step % rate_.numerator;
  const recording::ClockSegment* segment = nullptr;
  int64_t segment_end = std::numeric_limits<int64_t>::min();
  const int64_t shift = clock_->constant_delay_ns + host_start_ns_;
  const size_t at = out.size();
  out.resize(at + static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    if (segment == nullptr || device_ns >= segment_end) {
      segment = &clock_->SegmentAt(device_ns);
      const size_t next = static_cast<size_t>(segment - clock_->segments.data()) + 1;
      segment_end = next < clock_->segments.size() ? clock_->segments[next].device_begin_ns
                                                   : std::numeric_limits<int64_t>::max();
    }
    const int64_t elapsed = device_ns - segment->device_begin_ns;
    const int64_t host = segment->host_begin_ns + elapsed +
                         std::llround(static_cast<double>(elapsed) * segment->rate_error);
    out[at + static_cast<size_t>(i)] = Timestamp::FromNanoseconds(host - shift);
    device_ns += step_ns;
    remainder += step_remainder;
    if (remainder >= rate_.numerator) {
      remainder -= rate_.numerator;
      ++device_ns;
    }
  }
}

int ClipTimes::LowerBound(int64_t counter, int count, Timestamp t) const {
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (At(counter + middle) < t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace handhold::store
