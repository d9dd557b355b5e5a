#include "capture/simulator/net_ft_server.h"

#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "capture/simulator/rdt_codec.h"
#include "capture/wire/cancel.h"
#include "capture/wire/schedule.h"
#include "database/base/check.h"

namespace handhold::capture {
namespace {

using namespace wire::rdt;  // protocol constants

void BeExact() {
  ::prctl(PR_SET_TIMERSLACK, 1);
  wire::AskForRealTime(wire::Urgency::kDevice);
}

}  // namespace

Result<std::unique_ptr<NetFtServer>> NetFtServer::Start(const SimulatorFeed& feed,
                                                        NetFtServerOptions options) {
  CHECK_GT(feed.force_rate_hz(), 0.0);
  CHECK_GE(options.records_per_datagram, 1);
  CHECK_LE(options.records_per_datagram, kMaxRecordsPerDatagram);
  std::unique_ptr<NetFtServer> server(new NetFtServer(feed, std::move(options)));
  HANDHOLD_ASSIGN(server->socket_, wire::UdpSocket::Bind(server->options_.udp));
  HANDHOLD_ASSIGN(server->listener_, wire::TcpListener::Listen(server->options_.http));
  server->stream_thread_ = std::thread([raw = server.get()] { raw->Stream(); });
  server->http_thread_ = std::thread([raw = server.get()] { raw->ServeHttp(); });
  return server;
}

NetFtServer::NetFtServer(const SimulatorFeed& feed, NetFtServerOptions options)
    : feed_(feed),
      options_(std::move(options)),
      timeline_(options_.faults, feed.force_rate_hz()),
      clock_{options_.host_start == Timestamp() ? HostNow() : options_.host_start,
             feed.force_rate_hz(), feed.force_clock_ppm() + options_.clock_ppm_extra},
      link_(options_.link),
      output_rate_(std::llround(feed.force_rate_hz())) {}

NetFtServer::~NetFtServer() {
  stop_ = true;
  if (stream_thread_.joinable()) stream_thread_.join();
  if (http_thread_.joinable()) http_thread_.join();
}

NetFtServerStats NetFtServer::stats() const {
  return {datagrams_, records_, link_losses_, requests_, bad_requests_, http_requests_};
}

void NetFtServer::Stream() {
  BeExact();
  std::array<uint8_t, 2048> request{};
  wire::Datagram datagram;
  next_ = std::max<int64_t>(0, clock_.IndexAt(HostNow()) + 1);
  while (!stop_) {
    const Duration delay = streaming_ ? link_.Delay() : Duration();
    const Timestamp due = std::max(clock_.HostOf(timeline_.SendIndex(next_)) + delay, last_send_);
    // Requests are read while waiting for the next sample's instant.
    for (Timestamp now = HostNow(); now < due && !stop_; now = HostNow()) {
      if (socket_.Receive(request, std::min(due, now + wire::kCancelPeriod), &datagram) ==
          wire::IoStatus::kOk) {
        HandleRequest(std::span(request).first(datagram.bytes), datagram.from);
      }
    }
    if (stop_) break;
    if (next_ % 64 == 0 &&
        socket_.Receive(request, Timestamp(), &datagram) == wire::IoStatus::kOk) {
      HandleRequest(std::span(request).first(datagram.bytes), datagram.from);
    }
    last_send_ = due;
    StreamSample();
    ++next_;
  }
}

void NetFtServer::StreamSample() {
  const bool away = timeline_.Away(next_) != nullptr;
  if (away != away_.load()) {
    away_ = away;
    // Whoever was served is forgotten; a client asks again when it hears nothing.
    streaming_ = false;
    buffered_ = 0;
    bias_ = {};
  }
  if (away || !streaming_) return;
  if (!options_.loop && next_ >= feed_.force_count()) return;
  // Below the sensor's own rate, records are those samples at which the output clock ticks.
  const int64_t rate = std::llround(feed_.force_rate_hz());
  const int64_t out = output_rate_;
  if (out < rate && (next_ * out) / rate == ((next_ - 1) * out) / rate) return;
  MakeRecord();
}

void NetFtServer::MakeRecord() {
  RdtReading reading;
  reading.rdt_sequence = rdt_sequence_++;
  const int64_t sample = next_ - timeline_.CounterBase(next_);
  const double internal = static_cast<double>(sample) * (kInternalRate_Hz / feed_.force_rate_hz());
  reading.ft_sequence = options_.first_ft_sequence + static_cast<uint32_t>(std::llround(internal));
  if (timeline_.Saturated(next_)) reading.status = kStatusSummary | kStatusSaturated;
  feed_.Wrench(next_ % feed_.force_count(), wrench_);
  for (int axis = 0; axis < 6; ++axis) {
    const double per_unit = axis < 3 ? options_.counts_per_N : options_.counts_per_Nm;
    reading.counts[axis] = ToCounts(wrench_[axis] - bias_[axis], per_unit);
  }
  // A record of its own is lost with its datagram; in buffered mode a datagram is lost when it is
  // due at a lost sample.
  EncodeRdtRecord(reading,
                  std::span(buffer_).subspan(buffered_ * kRecordBytes).first<kRecordBytes>());
  ++buffered_;
  const bool last = remaining_ == 1;  // 0: as many as until the client says stop
  if (remaining_ > 0) --remaining_;
  if (last) streaming_ = false;
  if (buffered_ >= batch_ || last) Flush(timeline_.Missing(next_), timeline_.Duplicated(next_));
}

void NetFtServer::Flush(bool lost, bool duplicated) {
  const std::span<const uint8_t> bytes = std::span(buffer_).first(buffered_ * kRecordBytes);
  const bool link_lost = link_.Lose();
  const bool twice = link_.Duplicate() || duplicated;
  if (link_lost && !lost) link_losses_ += buffered_;
  if (!lost && !link_lost) {
    socket_.SendTo(client_, bytes);
    datagrams_ += 1;
    records_ += buffered_;
    if (twice) {
      socket_.SendTo(client_, bytes);
      datagrams_ += 1;
    }
  }
  buffered_ = 0;
}

void NetFtServer::HandleRequest(std::span<const uint8_t> bytes, const wire::Address& from) {
  if (away_) return;
  const auto request = ParseRdtRequest(bytes);
  if (!request) {
    ++bad_requests_;
    return;
  }
  ++requests_;
  switch (request->command) {
    case kStop:
      streaming_ = false;
      buffered_ = 0;
      break;
    case 1:  // Axia's name for the same
    case kRealTime:
    case kBuffered:
      streaming_ = true;
      client_ = from;
      batch_ = request->command == kBuffered ? options_.records_per_datagram : 1;
      rdt_sequence_ = options_.first_rdt_sequence;
      remaining_ = request->sample_count;
      buffered_ = 0;
      break;
    case kBias:
      feed_.Wrench(next_ % feed_.force_count(), bias_);
      break;
    case kResetThreshold:
      break;
    default:
      ++bad_requests_;
      break;
  }
}

void NetFtServer::ServeHttp() {
  while (!stop_) {
    wire::TcpStream client;
    if (listener_.Accept(HostNow() + wire::kCancelPeriod, &client) != wire::IoStatus::kOk) continue;
    if (away_) {
      client.Abort();
      continue;
    }
    AnswerHttp(client);
  }
}

void NetFtServer::AnswerHttp(wire::TcpStream& client) {
  std::array<uint8_t, 4096> buffer{};
  size_t used = 0;
  const Timestamp deadline = HostNow() + Duration::Seconds(1);
  std::string_view text;
  while (text.find("\r\n\r\n") == std::string_view::npos) {
    if (used == buffer.size()) return;
    const wire::IoResult got = client.Read(std::span(buffer).subspan(used),
                                           std::min(deadline, HostNow() + wire::kCancelPeriod));
    if (got.status == wire::IoStatus::kTimeout && HostNow() < deadline && !stop_) continue;
    if (got.status != wire::IoStatus::kOk) return;
    used += got.bytes;
    text = {reinterpret_cast<const char*>(buffer.data()), used};
  }
  ++http_requests_;
  const std::string_view line = text.substr(0, text.find("\r\n"));
  std::string answer;
  const auto asks = [&](std::string_view path) {
    return line.starts_with("GET ") && line.substr(4).starts_with(path);
  };
  if (asks(kConfigPath)) {
    const std::string page = ConfigPage();
    answer = "HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\nContent-Length: " +
             std::to_string(page.size()) + "\r\nConnection: close\r\n\r\n" + page;
  } else if (asks(kCommPath)) {
    SetOutputRate(line);
    answer =
        "HTTP/1.0 302 Found\r\nLocation: /comm.htm\r\nContent-Length: 0\r\nConnection: "
        "close\r\n\r\n";
  } else {
    answer = "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  }
  client.Write({reinterpret_cast<const uint8_t*>(answer.data()), answer.size()}, deadline);
}

std::string NetFtServer::ConfigPage() const {
  const auto number = [](double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.10g", value);
    return std::string(text.data());
  };
  std::string page = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<netft>\n";
  const auto tag = [&](std::string_view name, const std::string& value) {
    page += "<" + std::string(name) + ">" + value + "</" + std::string(name) + ">\n";
  };
  tag("prodname", "Handhold simulated Net F/T");
  tag("setserial", options_.serial);
  tag("runft", "0;0;0;0;0;0");
  tag("cfgcpf", number(options_.counts_per_N));
  tag("cfgcpt", number(options_.counts_per_Nm));
  tag("scfgfu", options_.force_unit);
  tag("scfgtu", options_.torque_unit);
  tag("comrdte", "Enabled");
  tag("comrdtrate", std::to_string(output_rate_.load()));
  tag("comrdtbsiz", std::to_string(options_.records_per_datagram));
  return page + "</netft>\n";
}

void NetFtServer::SetOutputRate(std::string_view query) {
  constexpr std::string_view kKey = "comrdtrate=";
  const size_t at = query.find(kKey);
  if (at == std::string_view::npos) return;
  const std::string_view digits = query.substr(at + kKey.size());
  int64_t rate = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rate);
  if (error != std::errc() || rate < 1) return;
  output_rate_ = std::min(rate, static_cast<int64_t>(std::llround(feed_.force_rate_hz())));
}

}  // namespace handhold::capture
