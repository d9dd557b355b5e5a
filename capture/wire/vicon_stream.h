/// Constants of the Vicon DataStream wire protocol (ViconCGStream): ids, framing, clock, limits.
///
/// Facts: capture-protocols.md section 2, read off the MIT-licensed SDK and confirmed against it.
/// All integers and floats are little-endian without padding: packet = u32 kPacketMagic, u32 bytes
/// after this field, block*; block = u32 id, u32 bytes of payload, payload. No encoder and no
/// decoder here: simulator and driver have their own.
#pragma once

#include <cstdint>

namespace handhold::capture::wire::vicon {

/// Begins every packet in both directions; anything else there means that framing was lost.
inline constexpr uint32_t kPacketMagic = 0x1a2b0001;
/// Of the real server, TCP.
inline constexpr uint16_t kDefaultPort = 801;
/// Every period on the wire counts ticks of this clock.
inline constexpr int64_t kTicksPerSecond = 135'000'000;
/// What a client may send at once: its largest true message (a filter naming every id) is far
/// below.
inline constexpr uint32_t kMaxClientPacketBytes = 64 * 1024;

/// What a block is (protocol section 2.2). From 100001 on: what steers the stream, in both
/// directions; below: what a server tells.
enum Id : uint32_t {
  kObjectEnums = 100001,   ///< set of ids: what the server can send, what the client wants
  kRequestFrame = 100002,  ///< push every frame, or one frame now
  kKeepAlive = 100003,     ///< empty
  kContents = 100004,
  kStartMulticastSender = 100005,
  kStopMulticastSender = 100006,
  kFilter = 100007,  ///< per id the subjects, devices or cameras wanted; absent: all
  kRequestNextFrame = 100008,

  kStreamInfo = 1,
  kSubjectInfo = 2,
  kDeviceInfo = 3,
  kChannelInfo = 4,
  kFrameInfo = 5,  ///< the frame's number
  kLabeledRecons = 6,
  kUnlabeledRecons = 7,
  kLocalSegments = 8,
  kGlobalSegments = 9,
  kForceFrame = 10,
  kMomentFrame = 11,
  kCentreOfPressureFrame = 12,
  kVoltageFrame = 13,
  kForcePlateInfo = 20,
  kTimecode = 23,
  kLatencyInfo = 26,  ///< seconds by stage, each since the one before
  kSubjectTopology = 28,
  kSubjectHealth = 29,
  kChannelInfoExtra = 34,
  kApexHaptics = 35,
  kHardwareFrameInfo = 36,
  kApplicationInfo = 37,
  kDeviceInfoExtra = 38,
  kFrameRateInfo = 39,
  kObjectQuality = 40,
  kPing = 42,  ///< answered with the same u64
};

/// Timecode standards as sent.
enum TimecodeStandard : uint32_t {
  kPal = 0,
  kNtsc = 1,
  kNtscDrop = 2,
  kFilm = 3,
  kNtscFilm = 4,
  kAtsc = 5,
  kNoTimecode = 0xffffffff,
};

/// ApplicationInfo: which axis points up.
inline constexpr int8_t kZUp = 0;
inline constexpr int8_t kYUp = 1;

}  // namespace handhold::capture::wire::vicon
