// capture.*: the recorder as a whole, from the device's wire to the committed file. Simulators run
// in processes of their own, so that processor time is the recorder's. Short forms by default;
// tools/bench --full (HANDHOLD_BENCH_FULL=1) runs 10 minutes of full rate and 8 hours of device
// time. The peers' figures (reference/capture-protocols.md, section 6): LabRecorder 0 lost of 4756
// + 19002 samples and 410 ms lost to kill -9; the vendor's C API 40 of 2500 frames lost with stalls
// of 20 ms.
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "capture/clock/clock_fit.h"
#include "capture/session/recorder.h"
#include "capture/simulator/pattern_feed.h"
#include "capture/simulator/simulator_host.h"
#include "capture/source/net_ft_source.h"
#include "capture/source/vicon_source.h"
#include "tests/support/arrival_times.h"
#include "tests/support/bench.h"
#include "tests/support/soak.h"

namespace {

using namespace handhold;
using namespace handhold::capture;

bool Full() { return std::getenv("HANDHOLD_BENCH_FULL") != nullptr; }

void Sleep(double seconds) {
  const double whole = std::floor(seconds);
  const timespec pause{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
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

[[noreturn]] void Fail(const std::string& what) { throw std::runtime_error(what); }

void Must(const Status& status) {
  if (!status) Fail(status.error().message);
}

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              ("session_bench_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  TakeTarget Target() {
    TakeTarget target;
    target.directory = path_.string();
    target.new_take = [this](recording::ClipInfo info)
        -> handhold::Result<std::pair<recording::ClipInfo, std::string>> {
      info.name = "take_" + std::to_string(++takes_);
      return std::pair(info, (path_ / (info.name + ".clip")).string());
    };
    return target;
  }

 private:
  std::filesystem::path path_;
  int takes_ = 0;
};

/// A histogram of latencies in us.
class Latencies {
 public:
  void Add(int64_t ns) {
    ++counts_[static_cast<size_t>(std::clamp<int64_t>(ns / 1000, 0, kMost_us - 1))];
    ++all_;
  }
  double Quantile_ms(double share) const {
    int64_t seen = 0;
    for (size_t us = 0; us < counts_.size(); ++us) {
      seen += counts_[us];
      if (static_cast<double>(seen) >= share * static_cast<double>(all_))
        return 1e-3 * static_cast<double>(us);
    }
    return 1e-3 * kMost_us;
  }
  bool any() const { return all_ > 0; }

 private:
  static constexpr int64_t kMost_us = 2'000'000;
  std::vector<int64_t> counts_ = std::vector<int64_t>(kMost_us);
  int64_t all_ = 0;
};

/// Where a packet's time goes until the ring holds it: from our receive stamp (of a Net F/T the
/// kernel's, of Vicon the return of the SDK's GetFrame), and from the instant at which the
/// simulated device is due to send it, which has the device, the kernel, the network and the
/// vendor's library in it. Markers and wrench, by the pattern that they carry.
class Latency : public Sink {
 public:
  int OnStreams(std::span<const recording::StreamInfo> streams) override {
    rate_hz_ = streams[0].rate.hz();
    markers_ = streams[0].kind == recording::StreamKind::kMarkers;
    first_index_ = -1;
    return base_ = to->OnStreams(streams);
  }
  void OnSamples(const SampleView& view) noexcept override {
    to->OnSamples(view);
    const Timestamp now = HostNow();
    receive_to_ring.Add(now.ns() - view.clock.host_ns);
    if (view.stream != base_) return;
    if (first_index_ < 0) first_index_ = IndexOf(view, now) - view.first_counter;
    const auto index = static_cast<double>(first_index_ + view.first_counter + view.count - 1);
    due_to_ring.Add((now - device_start).ns() - std::llround(1e9 * index / rate_hz_));
  }
  void OnGap(int s, int64_t first, int64_t count, recording::GapCause cause) noexcept override {
    to->OnGap(s, first, count, cause);
  }
  void OnClockReset(int s, int64_t first) noexcept override { to->OnClockReset(s, first); }
  void OnState(bool connected, std::string_view text) noexcept override {
    to->OnState(connected, text);
  }
  Sink* to = nullptr;
  Timestamp device_start;  ///< host instant of index 0
  Latencies receive_to_ring, due_to_ring;

 private:
  /// The newest index that is due and carries what the first sample of `view` does.
  int64_t IndexOf(const SampleView& view, Timestamp now) const {
    const auto count = static_cast<size_t>(view.count);
    const int64_t period = markers_ ? 65536 : 500;
    const int64_t code = markers_ ? std::llround(view.values[2 * count] / 1e-5)
                                  : std::llround((1e-6 * view.values[0] - 1) * 500);
    const auto due = static_cast<int64_t>((now - device_start).seconds() * rate_hz_);
    return due - ((due - code) % period + period) % period;
  }
  double rate_hz_ = 0;
  bool markers_ = false;
  int base_ = 0;
  int64_t first_index_ = -1;
};

/// A source that delivers through a Latency.
class Watched : public Source {
 public:
  Watched(std::unique_ptr<Source> source, Latency* latency)
      : source_(std::move(source)), latency_(latency) {}
  const std::string& name() const override { return source_->name(); }
  handhold::Result<std::vector<recording::StreamInfo>> Probe(Duration timeout) override {
    return source_->Probe(timeout);
  }
  std::vector<recording::ForceSensor> ForceSensors() const override {
    return source_->ForceSensors();
  }
  Status Start(Sink* sink) override {
    latency_->to = sink;
    return source_->Start(latency_);
  }
  void Stop() override { source_->Stop(); }
  SourceHealth Health() const override { return source_->Health(); }

 private:
  std::unique_ptr<Source> source_;
  Latency* latency_;
};

PatternOptions Pattern(double rate_hz) {
  PatternOptions options;
  options.marker_rate_hz = rate_hz;
  options.marker_count = 60;
  options.force_rate_hz = 7000;
  FeedDevice analog{.name = "Analog", .samples_per_frame = static_cast<int>(2000 / rate_hz)};
  for (int c = 0; c < 24; ++c) analog.channel_names.push_back("A" + std::to_string(c));
  options.devices.push_back(analog);
  return options;
}

struct RigRun {
  double lost = 0, ring_lost = 0, kernel_drops = 0, core_share = 0;
  double ring_p99_ms = 0, due_p99_ms = 0;
};

/// Records the whole rig for `seconds`; `stall_every` > 0: a storage stall of 1.5 s as often.
RigRun RecordRig(double marker_rate_hz, bool force, double seconds, double stall_every) {
  const PatternFeed feed(Pattern(marker_rate_hz));
  PatternOptions plate_pattern;
  const PatternFeed plate_feed(plate_pattern);
  auto rig = *SimulatorProcess::Start(feed, {});
  auto second = *SimulatorProcess::Start(plate_feed, {});
  Latency latencies[3];
  std::vector<RecordedSource> sources;
  const auto add = [&](std::unique_ptr<Source> source, const SimulatorAddresses& at) {
    latencies[sources.size()].device_start = at.host_start;
    sources.emplace_back();
    sources.back().source =
        std::make_unique<Watched>(std::move(source), &latencies[sources.size() - 1]);
  };
  ViconSourceOptions vicon;
  vicon.name = "vicon";
  vicon.host = rig->addresses().vicon.ToString();
  auto made = MakeViconSource(vicon);
  if (!made) Fail(made.error().message);
  add(*std::move(made), rig->addresses());
  for (const auto* host : {&rig, &second}) {
    if (!force) break;
    NetFtSourceOptions plate;
    plate.name = host == &rig ? "plate1" : "plate2";
    plate.host = "127.0.0.1";
    plate.rdt_port = (*host)->addresses().net_ft_rdt.port;
    plate.http_port = (*host)->addresses().net_ft_http.port;
    add(MakeNetFtSource(plate), (*host)->addresses());
  }
  RecorderOptions options;
  Timestamp next_stall = HostNow() + Duration::Seconds(1'000'000);
  options.injected_stall = [&] {
    if (HostNow() < next_stall) return Duration();
    next_stall = HostNow() + Duration::FromSeconds(stall_every);
    return Duration::Milliseconds(1500);
  };
  Folder folder;
  auto recorder = *Recorder::Make(std::move(sources), folder.Target(), options);
  if (auto lines = recorder->Check(); !lines) Fail(lines.error().message);
  Must(recorder->Arm());
  std::string last;
  for (int tries = 0;; ++tries) {
    const Status started = recorder->Start({});
    if (started) break;
    if (tries > 2000) Fail(started.error().message);
    Sleep(0.01);
  }
  if (stall_every > 0) next_stall = HostNow() + Duration::Seconds(3);
  if (!bench::Brief()) Sleep(1);
  const double cpu = ProcessorSeconds();
  const Timestamp begin = HostNow();
  Sleep(seconds);
  RigRun out;
  out.core_share = (ProcessorSeconds() - cpu) / (HostNow() - begin).seconds();
  auto take = recorder->Stop();
  if (!take) Fail(take.error().message);
  std::fprintf(stderr, "%s\n", take->page.c_str());
  for (const recording::Gap& gap : take->gaps) {
    out.lost += static_cast<double>(gap.count);
    if (gap.cause == recording::GapCause::kRingOverflow)
      out.ring_lost += static_cast<double>(gap.count);
    if (gap.cause == recording::GapCause::kNetworkLoss)
      out.kernel_drops += static_cast<double>(gap.count);
  }
  recorder.reset();
  for (const Latency& latency : latencies) {
    if (!latency.receive_to_ring.any()) continue;
    const auto show = [](const char* what, const Latencies& l) {
      std::fprintf(stderr, "%s: median %.3f, 99 %% %.3f, 99.9 %% %.3f ms\n", what,
                   l.Quantile_ms(0.5), l.Quantile_ms(0.99), l.Quantile_ms(0.999));
    };
    show("receive to ring", latency.receive_to_ring);
    show("device's instant to ring", latency.due_to_ring);
    out.ring_p99_ms = std::max(out.ring_p99_ms, latency.receive_to_ring.Quantile_ms(0.99));
    out.due_p99_ms = std::max(out.due_p99_ms, latency.due_to_ring.Quantile_ms(0.99));
  }
  return out;
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

double P99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(0.99 * static_cast<double>(values.size() - 1))];
}

/// 60 s of planted arrivals (tests/support/arrival_times.h) of markers and force on clocks of their
/// own: the worst of single packets and bursts of 20.
std::pair<double, double> ClockMarks() {
  double worst_ns = 0, worst_ppm = 0;
  for (const int burst : {1, 20}) {
    for (const double rate : {500.0, 7000.0}) {
      for (uint64_t seed = 1; seed <= (bench::Brief() ? 1 : 5); ++seed) {
        testing::PlantedClock planted;
        planted.rate_hz = rate;
        planted.rate_error = rate < 1000 ? 40e-6 : -25e-6;
        planted.burst = burst;
        planted.seed = seed;
        const testing::PlantedArrivals arrivals = testing::Arrivals(planted);
        const auto fit = FitClock(arrivals.pairs);
        if (!fit) Fail(fit.error().message);
        worst_ns = std::max(
            worst_ns, P99(testing::AlignmentErrors(fit->map, arrivals, planted.least_delay_ns)));
        worst_ppm = std::max(worst_ppm,
                             1e6 * std::abs(fit->map.segments[0].rate_error - planted.rate_error));
      }
    }
  }
  return {worst_ns, worst_ppm};
}

}  // namespace

int main(int argc, char** argv) {
  using bench::Goal;
  return bench::Main(argc, argv, HANDHOLD_BENCH_MARKS, [](bench::Reporter& reporter) {
    if (reporter.wants("capture.clock.alignment_p99") ||
        reporter.wants("capture.clock.rate_error")) {
      const auto [error_ns, rate_ppm] = ClockMarks();
      reporter.Report("capture.clock.alignment_p99",
                      Beside(Figure(1e-3 * error_ns, "us", Goal::AtMost(50)),
                             "LSL, wired, its documentation: +-0.2 ms", 200));
      reporter.Report("capture.clock.rate_error", Figure(rate_ppm, "ppm", Goal::AtMost(1)));
    }
    if (reporter.wants("capture.core_share_500Hz")) {
      const RigRun run = RecordRig(500, false, bench::Brief() ? 0.3 : 15, 0);
      reporter.Report("capture.core_share_500Hz",
                      Figure(run.core_share, "core", Goal::SpeedAtMost(0.25)));
    }
    if (reporter.wants("capture.loss") || reporter.wants("capture.receive_to_ring_p99") ||
        reporter.wants("capture.loss.ring") || reporter.wants("capture.device_to_ring_p99") ||
        reporter.wants("capture.core_share_1kHz_2x7kHz")) {
      const RigRun run = RecordRig(1000, true, Full() ? 600 : bench::Brief() ? 0.3 : 45, 15);
      std::fprintf(stderr, "of these, dropped by our kernel: %.0f\n", run.kernel_drops);
      reporter.Report("capture.loss",
                      Beside(Figure(run.lost, "samples", Goal::AtMost(0)),
                             "the vendor's C API, 500 Hz, stalls of 20 ms: 40 of 2500 frames; "
                             "LabRecorder at half our rates, no stalls: 0 of 23758 samples",
                             40));
      reporter.Report("capture.loss.ring", Figure(run.ring_lost, "samples", Goal::AtMost(0)));
      reporter.Report("capture.receive_to_ring_p99",
                      Figure(run.ring_p99_ms, "ms", Goal::AtMost(5)));
      reporter.Report("capture.device_to_ring_p99", Figure(run.due_p99_ms, "ms", Goal::AtMost(5)));
      reporter.Report("capture.core_share_1kHz_2x7kHz",
                      Figure(run.core_share, "core", Goal::None()));
    }
    if (reporter.wants("capture.soak.speed") || reporter.wants("capture.soak.lost") ||
        reporter.wants("capture.soak.memory_growth") ||
        reporter.wants("capture.soak.pass_time_ratio")) {
      Folder folder;
      const auto soaked = testing::Soak(folder.Target(),
                                        Full()           ? 8 * 3600
                                        : bench::Brief() ? 60
                                                         : 25 * 60,
                                        25);
      if (!soaked) Fail(soaked.error().message);
      const testing::SoakRun& run = *soaked;
      std::fprintf(stderr, "%s\nsoak: %.2f h of device time at %.1f x\n", run.take.page.c_str(),
                   run.device_s / 3600, run.speed);
      reporter.Report("capture.soak.speed", Figure(run.speed, "x", Goal::AtLeast(20)));
      reporter.Report("capture.soak.lost", Figure(run.lost, "samples", Goal::AtMost(0)));
      reporter.Report("capture.soak.memory_growth",
                      Figure(run.memory_growth_MB, "MB", Goal::AtMost(10)));
      reporter.Report(
          "capture.soak.pass_time_ratio",
          Figure(run.last_p50_s / run.first_p50_s, "last eighth / first", Goal::AtMost(1.2)));
    }
  });
}
