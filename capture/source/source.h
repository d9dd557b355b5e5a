/// A device as the recorder sees it: whatever the wire, it announces streams and then delivers
/// blocks with raw times.
///
/// A Source owns its threads and sockets. The session gives it a Sink; from Start to Stop the
/// source calls the sink from one thread of its own. The path from the decoded packet into the sink
/// neither allocates, locks nor throws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "database/base/result.h"
#include "database/base/time.h"
#include "database/recording/clock_map.h"
#include "database/recording/force_sensor.h"
#include "database/recording/stream.h"

namespace handhold::capture {

/// Samples of one packet, borrowed for the length of the call: channel-major, as SampleBlock.
struct SampleView {
  int stream = 0;             ///< index into the source's announced streams
  int64_t first_counter = 0;  ///< device counter of the first sample, unwrapped
  int count = 0;
  int saturated = 0;                      ///< of them, how many the device's status says so of
  std::span<const double> values;         ///< channel-major; NaN: missing (occluded)
  std::span<const int32_t> point_counts;  ///< ragged streams only
  /// Raw times of this packet. A packet of several samples is received after its last one:
  /// clock.latency_ns then holds the span from its first sample to its last (plus what the device
  /// itself reports), so that host_ns - latency_ns belongs to the first sample.
  recording::ClockPair clock;
};

/// Where a source's samples go. Every call comes from the source's own thread.
class Sink {
 public:
  virtual ~Sink() = default;
  /// The streams are (now) these: called once before the first sample and again when channels
  /// change (a new epoch). May allocate: not on the sample path. Returns the base index that
  /// SampleView::stream of this announcement adds to.
  virtual int OnStreams(std::span<const recording::StreamInfo> streams) = 0;
  virtual void OnSamples(const SampleView& samples) noexcept = 0;
  /// Samples known lost: counters [first, first + count) of `stream`.
  virtual void OnGap(int stream, int64_t first_missing_counter, int64_t count,
                     recording::GapCause cause) noexcept = 0;
  /// The device's clock started anew (restart, power cycle) before counter `first_counter` of
  /// `stream`: counters go on ascending by the host clock's estimate, so the clock map needs a new
  /// segment here. Precedes that sample's call.
  virtual void OnClockReset(int /*stream*/, int64_t /*first_counter*/) noexcept {}
  /// Connection state changed; `text` is for people and names the fix when there is one.
  virtual void OnState(bool connected, std::string_view text) noexcept = 0;
};

/// What a source says of itself at any time, for health. Plain numbers, copied under no lock
/// (atomics inside).
struct SourceHealth {
  bool connected = false;
  int64_t packets = 0;
  int64_t lost_samples = 0;       ///< counted from device counters
  int64_t kernel_drops = 0;       ///< datagrams our own kernel dropped (SO_RXQ_OVFL); 0 where not
                                  ///< applicable
  int64_t bad_packets = 0;        ///< refused by the decoder
  int64_t duplicates = 0;         ///< packets that repeated samples already delivered; dropped
  int64_t late_packets = 0;       ///< arrived after their gap was reported; dropped
  int64_t saturated_samples = 0;  ///< whose device status said so
  int64_t clock_resets = 0;
  bool keeps_zero = false;  ///< the device holds a zero (bias), and loses it with a restart
  int64_t reconnects = 0;
  Timestamp last_packet_host;
  uint32_t device_status = 0;        ///< as the device encodes it; 0 healthy
  int64_t receive_buffer_bytes = 0;  ///< granted SO_RCVBUF; 0 where not applicable
  int64_t receive_buffer_asked = 0;  ///< asked of it
  bool real_time = false;        ///< its thread has real-time scheduling; false: as other programs
  bool real_time_asked = false;  ///< it wants it; false: what it plays is not lost
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const std::string& name() const = 0;  ///< as in the rig file; two sources never share one
  /// Looks for the device and learns its streams and calibration, without streaming. Bounded by
  /// `timeout`. The error says what was tried, at which address, and what to do.
  virtual Result<std::vector<recording::StreamInfo>> Probe(Duration timeout) = 0;
  /// What Probe found that a person should know and change though recording is possible.
  virtual std::vector<std::string> Warnings() const { return {}; }
  /// Calibrations learnt from the device, after Probe or the first announcement; X_MS and normal
  /// come from the rig.
  virtual std::vector<recording::ForceSensor> ForceSensors() const = 0;
  /// Starts streaming into `sink`, which must outlive Stop. Returns once the thread runs;
  /// reconnects by itself.
  virtual Status Start(Sink* sink) = 0;
  virtual void Stop() = 0;  ///< joins the thread; no sink call after it returns
  virtual SourceHealth Health() const = 0;
};

}  // namespace handhold::capture
