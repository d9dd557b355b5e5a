#include "capture/simulator/simulator_host.h"

#include <signal.h>

#include <array>
#include <vector>

#include <gmock/gmock.h>

#include "capture/simulator/pattern_feed.h"
#include "capture/wire/rdt.h"
#include "capture/wire/vicon_stream.h"

namespace handhold::capture::simulator_host_test {
namespace {

Timestamp In(int64_t ms) { return HostNow() + Duration::Milliseconds(ms); }

PatternFeed Feed() {
  PatternOptions options;
  options.force_rate_hz = 1000.0;
  return PatternFeed(options);
}

/// The first bytes of a DataStream server: a packet whose first block is its set of object ids.
void ExpectViconGreets(const wire::Address& address) {
  auto stream = wire::TcpStream::Connect(address, In(10'000));
  ASSERT_TRUE(stream) << stream.error().message;
  std::array<uint8_t, 12> head{};
  size_t got = 0;
  while (got < head.size()) {
    const auto read = stream->Read(std::span(head).subspan(got), In(10'000));
    ASSERT_EQ(read.status, wire::IoStatus::kOk);
    got += read.bytes;
  }
  EXPECT_THAT(std::vector<uint8_t>(head.begin(), head.begin() + 4),
              ::testing::ElementsAre(0x01, 0x00, 0x2b, 0x1a));
  EXPECT_THAT(std::vector<uint8_t>(head.begin() + 8, head.end()),
              ::testing::ElementsAre(0xa1, 0x86, 0x01, 0x00));
}

void ExpectNetFtStreams(const wire::Address& address) {
  auto socket = *wire::UdpSocket::Bind(wire::Address::Loopback(0));
  const std::array<uint8_t, 8> start{0x12, 0x34, 0, 2, 0, 0, 0, 5};
  std::array<uint8_t, 64> record{};
  wire::Datagram datagram;
  ASSERT_EQ(socket.SendTo(address, start), wire::IoStatus::kOk);
  for (uint8_t k = 1; k <= 5; ++k) {
    ASSERT_EQ(socket.Receive(record, In(10'000), &datagram), wire::IoStatus::kOk);
    EXPECT_EQ(datagram.bytes, wire::rdt::kRecordBytes);
    EXPECT_EQ(record[3], k) << "rdt_sequence";
  }
  // Five were asked for: no sixth comes while fifty would.
  EXPECT_EQ(socket.Receive(record, In(50), &datagram), wire::IoStatus::kTimeout);
}

TEST(SimulatorHost, ServesBothWiresFromOneInstant) {
  const PatternFeed feed = Feed();
  auto host = SimulatorHost::Start(feed, {});
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_EQ((*host)->vicon()->clock().host_start, (*host)->net_ft()->clock().host_start);
  ExpectViconGreets((*host)->addresses().vicon);
  ExpectNetFtStreams((*host)->addresses().net_ft_rdt);
  const std::string line = (*host)->addresses().ToNdjson();
  EXPECT_THAT(line, ::testing::HasSubstr("\"vicon\":\"127.0.0.1:"));
  EXPECT_EQ(line.back(), '\n');
}

TEST(SimulatorHost, ATakenPortIsAnErrorThatNamesIt) {
  const PatternFeed feed = Feed();
  auto taken = *wire::TcpListener::Listen(wire::Address::Loopback(0));
  SimulatorHostOptions options;
  options.vicon.address = taken.address();
  const auto host = SimulatorHost::Start(feed, options);
  ASSERT_FALSE(host);
  EXPECT_THAT(host.error().message, ::testing::HasSubstr(taken.address().ToString()));
  const auto process = SimulatorProcess::Start(feed, options);
  ASSERT_FALSE(process);
  EXPECT_THAT(process.error().message, ::testing::HasSubstr(taken.address().ToString()));
}

TEST(SimulatorProcess, ServesFromAChildThatEndsWithItsOwner) {
  const PatternFeed feed = Feed();
  auto process = SimulatorProcess::Start(feed, {});
  ASSERT_TRUE(process) << process.error().message;
  const pid_t pid = (*process)->pid();
  EXPECT_NE(pid, ::getpid());
  EXPECT_EQ(::kill(pid, 0), 0);
  ExpectViconGreets((*process)->addresses().vicon);
  ExpectNetFtStreams((*process)->addresses().net_ft_rdt);
  process->reset();
  EXPECT_NE(::kill(pid, 0), 0) << "the child is gone and reaped";
}

}  // namespace
}  // namespace handhold::capture::simulator_host_test
