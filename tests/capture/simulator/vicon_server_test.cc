// The server as bytes on a socket, without the vendor's library: pacing, faults, two clients,
// hostile ones. Runs under TSan, which the SDK cannot.
#include "capture/simulator/vicon_server.h"

#include <array>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

#include "capture/simulator/pattern_feed.h"
#include "capture/wire/vicon_stream.h"

namespace handhold::capture::vicon_server_test {
namespace {

using namespace wire::vicon;  // ids

Timestamp In(int64_t ms) { return HostNow() + Duration::Milliseconds(ms); }

/// As little of a client as reads packets: blocks by id, payloads as bytes.
class RawClient {
 public:
  struct Block {
    uint32_t id = 0;
    std::vector<uint8_t> payload;
  };
  struct Packet {
    std::vector<Block> blocks;
    Timestamp host;
    const Block* Find(uint32_t id) const {
      for (const Block& block : blocks) {
        if (block.id == id) return &block;
      }
      return nullptr;
    }
    std::optional<uint32_t> frame() const {
      const Block* info = Find(kFrameInfo);
      if (info == nullptr) return std::nullopt;
      return U32(info->payload, 0);
    }
  };

  explicit RawClient(const wire::Address& address)
      : stream_(*wire::TcpStream::Connect(address, In(10'000))) {}

  void Send(const std::vector<uint8_t>& bytes) { stream_.Write(bytes, In(10'000)); }
  void Ask(std::initializer_list<uint32_t> ids, bool streaming) {
    std::vector<uint8_t> payload;
    Put(payload, static_cast<uint32_t>(ids.size()));
    for (const uint32_t id : ids) Put(payload, id);
    SendBlock(kObjectEnums, payload);
    SendBlock(kRequestFrame, {static_cast<uint8_t>(streaming)});
  }
  void SendBlock(uint32_t id, const std::vector<uint8_t>& payload) {
    std::vector<uint8_t> bytes;
    Put(bytes, kPacketMagic);
    Put(bytes, static_cast<uint32_t>(payload.size() + 8));
    Put(bytes, id);
    Put(bytes, static_cast<uint32_t>(payload.size()));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    Send(bytes);
  }
  /// The next packet; empty when the server closed.
  std::optional<Packet> Next() {
    if (!Fill(8)) return std::nullopt;
    EXPECT_EQ(U32(held_, 0), kPacketMagic);
    const size_t length = U32(held_, 4);
    if (!Fill(8 + length)) return std::nullopt;
    Packet packet{.blocks = {}, .host = HostNow()};
    for (size_t at = 8; at < 8 + length;) {
      const size_t size = U32(held_, at + 4);
      packet.blocks.push_back({U32(held_, at),
                               {held_.begin() + static_cast<std::ptrdiff_t>(at + 8),
                                held_.begin() + static_cast<std::ptrdiff_t>(at + 8 + size)}});
      at += 8 + size;
    }
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(8 + length));
    return packet;
  }
  static uint32_t U32(const std::vector<uint8_t>& bytes, size_t at) {
    return static_cast<uint32_t>(bytes.at(at) | bytes.at(at + 1) << 8 | bytes.at(at + 2) << 16) |
           static_cast<uint32_t>(bytes.at(at + 3)) << 24;
  }

 private:
  static void Put(std::vector<uint8_t>& bytes, uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<uint8_t>(value >> shift));
  }
  bool Fill(size_t size) {
    std::array<uint8_t, 65536> buffer{};
    while (held_.size() < size) {
      const auto got = stream_.Read(buffer, In(20'000));
      if (got.status != wire::IoStatus::kOk) return false;
      held_.insert(held_.end(), buffer.begin(),
                   buffer.begin() + static_cast<std::ptrdiff_t>(got.bytes));
    }
    return true;
  }

  wire::TcpStream stream_;
  std::vector<uint8_t> held_;
};

PatternFeed Feed(double ppm = 0.0) {
  PatternOptions options;
  options.marker_count = 9;
  options.marker_clock_ppm = ppm;
  return PatternFeed(options);
}

/// Frame ids up to `last`, with their receive times.
std::vector<std::pair<uint32_t, Timestamp>> Frames(RawClient& client, uint32_t last) {
  std::vector<std::pair<uint32_t, Timestamp>> out;
  while (out.empty() || out.back().first < last) {
    const auto packet = client.Next();
    if (!packet) break;
    if (const auto id = packet->frame()) out.emplace_back(*id, packet->host);
  }
  return out;
}

TEST(ViconServer, TwoClientsEachSeeEveryFrameExceptTheScriptedGap) {
  const PatternFeed feed = Feed();
  ViconServerOptions options;
  options.host_start = In(400);
  options.faults = {{.kind = FaultKind::kStall,
                     .at = Duration::Milliseconds(200),
                     .length = Duration::Milliseconds(100)},
                    {.kind = FaultKind::kHold,
                     .at = Duration::Milliseconds(400),
                     .length = Duration::Milliseconds(100)}};
  auto server = *ViconServer::Start(feed, options);
  RawClient a(server->address()), b(server->address());
  for (RawClient* client : {&a, &b}) client->Ask({kContents, kFrameInfo, kLabeledRecons}, true);
  for (RawClient* client : {&a, &b}) {
    const auto frames = Frames(*client, 300);
    ASSERT_LT(frames.front().first, 100u) << "the client came too late to see the faults";
    int64_t held_together = 0;
    for (size_t k = 1; k < frames.size(); ++k) {
      const uint32_t expected = frames[k - 1].first == 99 ? 150 : frames[k - 1].first + 1;
      ASSERT_EQ(frames[k].first, expected);
      // Never early: frame i leaves at clock().HostOf(i), a held one at the hold's end.
      const uint32_t id = frames[k].first;
      const bool held = id >= 200 && id < 250;
      EXPECT_GE(frames[k].second, server->clock().HostOf(held ? 250 : id));
      held_together += held;
    }
    EXPECT_EQ(held_together, 50);
  }
  EXPECT_EQ(server->stats().connections, 2);
}

// The vendor's 1.5 client forgets subjects, and with them every labelled marker, in a frame that
// neither holds static objects nor names them unchanged.
TEST(ViconServer, FramesWithoutStaticObjectsNameThemUnchanged) {
  const PatternFeed feed = Feed();
  ViconServerOptions options;
  options.host_start = In(300);
  options.faults = {{.kind = FaultKind::kHideSubject,
                     .at = Duration::Milliseconds(100),
                     .length = Duration::Milliseconds(50)}};
  auto server = *ViconServer::Start(feed, options);
  RawClient client(server->address());
  client.Ask({kContents, kSubjectInfo, kApplicationInfo, kFrameInfo, kLabeledRecons}, true);
  int with = 0, without = 0;
  for (int k = 0; k < 120; ++k) {
    const auto packet = client.Next();
    ASSERT_TRUE(packet);
    if (!packet->frame()) continue;
    const RawClient::Block* contents = packet->Find(kContents);
    ASSERT_NE(contents, nullptr);
    const size_t pairs = RawClient::U32(contents->payload, 0);
    const std::vector<uint8_t> unchanged(
        contents->payload.begin() + static_cast<std::ptrdiff_t>(4 + 8 * pairs),
        contents->payload.end());
    if (packet->Find(kStreamInfo) != nullptr) {
      ++with;
      EXPECT_EQ(unchanged, (std::vector<uint8_t>{0, 0, 0, 0}));
    } else {
      ++without;
      // StreamInfo, and ApplicationInfo; SubjectInfo while the subject is there.
      const std::vector<uint8_t> all = {3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 37, 0, 0, 0};
      const std::vector<uint8_t> gone = {2, 0, 0, 0, 1, 0, 0, 0, 37, 0, 0, 0};
      EXPECT_THAT(unchanged, ::testing::AnyOf(all, gone));
      EXPECT_EQ(unchanged == all, RawClient::U32(packet->Find(kLabeledRecons)->payload, 0) > 0);
    }
  }
  EXPECT_EQ(with, 3) << "at first, when the subject goes, when it is back";
  EXPECT_GT(without, 100);
}

TEST(ViconServer, ClockRunsAtTheFeedsPpm) {
  const PatternFeed feed = Feed(40.0);
  ViconServerOptions options;
  options.clock_ppm_extra = 10.0;
  auto server = *ViconServer::Start(feed, options);
  EXPECT_DOUBLE_EQ(server->clock().ppm, 50.0);
}

TEST(ViconServer, AnswersPingsInTheirOwnPacketsAndSingleFramesOnRequest) {
  const PatternFeed feed = Feed();
  auto server = *ViconServer::Start(feed, {});
  RawClient client(server->address());
  const auto hello = client.Next();
  ASSERT_TRUE(hello);
  ASSERT_NE(hello->Find(kObjectEnums), nullptr);
  client.SendBlock(kPing, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto echo = client.Next();
  ASSERT_TRUE(echo);
  ASSERT_EQ(echo->blocks.size(), 1u);
  EXPECT_EQ(echo->blocks[0].id, kPing);
  EXPECT_THAT(echo->blocks[0].payload, ::testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  client.Ask({kFrameInfo, kSubjectInfo, kLabeledRecons}, false);
  const auto frame = client.Next();
  ASSERT_TRUE(frame && frame->frame());
  EXPECT_NE(frame->Find(kSubjectInfo), nullptr)
      << "statics come with the first frame after a request";
  EXPECT_EQ(RawClient::U32(frame->Find(kLabeledRecons)->payload, 0), 9u);
  // One was asked for, so the next packet is the answer to this, not a frame.
  client.SendBlock(kPing, {0, 0, 0, 0, 0, 0, 0, 0});
  const auto next = client.Next();
  ASSERT_TRUE(next);
  EXPECT_FALSE(next->frame());
}

TEST(ViconServer, ClosesOnAHostileClientAndServesTheOthers) {
  const PatternFeed feed = Feed();
  auto server = *ViconServer::Start(feed, {});
  RawClient good(server->address());
  good.Ask({kFrameInfo}, true);
  RawClient hostile(server->address());
  hostile.Send({0x01, 0x00, 0x2b, 0x1a, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0});
  while (hostile.Next()) {
  }
  EXPECT_EQ(server->stats().refused, 1);
  EXPECT_GE(Frames(good, 20).size(), 1u);
}

TEST(ViconServer, RefusesRatesTheWireCannotSay) {
  PatternOptions options;
  options.marker_rate_hz = 499.99;
  const PatternFeed odd(options);
  EXPECT_THAT(ViconServer::Start(odd, {}).error().message, ::testing::HasSubstr("499.99"));
  PatternOptions seven;
  seven.devices = {{.name = "EMG", .channel_names = {"A"}, .samples_per_frame = 7}};
  const PatternFeed uneven(seven);
  EXPECT_THAT(ViconServer::Start(uneven, {}).error().message, ::testing::HasSubstr("EMG"));
}

}  // namespace
}  // namespace handhold::capture::vicon_server_test
