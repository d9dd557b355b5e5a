#include "capture/simulator/rdt_codec.h"

#include <array>
#include <limits>

#include <gmock/gmock.h>

namespace handhold::capture::rdt_codec_test {
namespace {

using ::testing::ElementsAreArray;

// Written by hand from the record table of ATI 9620-05 (capture-protocols.md 3.1): big-endian, nine
// 32-bit words. The decoder's test (tests/capture/source/rdt_decoder_test.cc) reads the same bytes.
constexpr std::array<uint8_t, 36> kGolden = {
    0x00, 0x00, 0x00, 0x2A,  // rdt_sequence 42
    0x01, 0x02, 0x03, 0x04,  // ft_sequence 16909060
    0x80, 0x02, 0x00, 0x00,  // status: error summary, saturation
    0x00, 0x0F, 0x42, 0x40,  // Fx   1000000
    0xFF, 0xF0, 0xBD, 0xC0,  // Fy  -1000000
    0x00, 0x00, 0x00, 0x01,  // Fz         1
    0xFF, 0xFF, 0xFF, 0xFF,  // Tx        -1
    0x7F, 0xFF, 0xFF, 0xFF,  // Ty  2147483647
    0x80, 0x00, 0x00, 0x00,  // Tz -2147483648
};

TEST(RdtEncoder, WritesTheGoldenRecord) {
  std::array<uint8_t, 36> out{};
  EncodeRdtRecord({.rdt_sequence = 42,
                   .ft_sequence = 16909060,
                   .status = 0x80020000,
                   .counts = {1000000, -1000000, 1, -1, INT32_MAX, INT32_MIN}},
                  out);
  EXPECT_THAT(out, ElementsAreArray(kGolden));
}

TEST(RdtRequestParser, ReadsTheTable) {
  const std::array<uint8_t, 8> start = {0x12, 0x34, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00};
  const auto endless = ParseRdtRequest(start);
  ASSERT_TRUE(endless);
  EXPECT_EQ(endless->command, 2);
  EXPECT_EQ(endless->sample_count, 0u);
  const std::array<uint8_t, 8> counted = {0x12, 0x34, 0x00, 0x03, 0x00, 0x01, 0x00, 0x02};
  EXPECT_EQ(ParseRdtRequest(counted)->sample_count, 65538u);
}

TEST(RdtRequestParser, RefusesWhatIsNoRequest) {
  const std::array<uint8_t, 8> wrong_magic = {0x12, 0x35, 0x00, 0x02, 0, 0, 0, 0};
  EXPECT_FALSE(ParseRdtRequest(wrong_magic));
  EXPECT_FALSE(ParseRdtRequest(std::span(wrong_magic).first(0)));
  const std::array<uint8_t, 7> cut = {0x12, 0x34, 0x00, 0x02, 0, 0, 0};
  EXPECT_FALSE(ParseRdtRequest(cut));
}

TEST(ToCounts, RoundsAndLimits) {
  EXPECT_EQ(ToCounts(1.0000004, 1e6), 1000000);
  EXPECT_EQ(ToCounts(-0.0000006, 1e6), -1);
  EXPECT_EQ(ToCounts(1e9, 1e6), INT32_MAX);
  EXPECT_EQ(ToCounts(-1e9, 1e6), INT32_MIN);
  EXPECT_EQ(ToCounts(std::numeric_limits<double>::quiet_NaN(), 1e6), 0);
}

}  // namespace
}  // namespace handhold::capture::rdt_codec_test
