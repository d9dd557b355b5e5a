#include "capture/simulator/vicon_requests.h"

#include <algorithm>
#include <string>
#include <utility>

namespace handhold::capture {
namespace {

/// Ids the protocol knows number fewer than a hundred; a set larger than this is no honest one.
constexpr uint32_t kMaxIds = 1024;

/// Little-endian fields of one block; a field beyond the end fails the reader, and every later one.
class Fields {
 public:
  explicit Fields(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t Take(size_t size) {
    if (bytes_.size() < size) {
      ok_ = false;
      return 0;
    }
    uint64_t value = 0;
    for (size_t k = 0; k < size; ++k) value |= static_cast<uint64_t>(bytes_[k]) << (8 * k);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  uint32_t U32() { return static_cast<uint32_t>(Take(4)); }
  bool ok() const { return ok_; }
  size_t left() const { return bytes_.size(); }
  std::span<const uint8_t> Bytes(size_t size) {
    if (bytes_.size() < size) {
      ok_ = false;
      return {};
    }
    const auto out = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return out;
  }

 private:
  std::span<const uint8_t> bytes_;
  bool ok_ = true;
};

Error Broken(const std::string& what) {
  return {ErrorCode::kCorrupt, "DataStream client: " + what};
}

}  // namespace

Status ViconRequestReader::Feed(std::span<const uint8_t> bytes, std::vector<ViconRequest>& out) {
  while (!bytes.empty() || held_.size() >= 8) {
    if (held_.size() < 8) {
      const size_t take = std::min(bytes.size(), 8 - held_.size());
      held_.insert(held_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
      bytes = bytes.subspan(take);
      if (held_.size() < 8) return {};
    }
    Fields header{std::span<const uint8_t>(held_).first(8)};
    const uint32_t magic = header.U32();
    const uint32_t length = header.U32();
    if (magic != wire::vicon::kPacketMagic)
      return Broken("a packet does not begin with the magic number");
    if (length > wire::vicon::kMaxClientPacketBytes)
      return Broken("a packet of " + std::to_string(length) + " bytes");
    const size_t take = std::min<size_t>(bytes.size(), 8 + size_t{length} - held_.size());
    held_.insert(held_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(take));
    bytes = bytes.subspan(take);
    if (held_.size() < 8 + size_t{length}) return {};
    HANDHOLD_TRY(ReadPacket(std::span<const uint8_t>(held_).subspan(8), out));
    held_.clear();
  }
  return {};
}

Status ViconRequestReader::ReadPacket(std::span<const uint8_t> body,
                                      std::vector<ViconRequest>& out) {
  Fields packet(body);
  while (packet.left() > 0) {
    const uint32_t id = packet.U32();
    const uint32_t length = packet.U32();
    Fields block(packet.Bytes(length));
    if (!packet.ok()) return Broken("a block is longer than its packet");
    ViconRequest request;
    switch (id) {
      case wire::vicon::kObjectEnums: {
        request.kind = ViconRequest::kObjects;
        const uint32_t count = block.U32();
        if (count > kMaxIds || block.left() / 4 < count)
          return Broken("a set of ids that is not there");
        for (uint32_t k = 0; k < count; ++k) request.ids.insert(block.U32());
        break;
      }
      case wire::vicon::kRequestFrame:
        request.kind = ViconRequest::kFrame;
        request.streaming = block.Take(1) != 0;
        break;
      case wire::vicon::kRequestNextFrame:
        request.kind = ViconRequest::kNextFrame;
        request.count = block.U32();
        break;
      case wire::vicon::kPing:
        request.kind = ViconRequest::kPing;
        request.ping = block.Take(8);
        break;
      default:
        continue;  // filters, haptics, multicast: nothing this server does
    }
    if (!block.ok()) return Broken("block " + std::to_string(id) + " is too short");
    out.push_back(std::move(request));
  }
  return {};
}

}  // namespace handhold::capture
