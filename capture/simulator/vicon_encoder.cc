#include "capture/simulator/vicon_encoder.h"

#include <bit>

#include "database/base/check.h"

namespace handhold::capture {
namespace {

using namespace wire::vicon;  // ids

void PutIdentity3(ViconPacket& packet) {
  for (int k = 0; k < 9; ++k) packet.F32(k % 4 == 0 ? 1.0F : 0.0F);
}

/// Radius, position, covariance: what labelled and unlabelled reconstructions share.
void PutReconBody(ViconPacket& packet, const ViconRecon& recon) {
  packet.F64(7.0);  // radius of a 14 mm marker
  for (const double mm : recon.position_mm) packet.F64(mm);
  for (int k = 0; k < 9; ++k) packet.F64(0.0);
  packet.U32(recon.trajectory_id);
}

}  // namespace

void ViconPacket::Begin() {
  bytes_.clear();
  counts_.clear();
  block_at_ = 0;
  U32(kPacketMagic);
  U32(0);
}

std::span<const uint8_t> ViconPacket::Finish() {
  CHECK_EQ(block_at_, 0u);
  PatchU32(4, static_cast<uint32_t>(bytes_.size() - 8));
  return bytes_;
}

void ViconPacket::BeginBlock(uint32_t id) {
  CHECK_EQ(block_at_, 0u);
  U32(id);
  block_at_ = bytes_.size();
  U32(0);
  ++counts_[id];
}

void ViconPacket::EndBlock() {
  PatchU32(block_at_, static_cast<uint32_t>(bytes_.size() - block_at_ - 4));
  block_at_ = 0;
}

void ViconPacket::U16(uint16_t value) {
  for (int shift = 0; shift < 16; shift += 8)
    bytes_.push_back(static_cast<uint8_t>(value >> shift));
}
void ViconPacket::U32(uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8)
    bytes_.push_back(static_cast<uint8_t>(value >> shift));
}
void ViconPacket::U64(uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8)
    bytes_.push_back(static_cast<uint8_t>(value >> shift));
}
void ViconPacket::F32(float value) { U32(std::bit_cast<uint32_t>(value)); }
void ViconPacket::F64(double value) { U64(std::bit_cast<uint64_t>(value)); }

void ViconPacket::String(std::string_view text) {
  U32(static_cast<uint32_t>(text.size()));
  bytes_.insert(bytes_.end(), text.begin(), text.end());
}

void ViconPacket::PatchU32(size_t at, uint32_t value) {
  for (int k = 0; k < 4; ++k) bytes_[at + k] = static_cast<uint8_t>(value >> (8 * k));
}

void PutObjectEnums(ViconPacket& packet, const std::set<uint32_t>& ids) {
  packet.BeginBlock(kObjectEnums);
  packet.U32(static_cast<uint32_t>(ids.size()));
  for (const uint32_t id : ids) packet.U32(id);
  packet.EndBlock();
}

void PutContents(ViconPacket& packet, const std::set<uint32_t>& unchanged) {
  const std::map<uint32_t, uint32_t> counts = packet.counts();
  packet.BeginBlock(kContents);
  packet.U32(static_cast<uint32_t>(counts.size()));
  for (const auto& [id, count] : counts) {
    packet.U32(id);
    packet.U32(count);
  }
  packet.U32(static_cast<uint32_t>(unchanged.size()));
  for (const uint32_t id : unchanged) packet.U32(id);
  packet.EndBlock();
}

void PutPing(ViconPacket& packet, uint64_t id) {
  packet.BeginBlock(kPing);
  packet.U64(id);
  packet.EndBlock();
}

void PutStreamInfo(ViconPacket& packet, int64_t period_ticks) {
  packet.BeginBlock(kStreamInfo);
  packet.U64(static_cast<uint64_t>(period_ticks));
  packet.EndBlock();
}

void PutApplicationInfo(ViconPacket& packet, int8_t up_axis) {
  packet.BeginBlock(kApplicationInfo);
  packet.U8(static_cast<uint8_t>(up_axis));
  packet.EndBlock();
}

void PutSubjectInfo(ViconPacket& packet, uint32_t subject_id, std::string_view name,
                    std::span<const std::string> marker_names) {
  packet.BeginBlock(kSubjectInfo);
  packet.U32(subject_id);
  packet.String(name);
  packet.U32(1);  // segments
  packet.U32(0);  // no parent
  packet.U32(1);  // segment id
  for (int k = 0; k < 6; ++k) packet.F32(0.0F);
  packet.String("Root");
  packet.U32(static_cast<uint32_t>(marker_names.size()));
  for (size_t m = 0; m < marker_names.size(); ++m) {
    packet.U32(static_cast<uint32_t>(m + 1));
    packet.String(marker_names[m]);
  }
  packet.U32(static_cast<uint32_t>(marker_names.size()));
  for (size_t m = 0; m < marker_names.size(); ++m) {
    packet.U32(static_cast<uint32_t>(m + 1));
    packet.U32(1);
  }
  packet.EndBlock();
}

void PutObjectQuality(ViconPacket& packet, uint32_t subject_id, double quality) {
  packet.BeginBlock(kObjectQuality);
  packet.U32(subject_id);
  packet.F64(quality);
  packet.EndBlock();
}

void PutDeviceInfo(ViconPacket& packet, uint32_t device_id, uint64_t period_ticks,
                   std::string_view name) {
  packet.BeginBlock(kDeviceInfo);
  packet.U32(device_id);
  packet.U64(period_ticks);
  packet.String(name);
  packet.EndBlock();
}

void PutDeviceInfoExtra(ViconPacket& packet, uint32_t device_id, uint64_t start_tick) {
  packet.BeginBlock(kDeviceInfoExtra);
  packet.U32(device_id);
  packet.U64(start_tick);
  packet.EndBlock();
}

void PutChannelInfo(ViconPacket& packet, uint32_t device_id, uint32_t channel_id,
                    std::string_view name, std::span<const std::string> components) {
  packet.BeginBlock(kChannelInfo);
  packet.U32(device_id);
  packet.U32(channel_id);
  packet.String(name);
  packet.U32(static_cast<uint32_t>(components.size()));
  for (const std::string& component : components) packet.String(component);
  packet.EndBlock();
}

void PutChannelInfoExtra(ViconPacket& packet, uint32_t device_id, uint32_t channel_id,
                         std::string_view unit, std::string_view type) {
  packet.BeginBlock(kChannelInfoExtra);
  packet.U32(device_id);
  packet.U32(channel_id);
  packet.String(unit);
  packet.String(type);
  packet.EndBlock();
}

void PutForcePlateInfo(ViconPacket& packet, uint32_t device_id) {
  packet.BeginBlock(kForcePlateInfo);
  packet.U32(device_id);
  for (int k = 0; k < 3; ++k) packet.F32(0.0F);
  PutIdentity3(packet);
  for (const float bound : {-250.0F, -250.0F, -50.0F, 250.0F, 250.0F, 0.0F}) packet.F32(bound);
  for (int k = 0; k < 3; ++k) packet.F32(0.0F);
  PutIdentity3(packet);
  packet.EndBlock();
}

void PutFrameInfo(ViconPacket& packet, uint32_t frame_id) {
  packet.BeginBlock(kFrameInfo);
  packet.U32(frame_id);
  packet.EndBlock();
}

void PutHardwareFrameInfo(ViconPacket& packet, uint32_t frame_id) {
  packet.BeginBlock(kHardwareFrameInfo);
  packet.U32(frame_id);
  packet.EndBlock();
}

void PutTimecode(ViconPacket& packet, const ViconTimecode& timecode) {
  packet.BeginBlock(kTimecode);
  packet.U8(timecode.hours);
  packet.U8(timecode.minutes);
  packet.U8(timecode.seconds);
  packet.U8(timecode.frames);
  packet.U16(timecode.subframe);
  packet.U16(timecode.subframes_per_frame);
  packet.U32(timecode.standard);
  packet.U32(0);  // user bits
  packet.U8(0);   // field
  packet.EndBlock();
}

void PutLatencyInfo(ViconPacket& packet,
                    std::span<const std::pair<std::string, double>> samples_s) {
  packet.BeginBlock(kLatencyInfo);
  packet.U32(static_cast<uint32_t>(samples_s.size()));
  for (const auto& [name, seconds] : samples_s) {
    packet.String(name);
    packet.F64(seconds);
  }
  packet.EndBlock();
}

void PutFrameRateInfo(ViconPacket& packet, std::string_view name, double hz) {
  packet.BeginBlock(kFrameRateInfo);
  packet.U32(1);
  packet.String(name);
  packet.F64(hz);
  packet.EndBlock();
}

void PutLabeledRecons(ViconPacket& packet, std::span<const ViconRecon> recons) {
  packet.BeginBlock(kLabeledRecons);
  packet.U32(static_cast<uint32_t>(recons.size()));
  for (const ViconRecon& recon : recons) {
    packet.U32(recon.subject_id);
    packet.U32(recon.marker_id);
    PutReconBody(packet, recon);
  }
  packet.EndBlock();
}

void PutUnlabeledRecons(ViconPacket& packet, std::span<const ViconRecon> recons) {
  packet.BeginBlock(kUnlabeledRecons);
  packet.U32(static_cast<uint32_t>(recons.size()));
  for (const ViconRecon& recon : recons) PutReconBody(packet, recon);
  packet.EndBlock();
}

void PutSampleFrame(ViconPacket& packet, uint32_t id, uint32_t device_frame_id, uint32_t device_id,
                    uint32_t channel_id, std::span<const double> samples) {
  packet.BeginBlock(id);
  packet.U32(device_frame_id);
  packet.U32(device_id);
  packet.U32(channel_id);
  packet.U32(static_cast<uint32_t>(samples.size()));
  for (const double sample : samples) packet.F32(static_cast<float>(sample));
  packet.EndBlock();
}

}  // namespace handhold::capture
