/// A simulated Vicon server: the DataStream wire protocol over TCP, on its own drifting clock, with
/// scripted faults.
///
/// The official SDK reads it (tests/capture/source/vicon_source_test.cc). Each client gets a thread
/// of its own, paced by absolute deadlines on CLOCK_MONOTONIC: frame i leaves at clock().HostOf(i),
/// later when the client does not keep up or the script says so, never earlier. A slow client is
/// waited for: TCP loses nothing. The destructor joins.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "capture/simulator/device_clock.h"
#include "capture/simulator/fault_script.h"
#include "capture/simulator/link.h"
#include "capture/simulator/simulator_feed.h"
#include "capture/simulator/vicon_encoder.h"
#include "capture/wire/socket.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture {

struct ViconServerOptions {
  wire::Address address = wire::Address::Loopback(0);  ///< port 0: a free one; the real server has
                                                       ///< 801
  Timestamp host_start{};        ///< host instant of frame 0; 0: when Start is called
  double clock_ppm_extra = 0.0;  ///< added to the feed's marker_clock_ppm
  uint32_t first_frame_id = 0;   ///< the server counts from here after every restart
  bool loop = true;      ///< start the feed again at its end (counters go on); else fall silent
  bool timecode = true;  ///< PAL, 25 frames/s
  /// What the server claims to have spent on a frame, s.
  std::vector<std::pair<std::string, double>> latency_s{{"Data Collected", 0.0015},
                                                        {"Reconstruction", 0.0005}};
  /// What devices say is their period; empty: the frame's. Others, 0 among them, are wrong.
  std::optional<int64_t> device_period_ticks{};
  LinkOptions link{};           ///< delays only: TCP loses and duplicates nothing
  std::vector<Fault> faults{};  ///< device time counts from host_start
};

struct ViconServerStats {
  int64_t frames = 0;       ///< sent, all clients
  int64_t connections = 0;  ///< accepted
  int64_t refused = 0;      ///< closed for what they sent
};

class ViconServer {
 public:
  /// `feed` must outlive the server. Fails when the port is taken, or when the rates do not divide
  /// the protocol's clock.
  static Result<std::unique_ptr<ViconServer>> Start(const SimulatorFeed& feed,
                                                    ViconServerOptions options);
  ~ViconServer();
  ViconServer(const ViconServer&) = delete;
  ViconServer& operator=(const ViconServer&) = delete;

  const wire::Address& address() const { return address_; }
  /// "127.0.0.1:40123", as a client's host string.
  std::string host() const { return address_.ToString(); }
  /// The truth that a fitted clock is compared with.
  const DeviceClock& clock() const { return clock_; }
  const FaultTimeline& faults() const { return timeline_; }
  ViconServerStats stats() const { return {frames_, connections_, refused_}; }

 private:
  /// One client.
  struct Session {
    wire::TcpStream stream;
    std::thread thread;
    std::atomic<bool> done{false};
    std::set<uint32_t> wanted;  ///< ids the client asked for
    bool streaming = false;
    int64_t owed = 0;  ///< single frames asked for
    bool statics_due = true;
    std::set<uint32_t> statics;  ///< ids of static objects, as last sent
    uint64_t hidden = 0;         ///< bit per subject, as last announced
    int64_t period_ticks = 0;    ///< of a frame, as last announced
    ViconPacket packet;
    std::vector<ViconRecon> recons;
    std::vector<double> values;
  };

  ViconServer(const SimulatorFeed& feed, ViconServerOptions options);
  void Accept();
  void Serve(Session& session);
  bool ReadRequests(Session& session, class ViconRequestReader& reader, Timestamp deadline);
  bool Send(Session& session);
  void BuildFrame(Session& session, int64_t i);
  void PutStatics(ViconPacket& packet, const Session& session) const;
  void PutMarkers(Session& session, int64_t i, int64_t feed_frame) const;
  void PutDevices(Session& session, uint32_t frame_id, int64_t feed_frame) const;
  uint64_t HiddenAt(int64_t i) const;
  ViconTimecode TimecodeOf(int64_t frame) const;

  const SimulatorFeed& feed_;
  const ViconServerOptions options_;
  const std::vector<FeedSubject> subjects_;
  const std::vector<FeedDevice> devices_;
  const FaultTimeline timeline_;
  const DeviceClock clock_;
  size_t marker_count_ = 0;
  wire::Address address_;
  wire::TcpListener listener_;
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> frames_{0}, connections_{0}, refused_{0};
  std::list<std::unique_ptr<Session>> sessions_;  ///< of the accepting thread
  std::thread accept_thread_;
};

}  // namespace handhold::capture
