// capture.source.*: the drivers against the simulated rig, over loopback, the simulator in a
// process of its own so that processor time is the driver's (and the vendor's library's). Each
// figure is one run of several seconds, not a median.
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <vector>

#include "capture/simulator/pattern_feed.h"
#include "capture/simulator/simulator_host.h"
#include "capture/source/net_ft_source.h"
#include "capture/source/vicon_source.h"
#include "tests/support/bench.h"

namespace {

using namespace handhold;
using namespace handhold::capture;

void Sleep(double seconds) {
  const timespec pause{
      static_cast<time_t>(seconds),
      static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
  nanosleep(&pause, nullptr);
}

double ProcessorSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Counts, and stalls once when told to: as a recorder that has hung would.
class CountingSink : public Sink {
 public:
  int OnStreams(std::span<const recording::StreamInfo>) override { return 0; }
  void OnSamples(const SampleView& view) noexcept override {
    if (view.stream != 0) return;
    samples_ += view.count;
    last_host_ns_ = view.clock.host_ns;
    if (stall_.exchange(false)) Sleep(1.5);
  }
  void OnGap(int stream, int64_t, int64_t count, recording::GapCause) noexcept override {
    if (stream == 0) missing_ += count;
  }
  void OnClockReset(int stream, int64_t) noexcept override {
    if (stream == 0) reset_host_ns_ = HostNow().ns();
  }
  void OnState(bool, std::string_view) noexcept override {}
  std::atomic<int64_t> samples_{0}, missing_{0}, last_host_ns_{0}, reset_host_ns_{0};
  std::atomic<bool> stall_{false};
};

PatternOptions Rig(double rate_hz) {
  PatternOptions options;
  options.marker_rate_hz = rate_hz;
  options.marker_count = 60;
  FeedDevice analog{.name = "Analog", .samples_per_frame = static_cast<int>(2000 / rate_hz)};
  for (int c = 0; c < 24; ++c) analog.channel_names.push_back("A" + std::to_string(c));
  options.devices.push_back(analog);
  return options;
}

std::unique_ptr<Source> Vicon(const SimulatorAddresses& rig) {
  ViconSourceOptions options;
  options.name = "vicon";
  options.host = rig.vicon.ToString();
  auto source = MakeViconSource(options);
  if (!source) throw std::runtime_error(source.error().message);
  return *std::move(source);
}

void Until(const std::function<bool()>& done) {
  for (int k = 0; k < 6000 && !done(); ++k) Sleep(0.005);
  if (!done()) throw std::runtime_error("no samples within 30 s");
}

/// Runs `source` for `seconds`, with a stall of the sink in the middle if asked. Returns the share
/// of one core used.
double RunFor(Source& source, CountingSink& sink, double seconds, bool stall) {
  if (auto started = source.Start(&sink); !started)
    throw std::runtime_error(started.error().message);
  Until([&] { return sink.samples_ > 0; });
  const double cpu = ProcessorSeconds();
  const Timestamp begin = HostNow();
  Sleep(seconds / 2);
  sink.stall_ = stall;
  Sleep(seconds / 2);
  const double share = (ProcessorSeconds() - cpu) / (HostNow() - begin).seconds();
  source.Stop();
  return share;
}

bench::Result Figure(double value, const char* unit, bench::Goal goal) {
  bench::Result result;
  result.value = {value, 0};
  result.unit = unit;
  result.goal = goal;
  return result;
}

/// A figure of somebody else's, quoted beside ours (reference/capture-protocols.md): it was not
/// measured in this run.
bench::Result Beside(bench::Result result, const char* whose, double value) {
  result.peer = std::string("quoted: ") + whose;
  result.peer_value = {value, 0};
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  using bench::Goal;
  return bench::Main(argc, argv, HANDHOLD_BENCH_MARKS, [](bench::Reporter& reporter) {
    if (reporter.wants("capture.source.vicon_core_share_500Hz")) {
      const PatternFeed feed(Rig(500));
      auto rig = *SimulatorProcess::Start(feed, {});
      CountingSink sink;
      const double share = RunFor(*Vicon(rig->addresses()), sink, bench::Brief() ? 0.3 : 10, false);
      reporter.Report("capture.source.vicon_core_share_500Hz",
                      Figure(share, "core", Goal::SpeedAtMost(0.25)));
    }
    if (reporter.wants("capture.source.vicon_lost_frames_1kHz")) {
      // 1 kHz x 60 markers + 24 analog x 2 kHz with a stall of 1.5 s.
      const PatternFeed feed(Rig(1000));
      auto rig = *SimulatorProcess::Start(feed, {});
      CountingSink sink;
      RunFor(*Vicon(rig->addresses()), sink, bench::Brief() ? 0.3 : 20, !bench::Brief());
      reporter.Report("capture.source.vicon_lost_frames_1kHz",
                      Beside(Figure(static_cast<double>(sink.missing_), "frames", Goal::AtMost(0)),
                             "the vendor's C API, 500 Hz, stalls of 20 ms: 40 of 2500", 40));
    }
    if (reporter.wants("capture.source.vicon_markers_back")) {
      // The server is away for 1 s and listens again; the first frame that has its markers is
      // delivered so much later.
      double worst = 0;
      for (int k = 0; k < (bench::Brief() ? 1 : 3); ++k) {
        const PatternFeed feed(Rig(500));
        SimulatorHostOptions options;
        const double away_at = bench::Brief() ? 0.2 : 1.0 + 0.37 * k,
                     away = bench::Brief() ? 0.2 : 1.0;
        options.vicon.faults = {{.kind = FaultKind::kRestart,
                                 .at = Duration::FromSeconds(away_at),
                                 .length = Duration::FromSeconds(away)}};
        auto rig = *SimulatorProcess::Start(feed, options);
        CountingSink sink;
        auto source = Vicon(rig->addresses());
        if (auto started = source->Start(&sink); !started)
          throw std::runtime_error(started.error().message);
        Until([&] { return sink.reset_host_ns_ > 0; });
        source->Stop();
        const double back =
            1e-9 * static_cast<double>(sink.reset_host_ns_ - rig->addresses().host_start.ns()) -
            away_at - away;
        worst = std::max(worst, back);
      }
      reporter.Report("capture.source.vicon_markers_back", Figure(worst, "s", Goal::AtMost(1.0)));
    }
    if (reporter.wants("capture.source.net_ft_core_share_2x7kHz") ||
        reporter.wants("capture.source.net_ft_lost_samples_2x7kHz")) {
      PatternOptions pattern;
      pattern.force_rate_hz = 7000;
      pattern.seconds = 3600;
      const PatternFeed feed(pattern);
      auto a = *SimulatorProcess::Start(feed, {});
      auto b = *SimulatorProcess::Start(feed, {});
      const auto source_of = [](const SimulatorAddresses& at) {
        NetFtSourceOptions options;
        options.name = "plate";
        options.host = "127.0.0.1";
        options.rdt_port = at.net_ft_rdt.port;
        options.http_port = at.net_ft_http.port;
        return MakeNetFtSource(options);
      };
      auto second = source_of(b->addresses());
      CountingSink sink_a, sink_b;
      if (auto started = second->Start(&sink_b); !started)
        throw std::runtime_error(started.error().message);
      Until([&] { return sink_b.samples_ > 0; });
      const double share =
          RunFor(*source_of(a->addresses()), sink_a, bench::Brief() ? 0.3 : 20, false);
      second->Stop();
      reporter.Report("capture.source.net_ft_core_share_2x7kHz",
                      Figure(share, "core", Goal::None()));
      reporter.Report("capture.source.net_ft_lost_samples_2x7kHz",
                      Figure(static_cast<double>(sink_a.missing_ + sink_b.missing_), "samples",
                             Goal::AtMost(0)));
    }
  });
}
