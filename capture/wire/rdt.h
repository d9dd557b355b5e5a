/// Constants of ATI's Raw Data Transfer protocol (Net F/T, Axia): requests, records, status bits,
/// HTTP pages.
///
/// Facts: capture-protocols.md section 3.1 (ATI manuals 9620-05, 9610-05). All integers are
/// big-endian. A record is u32 rdt_sequence, u32 ft_sequence, u32 status, i32 Fx Fy Fz Tx Ty Tz in
/// counts; N = counts / cfgcpf, N m = counts / cfgcpt, in the units that the configuration page
/// names. No encoder and no decoder here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace handhold::capture::wire::rdt {

inline constexpr uint16_t kPort = 49152;
inline constexpr uint16_t kHttpPort = 80;
inline constexpr uint16_t kRequestMagic = 0x1234;
/// Request: u16 magic, u16 command, u32 sample count (0: until stopped).
inline constexpr size_t kRequestBytes = 8;
inline constexpr size_t kRecordBytes = 36;
/// The device sends at most this many records in one datagram in buffered mode.
inline constexpr int kMaxRecordsPerDatagram = 40;
/// Rate at which the transducer itself is sampled, and at which ft_sequence counts.
inline constexpr double kInternalRate_Hz = 7000.0;

enum Command : uint16_t {
  kStop = 0,
  kRealTime = 2,  ///< one record per datagram
  kBuffered = 3,  ///< several records per datagram
  kResetThreshold = 0x41,
  kBias = 0x42,  ///< takes the present load as zero
};

/// Status word: 0 is healthy.
inline constexpr uint32_t kStatusSummary = 0x80000000;    ///< any error bit is set
inline constexpr uint32_t kStatusSaturated = 0x00020000;  ///< a gauge is saturated: the values are
                                                          ///< not to be believed
inline constexpr uint32_t kStatusThreshold = 0x00010000;  ///< a threshold is latched: a warning
                                                          ///< only

/// Configuration page, tags cfgcpf cfgcpt scfgfu scfgtu prodname comrdtrate comrdtbsiz setserial.
inline constexpr char kConfigPath[] = "/netftapi2.xml";
/// Settings page: /comm.cgi?comrdtrate=1..7000.
inline constexpr char kCommPath[] = "/comm.cgi";
inline constexpr size_t kMaxHttpBytes = 64 * 1024;

}  // namespace handhold::capture::wire::rdt
