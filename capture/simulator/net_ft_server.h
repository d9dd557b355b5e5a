/// A simulated ATI Net F/T: RDT over UDP, configuration over HTTP, on its own drifting clock, with
/// scripted faults.
///
/// Speaks to any client that speaks RDT (proved with PyPI NetFT and pynetft:
/// tests/capture/simulator). Two threads: one streams and reads requests, paced by absolute
/// deadlines on CLOCK_MONOTONIC; one answers HTTP. The destructor joins.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "capture/simulator/device_clock.h"
#include "capture/simulator/fault_script.h"
#include "capture/simulator/link.h"
#include "capture/simulator/simulator_feed.h"
#include "capture/wire/rdt.h"
#include "capture/wire/socket.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture {

struct NetFtServerOptions {
  wire::Address udp = wire::Address::Loopback(0);   ///< port 0: a free one; the real device has
                                                    ///< 49152
  wire::Address http = wire::Address::Loopback(0);  ///< the real device has 80
  Timestamp host_start{};           ///< host instant of sample 0; 0: when Start is called
  double clock_ppm_extra = 0.0;     ///< added to the feed's force_clock_ppm
  uint32_t first_ft_sequence = 1;   ///< the device counts from here after every restart
  uint32_t first_rdt_sequence = 1;  ///< of every request
  bool loop = true;  ///< start the feed again at its end (counters go on); else fall silent
  double counts_per_N = 1e6;
  double counts_per_Nm = 1e6;
  std::string force_unit = "N";
  std::string torque_unit = "Nm";
  std::string serial = "FT00001";
  int records_per_datagram = 10;  ///< in buffered mode, at most 40
  LinkOptions link{};
  std::vector<Fault> faults{};  ///< device time counts from host_start
};

/// What the server did, for tests: read at any time.
struct NetFtServerStats {
  int64_t datagrams = 0;    ///< sent, duplicates included
  int64_t records = 0;      ///< made and sent, duplicates excluded
  int64_t link_losses = 0;  ///< records lost by LinkOptions::loss_fraction while a client was
                            ///< served
  int64_t requests = 0;     ///< start, stop, bias ...
  int64_t bad_requests = 0;
  int64_t http_requests = 0;
};

class NetFtServer {
 public:
  /// `feed` must outlive the server and have a force rate. Fails when a port is taken.
  static Result<std::unique_ptr<NetFtServer>> Start(const SimulatorFeed& feed,
                                                    NetFtServerOptions options);
  ~NetFtServer();
  NetFtServer(const NetFtServer&) = delete;
  NetFtServer& operator=(const NetFtServer&) = delete;

  const wire::Address& udp_address() const { return socket_.address(); }
  const wire::Address& http_address() const { return listener_.address(); }
  /// The truth that a fitted clock is compared with.
  const DeviceClock& clock() const { return clock_; }
  const FaultTimeline& faults() const { return timeline_; }
  NetFtServerStats stats() const;

 private:
  NetFtServer(const SimulatorFeed& feed, NetFtServerOptions options);
  void Stream();
  void StreamSample();
  void HandleRequest(std::span<const uint8_t> bytes, const wire::Address& from);
  void MakeRecord();
  void Flush(bool lost, bool duplicated);
  void ServeHttp();
  void AnswerHttp(wire::TcpStream& client);
  std::string ConfigPage() const;
  void SetOutputRate(std::string_view query);

  const SimulatorFeed& feed_;
  const NetFtServerOptions options_;
  const FaultTimeline timeline_;
  DeviceClock clock_;
  Link link_;
  wire::UdpSocket socket_;
  wire::TcpListener listener_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> away_{false};
  std::atomic<int64_t> output_rate_;  ///< records per second of device time, at most the feed's
                                      ///< rate

  // Of the streaming thread.
  int64_t next_ = 0;  ///< the next sample's index
  bool streaming_ = false;
  wire::Address client_;
  int batch_ = 1;  ///< records per datagram now
  uint32_t rdt_sequence_ = 0;
  uint32_t remaining_ = 0;  ///< records left of a counted request; 0: until stopped
  std::array<double, 6> bias_{};
  std::array<double, 6> wrench_{};
  std::array<uint8_t, wire::rdt::kMaxRecordsPerDatagram * wire::rdt::kRecordBytes> buffer_{};
  int buffered_ = 0;
  Timestamp last_send_;

  std::atomic<int64_t> datagrams_{0}, records_{0}, link_losses_{0}, requests_{0}, bad_requests_{0},
      http_requests_{0};
  std::thread stream_thread_, http_thread_;
};

}  // namespace handhold::capture
