/// ATI Net F/T and Axia as a Source: HTTP discovery, RDT streaming, sequence rules, reconnection.
///
/// Streams, in this order: "NAME/wrench" (kForceTorque, six channels of raw counts, exact) and
/// "NAME/status" (kAnalog, the status word of each sample). A sample's counter counts records of
/// the device; its time is counter / rate on the device's clock. ForceSensors() holds counts -> N,
/// N m as the device states them.
#pragma once

#include <memory>
#include <string>

#include "capture/source/source.h"
#include "capture/wire/rdt.h"
#include "capture/wire/socket.h"
#include "database/base/result.h"

namespace handhold::capture {

struct NetFtSourceOptions {
  std::string name{};  ///< of the device in the rig
  std::string host{};  ///< "192.168.1.1"
  uint16_t rdt_port = wire::rdt::kPort;
  uint16_t http_port = wire::rdt::kHttpPort;
  bool buffered = false;  ///< several records per datagram: fewer packets, later by that many
                          ///< samples
  /// Take the load at Start as zero; nothing may touch the sensor then. The request is not
  /// acknowledged: the state says so when the first records are no zero.
  bool bias_on_start = false;
  double rate_hz = 0.0;  ///< sets the device's output rate before streaming; 0: leave it
  double internal_rate_hz = wire::rdt::kInternalRate_Hz;  ///< steps of ft_sequence per second
  int64_t receive_buffer_bytes = 8 << 20;  ///< asked: about 2 s of 7 kHz; health says the grant
  Duration silence = Duration::Milliseconds(400);  ///< without a packet: the device is taken for
                                                   ///< away and asked again
  double sign = 1.0;  ///< ForceSensor::sign: -1 when the device reports the reaction
};

/// Does not touch the network: Probe and Start do.
std::unique_ptr<Source> MakeNetFtSource(NetFtSourceOptions options);

}  // namespace handhold::capture
