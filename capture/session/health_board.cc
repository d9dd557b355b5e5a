#include "capture/session/health_board.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace handhold::capture {
namespace {

using recording::QualityItem;

/// A take that lost more than this share of a stream, or is longer than this below a limit, is not
/// worth keeping.
constexpr double kMostLost = 0.05;
/// ... or whose times are worthless in more than this share of it.
constexpr double kMostUntrusted = 0.05;

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

/// What is wrong with a take: of required streams the worst, the first of equals; of others the
/// first of each device.
struct Faults {
  std::string required, worst_stream;
  double worst = -1.0;
  std::map<std::string, std::string> optional;
  /// `share`: of the take that it spoils.
  void Add(const std::string& stream, bool is_required, double share, std::string what) {
    if (!is_required) {
      optional.try_emplace(stream.substr(0, stream.find('/')), std::move(what));
    } else if (share > worst && stream != worst_stream) {
      worst = share;
      worst_stream = stream;
      required = std::move(what);
    }
  }
};

}  // namespace

bool HealthBoard::IsWorse(const Verdict& v, double than) {
  switch (v.worse) {
    case Verdict::Worse::kHigh:
      return v.value > than;
    case Verdict::Worse::kLow:
      return v.value < than;
    case Verdict::Worse::kFar:
      return std::abs(v.value - v.nominal) > std::abs(than - v.nominal);
  }
  return false;
}

void HealthBoard::Set(std::string_view stream, std::string_view what, const Verdict& v,
                      Timestamp clip) {
  auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.item.stream == stream && e.item.what == what;
  });
  if (at == entries_.end()) {
    entries_.emplace_back();
    at = entries_.end() - 1;
    at->item.stream = stream;
    at->item.what = what;
    at->item.worst = v.value;
    at->item.threshold = v.threshold;
  }
  QualityItem& item = at->item;
  item.value = v.value;
  if (v.worse != Verdict::Worse::kFar || IsWorse(v, item.worst)) item.threshold = v.threshold;
  if (IsWorse(v, item.worst)) item.worst = v.value;
  // What is counted never becomes well again: more of it than was acknowledged is news.
  const bool more = v.counted && item.acknowledged && v.value > at->acknowledged_value;
  if (v.beyond && (!at->beyond || more)) {
    if (!item.red) item.clip_first_red = clip;
    item.red = true;
    item.acknowledged = false;
  }
  if (v.beyond && (v.worse != Verdict::Worse::kFar || item.worst == v.value)) item.cause = v.cause;
  at->beyond = v.beyond;
}

void HealthBoard::JudgeStream(const StreamFigures& f, double age_s, Timestamp clip) {
  const auto high = [](double value, double limit, std::string cause, bool counted = false) {
    return Verdict{value,   limit, value > limit, Verdict::Worse::kHigh, std::move(cause),
                   counted, 0.0};
  };
  if (f.nominal_Hz > 0) {
    // Of slow streams a few periods are waited for.
    const double limit = std::max(limits_.last_sample_age_s, 3.0 / f.nominal_Hz);
    Set(f.stream, "last_sample_age_s",
        high(age_s, limit,
             "nothing received: look at the device, its cable and its network; the source's state "
             "says more"),
        clip);
    const double error = std::abs(f.rate_Hz / f.nominal_Hz - 1.0);
    const bool fast = f.rate_Hz > f.nominal_Hz;
    Set(f.stream, "rate_Hz",
        {f.rate_known ? f.rate_Hz : f.nominal_Hz,
         f.nominal_Hz * (1.0 + (fast ? 1.0 : -1.0) * limits_.rate_error_fraction),
         f.rate_known && error > limits_.rate_error_fraction, Verdict::Worse::kFar,
         "the device samples at " + Number(f.rate_Hz) + " Hz, it says " + Number(f.nominal_Hz) +
             " Hz: check the rate that is set there",
         false, f.nominal_Hz},
        clip);
    Set(f.stream, "jitter_p99_s",
        high(f.jitter_p99_s, limits_.jitter_p99_s,
             "packets arrive unevenly: a busy network, switch or machine; times are still fitted "
             "from the least late ones"),
        clip);
    if (f.clock_known) {
      Set(f.stream, "clock_residual_p99_s",
          high(f.clock_residual_p99_s, limits_.clock_residual_p99_s,
               "the device's clock does not run evenly: a step or a wandering clock; compare with "
               "another device before trusting times"),
          clip);
    }
  }
  Set(f.stream, "lost_samples",
      high(static_cast<double>(f.lost_samples), static_cast<double>(limits_.lost_samples),
           "samples are missing; the list of gaps says which and why", true),
      clip);
  if (f.has_markers) {
    Set(f.stream, "visible_fraction",
        {f.visible_fraction, limits_.visible_fraction,
         f.visible_fraction < limits_.visible_fraction, Verdict::Worse::kLow,
         "most markers are not seen: occlusion, or subjects not labelled", false, 0.0},
        clip);
  }
  if (f.has_forces) {
    Set(f.stream, "saturated_samples",
        high(static_cast<double>(f.saturated_samples),
             static_cast<double>(limits_.saturated_samples),
             "the sensor was loaded beyond its range: its readings there are not forces", true),
        clip);
  }
}

void HealthBoard::JudgeRing(std::string_view source, double fill, Timestamp clip) {
  Set(source, "ring_fill_fraction",
      {fill, limits_.ring_fill_fraction, fill > limits_.ring_fill_fraction, Verdict::Worse::kHigh,
       "writing does not keep up: the disk stalls; when the ring is full, samples are lost", false,
       0.0},
      clip);
}

void HealthBoard::JudgeDisk(double disk_left_s, Timestamp clip) {
  Set("", "disk_left_s",
      {disk_left_s, limits_.disk_left_s, disk_left_s < limits_.disk_left_s, Verdict::Worse::kLow,
       "the disk is nearly full: free space, or end the take", false, 0.0},
      clip);
}

void HealthBoard::Acknowledge() {
  for (Entry& entry : entries_) {
    entry.item.acknowledged = entry.item.red;
    entry.acknowledged_value = entry.item.value;
  }
}

std::vector<QualityItem> HealthBoard::items() const {
  std::vector<QualityItem> out;
  for (const Entry& entry : entries_) out.push_back(entry.item);
  return out;
}

double UntrustedShare(const recording::ClockMap& map, Duration length) {
  constexpr double kMostOffset_ns = 5e6, kMostRateError = 1e-3;
  constexpr Duration kLone = Duration::Seconds(1);
  if (length <= Duration() || !map.valid()) return 0.0;
  // The last segment holds until the take's end, the first from its begin.
  const recording::ClockSegment& last = map.segments.back();
  const Timestamp end =
      std::max(Timestamp::FromNanoseconds(map.segments.front().host_begin_ns) + length,
               Timestamp::FromNanoseconds(last.host_begin_ns));
  Duration bad;
  for (size_t i = 0; i < map.segments.size(); ++i) {
    const recording::ClockSegment& s = map.segments[i];
    if (s.pair_count == 0) continue;  // bridges an outage: no sample has its time from it
    const Timestamp to = i + 1 < map.segments.size()
                             ? Timestamp::FromNanoseconds(map.segments[i + 1].host_begin_ns)
                             : end;
    const Duration held = std::max(to - Timestamp::FromNanoseconds(s.host_begin_ns), Duration());
    // Written so that a NaN is not trusted.
    if (!(2 * s.offset_sd_ns <= kMostOffset_ns) || !(std::abs(s.rate_error) <= kMostRateError)) {
      bad += held;
    } else if (s.pair_count == 1) {
      bad += std::min(held, kLone);
    }
  }
  return std::min(1.0, bad.seconds() / length.seconds());
}

recording::QualityRecord JudgeTake(std::vector<QualityItem> items,
                                   std::span<const StreamFigures> figures,
                                   std::span<const JudgedClock> clocks, Duration length) {
  recording::QualityRecord record;
  record.items = std::move(items);
  Faults faults;
  for (const StreamFigures& f : figures) {
    const double all = static_cast<double>(f.samples + f.lost_samples);
    if (f.samples == 0) {
      faults.Add(f.stream, f.required, 1.0, f.stream + " has no samples");
    } else if (static_cast<double>(f.lost_samples) > kMostLost * all) {
      faults.Add(f.stream, f.required, static_cast<double>(f.lost_samples) / all,
                 f.stream + " lost " + Number(100.0 * static_cast<double>(f.lost_samples) / all) +
                     " % of its samples");
    }
  }
  const auto optional = [&](const std::string& stream) {
    return std::any_of(figures.begin(), figures.end(),
                       [&](const StreamFigures& f) { return f.stream == stream && !f.required; });
  };
  int red = 0;
  for (const QualityItem& item : record.items) {
    if (!item.red) continue;
    ++red;
    // What was still wrong at the end: the take is cut short or worth little from some point on.
    if (item.what == "last_sample_age_s" && item.value > item.threshold)
      faults.Add(item.stream, !optional(item.stream),
                 length > Duration() ? std::min(1.0, item.value / length.seconds()) : 0.0,
                 item.stream + " was silent when the take ended");
  }
  for (const JudgedClock& clock : clocks) {
    const double share = UntrustedShare(clock.map, length);
    if (share <= kMostUntrusted) continue;
    faults.Add(clock.stream, clock.required, share,
               "the times of " + clock.stream + " cannot be trusted in " + Number(100 * share) +
                   " % of the take");
  }
  record.keep = faults.required.empty();
  if (!record.keep) {
    record.advice = "Record it again if you can: " + faults.required + ".";
  } else if (!faults.optional.empty()) {
    record.advice = "Keep it: what is required is there.";
  } else if (red > 0) {
    record.advice = "Keep it, but look at what was red.";
  } else {
    record.advice = "Keep it.";
  }
  for (const auto& [device, what] : faults.optional) record.advice += " Optional: " + what + ".";
  return record;
}

}  // namespace handhold::capture
