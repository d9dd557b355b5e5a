#include "database/base/id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include "database/base/time.h"

namespace handhold::id_test {
namespace {

TEST(Uuid, HasVersionVariantAndTime) {
  const int64_t before_ms = UtcNow().ns() / 1'000'000;
  const Uuid id = Uuid::New();
  const int64_t after_ms = UtcNow().ns() / 1'000'000;
  EXPECT_EQ(id.bytes[6] >> 4, 7);
  EXPECT_EQ(id.bytes[8] >> 6, 2);
  int64_t ms = 0;
  for (int i = 0; i < 6; ++i) ms = ms << 8 | id.bytes[i];
  EXPECT_GE(ms, before_ms);
  EXPECT_LE(ms, after_ms + 1);
}

TEST(Uuid, SortsInTheOrderMade) {
  std::vector<Uuid> ids;
  for (int i = 0; i < 20'000; ++i) ids.push_back(Uuid::New());
  for (size_t i = 1; i < ids.size(); ++i) ASSERT_LT(ids[i - 1], ids[i]) << i;
  for (size_t i = 1; i < ids.size(); ++i)
    ASSERT_LT(ids[i - 1].ToString(), ids[i].ToString()) << "the text sorts alike";
}

TEST(Uuid, IsUniqueAcrossThreads) {
  std::vector<std::vector<Uuid>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 5'000; ++i) mine.push_back(Uuid::New());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<Uuid> all;
  for (const auto& mine : made) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 20'000u);
}

TEST(Uuid, TextRoundTrips) {
  const std::string text = "0192f3a0-1b2c-7d3e-8f40-0123456789ab";
  const Uuid id = *Uuid::Parse(text);
  EXPECT_EQ(id.bytes[0], 0x01);
  EXPECT_EQ(id.bytes[15], 0xab);
  EXPECT_EQ(id.ToString(), text);
  EXPECT_EQ(*Uuid::Parse("0192F3A0-1B2C-7D3E-8F40-0123456789AB"), id);
  EXPECT_TRUE(Uuid{}.is_nil());
  EXPECT_FALSE(id.is_nil());
}

TEST(Uuid, RefusesWhatIsNotOne) {
  for (const char* text :
       {"", "0192f3a0", "0192f3a0-1b2c-7d3e-8f40-0123456789a",
        "0192f3a0-1b2c-7d3e-8f40-0123456789abc", "0192f3a0-1b2c-7d3e-8f40-0123456789ag",
        "0192f3a001b2c-7d3e-8f40-0123456789abb"}) {
    const auto parsed = Uuid::Parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, ::testing::HasSubstr(text));
  }
}

TEST(Id, TypesDoNotMix) {
  static_assert(!std::is_convertible_v<Id<ClipTag>, Id<SubjectTag>>);
  static_assert(!std::is_constructible_v<Id<ClipTag>, Id<SubjectTag>>);
  const ClipId clip = ClipId::New();
  EXPECT_EQ(*ClipId::Parse(clip.ToString()), clip);
  EXPECT_FALSE(ClipId::Parse("x"));
  EXPECT_TRUE(ClipId().is_nil());
}

}  // namespace
}  // namespace handhold::id_test
