// From the decoded frame to the ring nothing allocates: both drivers, over loopback, into the
// recorder's own sink. Of the Vicon SDK's getters nothing is claimed.
#include <atomic>

#include <gmock/gmock.h>

#include "capture/session/ring_sink.h"
#include "capture/simulator/pattern_feed.h"
#include "capture/simulator/simulator_host.h"
#include "capture/source/net_ft_source.h"
#include "capture/source/vicon_source.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/capture_sink.h"

namespace handhold::capture::sample_path_test {
namespace {

using test::WaitUntil;
using testing::AllocationsOfThisThread;

/// Passes everything to a ring and counts what the source's thread allocates within a frame: from
/// its first stream's call to the return of its last one's; and, for `whole`, between frames too.
class CountingSink : public Sink {
 public:
  explicit CountingSink(bool whole) : whole_(whole), ring_(Duration::Milliseconds(300)) {}
  int OnStreams(std::span<const recording::StreamInfo> streams) override {
    return ring_.OnStreams(streams);
  }
  void OnSamples(const SampleView& view) noexcept override {
    const size_t entered = AllocationsOfThisThread();
    const bool new_frame = view.clock.device_ns != frame_ns_;
    if (frames_ > 2 && (whole_ || !new_frame)) counted_ += static_cast<int64_t>(entered - last_);
    if (new_frame) ++frames_;
    frame_ns_ = view.clock.device_ns;
    ring_.OnSamples(view);
    last_ = AllocationsOfThisThread();
    counted_ += static_cast<int64_t>(last_ - entered);
  }
  void OnGap(int stream, int64_t first, int64_t count,
             recording::GapCause cause) noexcept override {
    ring_.OnGap(stream, first, count, cause);
    ++gaps_;
  }
  void OnClockReset(int stream, int64_t first) noexcept override {
    ring_.OnClockReset(stream, first);
  }
  void OnState(bool connected, std::string_view text) noexcept override {
    ring_.OnState(connected, text);
  }
  const bool whole_;
  RingSink ring_;
  std::atomic<int64_t> frames_{0}, counted_{0}, gaps_{0};

 private:
  int64_t frame_ns_ = -1;
  size_t last_ = 0;
};

PatternOptions Rig() {
  PatternOptions options;
  options.marker_rate_hz = 100;
  options.marker_count = 30;
  options.force_rate_hz = 1000;
  options.devices = {{.name = "Plate", .force_plate = true, .samples_per_frame = 10}};
  return options;
}

TEST(SamplePathTest, ViconAllocatesNothingAfterItsGetters) {
  if (ViconSdkVersion().empty())
    GTEST_SKIP() << "built without the Vicon SDK (tools/setup installs it)";
  const PatternFeed feed(Rig());
  SimulatorHostOptions rig;
  rig.vicon.faults = *ParseFaultScript("at 2 s lose 2\nat 3 s stall 200 ms");
  auto host = *SimulatorHost::Start(feed, rig);
  ViconSourceOptions options;
  options.name = "vicon";
  options.host = host->addresses().vicon.ToString();
  auto source = *MakeViconSource(options);
  CountingSink sink(false);
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.frames_ >= 300 && sink.gaps_ > 0; }));
  source->Stop();
  EXPECT_EQ(sink.counted_, 0);
}

TEST(SamplePathTest, NetFtAllocatesNothingFromTheDatagramOn) {
  const PatternFeed feed(Rig());
  SimulatorHostOptions rig;
  rig.net_ft.faults = *ParseFaultScript("at 1 s lose 2");
  auto host = *SimulatorHost::Start(feed, rig);
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.rdt_port = host->addresses().net_ft_rdt.port;
  options.http_port = host->addresses().net_ft_http.port;
  auto source = MakeNetFtSource(options);
  CountingSink sink(true);
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.frames_ >= 1500 && sink.gaps_ > 0; }));
  source->Stop();
  EXPECT_EQ(sink.counted_, 0);
}

}  // namespace
}  // namespace handhold::capture::sample_path_test
