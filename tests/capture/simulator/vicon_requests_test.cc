#include "capture/simulator/vicon_requests.h"

#include <gmock/gmock.h>

namespace handhold::capture::vicon_requests_test {
namespace {

using ::testing::HasSubstr;

// By hand from the tables of capture-protocols.md 2.1 to 2.4, as the SDK sends them.
const std::vector<uint8_t> kPush = {0x01, 0x00, 0x2b, 0x1a, 9, 0, 0, 0, 0xa2,
                                    0x86, 0x01, 0,    1,    0, 0, 0, 1};
const std::vector<uint8_t> kEnumsAndPing = {
    0x01, 0x00, 0x2b, 0x1a, 36, 0, 0, 0, 0xa1, 0x86, 0x01, 0, 12, 0, 0, 0,
    2,    0,    0,    0,    5,  0, 0, 0, 6,    0,    0,    0,                // ObjectEnums {5, 6}
    0x2a, 0,    0,    0,    8,  0, 0, 0, 7,    0,    0,    0, 0,  0, 0, 1};  // Ping
                                                                             // 0x0100000000000007

TEST(ViconRequestReader, ReadsRequestsHoweverTheyAreCut) {
  std::vector<uint8_t> stream = kPush;
  stream.insert(stream.end(), kEnumsAndPing.begin(), kEnumsAndPing.end());
  for (size_t cut = 1; cut <= stream.size(); ++cut) {
    ViconRequestReader reader;
    std::vector<ViconRequest> out;
    for (size_t at = 0; at < stream.size(); at += cut) {
      ASSERT_TRUE(
          reader.Feed(std::span(stream).subspan(at, std::min(cut, stream.size() - at)), out));
    }
    ASSERT_EQ(out.size(), 3u) << "pieces of " << cut;
    EXPECT_EQ(out[0].kind, ViconRequest::kFrame);
    EXPECT_TRUE(out[0].streaming);
    EXPECT_EQ(out[1].kind, ViconRequest::kObjects);
    EXPECT_THAT(out[1].ids, ::testing::ElementsAre(5, 6));
    EXPECT_EQ(out[2].kind, ViconRequest::kPing);
    EXPECT_EQ(out[2].ping, 0x0100000000000007u);
    EXPECT_EQ(reader.held(), 0u);
  }
}

TEST(ViconRequestReader, BelievesNoLength) {
  const auto error = [](std::vector<uint8_t> bytes) {
    ViconRequestReader reader;
    std::vector<ViconRequest> out;
    const Status status = reader.Feed(bytes, out);
    return status ? std::string() : status.error().message;
  };
  std::vector<uint8_t> huge = kPush;
  huge[7] = 0x7f;  // a packet of 2 GiB
  EXPECT_THAT(error(huge), HasSubstr("bytes"));
  std::vector<uint8_t> magic = kPush;
  magic[0] = 2;
  EXPECT_THAT(error(magic), HasSubstr("magic"));
  std::vector<uint8_t> block = kPush;
  block[12] = 200;
  EXPECT_THAT(error(block), HasSubstr("longer than its packet"));
  std::vector<uint8_t> set = kEnumsAndPing;
  set[19] = 0x40;  // a billion ids in twelve bytes
  EXPECT_THAT(error(set), HasSubstr("set of ids"));
  std::vector<uint8_t> short_block = {0x01, 0x00, 0x2b, 0x1a, 8, 0, 0, 0,
                                      0xa2, 0x86, 0x01, 0,    0, 0, 0, 0};
  EXPECT_THAT(error(short_block), HasSubstr("too short"));
}

TEST(ViconRequestReader, SkipsWhatItDoesNotKnow) {
  std::vector<uint8_t> unknown = kPush;
  unknown[8] = 0xa7;  // Filter
  ViconRequestReader reader;
  std::vector<ViconRequest> out;
  EXPECT_TRUE(reader.Feed(unknown, out));
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace handhold::capture::vicon_requests_test
