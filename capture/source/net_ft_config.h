/// What a Net F/T's web page says of it: counts per newton, units, rate, serial. The page is taken
/// for hostile: bounded, and every number must be finite and in range before anything is scaled by
/// it.
#pragma once

#include <string>
#include <string_view>

#include "capture/wire/socket.h"
#include "database/base/result.h"
#include "database/base/time.h"

namespace handhold::capture {

struct NetFtConfig {
  double counts_per_force_unit = 0.0;   ///< cfgcpf
  double counts_per_torque_unit = 0.0;  ///< cfgcpt
  std::string force_unit;               ///< scfgfu, as sent: "N", "lbf", "klbf", "kN", "kgf"
  std::string torque_unit;  ///< scfgtu, as sent: "Nm", "N-m", "Nmm", "lbf-in", "lbf-ft", "kg-cm",
                            ///< "kN-m"
  double newtons_per_count = 0.0;  ///< from the above
  double newton_metres_per_count = 0.0;
  double rate_hz = 0.0;          ///< comrdtrate
  int records_per_datagram = 1;  ///< comrdtbsiz, in buffered mode
  std::string product;
  std::string serial;
  bool operator==(const NetFtConfig&) const = default;
};

/// Reads netftapi2.xml. The error names the tag that is missing, unreadable or of an unknown unit.
Result<NetFtConfig> ParseNetFtConfig(std::string_view xml);

/// Body of an HTTP response; the error names the status. `response` may end at the connection's end
/// without a length.
Result<std::string_view> HttpBody(std::string_view response);

/// One GET, at most kMaxHttpBytes of answer. The error names address and page.
Result<std::string> HttpGet(const wire::Address& address, std::string_view path,
                            Timestamp deadline);

/// Asks the device. Blocks until `deadline` at most.
Result<NetFtConfig> DiscoverNetFt(const wire::Address& http, Timestamp deadline);

}  // namespace handhold::capture
