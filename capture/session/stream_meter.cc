#include "capture/session/stream_meter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace handhold::capture {
namespace {

using recording::ClockPair;

constexpr size_t kJitterPackets = 4096;
constexpr int64_t kSlot_ns = 200'000'000;
constexpr double kLeastSpan_s = 5.0;
constexpr Duration kEdgeSlice = Duration::Seconds(1);
constexpr size_t kEdgeSlices = 60;

int64_t Sent(const ClockPair& pair) { return pair.host_ns - pair.latency_ns; }

/// p99 over the pairs that are not later than `most`.
double EdgeDistance_s(std::span<const ClockPair> pairs, const recording::ClockMap& map,
                      Duration most) {
  std::vector<int64_t> distances;
  for (const ClockPair& pair : pairs) {
    const int64_t late = Sent(pair) - map.ToHost(pair.device_ns).ns();
    if (late <= most.ns()) distances.push_back(late);
  }
  if (distances.empty()) return 0.0;
  const auto at = static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(distances.size() - 1));
  std::nth_element(distances.begin(), distances.begin() + at, distances.end());
  return 1e-9 * static_cast<double>(distances[static_cast<size_t>(at)]);
}

}  // namespace

StreamMeter::StreamMeter(const recording::StreamInfo& info)
    : info_(info), edge_(kEdgeSlice, kEdgeSlices) {
  jitter_s_.reserve(kJitterPackets);
  newest_.resize(static_cast<size_t>(info.channel_count()));
}

void StreamMeter::SetInfo(const recording::StreamInfo& info) {
  if (!(info.rate == info_.rate)) ClockReset();
  info_ = info;
  sensor_.reset();
  read_by_.reset();
  newest_.resize(static_cast<size_t>(info.channel_count()));
  has_newest_ = false;
}

void StreamMeter::SetSensor(const recording::ForceSensor& sensor) {
  if (sensor.full_scale_N > 0 && sensor.calibration.cols() == info_.channel_count())
    sensor_ = sensor;
  if (sensor.calibration.cols() != info_.channel_count()) return;
  read_by_ = sensor;
  // -f . n = -sign (C (raw - bias)) . n, of which all but raw is the same for every sample.
  normal_per_raw_ = -sensor.sign * sensor.normal_S.transpose() * sensor.calibration.topRows<3>();
  normal_bias_N_ = sensor.bias.size() == 0 ? 0.0 : normal_per_raw_.dot(sensor.bias);
  peak_slot_ = -1, peak_N_ = peak_before_N_ = 0.0;
}

void StreamMeter::ClockReset() {
  edge_ = ClockPairThinner(kEdgeSlice, kEdgeSlices);
  after_break_ = true;
}

void StreamMeter::Samples(const RingRecord& record) {
  const ClockPair& now = record.clock;
  if (samples_ == 0) first_ = now;
  samples_ += record.count;
  if (!after_break_) {
    const int64_t late = (Sent(now) - Sent(last_)) - (now.device_ns - last_.device_ns);
    const auto jitter_s =
        static_cast<float>(1e-9 * static_cast<double>(std::max<int64_t>(0, late)));
    if (jitter_s_.size() < kJitterPackets) {
      jitter_s_.push_back(jitter_s);
    } else {
      jitter_s_[jitter_next_] = jitter_s;
    }
    jitter_next_ = (jitter_next_ + 1) % kJitterPackets;
  }
  after_break_ = false;
  last_ = now;
  edge_.Add(now, record.Covers(info_.rate));
  if (info_.kind == recording::StreamKind::kMarkers) CountVisible(record);
  saturated_ += std::max<int64_t>(record.saturated, sensor_ ? Overloaded(record) : 0);
  KeepNewest(record);
}

void StreamMeter::KeepNewest(const RingRecord& record) {
  const std::span<const double> values = record.values();
  const auto count = static_cast<size_t>(record.count);
  if (count == 0 || newest_.empty() || values.size() != newest_.size() * count) return;
  for (size_t c = 0; c < newest_.size(); ++c) newest_[c] = values[c * count + count - 1];
  has_newest_ = true;
  if (!read_by_) return;
  const int64_t slot = record.clock.host_ns / 1'000'000'000;
  if (slot != peak_slot_) {
    peak_before_N_ = slot == peak_slot_ + 1 ? peak_N_ : 0.0;
    peak_slot_ = slot, peak_N_ = 0.0;
  }
  for (size_t i = 0; i < count; ++i) {
    double force_N = -normal_bias_N_;
    for (size_t c = 0; c < newest_.size(); ++c)
      force_N += normal_per_raw_[static_cast<Eigen::Index>(c)] * values[c * count + i];
    peak_N_ = std::max(peak_N_, force_N);
  }
}

NewestSample StreamMeter::Newest() const {
  NewestSample out;
  out.info = info_;
  if (!has_newest_) return out;
  out.values = newest_;
  if (!read_by_) return out;
  out.sensor = read_by_->name;
  const Eigen::Map<const Eigen::VectorXd> raw(newest_.data(),
                                              static_cast<Eigen::Index>(newest_.size()));
  out.normal_force_N = read_by_->NormalForce(raw);
  if (read_by_->mounted_on.empty())
    out.f_onObject_W = read_by_->X_MS.R * geometry::Vec3(read_by_->Wrench(raw).head<3>());
  else
    out.f_onObject_W.setConstant(std::numeric_limits<double>::quiet_NaN());
  out.peak_normal_force_N = std::max(peak_N_, peak_before_N_);
  return out;
}

void StreamMeter::CountVisible(const RingRecord& record) {
  const int64_t slot = record.clock.host_ns / kSlot_ns;
  Seen& seen = seen_[static_cast<size_t>(slot) % seen_.size()];
  if (seen.slot != slot) seen = {slot, 0, 0};
  const std::span<const double> values = record.values();
  const auto count = static_cast<size_t>(record.count);
  const auto step = static_cast<size_t>(info_.channels_per_item()) * count;
  for (size_t item = 0; item + count <= values.size(); item += step) {
    int64_t visible = 0;
    for (size_t i = 0; i < count; ++i) visible += std::isnan(values[item + i]) ? 0 : 1;
    seen.visible += visible;
    seen.all += static_cast<int64_t>(count);
    visible_ += visible;
    markers_ += static_cast<int64_t>(count);
  }
}

int64_t StreamMeter::Overloaded(const RingRecord& record) const {
  const std::span<const double> values = record.values();
  const auto count = static_cast<size_t>(record.count);
  const auto channels = static_cast<size_t>(sensor_->calibration.cols());
  if (values.size() != channels * count) return 0;
  int64_t overloaded = 0;
  for (size_t i = 0; i < count; ++i) {
    double largest_N = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double force_N = 0;
      for (size_t c = 0; c < channels; ++c) {
        const auto column = static_cast<Eigen::Index>(c);
        const double bias = sensor_->bias.size() == 0 ? 0.0 : sensor_->bias[column];
        force_N += sensor_->calibration(axis, column) * (values[c * count + i] - bias);
      }
      largest_N = std::max(largest_N, std::abs(force_N));
    }
    if (largest_N >= sensor_->full_scale_N) ++overloaded;
  }
  return overloaded;
}

StreamFigures StreamMeter::Figures() const {
  StreamFigures out;
  out.stream = info_.name;
  out.samples = samples_;
  out.nominal_Hz = info_.rate.hz();
  out.lost_samples = lost_;
  out.saturated_samples = saturated_;
  if (!jitter_s_.empty()) {
    std::vector<float> sorted = jitter_s_;
    const auto at = static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    out.jitter_p99_s = sorted[static_cast<size_t>(at)];
  }
  out.has_forces = info_.kind == recording::StreamKind::kForceTorque;
  out.has_markers = info_.kind == recording::StreamKind::kMarkers && info_.channel_count() > 0;
  int64_t visible = 0, all = 0;
  const int64_t slot = last_.host_ns / kSlot_ns;
  for (const Seen& seen : seen_) {
    if (seen.slot <= slot - static_cast<int64_t>(seen_.size())) continue;
    visible += seen.visible;
    all += seen.all;
  }
  if (all > 0) out.visible_fraction = static_cast<double>(visible) / static_cast<double>(all);
  if (markers_ > 0)
    out.visible_in_all_fraction = static_cast<double>(visible_) / static_cast<double>(markers_);

  const double host_s = 1e-9 * static_cast<double>(Sent(last_) - Sent(first_));
  const double device_s = 1e-9 * static_cast<double>(last_.device_ns - first_.device_ns);
  if (host_s > 0.1 && out.nominal_Hz > 0) out.rate_Hz = out.nominal_Hz * device_s / host_s;
  const std::span<const ClockPair> pairs = edge_.pairs();
  if (pairs.size() < 2 ||
      1e-9 * static_cast<double>(pairs.back().device_ns - pairs.front().device_ns) < kLeastSpan_s)
    return out;
  ClockFitOptions one_line;
  one_line.piece = one_line.least_step = one_line.confirm = Duration::Seconds(1'000'000);
  ClockFitOptions with_breaks;
  with_breaks.piece = one_line.piece;
  one_line.few_pairs = with_breaks.few_pairs = 5;  // each the least late of a second
  // A clock that needs no break, at a rate that a crystal may have, runs evenly, and what lies
  // above its edge was late.
  auto fit = FitClock(edge_, with_breaks);
  const bool even =
      fit && fit->breaks.empty() &&
      std::abs(fit->map.segments.back().rate_error) < 0.999 * with_breaks.largest_rate_error;
  one_line.largest_rate_error = 0.5;  // what the rate is, not what a crystal's would be
  if (!even) fit = FitClock(edge_, one_line);
  if (!fit) return out;
  const recording::ClockSegment& line = fit->map.segments.back();
  out.clock_known = out.rate_known = true;
  out.clock_residual_p99_s =
      EdgeDistance_s(pairs, fit->map, even ? with_breaks.least_step : Duration::Seconds(1'000'000));
  out.clock_uncertainty_s = 1e-9 * ClockUncertaintyNs(fit->map, last_.device_ns);
  out.rate_Hz = out.nominal_Hz / (1.0 + line.rate_error);
  return out;
}

}  // namespace handhold::capture
