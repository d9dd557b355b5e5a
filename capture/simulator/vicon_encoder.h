/// Writes packets of the Vicon DataStream wire protocol, the server's side. Shares constants, and
/// no code, with the driver (which reads through the vendor's SDK); golden byte vectors pin every
/// object (vicon_encoder_test.cc).
///
/// A packet is built block by block and taken with Finish. The buffer is reused: after a few frames
/// of a session nothing allocates.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/wire/vicon_stream.h"

namespace handhold::capture {

/// Little-endian bytes and length-prefixed blocks. One packet at a time.
class ViconPacket {
 public:
  /// Starts a packet; what was in the buffer is gone.
  void Begin();
  /// Closes the packet and returns its bytes, valid until the next Begin.
  std::span<const uint8_t> Finish();

  void BeginBlock(uint32_t id);
  void EndBlock();

  void U8(uint8_t value) { bytes_.push_back(value); }
  void U16(uint16_t value);
  void U32(uint32_t value);
  void U64(uint64_t value);
  void F32(float value);
  void F64(double value);
  void String(std::string_view text);
  /// Blocks written so far in this packet, by id.
  const std::map<uint32_t, uint32_t>& counts() const { return counts_; }

 private:
  void PatchU32(size_t at, uint32_t value);

  std::vector<uint8_t> bytes_;
  size_t block_at_ = 0;  ///< where the open block's length stands
  std::map<uint32_t, uint32_t> counts_;
};

/// A labelled or unlabelled reconstruction, in the wire's millimetres.
struct ViconRecon {
  uint32_t subject_id = 0;
  uint32_t marker_id = 0;
  double position_mm[3] = {0, 0, 0};
  uint32_t trajectory_id = 0;
};

struct ViconTimecode {
  uint8_t hours = 0, minutes = 0, seconds = 0, frames = 0;
  uint16_t subframe = 0;
  uint16_t subframes_per_frame = 0;
  uint32_t standard = wire::vicon::kNoTimecode;
};

// One block each. Field orders: capture-protocols.md 2.4.
void PutObjectEnums(ViconPacket& packet, const std::set<uint32_t>& ids);
/// Counts the blocks before it. `unchanged`: objects that are not here and hold as they were sent
/// last; a client takes static objects that are neither here nor named so for gone.
void PutContents(ViconPacket& packet, const std::set<uint32_t>& unchanged = {});
void PutPing(ViconPacket& packet, uint64_t id);
void PutStreamInfo(ViconPacket& packet, int64_t period_ticks);
void PutApplicationInfo(ViconPacket& packet, int8_t up_axis);
/// Ids count from 1; all markers hang on the one segment "Root".
void PutSubjectInfo(ViconPacket& packet, uint32_t subject_id, std::string_view name,
                    std::span<const std::string> marker_names);
void PutObjectQuality(ViconPacket& packet, uint32_t subject_id, double quality);
void PutDeviceInfo(ViconPacket& packet, uint32_t device_id, uint64_t period_ticks,
                   std::string_view name);
void PutDeviceInfoExtra(ViconPacket& packet, uint32_t device_id, uint64_t start_tick);
void PutChannelInfo(ViconPacket& packet, uint32_t device_id, uint32_t channel_id,
                    std::string_view name, std::span<const std::string> components);
void PutChannelInfoExtra(ViconPacket& packet, uint32_t device_id, uint32_t channel_id,
                         std::string_view unit, std::string_view type);
/// At the world's origin, axes along the world's.
void PutForcePlateInfo(ViconPacket& packet, uint32_t device_id);
void PutFrameInfo(ViconPacket& packet, uint32_t frame_id);
void PutHardwareFrameInfo(ViconPacket& packet, uint32_t frame_id);
void PutTimecode(ViconPacket& packet, const ViconTimecode& timecode);
void PutLatencyInfo(ViconPacket& packet, std::span<const std::pair<std::string, double>> samples_s);
void PutFrameRateInfo(ViconPacket& packet, std::string_view name, double hz);
void PutLabeledRecons(ViconPacket& packet, std::span<const ViconRecon> recons);
void PutUnlabeledRecons(ViconPacket& packet, std::span<const ViconRecon> recons);
/// `id` is kForceFrame, kMomentFrame, kCentreOfPressureFrame or kVoltageFrame; samples are
/// component-major.
void PutSampleFrame(ViconPacket& packet, uint32_t id, uint32_t device_frame_id, uint32_t device_id,
                    uint32_t channel_id, std::span<const double> samples);

}  // namespace handhold::capture
