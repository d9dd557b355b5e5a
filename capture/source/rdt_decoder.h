/// The host's side of ATI's Raw Data Transfer: requests out, records in, and the rules by which
/// sequence numbers become sample counters and gaps. Pure: no socket, no clock of its own, no
/// allocation; the peer is taken for hostile.
///
/// Shares constants, and no code, with the simulator's encoder; golden vectors in
/// rdt_decoder_test.cc pin it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "capture/source/counter.h"
#include "capture/wire/rdt.h"
#include "database/base/time.h"
#include "database/recording/stream.h"

namespace handhold::capture {

struct RdtRecord {
  uint32_t rdt_sequence = 0;  ///< of this request, + 1 per record
  uint32_t ft_sequence = 0;   ///< of the transducer's own sampling
  uint32_t status = 0;        ///< 0: healthy (wire/rdt.h names the bits)
  std::array<int32_t, 6> counts{};
};

using RdtRecords = std::array<RdtRecord, wire::rdt::kMaxRecordsPerDatagram>;

/// Records of a datagram into `out`; returns how many, or -1 when the size is no whole number of
/// records from 1 to 40.
int DecodeRdtDatagram(std::span<const uint8_t> bytes, RdtRecords& out);

std::array<uint8_t, wire::rdt::kRequestBytes> EncodeRdtRequest(wire::rdt::Command command,
                                                               uint32_t sample_count);

/// What is to be done with one record.
struct RdtVerdict {
  enum Kind {
    kAccept,     ///< the next sample; `counter` is its number
    kDuplicate,  ///< delivered before: drop
    kLate,       ///< its gap has been reported: drop
  };
  Kind kind = kAccept;
  int64_t counter = 0;   ///< ascending through wraps, requests and restarts
  int64_t gap = 0;       ///< samples missing before this one: counters counter - gap .. counter - 1
  bool new_run = false;  ///< the device numbers anew (a request, a restart)
  bool clock_reset = false;  ///< ... and so does its sample clock: the gap is an estimate from the
                             ///< host's clock
};

/// Follows rdt_sequence and ft_sequence.
///
/// Within a request, rdt_sequence counts records: a step of 1 is the next, a larger one a gap
/// (unless it is ahead of the host's clock, as below, whatever the counters agree on), one back a
/// duplicate or a late arrival. When it falls back while ft_sequence goes on, the device serves a
/// new request and ft_sequence tells how many samples passed in between, however long the silence
/// was: what comes after it may be a backlog that was held up, and late by all of it. When both
/// fall back, or ft_sequence is ahead of the host's clock by more than half a second (nothing
/// arrives before it was sent), the device was restarted: its counters say nothing about the time
/// away, and the host's clock does. Not told from a backlog: a device whose ft_sequence has come
/// farther when it returns than it was when it went, one restarted within seconds of its start; the
/// clock fit then finds the break.
class RdtSequencer {
 public:
  /// `record_rate_hz`: records per second; `internal_rate_hz`: steps of ft_sequence per second, as
  /// assumed until 100 records of a run have told (an Axia counts at the rate of its ADC page, 488
  /// to 7812 Hz: ATI 9610-05 Ethernet Axia-09, table 7.1).
  explicit RdtSequencer(double record_rate_hz,
                        double internal_rate_hz = wire::rdt::kInternalRate_Hz);

  RdtVerdict Next(const RdtRecord& record, Timestamp host_receive);
  /// The counter that the next record in order will get.
  int64_t next_counter() const { return last_counter_ + 1; }
  /// Records that were due by `host` and have not come.
  int64_t MissingBy(Timestamp host) const;

 private:
  RdtVerdict Accept(const RdtRecord& record, Timestamp host, int64_t steps, RdtVerdict verdict);
  double StepsPerRecord() const;
  /// That many records on, the device would be ahead of what can have arrived by `host`.
  bool IsAhead(int64_t records, Timestamp host) const;
  RdtVerdict NewRun(const RdtRecord& record, Timestamp host);

  double record_rate_hz_;
  double nominal_steps_per_record_;       ///< of ft_sequence
  int64_t run_ft_ = 0, run_records_ = 0;  ///< steps of both counters within runs, so far
  bool started_ = false;
  uint32_t last_rdt_ = 0;
  uint32_t last_ft_ = 0;
  int64_t last_counter_ = -1;
  Timestamp last_host_;
  DueClock due_;
  uint64_t seen_ = 0;  ///< bit k: record last - k of this run was delivered
};

}  // namespace handhold::capture
