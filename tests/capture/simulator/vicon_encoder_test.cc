#include "capture/simulator/vicon_encoder.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

namespace handhold::capture::vicon_encoder_test {
namespace {

/// The packet's bytes as hex, and the block alone: what follows the 8 bytes of the packet's header.
std::string Hex(std::span<const uint8_t> bytes) {
  static const char* digits = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : bytes) {
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}
template <typename Put>
std::string Block(Put put) {
  ViconPacket packet;
  packet.Begin();
  put(packet);
  return Hex(packet.Finish()).substr(16);
}
std::string Repeat(const std::string& text, int times) {
  std::string out;
  for (int k = 0; k < times; ++k) out += text;
  return out;
}

// All vectors are written by hand from the layout tables (capture-protocols.md 2.1 and 2.4),
// little-endian; they are checked against an independent reader too: the vendor's SDK
// (tests/capture/source/vicon_source_test.cc).
const std::string kF32One = "0000803f";
const std::string kF64One = "000000000000f03f";
const std::string kF64Zero = "0000000000000000";

TEST(ViconPacket, FramesBlocksWithTheirLengths) {
  ViconPacket packet;
  packet.Begin();
  PutFrameInfo(packet, 0x01020304);
  PutPing(packet, 0x1122334455667788);
  EXPECT_EQ(Hex(packet.Finish()),
            "01002b1a"
            "1c000000"  // magic 0x1a2b0001, 28 bytes follow
            "05000000"
            "04000000"
            "04030201"  // FrameInfo
            "2a000000"
            "08000000"
            "8877665544332211");  // Ping
  packet.Begin();
  EXPECT_EQ(Hex(packet.Finish()),
            "01002b1a"
            "00000000");
}

TEST(ViconEncoder, ObjectEnums) {
  EXPECT_EQ(Block([](ViconPacket& p) { PutObjectEnums(p, {5, 100004}); }),
            "a1860100"
            "0c000000"
            "02000000"
            "05000000"
            "a4860100");
}

TEST(ViconEncoder, ContentsCountsTheBlocksBeforeIt) {
  const std::string block = Block([](ViconPacket& p) {
    PutFrameInfo(p, 1);
    PutSubjectInfo(p, 1, "A", {});
    PutSubjectInfo(p, 2, "B", {});
    PutContents(p);
  });
  EXPECT_THAT(block, ::testing::EndsWith("a4860100"
                                         "18000000"
                                         "02000000"
                                         "02000000"
                                         "02000000"
                                         "05000000"
                                         "01000000"
                                         "00000000"));
}

TEST(ViconEncoder, ContentsNameWhatHoldsUnchanged) {
  EXPECT_EQ(Block([](ViconPacket& p) { PutContents(p, {1, 2, 37}); }),
            "a4860100"
            "14000000"
            "00000000"
            "03000000"
            "01000000"
            "02000000"
            "25000000");
}

TEST(ViconEncoder, StaticObjects) {
  EXPECT_EQ(Block([](ViconPacket& p) { PutStreamInfo(p, 270000); }),
            "01000000"
            "08000000"
            "b01e040000000000");
  EXPECT_EQ(Block([](ViconPacket& p) { PutApplicationInfo(p, 1); }),
            "25000000"
            "01000000"
            "01");
  EXPECT_EQ(Block([](ViconPacket& p) { PutObjectQuality(p, 3, 1.0); }),
            "28000000"
            "0c000000"
            "03000000" +
                kF64One);
  const std::vector<std::string> markers{"TIP"};
  EXPECT_EQ(Block([&](ViconPacket& p) { PutSubjectInfo(p, 7, "Hand", markers); }),
            "02000000"
            "53000000"
            "07000000"
            "04000000"
            "48616e64"  // id, "Hand"
            "01000000"
            "00000000"
            "01000000" +
                Repeat("00000000", 6) +
                "04000000"
                "526f6f74"  // one segment, "Root"
                "01000000"
                "01000000"
                "03000000"
                "544950"  // one marker, "TIP"
                "01000000"
                "01000000"
                "01000000");  // attached to segment 1
  EXPECT_EQ(Block([](ViconPacket& p) { PutDeviceInfo(p, 2, 270000, "EMG"); }),
            "03000000"
            "13000000"
            "02000000"
            "b01e040000000000"
            "03000000"
            "454d47");
  EXPECT_EQ(Block([](ViconPacket& p) { PutDeviceInfoExtra(p, 2, 5); }),
            "26000000"
            "0c000000"
            "02000000"
            "0500000000000000");
  const std::vector<std::string> components{"Fx", "Fy"};
  EXPECT_EQ(Block([&](ViconPacket& p) { PutChannelInfo(p, 2, 1, "F", components); }),
            "04000000"
            "1d000000"
            "02000000"
            "01000000"
            "01000000"
            "46"
            "02000000"
            "02000000"
            "4678"
            "02000000"
            "4679");
  EXPECT_EQ(Block([](ViconPacket& p) { PutChannelInfoExtra(p, 2, 1, "volt", "V"); }),
            "22000000"
            "15000000"
            "02000000"
            "01000000"
            "04000000"
            "766f6c74"
            "01000000"
            "56");
  const std::string identity =
      kF32One + Repeat("00000000", 3) + kF32One + Repeat("00000000", 3) + kF32One;
  EXPECT_EQ(Block([](ViconPacket& p) { PutForcePlateInfo(p, 9); }),
            "14000000"
            "7c000000"
            "09000000" +
                Repeat("00000000", 3) + identity +
                "00007ac3"
                "00007ac3"
                "000048c2"
                "00007a43"
                "00007a43"
                "00000000" +
                Repeat("00000000", 3) + identity);
}

TEST(ViconEncoder, DynamicObjects) {
  EXPECT_EQ(Block([](ViconPacket& p) { PutHardwareFrameInfo(p, 1); }),
            "24000000"
            "04000000"
            "01000000");
  EXPECT_EQ(Block([](ViconPacket& p) {
              PutTimecode(p, {.hours = 1,
                              .minutes = 2,
                              .seconds = 3,
                              .frames = 4,
                              .subframe = 5,
                              .subframes_per_frame = 20,
                              .standard = 0});
            }),
            "17000000"
            "11000000"
            "01"
            "02"
            "03"
            "04"
            "0500"
            "1400"
            "00000000"
            "00000000"
            "00");
  const std::vector<std::pair<std::string, double>> latency{{"Net", 1.0}};
  EXPECT_EQ(Block([&](ViconPacket& p) { PutLatencyInfo(p, latency); }),
            "1a000000"
            "13000000"
            "01000000"
            "03000000"
            "4e6574" +
                kF64One);
  EXPECT_EQ(Block([](ViconPacket& p) { PutFrameRateInfo(p, "S", 1.0); }),
            "27000000"
            "11000000"
            "01000000"
            "01000000"
            "53" +
                kF64One);
}

TEST(ViconEncoder, ReconsAreTheBytesOfTheTable) {
  const ViconRecon recon{
      .subject_id = 1, .marker_id = 2, .position_mm = {1.0, 0.0, 1.0}, .trajectory_id = 0xaabbccdd};
  const std::string body =
      "0000000000001c40" + kF64One + kF64Zero + kF64One + Repeat(kF64Zero, 9) + "ddccbbaa";
  const std::string labelled =
      Block([&](ViconPacket& p) { PutLabeledRecons(p, std::span(&recon, 1)); });
  EXPECT_EQ(labelled,
            "06000000"
            "78000000"
            "01000000"
            "01000000"
            "02000000" +
                body);
  EXPECT_EQ(labelled.size() / 2 - 12, 116u);  // the table: 116 B each
  const std::string unlabelled =
      Block([&](ViconPacket& p) { PutUnlabeledRecons(p, std::span(&recon, 1)); });
  EXPECT_EQ(unlabelled,
            "07000000"
            "70000000"
            "01000000" +
                body);
  EXPECT_EQ(unlabelled.size() / 2 - 12, 108u);  // the table: 108 B
}

TEST(ViconEncoder, SampleFrames) {
  const std::vector<double> samples{1.0, -250.0};
  EXPECT_EQ(Block([&](ViconPacket& p) {
              PutSampleFrame(p, wire::vicon::kVoltageFrame, 10, 2, 3, samples);
            }),
            "0d000000"
            "18000000"
            "0a000000"
            "02000000"
            "03000000"
            "02000000" +
                kF32One + "00007ac3");
}

}  // namespace
}  // namespace handhold::capture::vicon_encoder_test
