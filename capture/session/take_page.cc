#include "capture/session/take_page.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>

#include "capture/session/red_figures.h"

namespace handhold::capture {
namespace {

using recording::Gap;
using recording::GapCause;
using recording::QualityItem;
using recording::StreamInfo;

constexpr size_t kMostGapLines = 12, kMostRed = 10, kMostNotes = 6;
/// More restarts of a device than this in one take are not restarts.
constexpr int64_t kMostRestarts = 20;

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

std::string NameOf(const TakePageInput& in, int stream_id) {
  for (const StreamInfo& s : in.streams) {
    if (s.id == stream_id) return s.epoch == 0 ? s.name : s.name + Format(" (epoch %d)", s.epoch);
  }
  return Format("stream %d", stream_id);
}

std::string StreamLines(const TakePageInput& in) {
  std::string out = Format("%-26s %10s %9s %8s %8s %10s\n", "stream", "samples", "Hz", "lost",
                           "visible", "jitter");
  for (const StreamFigures& f : in.figures) {
    out +=
        Format("%-26.26s %10lld %9.2f %8lld %8s %7.2f ms\n", f.stream.c_str(),
               static_cast<long long>(f.samples), f.rate_Hz, static_cast<long long>(f.lost_samples),
               f.has_markers ? Format("%.0f %%", 100 * f.visible_in_all_fraction).c_str() : "",
               1e3 * f.jitter_p99_s);
  }
  return out;
}

std::string ClockLines(const TakePageInput& in) {
  std::string out;
  std::vector<std::string> said;
  for (const Take::ClockSummary& clock : in.clocks) {
    const recording::ClockSegment& s = clock.map.segments.back();
    // Of all segments that hold data: one that is known badly is not hidden behind a good last one.
    double offset_sd_ns = 0.0, late_ns = 0.0;
    for (const recording::ClockSegment& segment : clock.map.segments) {
      if (segment.pair_count == 0) continue;
      offset_sd_ns = std::max(offset_sd_ns, segment.offset_sd_ns);
      late_ns = std::max(late_ns, segment.residual_p99_ns);
    }
    // How fast the device's clock runs: rate_error is the host's seconds in one of its own, less 1.
    const double fast = 1 / (1 + s.rate_error) - 1;
    std::string line = Format("%+.2f ppm, offset known to %.1f us (sd; p99 lateness %.0f us)",
                              1e6 * fast, 1e-3 * offset_sd_ns, 1e-3 * late_ns);
    if (clock.map.constant_delay_ns != 0) {
      line += Format(", delay %.2f ms +- %.2f ms taken off",
                     1e-6 * static_cast<double>(clock.map.constant_delay_ns),
                     1e-6 * static_cast<double>(clock.map.constant_delay_sd_ns));
    }
    if (!clock.breaks.empty()) line += Format(", %zu break(s)", clock.breaks.size());
    // Streams of one device have one clock: said once.
    if (std::find(said.begin(), said.end(), line) != said.end()) continue;
    said.push_back(line);
    out += Format("  %-24.24s ", clock.stream.c_str()) + line + "\n";
  }
  return out.empty() ? out : "clocks\n" + out;
}

std::string GapLines(const TakePageInput& in) {
  const std::vector<Gap>& gaps = in.take->gaps;
  if (gaps.empty()) return in.take->closed ? "no gaps\n" : "no gaps in what is on disk\n";
  std::map<GapCause, std::pair<int64_t, int64_t>> by_cause;
  for (const Gap& gap : gaps) {
    ++by_cause[gap.cause].first;
    by_cause[gap.cause].second += gap.count;
  }
  std::string out = "gaps:";
  for (const auto& [cause, sums] : by_cause) {
    out += Format(" %lld x %s (%lld samples)", static_cast<long long>(sums.first),
                  std::string(recording::GapCauseName(cause)).c_str(),
                  static_cast<long long>(sums.second));
  }
  out += "\n";
  std::vector<Gap> longest = gaps;
  std::stable_sort(longest.begin(), longest.end(), [](const Gap& a, const Gap& b) {
    return a.clip_end - a.clip_begin > b.clip_end - b.clip_begin;
  });
  if (longest.size() > kMostGapLines) longest.resize(kMostGapLines);
  for (const Gap& gap : longest) {
    out += Format("  at %9.3f s for %7.3f s  %-26.26s %s\n", gap.clip_begin.seconds(),
                  (gap.clip_end - gap.clip_begin).seconds(), NameOf(in, gap.stream_id).c_str(),
                  std::string(recording::GapCauseName(gap.cause)).c_str());
  }
  if (gaps.size() > longest.size())
    out += Format("  and %zu shorter ones\n", gaps.size() - longest.size());
  return out;
}

std::string SourceLines(const std::string& name, const SourceHealth& health) {
  std::string out;
  if (health.kernel_drops + health.bad_packets + health.late_packets + health.duplicates +
          health.reconnects + health.clock_resets !=
      0) {
    out += Format(
        "%s: %lld datagrams dropped by our kernel, %lld refused, %lld late, %lld "
        "repeated, %lld reconnections\n",
        name.c_str(), static_cast<long long>(health.kernel_drops),
        static_cast<long long>(health.bad_packets), static_cast<long long>(health.late_packets),
        static_cast<long long>(health.duplicates), static_cast<long long>(health.reconnects));
  }
  if (health.clock_resets > kMostRestarts) {
    out += Format(
        "%s: its counter began anew %lld times: no device is restarted so often. Does another "
        "kind of device answer at its address, or two?\n",
        name.c_str(), static_cast<long long>(health.clock_resets));
  } else if (health.clock_resets > 0) {
    out += Format("%s: was restarted %lld time(s)%s\n", name.c_str(),
                  static_cast<long long>(health.clock_resets),
                  health.keeps_zero ? ": a zero that it kept (bias) is gone since" : "");
  }
  if (health.receive_buffer_bytes < health.receive_buffer_asked) {
    out += Format(
        "%s: granted %lld KiB of a receive buffer of %lld KiB: sysctl -w net.core.rmem_max=%lld\n",
        name.c_str(), static_cast<long long>(health.receive_buffer_bytes >> 10),
        static_cast<long long>(health.receive_buffer_asked >> 10),
        static_cast<long long>(health.receive_buffer_asked));
  }
  return out;
}

std::string RedLines(const TakePageInput& in) {
  const std::vector<RedFigure> red = RedFigures(in.take->quality.items);
  if (red.empty()) return "nothing was red\n";
  std::string out = "red\n";
  for (size_t i = 0; i < std::min(red.size(), kMostRed); ++i) {
    const QualityItem& item = red[i].item;
    out += Format("  %s %s: worst %.4g, limit %.4g, first at %.1f s%s\n", red[i].name.c_str(),
                  item.what.c_str(), item.worst, item.threshold, red[i].clip_first_red.seconds(),
                  red[i].acknowledged ? " (acknowledged)" : "");
    out += "    " + item.cause + "\n";
  }
  if (red.size() > kMostRed)
    out += Format("  and %zu more: `handhold clip show` has all\n", red.size() - kMostRed);
  return out;
}

/// Sources whose threads run as other programs do, and should not.
std::string RealTimeLine(const TakePageInput& in) {
  std::string names;
  for (const auto& [name, health] : in.sources)
    if (health.real_time_asked && !health.real_time) names += (names.empty() ? "" : ", ") + name;
  if (names.empty()) return "";
  return "real-time scheduling not granted to " + names +
         ": a busy machine is late;\n  allow rtprio 10 in /etc/security/limits.d, log in again\n";
}

}  // namespace

std::string TakePage(const TakePageInput& in) {
  const TakeResult& take = *in.take;
  std::string out =
      Format("%s  %s  %.1f s  %s\n", take.quality.keep ? "KEEP" : "DO NOT RELY ON",
             take.info.name.c_str(), take.length.seconds(), FormatUtc(take.info.utc_start).c_str());
  out += take.quality.advice + "\n" + take.path + "\n";
  if (!take.closed && take.readable) {
    out +=
        "What reached the disk is kept, but not yet compacted: free disk space, then "
        "`handhold library rebuild --finish`.\n";
  }
  out += "\n" + StreamLines(in) + "\n" + GapLines(in) + "\n" + ClockLines(in) + "\n" + RedLines(in);
  for (const auto& [name, health] : in.sources) out += SourceLines(name, health);
  out += RealTimeLine(in);
  for (size_t i = 0; i < in.notes.size(); ++i) {
    if (i == kMostNotes) {
      out += Format("and %zu more\n", in.notes.size() - i);
      break;
    }
    out += "note: " + in.notes[i] + "\n";
  }
  return out;
}

}  // namespace handhold::capture
