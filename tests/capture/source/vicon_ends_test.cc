// Clients of the official SDK that begin and end in quick succession, and peers that send it
// nonsense: the program survives both (tools/cmake/vicon/handhold.patch says what died before).
#include <atomic>
#include <functional>
#include <thread>

#include <gmock/gmock.h>

#include "capture/simulator/pattern_feed.h"
#include "capture/simulator/vicon_server.h"
#include "capture/source/vicon_source.h"
#include "capture/wire/socket.h"
#include "capture/wire/vicon_stream.h"
#include "tests/support/capture_sink.h"

namespace handhold::capture::vicon_ends_test {
namespace {

using test::CaptureSink;
using test::WaitUntil;

class ViconEnds : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ViconSdkVersion().empty())
      GTEST_SKIP() << "built without the Vicon SDK (tools/setup installs it)";
  }
  static std::unique_ptr<Source> SourceAt(const std::string& host) {
    ViconSourceOptions options;
    options.name = "vicon";
    options.host = host;
    return *MakeViconSource(options);
  }
};

// Before the patch a frame that came while a probe ended was written into freed memory: this test
// then died in every run, with "tcache_thread_shutdown(): unaligned tcache chunk detected".
TEST_F(ViconEnds, HundredsOfProbesAndSessionsInSeveralThreadsEndInOrder) {
  PatternOptions rig;
  rig.marker_rate_hz = 2000.0;
  rig.marker_count = 8;
  const PatternFeed feed(rig);
  constexpr int kThreads = 8, kEach = 400;
  // A server for every thread: one takes few clients at a time, and ended ones count for a while.
  std::vector<std::unique_ptr<ViconServer>> servers;
  for (int t = 0; t < kThreads; ++t) servers.push_back(*ViconServer::Start(feed, {}));
  std::atomic<int> probes{0}, sessions{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string host = servers[t]->host();
      for (int i = 0; i < kEach; ++i) {
        // As the recorder asks: from a thread that ends with the client.
        std::thread([&] {
          const auto found = SourceAt(host)->Probe(Duration::Seconds(20));
          if (found) {
            ++probes;
          } else {
            ADD_FAILURE() << found.error().message;
          }
        }).join();
        if (i % 20 != t) continue;
        CaptureSink sink;
        auto source = SourceAt(host);
        if (!source->Start(&sink)) continue;
        if (WaitUntil([&] { return sink.Count("vicon/markers") > 0; })) ++sessions;
        source->Stop();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(probes, kThreads * kEach);
  EXPECT_EQ(sessions, kThreads * kEach / 20);
}

/// Answers every client with the same bytes and keeps the connection until the end.
class Babbler {
 public:
  explicit Babbler(std::vector<uint8_t> bytes, wire::Address at = wire::Address::Loopback(0))
      : listener_(*wire::TcpListener::Listen(at)), thread_([this, bytes = std::move(bytes)] {
          std::vector<wire::TcpStream> clients;
          while (!stop_) {
            wire::TcpStream client;
            const Timestamp soon = HostNow() + Duration::Milliseconds(20);
            if (listener_.Accept(soon, &client) != wire::IoStatus::kOk) continue;
            client.Write(bytes, HostNow() + Duration::Seconds(5));
            clients.push_back(std::move(client));
          }
        }) {}
  ~Babbler() {
    stop_ = true;
    thread_.join();
  }
  std::string host() const { return listener_.address().ToString(); }

 private:
  std::atomic<bool> stop_{false};
  wire::TcpListener listener_;
  std::thread thread_;
};

void Put(std::vector<uint8_t>& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<uint8_t>(value >> shift));
}

struct Nonsense {
  const char* name;
  std::function<std::vector<uint8_t>()> bytes;
};

class ViconNonsense : public ViconEnds, public testing::WithParamInterface<Nonsense> {};

TEST_P(ViconNonsense, IsAnErrorOfTheProbeAndTheEndOfNothingElse) {
  const Babbler babbler(GetParam().bytes());
  const Timestamp begin = HostNow();
  const auto found = SourceAt(babbler.host())->Probe(Duration::Seconds(5));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, ::testing::HasSubstr(babbler.host()));
  EXPECT_LT((HostNow() - begin).seconds(), 30.0);
}

std::vector<uint8_t> Packet(uint32_t length, const std::vector<uint32_t>& words) {
  std::vector<uint8_t> out;
  Put(out, wire::vicon::kPacketMagic);
  Put(out, length);
  for (const uint32_t word : words) Put(out, word);
  return out;
}

/// What the server can send: it comes before anything else is read.
std::vector<uint8_t> WithEnums(std::vector<uint8_t> then) {
  std::vector<uint8_t> out = Packet(16, {wire::vicon::kObjectEnums, 8, 1, wire::vicon::kFrameInfo});
  out.insert(out.end(), then.begin(), then.end());
  return out;
}

const Nonsense kNonsense[] = {
    {"AWebServer",
     [] {
       const std::string text(64, '<');
       return std::vector<uint8_t>(text.begin(), text.end());
     }},
    // The sum with the header's 8 bytes wraps to 4: the SDK read 4 GiB into that.
    {"ALengthThatWraps",
     [] {
       std::vector<uint8_t> out = Packet(0xfffffffcu, {});
       out.resize(1 << 20, 0xa5);
       return out;
     }},
    {"ALengthOf2GiB", [] { return Packet(0x7fffffffu, {1, 2, 3}); }},
    {"ASetOf4GiElements", [] { return Packet(12, {wire::vicon::kObjectEnums, 4, 0xffffffffu}); }},
    {"AnArrayOf4GiElements",
     [] { return WithEnums(Packet(20, {wire::vicon::kLabeledRecons, 12, 0, 0xffffffffu, 0})); }},
    {"AStringOf4GiBytes",
     [] { return WithEnums(Packet(20, {wire::vicon::kSubjectInfo, 12, 1, 0xffffffffu, 0})); }},
    // Three bytes are left, too few for a block: the SDK tried to read them for ever.
    {"ARaggedEnd",
     [] {
       std::vector<uint8_t> out = Packet(11, {99, 0});
       out.insert(out.end(), 3, 0);
       return WithEnums(out);
     }},
};

// A device that says it has no period, or one shorter than its samples are many: the SDK as
// published divides by zero. It has no stream; everything else has.
TEST_F(ViconEnds, ADeviceWithoutAPeriodIsSilentAndNoMore) {
  PatternOptions rig;
  rig.marker_rate_hz = 100.0;
  rig.marker_count = 3;
  rig.devices = {{.name = "Plate", .force_plate = true, .samples_per_frame = 10},
                 {.name = "EMG", .channel_names = {"A"}, .unit = "volt", .samples_per_frame = 4}};
  const PatternFeed feed(rig);
  for (const int64_t period_ticks : {0, 3}) {
    const auto server = *ViconServer::Start(feed, {.device_period_ticks = period_ticks});
    const auto source = SourceAt(server->host());
    const auto streams = source->Probe(Duration::Seconds(20));
    ASSERT_TRUE(streams) << streams.error().message;
    for (const auto& stream : *streams) {
      EXPECT_THAT(stream.name, ::testing::Not(::testing::HasSubstr("Plate")));
      EXPECT_THAT(stream.name, ::testing::Not(::testing::HasSubstr("EMG")));
    }
    CaptureSink sink;
    ASSERT_TRUE(source->Start(&sink));
    EXPECT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") > 20; }));
    source->Stop();
  }
}

// A port that first nobody, then a stranger, then the true server answers at: asked until it is.
TEST_F(ViconEnds, AskedAgainUntilTheTrueServerAnswers) {
  wire::Address address;
  {
    const auto free = wire::TcpListener::Listen(wire::Address::Loopback(0));
    ASSERT_TRUE(free);
    address = free->address();
  }
  auto source = SourceAt(address.ToString());
  CaptureSink sink;
  ASSERT_TRUE(source->Start(&sink));
  const auto told = [&](const char* text) {
    return WaitUntil([&] {
      const auto states = sink.states();
      return !states.empty() && states.back().text.find(text) != std::string::npos;
    });
  };
  EXPECT_TRUE(told("Is Vicon running there"));
  {
    const Babbler stranger({'S', 'S', 'H', '-', '2', '.', '0', '-'}, address);
    EXPECT_TRUE(told("is no Vicon DataStream"));
  }
  PatternOptions rig;
  rig.marker_rate_hz = 100.0;
  rig.marker_count = 3;
  const PatternFeed feed(rig);
  Result<std::unique_ptr<ViconServer>> server = Error{};
  ASSERT_TRUE(WaitUntil([&] {
    server = ViconServer::Start(feed, {.address = address});
    return server.has_value();
  }));
  EXPECT_TRUE(WaitUntil([&] { return sink.Count("vicon/markers") > 5; }));
  source->Stop();
  EXPECT_EQ(source->Health().reconnects, 0) << "it never was connected before";
}

INSTANTIATE_TEST_SUITE_P(Of, ViconNonsense, ::testing::ValuesIn(kNonsense),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace handhold::capture::vicon_ends_test
