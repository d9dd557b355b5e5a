/// Reads what a DataStream client asks of the server. The client is taken for hostile: bounded
/// memory whatever it sends, lengths believed only as far as bytes have arrived; what is not
/// understood is skipped, what contradicts itself ends the session. Fuzzed:
/// tests/fuzz/vicon_requests_fuzz.cc.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "capture/wire/vicon_stream.h"
#include "database/base/result.h"

namespace handhold::capture {

struct ViconRequest {
  enum Kind {
    kObjects,    ///< `ids`: what the client wants from now on
    kFrame,      ///< `streaming`: push every frame, or stop pushing and send one now
    kNextFrame,  ///< `count` frames, one by one (pre-fetch mode)
    kPing,       ///< `ping` is to be sent back
  };
  Kind kind = kFrame;
  bool streaming = false;
  uint32_t count = 0;
  uint64_t ping = 0;
  std::set<uint32_t> ids{};
};

/// Splits a byte stream into packets and packets into requests.
class ViconRequestReader {
 public:
  /// Takes bytes as they arrive and appends the requests that are now complete. An error means that
  /// this is no DataStream client (or a broken one): the connection is to be closed.
  Status Feed(std::span<const uint8_t> bytes, std::vector<ViconRequest>& out);
  /// Bytes held of an unfinished packet: never more than kMaxClientPacketBytes + 8.
  size_t held() const { return held_.size(); }

 private:
  static Status ReadPacket(std::span<const uint8_t> body, std::vector<ViconRequest>& out);
  std::vector<uint8_t> held_;
};

}  // namespace handhold::capture
