#include "capture/source/rdt_decoder.h"

#include <algorithm>
#include <cmath>

#include "capture/source/counter.h"
#include "database/base/check.h"

namespace handhold::capture {
namespace {

/// A record this far behind may be a late or repeated one; farther, the device has begun anew.
constexpr int64_t kReorderWindow = 64;
/// Disagreement of the counters, or earliness by the host's clock, that is no restart yet.
constexpr double kClockTolerance_s = 0.5;

uint32_t BigEndian32(const uint8_t* p) {
  return static_cast<uint32_t>(p[0]) << 24 | static_cast<uint32_t>(p[1]) << 16 |
         static_cast<uint32_t>(p[2]) << 8 | p[3];
}

}  // namespace

int DecodeRdtDatagram(std::span<const uint8_t> bytes, RdtRecords& out) {
  if (bytes.empty() || bytes.size() % wire::rdt::kRecordBytes != 0) return -1;
  const size_t count = bytes.size() / wire::rdt::kRecordBytes;
  if (count > out.size()) return -1;
  for (size_t k = 0; k < count; ++k) {
    const uint8_t* p = bytes.data() + k * wire::rdt::kRecordBytes;
    RdtRecord& record = out[k];
    record.rdt_sequence = BigEndian32(p);
    record.ft_sequence = BigEndian32(p + 4);
    record.status = BigEndian32(p + 8);
    for (size_t axis = 0; axis < record.counts.size(); ++axis) {
      record.counts[axis] = static_cast<int32_t>(BigEndian32(p + 12 + 4 * axis));
    }
  }
  return static_cast<int>(count);
}

std::array<uint8_t, wire::rdt::kRequestBytes> EncodeRdtRequest(wire::rdt::Command command,
                                                               uint32_t sample_count) {
  std::array<uint8_t, wire::rdt::kRequestBytes> out{};
  out[0] = wire::rdt::kRequestMagic >> 8;
  out[1] = wire::rdt::kRequestMagic & 0xff;
  out[2] = static_cast<uint8_t>(command >> 8);
  out[3] = static_cast<uint8_t>(command & 0xff);
  for (int k = 0; k < 4; ++k) out[4 + k] = static_cast<uint8_t>(sample_count >> (24 - 8 * k));
  return out;
}

RdtSequencer::RdtSequencer(double record_rate_hz, double internal_rate_hz)
    : record_rate_hz_(record_rate_hz),
      nominal_steps_per_record_(internal_rate_hz / record_rate_hz),
      due_(record_rate_hz) {
  CHECK_GT(record_rate_hz, 0.0);
  CHECK_GT(internal_rate_hz, 0.0);
}

RdtVerdict RdtSequencer::Accept(const RdtRecord& record, Timestamp host, int64_t steps,
                                RdtVerdict verdict) {
  const int64_t ft_steps = CounterSteps(last_ft_, record.ft_sequence);
  // More than twice the Net F/T's rate no known device samples at: a jump, not a scale.
  const bool regular = ft_steps > 0 && steps <= kReorderWindow &&
                       static_cast<double>(ft_steps) <=
                           1.0 + 2.0 * nominal_steps_per_record_ * static_cast<double>(steps);
  if (!verdict.new_run && regular) {
    run_ft_ += ft_steps;
    run_records_ += steps;
  }
  verdict.kind = RdtVerdict::kAccept;
  verdict.gap = steps - 1;
  last_counter_ += steps;
  verdict.counter = last_counter_;
  last_rdt_ = record.rdt_sequence;
  last_ft_ = record.ft_sequence;
  last_host_ = host;
  if (verdict.clock_reset) {
    due_.Restart(last_counter_, host);
  } else {
    due_.Note(last_counter_, host);
  }
  seen_ = verdict.new_run || steps >= 64 ? 1 : (seen_ << steps) | 1;
  return verdict;
}

double RdtSequencer::StepsPerRecord() const {
  constexpr int64_t kEnough = 100;
  if (run_records_ < kEnough) return nominal_steps_per_record_;
  return static_cast<double>(run_ft_) / static_cast<double>(run_records_);
}

bool RdtSequencer::IsAhead(int64_t records, Timestamp host) const {
  const double away_s = std::max(0.0, (host - last_host_).seconds());
  const double early_s = (due_.DueAt(last_counter_ + records) - host).seconds();
  return early_s > kClockTolerance_s + 0.01 * away_s;
}

RdtVerdict RdtSequencer::NewRun(const RdtRecord& record, Timestamp host) {
  const int64_t ft_steps = CounterSteps(last_ft_, record.ft_sequence);
  const auto by_device = std::llround(static_cast<double>(ft_steps) / StepsPerRecord());
  RdtVerdict verdict{.new_run = true};
  verdict.clock_reset = ft_steps <= 0 || IsAhead(by_device, host);
  const auto by_host = std::llround((host - due_.DueAt(last_counter_)).seconds() * record_rate_hz_);
  const int64_t steps = std::max<int64_t>(1, verdict.clock_reset ? by_host : by_device);
  return Accept(record, host, steps, verdict);
}

int64_t RdtSequencer::MissingBy(Timestamp host) const {
  if (!started_) return 0;
  const double due_s = (host - due_.DueAt(last_counter_)).seconds();
  return std::max<int64_t>(0, std::llround(due_s * record_rate_hz_));
}

RdtVerdict RdtSequencer::Next(const RdtRecord& record, Timestamp host_receive) {
  if (!started_) {
    started_ = true;
    return Accept(record, host_receive, 1, {.new_run = true});
  }
  const int64_t steps = CounterSteps(last_rdt_, record.rdt_sequence);
  const int64_t ft_steps = CounterSteps(last_ft_, record.ft_sequence);
  if (steps > 0) {
    // A jump that neither the sample clock nor the host's clock knows of, or one ahead of the
    // host's clock, is a new run that happens to number higher.
    const double steps_per_record = StepsPerRecord();
    const double expected = static_cast<double>(steps) * steps_per_record;
    const double elapsed =
        (host_receive - last_host_).seconds() * record_rate_hz_ * steps_per_record;
    const double slack =
        std::max(kClockTolerance_s * record_rate_hz_ * steps_per_record, 0.25 * expected);
    const bool plausible = std::abs(static_cast<double>(ft_steps) - expected) <= slack ||
                           std::abs(elapsed - expected) <= slack;
    return plausible && !IsAhead(steps, host_receive) ? Accept(record, host_receive, steps, {})
                                                      : NewRun(record, host_receive);
  }
  if (ft_steps > 0 || steps <= -kReorderWindow) return NewRun(record, host_receive);
  const uint64_t bit = uint64_t{1} << -steps;
  if ((seen_ & bit) != 0) return {.kind = RdtVerdict::kDuplicate};
  seen_ |= bit;
  return {.kind = RdtVerdict::kLate};
}

}  // namespace handhold::capture
