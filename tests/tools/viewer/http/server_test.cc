// The server: answers what it is asked, refuses what it should, and is not held up by anybody.
#include "tools/viewer/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace handhold::viewer::server_test {
namespace {

using capture::wire::IoStatus;
using capture::wire::TcpStream;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ParsedHead Parse(const std::string& line, const std::string& host = "127.0.0.1:28480") {
  return ParseHead(line + "\r\nHost: " + host + "\r\nX: y\r\n\r\n");
}

TEST(ParseHeadTest, PathAndQueryAreDecoded) {
  const ParsedHead head = Parse("GET /clip/stroke%20one?q=a+%3E+5%25&q=b&flag HTTP/1.1");
  ASSERT_FALSE(head.refusal);
  EXPECT_EQ(head.request.path, "/clip/stroke one");
  EXPECT_EQ(head.request.Query("q"), "a > 5%");
  EXPECT_EQ(head.request.query.count("q"), 2u);
  EXPECT_EQ(head.request.query.count("flag"), 1u);
  EXPECT_EQ(head.request.Query("none"), "");
}

TEST(ParseHeadTest, WhatIsNoQuestionIsRefused) {
  const auto status = [](const ParsedHead& head) {
    return head.refusal ? head.refusal->status : 0;
  };
  EXPECT_EQ(status(Parse("POST / HTTP/1.1")), 405);
  EXPECT_EQ(status(Parse("DELETE /clip/a HTTP/1.1")), 405);
  EXPECT_EQ(status(Parse("GET /%zz HTTP/1.1")), 400);
  EXPECT_EQ(status(Parse("GET /a%00b HTTP/1.1")), 400);
  EXPECT_EQ(status(Parse("GET /%ff HTTP/1.1")), 400) << "no UTF-8";
  EXPECT_EQ(status(Parse("GET nothing HTTP/1.1")), 400);
  EXPECT_EQ(status(Parse("hello")), 400);
  EXPECT_EQ(status(ParseHead("GET / HTTP/1.1\r\n\r\n")), 400) << "no Host";
  // A page of somebody else's that made its own name point here.
  EXPECT_EQ(status(Parse("GET / HTTP/1.1", "evil.example")), 403);
  EXPECT_EQ(status(Parse("GET / HTTP/1.1", "127.0.0.1.evil.example")), 403);
  EXPECT_EQ(status(Parse("GET / HTTP/1.1", "LOCALHOST:1")), 0);
  EXPECT_EQ(status(Parse("GET / HTTP/1.1", "192.168.1.5:28480")), 0);
}

std::string Ask(const Server& server, const std::string& text) {
  const Timestamp deadline = HostNow() + Duration::Seconds(10);
  auto stream = TcpStream::Connect(server.address(), deadline);
  if (!stream) return "no connection: " + stream.error().message;
  (void)stream->Write({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, deadline);
  std::string out;
  std::vector<uint8_t> buffer(4096);
  while (true) {
    const auto read = stream->Read(buffer, deadline);
    if (read.status != IoStatus::kOk) return out;
    out.append(reinterpret_cast<const char*>(buffer.data()), read.bytes);
  }
}
const std::string kHost = "Host: localhost\r\n\r\n";

Result<Handler> Echo() {
  return Handler(
      [](const Request& r) { return Response{200, "text/plain", "you asked " + r.path}; });
}

TEST(ServerTest, AnswersAndTellsNoMoreThanAsked) {
  const auto server = *Server::Start({}, Echo);
  EXPECT_EQ(server->address().ipv4, 0x7f000001u) << "loopback unless asked";
  const std::string got = Ask(*server, "GET /a HTTP/1.1\r\n" + kHost);
  EXPECT_THAT(got, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(got, HasSubstr("\r\n\r\nyou asked /a"));
  EXPECT_THAT(got, HasSubstr("Content-Length: 12"));
  const std::string head = Ask(*server, "HEAD /a HTTP/1.1\r\n" + kHost);
  EXPECT_THAT(head, HasSubstr("Content-Length: 12"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_THAT(Ask(*server, "PUT /a HTTP/1.1\r\n" + kHost), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Ask(*server, "GET /" + std::string(9000, 'a')), StartsWith("HTTP/1.1 431"));
  EXPECT_EQ(server->answered(), 4);
}

TEST(ServerTest, SomebodyWhoSaysNothingHoldsUpNobody) {
  ServerOptions options;
  options.deadline = Duration::Milliseconds(300);
  const auto server = *Server::Start(options, Echo);
  std::vector<TcpStream> silent;
  for (int i = 0; i < 2; ++i)
    silent.push_back(*TcpStream::Connect(server->address(), HostNow() + Duration::Seconds(5)));
  EXPECT_THAT(Ask(*server, "GET /b HTTP/1.1\r\n" + kHost), HasSubstr("you asked /b"));
  std::vector<uint8_t> buffer(200);
  const auto read = silent[0].Read(buffer, HostNow() + Duration::Seconds(10));
  ASSERT_EQ(read.status, IoStatus::kOk);
  EXPECT_THAT(std::string(buffer.begin(), buffer.begin() + 12), StartsWith("HTTP/1.1 408"));
}

// Hundreds who say nothing kept everybody else out for 53 seconds: the idle ones are closed
// first, the oldest of them first.
TEST(ServerTest, ManyWhoSayNothingHoldUpNobody) {
  ServerOptions options;
  options.deadline = Duration::Seconds(60);
  const auto server = *Server::Start(options, Echo);
  std::vector<TcpStream> silent;
  for (int i = 0; i < 80; ++i) {
    auto stream = TcpStream::Connect(server->address(), HostNow() + Duration::Seconds(5));
    ASSERT_TRUE(stream) << i << ": " << stream.error().message;
    silent.push_back(*std::move(stream));
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(Ask(*server, "GET /c HTTP/1.1\r\n" + kHost), HasSubstr("you asked /c")) << i;
  std::vector<uint8_t> buffer(200);
  EXPECT_EQ(silent.front().Read(buffer, HostNow() + Duration::Seconds(5)).status,
            IoStatus::kClosed);
  EXPECT_EQ(silent.back().Read(buffer, HostNow() + Duration::Milliseconds(50)).status,
            IoStatus::kTimeout)
      << "the newest may still ask";
}

// A request that comes in pieces is waited for, and no page of another origin may embed an answer.
TEST(ServerTest, PiecesAreJoinedAndAnswersStayHere) {
  const auto server = *Server::Start({}, Echo);
  const Timestamp deadline = HostNow() + Duration::Seconds(10);
  auto stream = *TcpStream::Connect(server->address(), deadline);
  for (const std::string part : {"GET /pie", "ces HTTP/1.1\r\nHo", "st: localhost\r\n\r", "\n"}) {
    (void)stream.Write({reinterpret_cast<const uint8_t*>(part.data()), part.size()}, deadline);
    capture::wire::SleepUntil(HostNow() + Duration::Milliseconds(20));
  }
  std::string got;
  std::vector<uint8_t> buffer(4096);
  for (auto read = stream.Read(buffer, deadline); read.status == IoStatus::kOk;
       read = stream.Read(buffer, deadline))
    got.append(reinterpret_cast<const char*>(buffer.data()), read.bytes);
  EXPECT_THAT(got, HasSubstr("you asked /pieces"));
  for (const char* ask : {"GET /a HTTP/1.1\r\n", "PUT /a HTTP/1.1\r\n", "nonsense\r\n"})
    EXPECT_THAT(Ask(*server, ask + kHost),
                HasSubstr("\r\nCross-Origin-Resource-Policy: same-origin"))
        << ask;
}

TEST(ServerTest, AHandlerThatDoesNotComeIsSaid) {
  const auto server = *Server::Start(
      {}, []() -> Result<Handler> { return Error{ErrorCode::kNotFound, "the library is gone"}; });
  const std::string got = Ask(*server, "GET / HTTP/1.1\r\n" + kHost);
  EXPECT_THAT(got, StartsWith("HTTP/1.1 500"));
  EXPECT_THAT(got, HasSubstr("the library is gone"));
}

}  // namespace
}  // namespace handhold::viewer::server_test
