#include "fitting/signal/touch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "database/base/check.h"
#include "fitting/signal/find_stream.h"
#include "fitting/signal/low_pass.h"
#include "fitting/signal/missing.h"
#include "fitting/signal/series.h"

namespace handhold::fitting {
namespace {

using geometry::Vec3;
using geometry::Vec6;
using recording::SampleWindow;

const Duration kBlock = Duration::Milliseconds(5);
const Duration kChunk = Duration::Seconds(10);

Vec6 WrenchOf(const recording::ForceSensor& sensor, const SampleWindow& window, int i,
              Eigen::VectorXd* raw) {
  raw->resize(window.channel_count);
  for (int c = 0; c < window.channel_count; ++c) (*raw)[c] = window.value(c, i);
  return sensor.Wrench(*raw);
}

double NormalOf(const recording::ForceSensor& sensor, const Vec6& wrench_S) {
  return -wrench_S.head<3>().dot(sensor.normal_S);
}

}  // namespace

Result<ForceSignal> ForceSignal::Open(const recording::ClipSource& clip, const std::string& sensor,
                                      const TouchOptions& options) {
  ForceSignal signal;
  signal.clip_ = &clip;
  HANDHOLD_ASSIGN(signal.sensor_, FindForceSensor(clip, sensor));
  HANDHOLD_ASSIGN(signal.X_WS_, recording::FixedSensorPose(clip.info(), *signal.sensor_));
  const recording::StreamInfo* stream = clip.FindStream(signal.sensor_->stream_id);
  if (stream->channel_count() != signal.sensor_->calibration.cols()) {
    return Error{ErrorCode::kCorrupt, "force sensor '" + signal.sensor_->name +
                                          "': calibration and stream differ in channels"};
  }
  signal.rate_Hz_ = stream->rate.hz();
  signal.extent_ = clip.Extent(stream->id);
  HANDHOLD_TRY(signal.ReadMeans());
  HANDHOLD_TRY(signal.FindBaseline(options));
  HANDHOLD_TRY(signal.FindTouches(options));
  return signal;
}

Status ForceSignal::ReadMeans() {
  std::vector<Vec6> means;
  Eigen::VectorXd raw;
  for (Timestamp begin = extent_.begin; begin < extent_.end; begin += kChunk) {
    HANDHOLD_ASSIGN(
        const SampleWindow window,
        clip_->Read(sensor_->stream_id, {begin, std::min(begin + kChunk, extent_.end)}));
    int i = 0;
    while (i < window.count()) {
      Vec6 sum = Vec6::Zero();
      int n = 0;
      const Timestamp first = window.times[static_cast<size_t>(i)];
      for (; i < window.count() && window.times[static_cast<size_t>(i)] < first + kBlock; ++i) {
        const Vec6 w = WrenchOf(*sensor_, window, i, &raw);
        if (!w.allFinite()) continue;
        sum += w;
        ++n;
      }
      if (n == 0) continue;
      means.push_back(sum / n);
      mean_times_.push_back(first + kBlock / 2);
    }
  }
  means_.resize(6, static_cast<Eigen::Index>(means.size()));
  for (size_t k = 0; k < means.size(); ++k) means_.col(static_cast<Eigen::Index>(k)) = means[k];
  if (means.size() < 20) {
    return Error{ErrorCode::kUnidentifiable, "force sensor '" + sensor_->name +
                                                 "' gave less than 0.1 s of samples: no baseline"};
  }
  return {};
}

void ForceSignal::FindFree(const Eigen::VectorXd& normal, const TouchOptions& options,
                           std::vector<char>* free) const {
  const Eigen::Index n = normal.size();
  // A hand only presses: the low tail of the normal force around an instant is the untouched
  // sensor.
  const auto reach =
      static_cast<Eigen::Index>(0.8 * options.baseline_reach.seconds() / kBlock.seconds());
  const Eigen::Index stride = std::max<Eigen::Index>(1, reach / 8);
  Eigen::VectorXd low(n);
  std::vector<double> near;
  for (Eigen::Index k = 0; k < n; k += stride) {
    near.clear();
    for (Eigen::Index j = std::max<Eigen::Index>(0, k - reach); j < std::min(n, k + reach + 1); ++j)
      near.push_back(normal[j]);
    const auto tenth = near.begin() + static_cast<std::ptrdiff_t>(near.size() / 10);
    std::nth_element(near.begin(), tenth, near.end());
    for (Eigen::Index j = k; j < std::min(n, k + stride); ++j) low[j] = *tenth;
  }
  // Free is near that tail, and not just before or after a stretch that is not.
  free->assign(static_cast<size_t>(n), 1);
  for (Eigen::Index k = 0; k < n; ++k) {
    if (normal[k] - low[k] < 0.7 * options.leave_N) continue;
    for (Eigen::Index j = std::max<Eigen::Index>(0, k - 4); j < std::min(n, k + 9); ++j)
      (*free)[static_cast<size_t>(j)] = 0;
  }
}

Status ForceSignal::FitBaseline(const std::vector<char>& free, const TouchOptions& options) {
  // A straight line through the free means near each instant, from running sums of 1, t, t^2, x, t
  // x. The slope is held by a prior where free means lie on one side only.
  const Eigen::Index n = means_.cols();
  const double slope_sd_N_per_s = 0.05, mean_sd_N = 0.004;
  const double ridge = std::pow(mean_sd_N / slope_sd_N_per_s, 2);
  Eigen::Matrix<double, 15, Eigen::Dynamic> sums =
      Eigen::Matrix<double, 15, Eigen::Dynamic>::Zero(15, n + 1);
  for (Eigen::Index k = 0; k < n; ++k) {
    sums.col(k + 1) = sums.col(k);
    if (free[static_cast<size_t>(k)] == 0) continue;
    const double t = (mean_times_[static_cast<size_t>(k)] - mean_times_[0]).seconds();
    Eigen::Matrix<double, 15, 1> add;
    add << 1, t, t * t, means_.col(k), t * means_.col(k);
    sums.col(k + 1) += add;
  }
  if (sums(0, n) < 20) {
    return Error{ErrorCode::kUnidentifiable, "force sensor '" + sensor_->name +
                                                 "' is never seen untouched: its baseline is "
                                                 "missing; record a second with the hand away"};
  }
  baseline_.resize(6, n);
  const auto half = static_cast<Eigen::Index>(options.baseline_reach.seconds() / kBlock.seconds());
  for (Eigen::Index k = 0; k < n; ++k) {
    Eigen::Index a = std::max<Eigen::Index>(0, k - half), b = std::min(n, k + half + 1);
    while (sums(0, b) - sums(0, a) < 20) {
      a = std::max<Eigen::Index>(0, a - half);
      b = std::min(n, b + half);
    }
    const Eigen::Matrix<double, 15, 1> s = sums.col(b) - sums.col(a);
    const double mean_t = s[1] / s[0], spread = s[2] - s[1] * mean_t;
    const Vec6 mean = s.segment<6>(3) / s[0];
    const Vec6 slope = (s.segment<6>(9) - mean_t * s.segment<6>(3)) / (spread + ridge);
    baseline_.col(k) =
        mean + slope * ((mean_times_[static_cast<size_t>(k)] - mean_times_[0]).seconds() - mean_t);
  }
  mean_normal_.resize(n);
  for (Eigen::Index k = 0; k < n; ++k)
    mean_normal_[k] = NormalOf(*sensor_, means_.col(k) - baseline_.col(k));
  return {};
}

Status ForceSignal::FindBaseline(const TouchOptions& options) {
  mean_normal_.resize(means_.cols());
  for (Eigen::Index k = 0; k < means_.cols(); ++k)
    mean_normal_[k] = NormalOf(*sensor_, means_.col(k));
  std::vector<char> free;
  // Each round takes away the drift that the round before has found, so that the tail is not
  // mistaken for it.
  for (int round = 0; round < 4; ++round) {
    FindFree(mean_normal_, options, &free);
    HANDHOLD_TRY(FitBaseline(free, options));
  }
  return {};
}

Status ForceSignal::FindTouches(const TouchOptions& options) {
  if (!(options.enter_N > options.leave_N) || !(options.leave_N > 0)) {
    return Error{ErrorCode::kInvalid, "touch thresholds must satisfy enter_N > leave_N > 0"};
  }
  struct Span {
    Eigen::Index begin, end;
    bool entered;
  };
  std::vector<Span> spans;
  for (Eigen::Index k = 0; k < mean_normal_.size(); ++k) {
    if (mean_normal_[k] < options.leave_N) continue;
    Eigen::Index end = k;
    bool entered = false;
    while (end < mean_normal_.size() && mean_normal_[end] >= options.leave_N)
      entered |= mean_normal_[end++] >= options.enter_N;
    const bool bounced =
        !spans.empty() && mean_times_[static_cast<size_t>(k)] -
                                  mean_times_[static_cast<size_t>(spans.back().end - 1)] <=
                              options.bounce;
    if (bounced && (entered || spans.back().entered)) {
      spans.back().end = end;
      spans.back().entered = true;
    } else {
      spans.push_back({k, end, entered});
    }
    k = end;
  }
  for (const Span& span : spans) {
    const Timestamp begin = mean_times_[static_cast<size_t>(span.begin)],
                    end = mean_times_[static_cast<size_t>(span.end - 1)];
    if (!span.entered || end - begin + kBlock < options.shortest) {
      ++knock_count_;
      continue;
    }
    Touch touch;
    touch.peak_N = mean_normal_.segment(span.begin, span.end - span.begin).maxCoeff();
    const Duration reach =
        Duration::FromSeconds(5 * options.kink.before_s + options.kink.after_s.back());
    for (const bool backwards : {false, true}) {
      const Timestamp crossing = backwards ? end : begin;
      HANDHOLD_ASSIGN(const WrenchWindow raw, Read({crossing - reach, crossing + reach}));
      std::vector<double> t(raw.times.size());
      for (size_t i = 0; i < t.size(); ++i) t[i] = (raw.times[i] - crossing).seconds();
      auto kink =
          FitKink(t, std::span(raw.normal_N.data(), t.size()), 0.0, backwards, options.kink);
      const bool found = kink && std::abs(kink->time_s) < 4 * options.kink.before_s;
      const Timestamp at = found ? crossing + Duration::FromSeconds(kink->time_s) : crossing;
      const Duration sd = found ? Duration::FromSeconds(kink->sd_s) : kBlock * 4;
      (backwards ? touch.release : touch.onset) = at;
      (backwards ? touch.release_sd : touch.onset_sd) = sd;
    }
    touches_.push_back(touch);
  }
  return {};
}

Vec6 ForceSignal::Baseline(Timestamp t) const {
  const auto after =
      std::lower_bound(mean_times_.begin(), mean_times_.end(), t) - mean_times_.begin();
  const auto last = static_cast<std::ptrdiff_t>(mean_times_.size()) - 1;
  if (after == 0) return baseline_.col(0);
  if (after > last) return baseline_.col(last);
  const Timestamp t0 = mean_times_[static_cast<size_t>(after - 1)],
                  t1 = mean_times_[static_cast<size_t>(after)];
  const double u = (t - t0).seconds() / (t1 - t0).seconds();
  return (1 - u) * baseline_.col(after - 1) + u * baseline_.col(after);
}

Result<WrenchWindow> ForceSignal::Read(TimeRange range) const {
  HANDHOLD_ASSIGN(const SampleWindow window, clip_->Read(sensor_->stream_id, range));
  WrenchWindow out;
  out.times = window.times;
  const int n = window.count();
  out.f_onHand_W.resize(3, n);
  out.m_onHand_W.resize(3, n);
  out.normal_N.resize(n);
  Eigen::VectorXd raw;
  for (int i = 0; i < n; ++i) {
    const Vec6 w_S =
        WrenchOf(*sensor_, window, i, &raw) - Baseline(window.times[static_cast<size_t>(i)]);
    Vec6 moment_first;
    moment_first << w_S.tail<3>(), w_S.head<3>();
    const Vec6 w_W = geometry::TransformWrench(X_WS_, moment_first);
    out.f_onHand_W.col(i) = recording::ForceOnHand(w_W.tail<3>());
    out.m_onHand_W.col(i) = recording::ForceOnHand(w_W.head<3>());
    out.normal_N[i] = NormalOf(*sensor_, w_S);
  }
  return out;
}

Result<WrenchWindow> ForceSignal::ReadAt(const std::vector<Timestamp>& query,
                                         double cutoff_Hz) const {
  WrenchWindow out;
  out.times = query;
  const auto n = static_cast<Eigen::Index>(query.size());
  out.f_onHand_W.setConstant(3, n, kMissing);
  out.m_onHand_W.setConstant(3, n, kMissing);
  out.normal_N.setConstant(n, kMissing);
  const Duration margin = Duration::FromSeconds(5.0 / cutoff_Hz);
  // In stretches, so that memory is bounded; each is filtered with a margin on both sides.
  size_t begin = 0;
  while (begin < query.size()) {
    size_t end = begin;
    while (end < query.size() && query[end] - query[begin] < kChunk) ++end;
    HANDHOLD_ASSIGN(const WrenchWindow raw, Read({query[begin] - margin, query[end - 1] + margin}));
    const std::span part(query.data() + begin, end - begin);
    const Duration max_gap = Duration::FromSeconds(5.0 / rate_Hz_);
    for (int c = 0; c < 7; ++c) {
      Eigen::VectorXd x = c < 3   ? raw.f_onHand_W.row(c).transpose()
                          : c < 6 ? raw.m_onHand_W.row(c - 3).transpose()
                                  : raw.normal_N;
      HANDHOLD_ASSIGN(const std::vector<double> smooth,
                      LowPass(std::span(x.data(), static_cast<size_t>(x.size())), rate_Hz_,
                              {.cutoff_Hz = cutoff_Hz}));
      const std::vector<double> y = ResampleAt(raw.times, smooth, part, max_gap);
      for (size_t i = 0; i < y.size(); ++i) {
        const auto col = static_cast<Eigen::Index>(begin + i);
        (c < 3   ? out.f_onHand_W(c, col)
         : c < 6 ? out.m_onHand_W(c - 3, col)
                 : out.normal_N[col]) = y[i];
      }
    }
    begin = end;
  }
  return out;
}

}  // namespace handhold::fitting
