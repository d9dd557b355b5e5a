#include "capture/source/net_ft_source.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <thread>

#include <gmock/gmock.h>

#include "capture/simulator/net_ft_server.h"
#include "capture/simulator/pattern_feed.h"
#include "capture/source/net_ft_config.h"
#include "capture/source/rdt_decoder.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/capture_sink.h"

namespace handhold::capture::net_ft_source_test {
namespace {

using test::CaptureSink;
using test::GapRanges;
using test::WaitUntil;

// 1 kHz: the rules are those of 7 kHz, and a loaded machine keeps up with it, so that every gap is
// an injected one.
PatternOptions Slow() {
  PatternOptions options;
  options.force_rate_hz = 1000.0;
  return options;
}

std::unique_ptr<Source> SourceFor(const NetFtServer& server, bool buffered = false) {
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.rdt_port = server.udp_address().port;
  options.http_port = server.http_address().port;
  options.buffered = buffered;
  return MakeNetFtSource(options);
}

// Looking at a device changes nothing; its rate is asked for when samples are.
TEST(NetFtSource, AProbeLeavesTheDevicesRateAsItIs) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(feed, {});
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.rdt_port = server->udp_address().port;
  options.http_port = server->http_address().port;
  options.rate_hz = 500;
  auto source = MakeNetFtSource(options);
  const auto rate = [&] {
    return DiscoverNetFt(server->http_address(), HostNow() + Duration::Seconds(5)).value().rate_hz;
  };
  const auto streams = source->Probe(Duration::Seconds(5));
  ASSERT_TRUE(streams) << streams.error().message;
  EXPECT_EQ((*streams)[0].rate.hz(), 500) << "what it will be";
  EXPECT_EQ(rate(), 1000);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  EXPECT_TRUE(WaitUntil([&] { return rate() == 500; }));
  source->Stop();
}

/// Every sample is the feed's at the device index (counter + the first sample's index).
void ExpectFaithful(const CaptureSink::Stream& wrench, const PatternFeed& feed,
                    int64_t first_index) {
  std::array<double, 6> truth{};
  for (size_t i = 0; i < wrench.counters.size(); ++i) {
    feed.Wrench(first_index + wrench.counters[i], truth);
    for (int axis = 0; axis < 6; ++axis) {
      ASSERT_NEAR(wrench.samples[i][axis] * 1e-6, truth[axis], 0.51e-6)
          << "sample " << i << " axis " << axis;
    }
  }
}

/// The feed's index of the first received sample: the pattern tells indices apart within 500,
/// arrival time the rest.
int64_t FirstIndex(const CaptureSink::Stream& wrench, const NetFtServer& server) {
  const int64_t about =
      server.clock().IndexAt(Timestamp::FromNanoseconds(wrench.pairs.front().host_ns));
  const auto phase =
      static_cast<int64_t>(std::llround((wrench.samples.front()[0] * 1e-6 - 1.0) * 500.0));
  int64_t index = about - ((about - phase) % 500 + 500) % 500;  // at or before arrival, within half
                                                                // a second
  return index;
}

TEST(NetFtSource, ProbesUnitsRateAndCalibration) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(
      feed,
      {.counts_per_N = 100.0, .counts_per_Nm = 10.0, .force_unit = "lbf", .torque_unit = "lbf-in"});
  auto source = SourceFor(*server);
  const auto streams = source->Probe(Duration::Seconds(20));
  ASSERT_TRUE(streams) << streams.error().message;
  ASSERT_EQ(streams->size(), 2u);
  EXPECT_EQ((*streams)[0].name, "plate/wrench");
  EXPECT_EQ((*streams)[0].rate, (recording::Rate{1000, 1}));
  EXPECT_EQ((*streams)[0].channel_count(), 6);
  const auto sensors = source->ForceSensors();
  ASSERT_EQ(sensors.size(), 1u);
  EXPECT_NEAR(sensors[0].calibration(0, 0), 0.044482216152605, 1e-15);
  EXPECT_NEAR(sensors[0].calibration(5, 5), 0.01129848290276167, 1e-15);
  EXPECT_EQ(sensors[0].serial, "FT00001");
}

TEST(NetFtSource, ProbeNamesTheDeviceAndTheAddress) {
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.http_port = 1;
  const auto streams = MakeNetFtSource(options)->Probe(Duration::Milliseconds(500));
  ASSERT_FALSE(streams);
  EXPECT_THAT(streams.error().message,
              ::testing::AllOf(::testing::HasSubstr("plate"), ::testing::HasSubstr("127.0.0.1:1")));
}

TEST(NetFtSource, DeliversEverySampleOnceInOrder) {
  const PatternFeed feed(Slow());
  for (const bool buffered : {false, true}) {
    auto server = *NetFtServer::Start(feed, {});
    auto source = SourceFor(*server, buffered);
    CaptureSink sink;
    ASSERT_TRUE(source->Start(&sink));
    ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 1500; }));
    source->Stop();
    const auto streams = sink.streams();
    const auto& wrench = streams[0];
    ASSERT_TRUE(wrench.gaps.empty()) << wrench.gaps[0].count;
    for (size_t i = 0; i < wrench.counters.size(); ++i)
      ASSERT_EQ(wrench.counters[i], static_cast<int64_t>(i));
    ExpectFaithful(wrench, feed, FirstIndex(wrench, *server));
    EXPECT_EQ(streams[1].counters, wrench.counters);
    EXPECT_GT(source->Health().receive_buffer_bytes, 0);
    EXPECT_EQ(wrench.pairs[1].counter, buffered ? 10 : 1);
    EXPECT_EQ(wrench.pairs[1].latency_ns, buffered ? 9'000'000 : 0);
  }
}

/// Does not come back for 300 ms, once: our kernel's buffer fills.
struct StallingSink : CaptureSink {
  void OnSamples(const SampleView& view) noexcept override {
    CaptureSink::OnSamples(view);
    if (stall.exchange(false)) usleep(300'000);
  }
  std::atomic<bool> stall{false};
};

TEST(NetFtSource, WhatOurKernelDroppedIsCountedApartAndExactly) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(feed, {});
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.rdt_port = server->udp_address().port;
  options.http_port = server->http_address().port;
  options.receive_buffer_bytes = 4096;
  auto source = MakeNetFtSource(options);
  StallingSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 100; }));
  sink.stall = true;
  ASSERT_TRUE(WaitUntil([&] { return source->Health().kernel_drops > 0; }));
  const size_t then = sink.Count("plate/wrench");
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= then + 100; }));
  source->Stop();
  const auto streams = sink.streams();
  int64_t missing = 0;
  for (const auto& gap : streams[0].gaps) {
    EXPECT_EQ(gap.cause, recording::GapCause::kNetworkLoss);
    missing += gap.count;
  }
  EXPECT_GE(missing, 100);
  EXPECT_EQ(missing, source->Health().kernel_drops);
  EXPECT_EQ(missing, source->Health().lost_samples);
  ExpectFaithful(streams[0], feed, FirstIndex(streams[0], *server));
}

TEST(NetFtSource, TheSecondSourceAtOneSensorIsRefusedAndTheFirstLosesNothing) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(feed, {});
  auto first = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(first->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 100; }));
  auto second = SourceFor(*server);
  const auto refused = second->Probe(Duration::Seconds(20));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("serves one at a time"));
  const size_t then = sink.Count("plate/wrench");
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= then + 500; }));
  first->Stop();
  EXPECT_TRUE(sink.streams()[0].gaps.empty());
  EXPECT_TRUE(second->Probe(Duration::Seconds(20))) << "free after Stop";
}

TEST(NetFtSource, BiasTakesTheLoadAtTheStartAsZero) {
  const PatternFeed feed(Slow());  // no channel is below 1 N
  for (const bool bias : {false, true}) {
    auto server = *NetFtServer::Start(feed, {});
    NetFtSourceOptions options;
    options.name = "plate";
    options.host = "127.0.0.1";
    options.rdt_port = server->udp_address().port;
    options.http_port = server->http_address().port;
    options.bias_on_start = bias;
    auto source = MakeNetFtSource(options);
    CaptureSink sink;
    ASSERT_TRUE(source->Start(&sink));
    ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 1200; }));
    source->Stop();
    const auto streams = sink.streams();
    const auto& wrench = streams[0];
    double least = 1e9;
    for (const auto& sample : wrench.samples) least = std::min(least, sample[0] * 1e-6);
    // The pattern swings by 1 N: between -1 and 1 N about wherever the bias met it.
    if (bias) {
      EXPECT_LT(least, 0.01);
      EXPECT_GT(least, -1.01);
    } else {
      EXPECT_GE(least, 0.99);
    }
  }
}

/// Between a source and its device: passes everything on but requests for a zero.
class DeafToZero {
 public:
  explicit DeafToZero(const wire::Address& device) {
    (void)device_.Connect(device).has_value();
    thread_ = std::thread([this] { Run(); });
  }
  ~DeafToZero() {
    stop_ = true;
    thread_.join();
  }
  uint16_t port() const { return source_.address().port; }
  int dropped() const { return dropped_; }

 private:
  void Run() {
    std::array<uint8_t, 4096> buffer{};
    wire::Datagram datagram;
    wire::Address from;
    const auto soon = [] { return HostNow() + Duration::Milliseconds(1); };
    while (!stop_) {
      while (source_.Receive(buffer, soon(), &datagram) == wire::IoStatus::kOk) {
        from = datagram.from;
        if (buffer[3] == wire::rdt::kBias) {
          ++dropped_;
        } else {
          device_.Send(std::span(buffer).first(datagram.bytes));
        }
      }
      // A few: a stream without pauses must not keep requests from the device.
      for (int k = 0; k < 5; ++k) {
        if (device_.Receive(buffer, soon(), &datagram) == wire::IoStatus::kOk)
          source_.SendTo(from, std::span(buffer).first(datagram.bytes));
      }
    }
  }
  wire::UdpSocket source_ = *wire::UdpSocket::Bind({0x7f000001, 0});
  wire::UdpSocket device_ = *wire::UdpSocket::Bind({0x7f000001, 0});
  std::atomic<bool> stop_{false};
  std::atomic<int> dropped_{0};
  std::thread thread_;
};

TEST(NetFtSource, AZeroThatWasNotTakenIsSaidAndAskedForAtEveryStart) {
  const PatternFeed feed(Slow());
  for (const bool deaf : {false, true}) {
    auto server = *NetFtServer::Start(feed, {});
    DeafToZero relay(server->udp_address());
    NetFtSourceOptions options;
    options.name = "plate";
    options.host = "127.0.0.1";
    options.rdt_port = deaf ? relay.port() : server->udp_address().port;
    options.http_port = server->http_address().port;
    options.bias_on_start = true;
    auto source = MakeNetFtSource(options);
    for (int start = 1; start <= 2; ++start) {
      CaptureSink sink;
      ASSERT_TRUE(source->Start(&sink));
      ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 200; }));
      source->Stop();
      bool said = false;
      for (const auto& state : sink.states())
        said = said || state.text.find("did not take the zero") != std::string::npos;
      EXPECT_EQ(said, deaf) << "start " << start;
      EXPECT_GE(relay.dropped(), deaf ? start : 0);
    }
  }
}

// Something else at its port, or a device of another make, that sends without end: it does not
// stream, is asked again and again, and is heard when it comes to its senses.
TEST(NetFtSource, DatagramsThatAreNoRecordsAreNoStream) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(feed, {});
  wire::UdpSocket device = *wire::UdpSocket::Bind({0x7f000001, 0});
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.rdt_port = device.address().port;
  options.http_port = server->http_address().port;
  const auto source = MakeNetFtSource(options);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  std::atomic<bool> stop{false}, sane{false};
  std::atomic<int> requests{0};
  std::thread peer([&] {
    std::array<uint8_t, 64> buffer{};
    wire::Datagram asked, datagram;
    const std::array<uint8_t, 17> garbage{1, 2, 3};
    for (uint32_t n = 1; !stop; ++n) {
      if (device.Receive(buffer, HostNow() + Duration::Milliseconds(2), &datagram) ==
          wire::IoStatus::kOk) {
        asked = datagram;
        ++requests;
      }
      if (requests == 0) continue;
      std::array<uint8_t, wire::rdt::kRecordBytes> record{};
      for (int k = 0; k < 4; ++k)
        record[k] = record[4 + k] = static_cast<uint8_t>(n >> (24 - 8 * k));
      const std::span<const uint8_t> bytes =
          sane ? std::span<const uint8_t>(record) : std::span<const uint8_t>(garbage);
      device.SendTo(asked.from, bytes);
    }
  });
  EXPECT_TRUE(WaitUntil([&] { return requests >= 3; })) << "it is not asked again";
  EXPECT_FALSE(source->Health().connected);
  EXPECT_GT(source->Health().bad_packets, 0);
  std::string said;
  for (const auto& state : sink.states()) said += state.text + "\n";
  EXPECT_THAT(said, ::testing::AllOf(::testing::HasSubstr("no RDT records"),
                                     ::testing::Not(::testing::HasSubstr("streams"))));
  sane = true;
  EXPECT_TRUE(WaitUntil([&] { return source->Health().connected; }));
  stop = true;
  peer.join();
  source->Stop();
}

TEST(NetFtSource, ReportsInjectedGapsExactlyAndAHoldAsNone) {
  const PatternFeed feed(Slow());
  const std::vector<Fault> faults = {
      {.kind = FaultKind::kLose, .at = Duration::FromSeconds(1.0), .length = {}, .count = 3},
      {.kind = FaultKind::kHold,
       .at = Duration::FromSeconds(1.2),
       .length = Duration::Milliseconds(200)},
      {.kind = FaultKind::kStall,
       .at = Duration::FromSeconds(1.6),
       .length = Duration::Milliseconds(300)},
      {.kind = FaultKind::kDuplicate, .at = Duration::FromSeconds(2.0), .length = {}, .count = 5},
      {.kind = FaultKind::kSaturate,
       .at = Duration::FromSeconds(2.1),
       .length = Duration::Milliseconds(50)},
  };
  // Sample 0 lies ahead, so that the source is there when the script begins.
  auto server = *NetFtServer::Start(
      feed, {.host_start = HostNow() + Duration::Milliseconds(300), .faults = faults});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("plate/wrench") >= 2400; }));
  source->Stop();
  const auto wrench = sink.streams()[0];
  const int64_t first = FirstIndex(wrench, *server);
  ASSERT_LT(first, 1000) << "the source came too late to see the faults";
  std::vector<std::pair<int64_t, int64_t>> injected;
  for (const IndexRange& r : server->faults().MissingRanges())
    injected.emplace_back(r.begin - first, r.end - first);
  EXPECT_THAT(GapRanges(wrench.gaps), ::testing::ElementsAreArray(injected));
  ExpectFaithful(wrench, feed, first);
  const SourceHealth health = source->Health();
  EXPECT_EQ(health.lost_samples, 303);
  EXPECT_EQ(health.duplicates, 5);
  EXPECT_EQ(health.saturated_samples, 50);
  EXPECT_EQ(health.clock_resets, 0);
}

// Longer than the silence after which the driver asks again, and than a fresh device has lived.
TEST(NetFtSource, ABacklogAfterALongHoldIsNoGapNoRestartAndNoTimeShift) {
  const PatternFeed feed(Slow());
  const std::vector<Fault> faults = {
      {.kind = FaultKind::kHold, .at = Duration::FromSeconds(0.6), .length = Duration::Seconds(2)}};
  auto server = *NetFtServer::Start(
      feed, {.host_start = HostNow() + Duration::Milliseconds(300), .faults = faults});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("plate/wrench") >= 3500; }));
  source->Stop();
  const auto wrench = sink.streams()[0];
  EXPECT_TRUE(wrench.gaps.empty());
  EXPECT_TRUE(wrench.resets.empty());
  for (size_t i = 0; i < wrench.counters.size(); ++i)
    ASSERT_EQ(wrench.counters[i], static_cast<int64_t>(i));
  ExpectFaithful(wrench, feed, FirstIndex(wrench, *server));
  EXPECT_EQ(source->Health().clock_resets, 0);
  EXPECT_EQ(source->Health().lost_samples, 0);
}

TEST(NetFtSource, RandomLossIsReportedToTheSample) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(
      feed, {.link = {.seed = 11, .loss_fraction = 0.02, .duplicate_fraction = 0.02}});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 2000; }));
  source->Stop();
  const auto wrench = sink.streams()[0];
  ASSERT_FALSE(wrench.gaps.empty());
  // Received and missing counters together are all counters, once.
  std::vector<int64_t> all = wrench.counters;
  for (const auto& gap : wrench.gaps) {
    for (int64_t k = 0; k < gap.count; ++k) all.push_back(gap.first_missing_counter + k);
  }
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], static_cast<int64_t>(i));
  ExpectFaithful(wrench, feed, FirstIndex(wrench, *server));
}

TEST(NetFtSource, WrapsThe32BitSequences) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(
      feed, {.first_ft_sequence = 0xffffff00, .first_rdt_sequence = 0xffffff80});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") >= 600; }));
  source->Stop();
  const auto wrench = sink.streams()[0];
  EXPECT_TRUE(wrench.gaps.empty());
  EXPECT_EQ(wrench.counters.back(), static_cast<int64_t>(wrench.counters.size()) - 1);
}

TEST(NetFtSource, ComesBackAfterARestartWithAGapInItsPlace) {
  const PatternFeed feed(Slow());
  const std::vector<Fault> faults = {{.kind = FaultKind::kRestart,
                                      .at = Duration::FromSeconds(1.0),
                                      .length = Duration::Milliseconds(700)}};
  auto server = *NetFtServer::Start(
      feed, {.host_start = HostNow() + Duration::Milliseconds(300), .faults = faults});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil(
      [&] { return source->Health().reconnects == 1 && sink.LastCounter("plate/wrench") > 2000; }));
  source->Stop();
  const auto wrench = sink.streams()[0];
  ASSERT_EQ(wrench.gaps.size(), 1u);
  EXPECT_EQ(wrench.gaps[0].cause, recording::GapCause::kDisconnected);
  ASSERT_EQ(wrench.resets.size(), 1u);
  EXPECT_EQ(wrench.resets[0], wrench.gaps[0].first_missing_counter + wrench.gaps[0].count);
  EXPECT_GE(wrench.gaps[0].count, 650);
  EXPECT_EQ(source->Health().clock_resets, 1);
  // No time shift: before and after, counter and truth agree, to the lateness of the packet that
  // placed the gap.
  const int64_t first = FirstIndex(wrench, *server);
  EXPECT_EQ(wrench.gaps[0].first_missing_counter, 1000 - first);
  const auto after =
      static_cast<int64_t>(std::llround((wrench.samples.back()[0] * 1e-6 - 1.0) * 500.0));
  const int64_t shift = ((wrench.counters.back() + first - after) % 500 + 750) % 500 - 250;
  EXPECT_LE(std::abs(shift), 100) << "samples of 1 ms; a loaded machine delivers late";
}

// What a session was told is not what the next one knows.
TEST(NetFtSource, StartedAgainWithAnotherSinkItAnnouncesAgain) {
  const PatternFeed feed(Slow());
  auto server = *NetFtServer::Start(feed, {});
  auto source = SourceFor(*server);
  for (int session = 0; session < 3; ++session) {
    CaptureSink sink;
    ASSERT_TRUE(source->Start(&sink));
    ASSERT_TRUE(WaitUntil([&] { return sink.Count("plate/wrench") > 100; }));
    source->Stop();
    EXPECT_FALSE(sink.states().empty());
    EXPECT_EQ(source->Health().clock_resets, 0);
  }
}

/// Counts what the source's thread allocates between the first and the last sample.
class CountingSink : public Sink {
 public:
  int OnStreams(std::span<const recording::StreamInfo>) override { return 0; }
  void OnSamples(const SampleView& view) noexcept override {
    const size_t now = testing::AllocationsOfThisThread();
    if (samples_ > 10) allocations_ += static_cast<int64_t>(now - last_);
    last_ = now;
    samples_ += view.count;
  }
  void OnGap(int, int64_t, int64_t, recording::GapCause) noexcept override { ++gaps_; }
  void OnState(bool, std::string_view text) noexcept override {
    if (text.find("did not take the zero") != std::string_view::npos) deaf_ = true;
  }
  std::atomic<bool> deaf_{false};
  std::atomic<int64_t> samples_{0}, allocations_{0}, gaps_{0};

 private:
  size_t last_ = 0;
};

TEST(NetFtSource, AllocatesNothingBetweenSamples) {
  const size_t before = testing::AllocationsOfThisThread();
  ::operator delete(::operator new(8));  // called by name: not for the optimiser to elide
  ASSERT_GT(testing::AllocationsOfThisThread(), before) << "the counter does not count";
  const PatternFeed feed(Slow());
  auto server =
      *NetFtServer::Start(feed, {.link = {.loss_fraction = 0.05, .duplicate_fraction = 0.05}});
  auto source = SourceFor(*server);
  CountingSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.samples_ >= 2000 && sink.gaps_ > 0; }));
  source->Stop();
  EXPECT_EQ(sink.allocations_, 0);

  // Nor when it says of a zero that it was not taken, some records after it was asked for.
  DeafToZero relay(server->udp_address());
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.rdt_port = relay.port();
  options.http_port = server->http_address().port;
  options.bias_on_start = true;
  auto biased = MakeNetFtSource(options);
  CountingSink counting;
  ASSERT_TRUE(biased->Start(&counting));
  ASSERT_TRUE(WaitUntil([&] { return counting.samples_ >= 500; }));
  biased->Stop();
  EXPECT_TRUE(counting.deaf_);
  EXPECT_EQ(counting.allocations_, 0);
}

}  // namespace
}  // namespace handhold::capture::net_ft_source_test
