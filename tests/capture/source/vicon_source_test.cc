// The official SDK, behind our driver, reads our server over loopback.
#include "capture/source/vicon_source.h"

#include <atomic>
#include <cmath>
#include <map>

#include <gmock/gmock.h>

#include "capture/simulator/pattern_feed.h"
#include "capture/simulator/vicon_server.h"
#include "capture/wire/socket.h"
#include "tests/support/capture_sink.h"

namespace handhold::capture::vicon_source_test {
namespace {

using test::CaptureSink;
using test::GapRanges;
using test::WaitUntil;
using ::testing::HasSubstr;

// 100 Hz: the rules are those of 500 Hz, and a loaded machine under ASan keeps up with it.
PatternOptions Rig() {
  PatternOptions options;
  options.marker_rate_hz = 100.0;
  options.marker_count = 9;
  options.unlabelled_count = 2;
  options.devices = {
      {.name = "Plate", .force_plate = true, .samples_per_frame = 10},
      {.name = "EMG", .channel_names = {"A", "B", "C"}, .unit = "volt", .samples_per_frame = 4},
  };
  return options;
}

class Vicon : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ViconSdkVersion().empty())
      GTEST_SKIP() << "built without the Vicon SDK (tools/setup installs it)";
  }
  std::unique_ptr<Source> SourceFor(const ViconServer& server) {
    ViconSourceOptions options;
    options.name = "vicon";
    options.host = server.host();
    return *MakeViconSource(options);
  }
  /// A server whose frame 0 lies `ahead` in the future.
  static std::unique_ptr<ViconServer> Serve(const SimulatorFeed& feed, std::vector<Fault> faults,
                                            Duration ahead = Duration::Milliseconds(700)) {
    ViconServerOptions options;
    options.host_start = HostNow() + ahead;
    options.faults = std::move(faults);
    return *ViconServer::Start(feed, options);
  }
};

std::map<std::string, CaptureSink::Stream> ByName(const CaptureSink& sink) {
  std::map<std::string, CaptureSink::Stream> out;
  for (const auto& stream : sink.streams()) out.emplace(stream.info.name, stream);
  return out;
}

/// Every marker of every frame is the feed's, to the rounding of millimetres; counter is the feed's
/// frame plus `shift`.
void ExpectFaithful(const CaptureSink::Stream& markers, const PatternFeed& feed,
                    int64_t shift = 0) {
  std::vector<double> truth(markers.info.channels.size());
  for (size_t i = 0; i < markers.counters.size(); ++i) {
    feed.Markers(markers.counters[i] - shift, truth);
    for (size_t c = 0; c < truth.size(); ++c) {
      ASSERT_NEAR(markers.samples[i][c], truth[c], 1e-12)
          << "frame " << markers.counters[i] << " channel " << c;
    }
  }
}

TEST_F(Vicon, TheOfficialSdkIsThePinnedOne) { EXPECT_EQ(ViconSdkVersion(), "1.11.0"); }

TEST_F(Vicon, ProbeLearnsTheStreams) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {}, Duration());
  auto source = SourceFor(*server);
  const auto streams = source->Probe(Duration::Seconds(20));
  ASSERT_TRUE(streams) << streams.error().message;
  std::vector<std::string> names;
  for (const auto& s : *streams) names.push_back(s.name);
  EXPECT_THAT(names, ::testing::ElementsAre("vicon/markers", "vicon/trajectories", "vicon/points",
                                            "vicon/Plate", "vicon/Plate.cop", "vicon/EMG",
                                            "vicon/timecode"));
  EXPECT_EQ((*streams)[0].rate, (recording::Rate{100, 1}));
  EXPECT_EQ((*streams)[3].rate, (recording::Rate{1000, 1}));
  EXPECT_EQ((*streams)[3].kind, recording::StreamKind::kForceTorque);
  EXPECT_EQ((*streams)[5].channels[1].unit, "V");
  ASSERT_EQ(source->ForceSensors().size(), 1u);
  EXPECT_EQ(source->ForceSensors()[0].name, "Plate");
}

/// Says another frame rate when told to; the server goes on at the pace it began with.
class RateFeed : public PatternFeed {
 public:
  using PatternFeed::PatternFeed;
  double marker_rate_hz() const override { return doubled_ ? 200.0 : 100.0; }
  void Double() { doubled_ = true; }

 private:
  std::atomic<bool> doubled_{false};
};

TEST_F(Vicon, AFrameRateThatChangesWithinAConnectionIsAnotherLayout) {
  RateFeed feed(Rig());
  auto server = Serve(feed, {}, Duration());
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") > 10; }));
  const int64_t connections = server->stats().connections;
  feed.Double();
  const auto rate_of = [&](const std::string& name) {
    recording::Rate rate;
    for (const auto& stream : sink.streams())
      if (stream.info.name == name) rate = stream.info.rate;  // the last that was announced
    return rate;
  };
  EXPECT_TRUE(WaitUntil([&] { return rate_of("vicon/markers") == recording::Rate{200, 1}; }));
  EXPECT_EQ(rate_of("vicon/Plate"), (recording::Rate{2000, 1}));
  source->Stop();
  EXPECT_EQ(server->stats().connections, connections) << "the connection stayed";
}

// By the vendor's library the second of a name cannot be reached: it is never mistaken for the
// first.
TEST_F(Vicon, TwoDevicesOfOneNameAreOneStreamAndAWarningThatNamesThem) {
  PatternOptions options = Rig();
  options.devices = {
      {.name = "EMG", .channel_names = {"A"}, .unit = "volt", .samples_per_frame = 4},
      {.name = "EMG", .channel_names = {"A"}, .unit = "volt", .samples_per_frame = 4}};
  const PatternFeed feed(options);
  auto server = Serve(feed, {}, Duration());
  auto source = SourceFor(*server);
  const auto streams = source->Probe(Duration::Seconds(20));
  ASSERT_TRUE(streams) << streams.error().message;
  EXPECT_EQ(std::count_if(streams->begin(), streams->end(),
                          [](const auto& stream) { return stream.name == "vicon/EMG"; }),
            1);
  ASSERT_EQ(source->Warnings().size(), 1u);
  EXPECT_THAT(source->Warnings()[0],
              ::testing::AllOf(HasSubstr("more than one device 'EMG'"), HasSubstr("rename")));
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("vicon/EMG") >= 40; }));
  source->Stop();
  const auto emg = ByName(sink).at("vicon/EMG");
  const auto truth = [&](int64_t sample) { return static_cast<double>(sample * 7 % 1000) / 100; };
  const int64_t first = emg.counters.front();
  // The pattern counts over the whole run: found once, then every sample follows.
  int64_t at = 0;
  while (at < 1000 && std::abs(emg.samples[0][0] - truth(at)) > 1e-3) ++at;
  ASSERT_LT(at, 1000);
  for (size_t i = 0; i < emg.counters.size(); ++i)
    ASSERT_NEAR(emg.samples[i][0], truth(at + emg.counters[i] - first), 1e-5) << i;
}

/// A plate that is silent for the first frames, then as the pattern has it.
class LatePlate : public PatternFeed {
 public:
  LatePlate(PatternOptions options, int64_t begins)
      : PatternFeed(std::move(options)), begins_(begins) {}
  void Analog(int device, int64_t frame, std::span<double> values) const override {
    if (device == 0 && frame < begins_) return SimulatorFeed::Analog(device, frame, values);
    PatternFeed::Analog(device, frame, values);
  }

 private:
  const int64_t begins_;
};

TEST_F(Vicon, ADeviceThatIsSilentAtFirstIsRecordedFromItsFirstSampleOn) {
  const LatePlate feed(Rig(), 150);
  auto server = Serve(feed, {});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("vicon/Plate") >= 1700; }));
  source->Stop();
  const auto plate = ByName(sink).at("vicon/Plate");
  EXPECT_EQ(plate.counters.front(), 1500);
  EXPECT_TRUE(plate.gaps.empty());
}

TEST_F(Vicon, TwoSubjectsOfOneNameAreOneAndAWarningAndNoneIsNoStream) {
  PatternOptions options = Rig();
  options.subjects = {{"Hand", {"A", "B", "A"}}, {"Hand", {"C"}}};
  const PatternFeed feed(options);
  auto server = Serve(feed, {}, Duration());
  auto source = SourceFor(*server);
  const auto streams = source->Probe(Duration::Seconds(20));
  ASSERT_TRUE(streams) << streams.error().message;
  EXPECT_THAT((*streams)[0].ItemNames(), ::testing::ElementsAre("A", "B"));
  ASSERT_EQ(source->Warnings().size(), 2u);
  EXPECT_THAT(source->Warnings()[0], HasSubstr("marker 'Hand:A'"));
  EXPECT_THAT(source->Warnings()[1], HasSubstr("subject 'Hand'"));
  CaptureSink sink;  // and frames of that layout are its frames: no layout is read anew for each
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") > 20; }));
  source->Stop();
  const auto told = sink.streams();
  EXPECT_EQ(std::count_if(told.begin(), told.end(),
                          [](const auto& s) { return s.info.name == "vicon/markers"; }),
            1);
}

// What a session was told is not what the next one knows.
TEST_F(Vicon, StartedAgainWithAnotherSinkItAnnouncesAgain) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {});
  auto source = SourceFor(*server);
  for (int session = 0; session < 3; ++session) {
    CaptureSink sink;
    ASSERT_TRUE(source->Start(&sink));
    ASSERT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") > 5; }));
    source->Stop();
    EXPECT_FALSE(sink.states().empty());
    EXPECT_TRUE(ByName(sink).at("vicon/markers").gaps.empty());
  }
}

TEST_F(Vicon, StopsAtOnceWhileAServerIsAskedForItsFirstFrame) {
  auto listener = wire::TcpListener::Listen(wire::Address::Loopback(0));
  ASSERT_TRUE(listener);  // the kernel accepts; nobody ever speaks
  ViconSourceOptions options;
  options.name = "vicon";
  options.host = listener->address().ToString();
  auto source = *MakeViconSource(options);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  wire::SleepUntil(HostNow() + Duration::Milliseconds(600));
  const Timestamp begin = HostNow();
  source->Stop();
  EXPECT_LT((HostNow() - begin).seconds(), 0.6) << "the vendor's wait of 1 s is interrupted";
  const Timestamp asked = HostNow();
  ASSERT_FALSE(source->Probe(Duration::Seconds(1)));
  EXPECT_LT((HostNow() - asked).seconds(), 3.5);
}

TEST_F(Vicon, ProbeOfNobodySaysWhereAndWhatToDo) {
  ViconSourceOptions options;
  options.name = "vicon";
  options.host = "127.0.0.1:1";
  const auto streams = (*MakeViconSource(options))->Probe(Duration::Milliseconds(500));
  ASSERT_FALSE(streams);
  EXPECT_THAT(streams.error().message,
              ::testing::AllOf(HasSubstr("vicon"), HasSubstr("127.0.0.1:1"), HasSubstr("801")));
}

TEST_F(Vicon, RefusesALeftHandedMapping) {
  ViconSourceOptions options;
  options.name = "vicon";
  options.y = ViconAxis::kRight;
  EXPECT_THAT(MakeViconSource(options).error().message, HasSubstr("right-handed"));
}

TEST_F(Vicon, DeliversEverythingAsTheServerSentIt) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") >= 150; }));
  source->Stop();
  auto streams = ByName(sink);
  ASSERT_EQ(streams.size(), 7u);
  const auto& markers = streams["vicon/markers"];
  EXPECT_TRUE(markers.gaps.empty());
  ExpectFaithful(markers, feed);
  EXPECT_EQ(markers.pairs[0].latency_ns, 2'000'000)
      << "0.0015 s + 0.0005 s; the ping's share comes after 20 pings";
  EXPECT_EQ(markers.pairs[0].device_ns, markers.counters[0] * 10'000'000);
  for (size_t i = 0; i < markers.counters.size(); ++i) {
    const int64_t f = markers.counters[i];
    for (int m = 0; m < 9; ++m) EXPECT_EQ(streams["vicon/trajectories"].samples[i][m], m + 1);
    const auto& points = streams["vicon/points"].samples[i];
    ASSERT_EQ(points.size(), 8u);
    EXPECT_NEAR(points[0], 0.5, 1e-12);
    EXPECT_NEAR(points[6], 1e-5 * static_cast<double>(f), 1e-12);
    EXPECT_EQ(points[7], 5001);
    const auto& timecode = streams["vicon/timecode"].samples[i];
    EXPECT_THAT(timecode, ::testing::ElementsAre(0, 0, f / 100, f / 4 % 25, f % 4,
                                                 1 /* PAL in the SDK's words */));
  }
  const auto analog = [&](int device, int c, int64_t i) {
    return static_cast<double>((i * 7 + c * 13 + device * 29) % 1000) / 100.0;
  };
  const auto& plate = streams["vicon/Plate"];
  ASSERT_EQ(plate.counters.size(), 10 * markers.counters.size());
  ASSERT_EQ(plate.counters[0], 10 * markers.counters[0]);
  for (size_t k = 0; k < plate.counters.size(); ++k) {
    for (int c = 0; c < 6; ++c)
      ASSERT_NEAR(plate.samples[k][c], analog(0, c, plate.counters[k]), 1e-5) << k;
  }
  const auto& emg = streams["vicon/EMG"];
  for (size_t k = 0; k < emg.counters.size(); ++k) {
    for (int c = 0; c < 3; ++c)
      ASSERT_NEAR(emg.samples[k][c], analog(1, c, emg.counters[k]), 1e-5) << k;
  }
  EXPECT_EQ(emg.pairs[0].device_ns, markers.pairs[0].device_ns) << "one device clock";
}

TEST_F(Vicon, MapsAxes) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {});
  ViconSourceOptions options;
  options.name = "vicon";
  options.host = server->host();
  options.x = ViconAxis::kLeft;
  options.y = ViconAxis::kBackward;
  auto source = *MakeViconSource(options);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") >= 5; }));
  source->Stop();
  const auto markers = sink.streams()[0];
  std::vector<double> truth(27);
  feed.Markers(markers.counters[0], truth);
  // Our x is Vicon's y, our y is minus Vicon's x.
  EXPECT_NEAR(markers.samples[0][3], truth[4], 1e-12);
  EXPECT_NEAR(markers.samples[0][4], -truth[3], 1e-12);
  EXPECT_NEAR(markers.samples[0][5], truth[5], 1e-12);
}

TEST_F(Vicon, ASkippingStallIsAGapExactlyAndAHoldIsNone) {
  const PatternFeed feed(Rig());
  auto server = Serve(
      feed,
      {{.kind = FaultKind::kStall,
        .at = Duration::FromSeconds(0.5),
        .length = Duration::Milliseconds(300)},
       {.kind = FaultKind::kHold,
        .at = Duration::FromSeconds(1.2),
        .length = Duration::Milliseconds(200)},
       {.kind = FaultKind::kLose, .at = Duration::FromSeconds(1.6), .length = {}, .count = 3}});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("vicon/markers") >= 180; }));
  source->Stop();
  auto streams = ByName(sink);
  const auto& markers = streams["vicon/markers"];
  ASSERT_LT(markers.counters[0], 50) << "the source came too late to see the faults";
  EXPECT_THAT(GapRanges(markers.gaps),
              ::testing::ElementsAre(std::pair(50, 80), std::pair(160, 163)));
  EXPECT_THAT(GapRanges(streams["vicon/Plate"].gaps),
              ::testing::ElementsAre(std::pair(500, 800), std::pair(1600, 1630)));
  ExpectFaithful(markers, feed);
  EXPECT_EQ(source->Health().lost_samples, 33);
  EXPECT_EQ(source->Health().clock_resets, 0);
}

TEST_F(Vicon, OccludedIsNaNGhostsAreUnlabelledAndASwapCarriesItsTrajectories) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {{.kind = FaultKind::kOcclude,
                              .at = Duration::FromSeconds(0.3),
                              .length = Duration::Milliseconds(80),
                              .first = 4},
                             {.kind = FaultKind::kGhost,
                              .at = Duration::FromSeconds(0.5),
                              .length = Duration::Milliseconds(100),
                              .count = 2},
                             {.kind = FaultKind::kSwap,
                              .at = Duration::FromSeconds(0.7),
                              .length = Duration::Milliseconds(100),
                              .first = 1,
                              .second = 2}});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("vicon/markers") >= 90; }));
  source->Stop();
  auto streams = ByName(sink);
  const auto& markers = streams["vicon/markers"];
  ASSERT_LT(markers.counters[0], 30);
  for (size_t i = 0; i < markers.counters.size(); ++i) {
    const int64_t f = markers.counters[i];
    const bool occluded = f >= 30 && f < 38, haunted = f >= 50 && f < 60,
               swapped = f >= 70 && f < 80;
    const auto& ids = streams["vicon/trajectories"].samples[i];
    EXPECT_EQ(std::isnan(markers.samples[i][12]), occluded) << f;
    EXPECT_EQ(std::isnan(ids[4]), occluded) << f;
    EXPECT_FALSE(std::isnan(markers.samples[i][15]));
    EXPECT_EQ(streams["vicon/points"].samples[i].size(), haunted ? 16u : 8u) << f;
    EXPECT_NEAR(markers.samples[i][4], swapped ? 0.02 : 0.01, 1e-12) << f;
    EXPECT_EQ(ids[1], swapped ? 3 : 2) << f;
    EXPECT_EQ(ids[2], swapped ? 2 : 3) << f;
  }
}

TEST_F(Vicon, AfterARestartMarkersAreBackWithinASecondAndInTheirPlace) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {{.kind = FaultKind::kRestart,
                              .at = Duration::FromSeconds(0.6),
                              .length = Duration::Milliseconds(800)}});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil(
      [&] { return source->Health().reconnects == 1 && sink.LastCounter("vicon/markers") > 250; }));
  source->Stop();
  ASSERT_EQ(sink.streams().size(), 7u) << "the same layout opens no new streams";
  const auto markers = sink.streams()[0];
  ASSERT_EQ(markers.gaps.size(), 1u);
  EXPECT_EQ(markers.gaps[0].cause, recording::GapCause::kDisconnected);
  const int64_t resumed = markers.gaps[0].first_missing_counter + markers.gaps[0].count;
  ASSERT_THAT(markers.resets, ::testing::ElementsAre(resumed));
  // The server listens again at 1.4 s; the first new frame's receive time says when markers were
  // back.
  const auto back = std::find_if(markers.pairs.begin(), markers.pairs.end(),
                                 [&](const auto& p) { return p.counter >= resumed; });
  ASSERT_NE(back, markers.pairs.end());
  const double back_s =
      (Timestamp::FromNanoseconds(back->host_ns) - server->clock().HostOf(140)).seconds();
  RecordProperty("markers_back_s", std::to_string(back_s));
  std::printf("markers back %.3f s after the server's return\n", back_s);
  EXPECT_LT(back_s, 1.0 + 4.0)
      << "the mark is 1 s (tests/bench states it); the slack is for a loaded machine";
  // No time shift: z is the feed's frame, so content against counter says how far the estimate is
  // off.
  const auto content = static_cast<int64_t>(std::llround(markers.samples.back()[2] * 1e5));
  EXPECT_LE(std::abs(markers.counters.back() - content), 15) << "frames of 10 ms";
  for (const auto& sample : markers.samples)
    EXPECT_FALSE(std::isnan(sample[0])) << "asked for again, before anything was delivered";
}

TEST_F(Vicon, ADisconnectionThatCountsOnIsAnExactGap) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {{.kind = FaultKind::kDisconnect,
                              .at = Duration::FromSeconds(0.6),
                              .length = Duration::Milliseconds(300)}});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil(
      [&] { return source->Health().reconnects == 1 && sink.LastCounter("vicon/markers") > 200; }));
  source->Stop();
  const auto markers = sink.streams()[0];
  ASSERT_EQ(markers.gaps.size(), 1u);
  EXPECT_EQ(source->Health().clock_resets, 0);
  ExpectFaithful(markers, feed);
  EXPECT_LE(markers.gaps[0].first_missing_counter, 60);
  EXPECT_GE(markers.gaps[0].first_missing_counter + markers.gaps[0].count, 90);
}

TEST_F(Vicon, AChangeOfSubjectsOpensANewEpoch) {
  PatternOptions options = Rig();
  options.subjects = {{.name = "Hand", .marker_names = {"A", "B"}},
                      {.name = "Cup", .marker_names = {"C"}}};
  const PatternFeed feed(options);
  // Late enough for a machine that is slow to connect: the first epoch must have begun.
  auto server = Serve(feed, {{.kind = FaultKind::kHideSubject,
                              .at = Duration::FromSeconds(1.5),
                              .length = Duration::Milliseconds(300),
                              .first = 1}});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("vicon/markers") >= 200; }));
  source->Stop();
  std::vector<CaptureSink::Stream> epochs;
  for (const auto& s : sink.streams()) {
    if (s.info.name == "vicon/markers") epochs.push_back(s);
  }
  ASSERT_EQ(epochs.size(), 3u);
  EXPECT_THAT(epochs[0].info.ItemNames(), ::testing::ElementsAre("Hand:A", "Hand:B", "Cup:C"));
  EXPECT_THAT(epochs[1].info.ItemNames(), ::testing::ElementsAre("A", "B"));
  EXPECT_EQ(epochs[1].counters.front(), 150);
  EXPECT_EQ(epochs[1].counters.back(), 179);
  EXPECT_EQ(epochs[2].info.channels, epochs[0].info.channels);
  EXPECT_EQ(epochs[2].counters.front(), 180);
  for (const auto& epoch : epochs) EXPECT_TRUE(epoch.gaps.empty());
}

// The largest rig: the server keeps up with 120 markers at 2 kHz, and the driver loses none.
TEST_F(Vicon, Reads120MarkersAt2kHzWithoutALoss) {
  PatternOptions options;
  options.marker_rate_hz = 2000;
  options.marker_count = 120;
  const PatternFeed feed(options);
  auto server = Serve(feed, {});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") >= 4000; }));
  source->Stop();
  const auto markers = ByName(sink).at("vicon/markers");
  EXPECT_EQ(markers.info.channel_count(), 360);
  EXPECT_TRUE(markers.gaps.empty());
  for (size_t i = 1; i < markers.counters.size(); ++i)
    ASSERT_EQ(markers.counters[i], markers.counters[i - 1] + 1);
  const auto frame = static_cast<int64_t>(std::llround(markers.samples[0][2] * 1e5));
  ExpectFaithful(markers, feed, markers.counters[0] - frame);
}

TEST_F(Vicon, WrapsTheFrameNumber) {
  const PatternFeed feed(Rig());
  ViconServerOptions options;
  options.first_frame_id = 0xffffffff - 60;
  auto server = *ViconServer::Start(feed, options);
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("vicon/markers") > 0x100000010LL; }));
  source->Stop();
  ASSERT_EQ(sink.streams().size(), 7u);
  const auto markers = sink.streams()[0];
  // The SDK takes frame id 0xffffffff for "no frame yet" and answers nothing of it: one frame in 99
  // days at 500 Hz, and even that one is reported.
  EXPECT_THAT(GapRanges(markers.gaps),
              ::testing::ElementsAre(std::pair(0xffffffffLL, 0x100000000LL)));
  EXPECT_EQ(markers.counters.back() - markers.counters.front(),
            static_cast<int64_t>(markers.counters.size()));
}

/// Sleeps once, long enough for a small queue to overflow.
class StallingSink : public CaptureSink {
 public:
  void OnSamples(const SampleView& view) noexcept override {
    CaptureSink::OnSamples(view);
    if (view.first_counter >= 40 && !stalled_) {
      stalled_ = true;
      timespec pause{1, 0};
      nanosleep(&pause, nullptr);
    }
  }

 private:
  bool stalled_ = false;
};

TEST_F(Vicon, AnOverflowOfTheSdksQueueIsAPlacedGapAndALargeQueueLosesNothing) {
  const PatternFeed feed(Rig());
  for (const unsigned queue : {8u, 4096u}) {
    auto server = Serve(feed, {});
    ViconSourceOptions options;
    options.name = "vicon";
    options.host = server->host();
    options.buffer_frames = queue;
    auto source = *MakeViconSource(options);
    StallingSink sink;
    ASSERT_TRUE(source->Start(&sink));
    ASSERT_TRUE(WaitUntil([&] { return sink.LastCounter("vicon/markers") >= 180; }));
    source->Stop();
    const auto markers = sink.streams()[0];
    if (queue == 4096) {
      EXPECT_TRUE(markers.gaps.empty());
    } else {
      ASSERT_FALSE(markers.gaps.empty());
      EXPECT_EQ(markers.gaps[0].cause, recording::GapCause::kOverrun);
      EXPECT_GE(markers.gaps[0].count, 50);
    }
    ExpectFaithful(markers, feed);
  }
}

TEST_F(Vicon, StopsAtOnceWhileTheServerIsSilentOrAway) {
  const PatternFeed feed(Rig());
  auto server = Serve(feed, {{.kind = FaultKind::kStall,
                              .at = Duration::FromSeconds(0.3),
                              .length = Duration::Seconds(1000)}});
  auto source = SourceFor(*server);
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") > 5; }));
  source->Stop();
  server.reset();
  ASSERT_TRUE(source->Start(&sink));
  ASSERT_TRUE(WaitUntil([&] { return !sink.states().empty() && !sink.states().back().connected; }));
  EXPECT_THAT(sink.states().back().text, HasSubstr("801"));
  source->Stop();
}

}  // namespace
}  // namespace handhold::capture::vicon_source_test
