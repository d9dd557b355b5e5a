#include "capture/wire/socket.h"

#include <array>
#include <fstream>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace handhold::capture::wire::socket_test {
namespace {

Timestamp In(int64_t ms) { return HostNow() + Duration::Milliseconds(ms); }

// Datagrams that wait while CLOCK_REALTIME is stepped are never made early.
TEST(StampClock, AStepOfTheRealTimeClockMakesNothingEarly) {
  constexpr int64_t kMs = 1'000'000;
  for (const int64_t step_ms : {-5'000, -400, 400, 5'000, 60'000}) {
    StampClock clock;
    int64_t real_minus_mono = 1'700'000'000'000 * kMs;
    const auto at = [](int64_t ms) {
      return Timestamp::FromNanoseconds(1'000'000 * kMs + ms * kMs);
    };
    const auto stamp = [&](int64_t ms) { return at(ms).ns() + real_minus_mono; };
    const auto read = [&](int64_t stamp_ns, int64_t ms) {
      return clock.MonotonicOf(stamp_ns, stamp(ms), at(ms));
    };
    for (int64_t ms = 0; ms < 50; ms += 10) EXPECT_EQ(read(stamp(ms), ms + 3), at(ms));
    const int64_t waiting[] = {stamp(60), stamp(70), stamp(80)};
    real_minus_mono += step_ms * kMs;  // at 85 ms
    for (int k = 0; k < 3; ++k) {
      const Timestamp got = read(waiting[k], 90 + k);
      EXPECT_GE(got, at(60 + 10 * k)) << step_ms;
      EXPECT_LE(got, at(90 + k)) << step_ms;
    }
    // Then all is as before.
    for (int64_t ms = 100; ms < 150; ms += 10)
      EXPECT_EQ(read(stamp(ms), ms + 3), at(ms)) << step_ms;
  }
}

TEST(Udp, KeepsSenderSizeAndAKernelStamp) {
  UdpSocket a = *UdpSocket::Bind(Address::Loopback(0));
  UdpSocket b = *UdpSocket::Bind(Address::Loopback(0));
  EXPECT_GE(a.SetReceiveBuffer(2 << 20), 4096);
  const std::array<uint8_t, 4> sent{1, 2, 3, 4};
  const Timestamp before = HostNow();
  ASSERT_EQ(b.SendTo(a.address(), sent), IoStatus::kOk);
  std::array<uint8_t, 3> small{};
  Datagram got;
  ASSERT_EQ(a.Receive(small, In(2000), &got), IoStatus::kOk);
  EXPECT_EQ(got.bytes, 3u);
  EXPECT_TRUE(got.truncated);
  EXPECT_EQ(got.from, b.address());
  // The two clocks are read one after the other: allow a little before.
  EXPECT_GE(got.host_receive, before - Duration::Milliseconds(50));
  EXPECT_LE(got.host_receive, HostNow());
}

TEST(Udp, WhatIsGrantedIsSaidInTheBytesOfWhatIsAsked) {
  int64_t limit = 0;
  std::ifstream("/proc/sys/net/core/rmem_max") >> limit;
  ASSERT_GT(limit, 65'536);
  UdpSocket socket = *UdpSocket::Bind(Address::Loopback(0));
  EXPECT_EQ(socket.SetReceiveBuffer(65'536), 65'536);
  const int64_t asked = limit / 2 * 3;
  const int64_t granted = socket.SetReceiveBuffer(asked);
  EXPECT_TRUE(granted == limit || granted == asked / 2 * 2) << granted << " of " << asked;
}

TEST(Udp, TimesOutAndCountsWhatTheKernelDropped) {
  UdpSocket a = *UdpSocket::Bind(Address::Loopback(0));
  UdpSocket b = *UdpSocket::Bind(Address::Loopback(0));
  std::array<uint8_t, 64> buffer{};
  Datagram got;
  EXPECT_EQ(a.Receive(buffer, HostNow(), &got), IoStatus::kTimeout);
  a.SetReceiveBuffer(4096);
  std::array<uint8_t, 64> sent{};
  constexpr int kSent = 200;
  for (int i = 0; i < kSent; ++i) b.SendTo(a.address(), sent);
  int received = 0;
  while (a.Receive(buffer, HostNow(), &got) == IoStatus::kOk) ++received;
  ASSERT_LT(received, kSent);
  // The counter travels with a datagram, so one more is needed to learn of the last drops.
  b.SendTo(a.address(), sent);
  ASSERT_EQ(a.Receive(buffer, In(2000), &got), IoStatus::kOk);
  EXPECT_EQ(static_cast<int>(got.kernel_drops), kSent - received);
}

TEST(Udp, SaysWhenNobodyListens) {
  UdpSocket a = *UdpSocket::Bind(Address::Loopback(0));
  Address nobody;
  {
    UdpSocket b = *UdpSocket::Bind(Address::Loopback(0));
    nobody = b.address();
  }
  ASSERT_TRUE(a.Connect(nobody));
  const std::array<uint8_t, 1> byte{0};
  a.Send(byte);
  std::array<uint8_t, 8> buffer{};
  Datagram got;
  EXPECT_EQ(a.Receive(buffer, In(2000), &got), IoStatus::kClosed);
}

TEST(Tcp, CarriesBytesAndSeesTheEnd) {
  TcpListener listener = *TcpListener::Listen(Address::Loopback(0));
  TcpStream server;
  EXPECT_EQ(listener.Accept(HostNow(), &server), IoStatus::kTimeout);
  TcpStream client = *TcpStream::Connect(listener.address(), In(2000));
  ASSERT_EQ(listener.Accept(In(2000), &server), IoStatus::kOk);
  const std::vector<uint8_t> sent(1 << 20, 7);
  std::thread writer([&] {
    EXPECT_EQ(client.Write(sent, In(20'000)).status, IoStatus::kOk);
    client.Close();
  });
  std::vector<uint8_t> buffer(1 << 16);
  size_t total = 0;
  for (;;) {
    const IoResult got = server.Read(buffer, In(20'000));
    if (got.status != IoStatus::kOk) {
      EXPECT_EQ(got.status, IoStatus::kClosed);
      break;
    }
    total += got.bytes;
  }
  writer.join();
  EXPECT_EQ(total, sent.size());
}

TEST(Tcp, WriteToAStalledPeerEndsAtTheDeadline) {
  TcpListener listener = *TcpListener::Listen(Address::Loopback(0));
  TcpStream client = *TcpStream::Connect(listener.address(), In(2000));
  TcpStream server;
  ASSERT_EQ(listener.Accept(In(2000), &server), IoStatus::kOk);
  const std::vector<uint8_t> much(64 << 20, 1);
  const IoResult wrote = client.Write(much, In(50));
  EXPECT_EQ(wrote.status, IoStatus::kTimeout);
  EXPECT_LT(wrote.bytes, much.size());
}

TEST(Tcp, RefusedConnectNamesTheAddress) {
  Address nobody;
  {
    TcpListener listener = *TcpListener::Listen(Address::Loopback(0));
    nobody = listener.address();
  }
  const auto stream = TcpStream::Connect(nobody, In(2000));
  ASSERT_FALSE(stream);
  EXPECT_THAT(stream.error().message, ::testing::HasSubstr(nobody.ToString()));
}

}  // namespace
}  // namespace handhold::capture::wire::socket_test
