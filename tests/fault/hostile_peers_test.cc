// Peers that send nonsense, beside a device that works, to the real recorder over loopback: the
// program survives them, stops at once, and the device's samples are all there.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/session/recorder.h"
#include "capture/simulator/pattern_feed.h"
#include "capture/simulator/vicon_server.h"
#include "capture/source/net_ft_source.h"
#include "capture/source/vicon_source.h"
#include "capture/wire/rdt.h"
#include "capture/wire/resolve.h"
#include "capture/wire/socket.h"
#include "capture/wire/vicon_stream.h"
#include "database/store/clip_reader.h"
#include "tests/database/store/clip_fixture.h"
#include "tests/support/capture_sink.h"
#include "tests/support/scripted_source.h"

namespace handhold::capture::hostile_peers_test {
namespace {

using test::WaitUntil;
using ::testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

constexpr Duration kSoon = Duration::Milliseconds(10);
/// To store a second of everything: half of a second where nothing else runs, more on a busy disk
/// or under a sanitizer.
#ifdef __SANITIZE_ADDRESS__
constexpr double kStored_s = 20.0;
#else
constexpr double kStored_s = 5.0;
#endif

std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// A TCP server whose every client is served by `serve`, in a thread of its own, until the end.
class TcpPeer {
 public:
  using Serve = std::function<void(wire::TcpStream& client, const std::atomic<bool>& stop)>;
  explicit TcpPeer(Serve serve)
      : listener_(*wire::TcpListener::Listen(wire::Address::Loopback(0))),
        serve_(std::move(serve)),
        thread_([this] { Accept(); }) {}
  ~TcpPeer() {
    stop_ = true;
    thread_.join();
  }
  wire::Address address() const { return listener_.address(); }

 private:
  void Accept() {
    std::vector<std::thread> clients;
    while (!stop_) {
      wire::TcpStream client;
      if (listener_.Accept(HostNow() + kSoon, &client) != wire::IoStatus::kOk) continue;
      clients.emplace_back([this, taken = std::move(client)]() mutable { serve_(taken, stop_); });
    }
    for (std::thread& client : clients) client.join();
  }
  std::atomic<bool> stop_{false};
  wire::TcpListener listener_;
  Serve serve_;
  std::thread thread_;
};

/// Writes all of it, unless the client leaves or the test ends.
bool WriteAll(wire::TcpStream& to, std::span<const uint8_t> bytes, const std::atomic<bool>& stop) {
  while (!bytes.empty()) {
    const wire::IoResult wrote = to.Write(bytes, HostNow() + kSoon);
    bytes = bytes.subspan(wrote.bytes);
    if (stop || (wrote.status != wire::IoStatus::kOk && wrote.status != wire::IoStatus::kTimeout))
      return false;
  }
  return true;
}

void Linger(const std::atomic<bool>& stop) {
  while (!stop) wire::SleepUntil(HostNow() + kSoon);
}

/// Records a device that works and, beside it, `hostile`; what is asserted holds for every peer.
void RecordBeside(std::unique_ptr<Source> hostile) {
  const store::TempDir dir;
  std::vector<RecordedSource> sources(2);
  sources[0].source = std::make_unique<testing::PacedSource>(
      "good", std::vector{testing::ForceStream("good/wrench", 1000)},
      testing::PacedSource::Options());
  const std::string name = hostile->name();
  sources[1].source = std::move(hostile);
  sources[1].required = false;
  TakeTarget target;
  target.new_take =
      [&](recording::ClipInfo info) -> Result<std::pair<recording::ClipInfo, std::string>> {
    info.name = "take";
    return std::pair(info, dir / "take.clip");
  };
  RecorderOptions options;
  options.probe_timeout = Duration::Seconds(1);
  auto recorder = *Recorder::Make(std::move(sources), target, options);
  const Timestamp asked = HostNow();
  const auto lines = recorder->Check();
  ASSERT_TRUE(lines) << lines.error().message;
  EXPECT_LT((HostNow() - asked).seconds(), 5.0) << "to ask the devices";
  ASSERT_TRUE(recorder->Arm());
  ASSERT_TRUE(WaitUntil([&] { return recorder->Start({}).has_value(); }));
  wire::SleepUntil(HostNow() + Duration::Milliseconds(1200));
  const Timestamp stopped = HostNow();
  const auto take = recorder->Stop();
  ASSERT_TRUE(take) << take.error().message;
  EXPECT_LT((HostNow() - stopped).seconds(), kStored_s);
  const Timestamp disarmed = HostNow();
  EXPECT_TRUE(recorder->Disarm());
  const double took_s = (HostNow() - disarmed).seconds();
  std::printf("  stored in %.2f s, disarmed in %.2f s\n", (disarmed - stopped).seconds(), took_s);
  EXPECT_LT(took_s, 2.0);
  EXPECT_TRUE(take->closed) << take->page;
  EXPECT_TRUE(take->quality.keep) << take->page;
  const auto clip = store::ClipReader::Open(take->path);
  ASSERT_TRUE(clip) << clip.error().message;
  const auto good = (*clip)->FindStreams("good/wrench");
  ASSERT_EQ(good.size(), 1u);
  const auto window = (*clip)->ReadAll(good[0]->id);
  ASSERT_TRUE(window) << window.error().message;
  ASSERT_GE(window->count(), 1000);
  for (int i = 1; i < window->count(); ++i)
    ASSERT_EQ(window->counters[i], window->counters[i - 1] + 1);
  for (const recording::Gap& gap : take->gaps) EXPECT_NE(gap.stream_id, good[0]->id) << take->page;
  // Whatever became a stream reads back whole.
  for (const recording::StreamInfo& stream : (*clip)->streams())
    EXPECT_TRUE((*clip)->ReadAll(stream.id)) << stream.name;
}

// ---- Vicon: what the server sends, from some byte on

/// As much as a connection needs to announce its streams.
constexpr size_t kFair = 40'000;

struct Mangled {
  const char* name;
  /// What becomes of the next bytes of the connection, of which `sent` went before; empty: nothing
  /// more comes, and the connection stays.
  std::function<Bytes(Bytes bytes, size_t sent, std::mt19937_64& random)> mangle;
  int least_changed = 10;        ///< reads of at most 4 KiB that are not passed on as they came
  size_t fair = kFair;           ///< bytes of a connection before anything is mangled
  size_t ends_after = SIZE_MAX;  ///< the next bytes are the connection's last
  friend void PrintTo(const Mangled& m, std::ostream* out) { *out << m.name; }
};

class HostileVicon : public ::testing::TestWithParam<Mangled> {
 protected:
  void SetUp() override {
    if (ViconSdkVersion().empty())
      GTEST_SKIP() << "built without the Vicon SDK (tools/setup installs it)";
  }
};

TEST_P(HostileVicon, CostsNobodyElseASample) {
  PatternOptions pattern;
  pattern.marker_rate_hz = 500;
  pattern.marker_count = 20;
  pattern.devices = {{.name = "EMG", .channel_names = {"A", "B"}, .samples_per_frame = 4}};
  const PatternFeed feed(pattern);
  const auto server = *ViconServer::Start(feed, {});
  const wire::Address real = *wire::Resolve(server->host(), 801, HostNow() + Duration::Seconds(1));
  std::atomic<int> changed{0};
  const TcpPeer between([&](wire::TcpStream& client, const std::atomic<bool>& stop) {
    std::mt19937_64 random(7);
    auto upstream = wire::TcpStream::Connect(real, HostNow() + Duration::Seconds(1));
    if (!upstream) return;
    std::array<uint8_t, 4096> buffer{};
    size_t sent = 0;
    for (bool silent = false; !stop;) {
      const auto asked = client.Read(buffer, HostNow() + Duration::Milliseconds(1));
      if (asked.status == wire::IoStatus::kOk) {
        if (!WriteAll(*upstream, std::span(buffer).first(asked.bytes), stop)) return;
      } else if (asked.status != wire::IoStatus::kTimeout) {
        return;
      }
      const auto came = upstream->Read(buffer, HostNow() + Duration::Milliseconds(1));
      if (came.status == wire::IoStatus::kTimeout) continue;
      if (came.status != wire::IoStatus::kOk) return;
      Bytes bytes(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(came.bytes));
      if (sent >= GetParam().fair && !silent) {
        const Bytes whole = bytes;
        bytes = GetParam().mangle(std::move(bytes), sent, random);
        silent = bytes.empty();
        changed += bytes != whole;
      }
      if (!silent && !WriteAll(client, bytes, stop)) return;
      if (sent >= GetParam().ends_after) return;
      sent += came.bytes;
    }
  });
  ViconSourceOptions options;
  options.name = "vicon";
  options.host = between.address().ToString();
  RecordBeside(*MakeViconSource(options));
  std::printf("  %d reads mangled\n", changed.load());
  EXPECT_GE(changed, GetParam().least_changed) << "nothing was hostile: nothing was tested";
}

/// Says that a frame is `ticks` long instead of 500 Hz: at the beginning, as a server does.
auto Period(uint64_t ticks) {
  return [ticks](Bytes bytes, size_t, std::mt19937_64&) {
    const std::array<uint8_t, 8> at_500_hz{0xb0, 0x1e, 0x04};
    const auto at = std::search(bytes.begin(), bytes.end(), at_500_hz.begin(), at_500_hz.end());
    for (int k = 0; at != bytes.end() && k < 8; ++k) at[k] = static_cast<uint8_t>(ticks >> (8 * k));
    return bytes;
  };
}

const Mangled kMangled[] = {
    {"FlippedBits",
     [](Bytes bytes, size_t, std::mt19937_64& random) {
       bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
       return bytes;
     }},
    {"LostBytes",
     [](Bytes bytes, size_t, std::mt19937_64& random) {
       if (random() % 4 == 0) bytes.erase(bytes.begin());
       return bytes;
     }},
    {"Noise",
     [](Bytes bytes, size_t, std::mt19937_64& random) {
       for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
       return bytes;
     }},
    {"LargestValues",
     [](Bytes bytes, size_t, std::mt19937_64& random) {
       const size_t at = random() % bytes.size();
       for (size_t k = at; k < std::min(bytes.size(), at + 4); ++k) bytes[k] = 0xff;
       return bytes;
     }},
    {"SilenceWithinAPacket", [](Bytes, size_t, std::mt19937_64&) { return Bytes(); }, 1},
    {"AnEndWithinAPacketAgainAndAgain",
     [](Bytes bytes, size_t, std::mt19937_64&) {
       bytes.resize(bytes.size() / 2 + 1);
       return bytes;
     },
     1, kFair, kFair},
    {"ThePastForEver",
     [loop = Bytes()](Bytes bytes, size_t, std::mt19937_64&) mutable {
       if (loop.size() < 20'000) {
         loop.insert(loop.end(), bytes.begin(), bytes.end());
         return bytes;
       }
       wire::SleepUntil(HostNow() + kSoon);  // five times as much as a server sends
       return loop;
     }},
    {"FramesOfAThousandYears", Period(uint64_t{1} << 62), 1, 0},
    {"FramesOfASecond", Period(135'000'000), 1, 0},
    {"FramesOfSevenNanoseconds", Period(1), 1, 0},
    {"FramesOfNoTime", Period(0), 1, 0},
    {"AMebibyteAtOnce",
     [](Bytes bytes, size_t, std::mt19937_64&) {
       bytes.resize(1 << 20, 0x7f);
       return bytes;
     }},
};
INSTANTIATE_TEST_SUITE_P(Fault, HostileVicon, ::testing::ValuesIn(kMangled),
                         [](const auto& tested) { return std::string(tested.param.name); });

// ---- Net F/T: datagrams

struct Datagrams {
  const char* name;
  std::function<Bytes(uint32_t n, std::mt19937_64& random)> make;
  friend void PrintTo(const Datagrams& d, std::ostream* out) { *out << d.name; }
};

class HostileDatagrams : public ::testing::TestWithParam<Datagrams> {};

std::string Page(std::string_view counts_per_force = "1000000", std::string_view rate = "1000") {
  return "<?xml version=\"1.0\"?><netft><prodname>x</prodname><setserial>FT1</setserial><cfgcpf>" +
         std::string(counts_per_force) +
         "</cfgcpf><cfgcpt>1000000</cfgcpt><scfgfu>N</scfgfu><scfgtu>Nm</scfgtu><comrdtrate>" +
         std::string(rate) + "</comrdtrate></netft>\n";
}

std::string Http(const std::string& page) {
  return "HTTP/1.0 200 OK\r\nContent-Length: " + std::to_string(page.size()) + "\r\n\r\n" + page;
}

std::unique_ptr<Source> NetFtAt(uint16_t rdt, uint16_t http) {
  NetFtSourceOptions options;
  options.name = "plate";
  options.host = "127.0.0.1";
  options.rdt_port = rdt;
  options.http_port = http;
  return MakeNetFtSource(options);
}

TEST_P(HostileDatagrams, CostNobodyElseASample) {
  const TcpPeer http([](wire::TcpStream& client, const std::atomic<bool>& stop) {
    std::array<uint8_t, 1024> request{};
    client.Read(request, HostNow() + Duration::Milliseconds(200));
    WriteAll(client, BytesOf(Http(Page())), stop);
  });
  auto socket = *wire::UdpSocket::Bind(wire::Address::Loopback(0));
  std::atomic<bool> stop{false};
  std::atomic<int> sent{0};
  std::thread peer([&] {
    std::mt19937_64 random(11);
    std::array<uint8_t, 64> request{};
    wire::Datagram datagram;
    wire::Address to;
    for (uint32_t n = 0; !stop; ++n) {
      if (socket.Receive(request, HostNow() + Duration::Microseconds(500), &datagram) ==
          wire::IoStatus::kOk)
        to = datagram.from;
      if (to.port == 0) continue;
      socket.SendTo(to, GetParam().make(n, random));
      ++sent;
    }
  });
  RecordBeside(NetFtAt(socket.address().port, http.address().port));
  stop = true;
  peer.join();
  EXPECT_GT(sent, 100);
}

Bytes Random(size_t size, std::mt19937_64& random) {
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

const Datagrams kDatagrams[] = {
    {"OfRandomSizes", [](uint32_t, auto& random) { return Random(random() % 3000, random); }},
    {"RecordsOfNoise",
     [](uint32_t, auto& random) { return Random(36 * (1 + random() % 40), random); }},
    {"LongerThanAnyRecord", [](uint32_t, auto& random) { return Random(60'000, random); }},
    {"CountersThatJumpAllOver",
     [](uint32_t n, auto& random) {
       Bytes bytes(36);
       const uint32_t jump = n % 50 == 0 ? static_cast<uint32_t>(random()) : n;
       for (int k = 0; k < 4; ++k) {
         bytes[static_cast<size_t>(k)] = static_cast<uint8_t>(jump >> (24 - 8 * k));
         bytes[static_cast<size_t>(4 + k)] = static_cast<uint8_t>((7 * jump) >> (24 - 8 * k));
       }
       return bytes;
     }},
    {"OneForEver", [](uint32_t, auto&) { return Bytes(36, 1); }},
};
INSTANTIATE_TEST_SUITE_P(Fault, HostileDatagrams, ::testing::ValuesIn(kDatagrams),
                         [](const auto& tested) { return std::string(tested.param.name); });

// ---- Net F/T: the web page

struct WebPage {
  const char* name;
  TcpPeer::Serve serve;
  const char* said = "";  ///< by Check, as the cause
  friend void PrintTo(const WebPage& p, std::ostream* out) { *out << p.name; }
};

class HostilePage : public ::testing::TestWithParam<WebPage> {};

TEST_P(HostilePage, CostsNobodyElseASampleAndIsSaid) {
  const TcpPeer http(GetParam().serve);
  const auto source = NetFtAt(1, http.address().port);
  const auto found = source->Probe(Duration::Seconds(1));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr(GetParam().said));
  EXPECT_THAT(found.error().message, HasSubstr(http.address().ToString()));
  source->Stop();
  RecordBeside(NetFtAt(1, http.address().port));
}

TcpPeer::Serve Says(const std::string& text) {
  return [text](wire::TcpStream& client, const std::atomic<bool>& stop) {
    std::array<uint8_t, 1024> request{};
    client.Read(request, HostNow() + Duration::Milliseconds(200));
    WriteAll(client, BytesOf(text), stop);
  };
}
TcpPeer::Serve SaysForEver(const std::string& begin, const std::string& again, Duration pause) {
  return [=](wire::TcpStream& client, const std::atomic<bool>& stop) {
    bool there = WriteAll(client, BytesOf(begin), stop);
    while (there && !stop) {
      there = WriteAll(client, BytesOf(again), stop);
      wire::SleepUntil(HostNow() + pause);
    }
  };
}

const WebPage kPages[] = {
    {"ThatNeverComes", [](wire::TcpStream&, const std::atomic<bool>& stop) { Linger(stop); },
     "in time"},
    {"AByteAtATime", SaysForEver("HTTP/1.0 200 OK\r\n\r\n", "<", Duration::Milliseconds(50)),
     "in time"},
    {"HeadersForEver",
     SaysForEver("HTTP/1.0 200 OK\r\n", "X: " + std::string(4000, 'y') + "\r\n", Duration()),
     "longer than"},
    {"WithoutAnEnd", SaysForEver("HTTP/1.0 200 OK\r\n\r\n", std::string(4096, 'x'), Duration()),
     "longer than"},
    {"ThatRedirectsToItself",
     Says("HTTP/1.0 302 Found\r\nLocation: /netftapi2.xml\r\nContent-Length: 0\r\n\r\n"),
     "cfgcpf is missing"},
    {"ThatIsNoHttp", Says(std::string(100, '\0')), "not HTTP"},
    {"ThatEndsAtOnce", [](wire::TcpStream&, const std::atomic<bool>&) {}, ""},
    {"OfNoCounts", Says(Http(Page("0"))), "cfgcpf is '0'"},
    {"OfNoRate", Says(Http(Page("1000000", "0"))), "comrdtrate is '0'"},
};
INSTANTIATE_TEST_SUITE_P(Fault, HostilePage, ::testing::ValuesIn(kPages),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace handhold::capture::hostile_peers_test
