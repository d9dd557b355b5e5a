// The chunk decoder behind its checksums: edits to good chunks of every kind of stream, with all
// checksums set right again, as a hostile writer would. No crash, no allocation beyond what a chunk
// may hold, and what is decoded has the shape of its stream.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "database/base/check.h"
#include "database/store/chunk.h"
#include "database/store/crc32c.h"

using namespace handhold;
using namespace handhold::store;
using recording::StreamKind;

namespace {

struct Seed {
  ChunkLayout layout;
  Bytes bytes;
};

Seed MakeSeed(StreamKind kind, int columns, double quantum, bool lossless) {
  recording::StreamInfo info;
  info.id = 3;
  info.name = "fuzz";
  info.kind = kind;
  info.rate = {kind == StreamKind::kText ? 0 : 500, 1};
  for (int c = 0; c < columns; ++c)
    info.channels.push_back({"c" + std::to_string(c), "m", quantum});
  Seed seed;
  seed.layout = ChunkLayout::Of(info, true, lossless);
  ChunkSamples samples(static_cast<int>(seed.layout.quanta.size()));
  recording::SampleBlock block;
  block.stream_id = info.id;
  block.count = 40;
  int values = 40 * samples.columns();
  if (kind == StreamKind::kUnlabelledPoints) {
    values = 0;
    for (int i = 0; i < 40; ++i) {
      block.point_counts.push_back(i % 3);
      values += 4 * (i % 3);
    }
  }
  for (int i = 0; i < values; ++i)
    block.values.push_back(i % 17 == 0 ? std::numeric_limits<double>::quiet_NaN()
                                       : 1e-3 * ((i * 7919) % 257));
  if (kind == StreamKind::kText) {
    for (int i = 0; i < 40; ++i) {
      block.texts.push_back(std::string(static_cast<size_t>(i % 4), 'x'));
      block.host_times.push_back(Timestamp::FromNanoseconds(1000 * i));
    }
  }
  samples.Append(kind, block, 0, 20);
  block.first_counter = 7;  // a gap: counter runs
  samples.Append(kind, block, 20, 40);
  ChunkEncoder().Encode(seed.layout, 5, 0, samples, 0, 40, seed.bytes);
  return seed;
}

const std::vector<Seed>& Seeds() {
  static const std::vector<Seed> seeds = {MakeSeed(StreamKind::kMarkers, 8, 1e-5, false),
                                          MakeSeed(StreamKind::kForceTorque, 6, 1.0, false),
                                          MakeSeed(StreamKind::kAnalog, 3, 0.0, true),
                                          MakeSeed(StreamKind::kUnlabelledPoints, 4, 1e-5, false),
                                          MakeSeed(StreamKind::kText, 0, 0.0, false),
                                          MakeSeed(StreamKind::kRigidPoses, 7, 0.0, false)};
  return seeds;
}

/// Sets every checksum right, as far as the chunk's own table reaches.
void Sign(Bytes& bytes) {
  if (bytes.size() < ChunkHeader::kFixedBytes) return;
  uint32_t frames = 0;
  std::memcpy(&frames, bytes.data() + 64, 4);
  const size_t table = size_t{8} * frames;
  if (frames > 4096 || bytes.size() < ChunkHeader::kFixedBytes + table) return;
  size_t at = ChunkHeader::kFixedBytes + table;
  for (uint32_t f = 0; f < frames; ++f) {
    uint8_t* entry = bytes.data() + ChunkHeader::kFixedBytes + 8 * f;
    uint32_t length = 0;
    std::memcpy(&length, entry, 4);
    if (length > bytes.size() - at) break;
    const uint32_t crc = Crc32c(std::span(bytes).subspan(at, length));
    std::memcpy(entry + 4, &crc, 4);
    at += length;
  }
  const std::span<const uint8_t> all(bytes);
  const uint32_t crc = Crc32c(all.subspan(ChunkHeader::kFixedBytes, table), Crc32c(all.first(76)));
  std::memcpy(bytes.data() + 76, &crc, 4);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > 4096) return 0;
  const Seed& seed = Seeds()[data[0] % Seeds().size()];
  Bytes bytes = seed.bytes;
  // Bit 7: the rest replaces the frames; else edits of two bytes of place and one of value.
  if (data[0] >= 128) {
    bytes.resize(std::min(bytes.size(), size_t{ChunkHeader::kFixedBytes} + 8));
    bytes.insert(bytes.end(), data + 1, data + size);
    if (bytes.size() >= 84) {
      const uint32_t one = 1, length = static_cast<uint32_t>(size - 1);
      std::memcpy(bytes.data() + 64, &one, 4);
      std::memcpy(bytes.data() + 80, &length, 4);
    }
  } else {
    for (size_t at = 1; at + 3 <= size; at += 3) {
      const size_t place = static_cast<size_t>(data[at]) | static_cast<size_t>(data[at + 1]) << 8;
      if (place == 0xFFFF) {
        bytes.resize(std::max<size_t>(1, bytes.size() * data[at + 2] / 256));
      } else {
        bytes[place % bytes.size()] = data[at + 2];
      }
    }
  }
  Sign(bytes);
  ChunkDecoder decoder;
  ChunkHeader header;
  ChunkSamples out;
  const Status status = decoder.Decode(seed.layout, bytes, header, out);
  if (!status) {
    CHECK(!status.error().message.empty());
    return 0;
  }
  CHECK_EQ(out.columns(), static_cast<int>(seed.layout.quanta.size()));
  CHECK_EQ(static_cast<uint32_t>(out.count()), header.count);
  CHECK(out.value_count() <= kMaxChunkValues);
  return 0;
}
