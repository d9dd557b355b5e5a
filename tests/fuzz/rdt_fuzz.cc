// RDT datagrams through decoder and sequencer, and requests through the simulator's parser.
// Structure-aware: the input is a script of datagrams (a size byte, a host time step, then bytes),
// mutated as such, so that sequences of whole records are as easy to reach as broken ones.
#include <cstdint>
#include <span>

#include "capture/simulator/rdt_codec.h"
#include "capture/source/rdt_decoder.h"
#include "database/base/check.h"

using handhold::Timestamp;
using handhold::capture::DecodeRdtDatagram;
using handhold::capture::ParseRdtRequest;
using handhold::capture::RdtRecords;
using handhold::capture::RdtSequencer;
using handhold::capture::RdtVerdict;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::span<const uint8_t> input(data, size);
  RdtSequencer sequencer(7000);
  RdtRecords records;
  int64_t last = -1;
  int64_t host_ns = 0;
  while (input.size() >= 2) {
    // Size byte: below 41 whole records; else that many bytes as they are.
    const size_t wanted = input[0] <= 40 ? input[0] * 36 : input[0];
    host_ns += int64_t{input[1]} * input[1] * 100'000;
    input = input.subspan(2);
    const auto datagram = input.first(std::min(wanted, input.size()));
    input = input.subspan(datagram.size());
    if (const auto request = ParseRdtRequest(datagram)) CHECK_GE(datagram.size(), 8u);
    const int count = DecodeRdtDatagram(datagram, records);
    CHECK_LE(count, 40);
    for (int k = 0; k < count; ++k) {
      const RdtVerdict verdict = sequencer.Next(records[k], Timestamp::FromNanoseconds(host_ns));
      if (verdict.kind != RdtVerdict::kAccept) continue;
      // Whatever comes: counters ascend, and the gap is exactly what lies between.
      CHECK_GT(verdict.counter, last);
      CHECK_EQ(verdict.gap, verdict.counter - last - 1);
      last = verdict.counter;
    }
  }
  return 0;
}
