#include "database/exchange/byte_source.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/database/exchange/fixtures.h"

namespace handhold::exchange::byte_source_test {
namespace {

using ::testing::HasSubstr;

using Files = testing::ScratchFolder;

// A pipe that nobody writes to: without the fix this waits until the test's time is over.
TEST_F(Files, WhatIsNoFileIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(Path("pipe.c3d").c_str(), 0600), 0);
  for (const std::string& path : {Path("pipe.c3d"), Path(""), std::string("/dev/zero")}) {
    const auto opened = ByteSource::OpenFile(path);
    ASSERT_FALSE(opened.has_value()) << path;
    EXPECT_EQ(opened.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(opened.error().message, HasSubstr("is not a file"));
  }
  EXPECT_EQ(ByteSource::OpenFile(Path("absent")).error().code, ErrorCode::kNotFound);
}

TEST_F(Files, BytesAtAnyOffset) {
  std::ofstream(Path("a")) << "abcdef";
  const auto bytes = ByteSource::OpenFile(Path("a")).value();
  EXPECT_EQ(bytes->size(), 6);
  std::vector<uint8_t> two(2);
  ASSERT_TRUE(bytes->Read(3, two).has_value());
  EXPECT_EQ(two, (std::vector<uint8_t>{'d', 'e'}));
  EXPECT_EQ(bytes->Read(5, two).error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace handhold::exchange::byte_source_test
