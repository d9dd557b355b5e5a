#include "tools/handhold/frame/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "database/text/json.h"
#include "tests/tools/handhold/frame/sample_verbs.h"

namespace handhold::cli::progress_test {
namespace {

using ::testing::HasSubstr;

class ProgressTest : public ::testing::Test {
 protected:
  std::function<Timestamp()> Clock() {
    return [this] { return now_; };
  }
  MemoryFile file_;
  Timestamp now_ = Timestamp::FromSeconds(1000);
};

TEST_F(ProgressTest, ShowsCountRateAndTimeLeft) {
  Progress progress(file_.get(), ProgressMode::kLine, Clock());
  progress.Begin("importing", 20, "file");
  now_ += Duration::Seconds(4);
  progress.Update(5);
  EXPECT_EQ(file_.Text(), "\r\x1b[Kimporting  5 of 20 files  1.25/s  0:12 left");
  progress.End();
  EXPECT_THAT(file_.Text(), ::testing::EndsWith("\r\x1b[K")) << "the line is taken away";
}

// A regrasp's first look came 30 ns after its begin: 32 million a second, and nothing left to wait.
TEST_F(ProgressTest, NoRateIsToldOfTheFirstMoment) {
  Progress progress(file_.get(), ProgressMode::kLine, Clock());
  progress.Begin("grasps", 20, "candidate");
  now_ += Duration::Nanoseconds(31);
  progress.Update(1);
  EXPECT_EQ(file_.Text(), "\r\x1b[Kgrasps  1 of 20 candidates");
}

TEST_F(ProgressTest, RedrawsAtMostFiveTimesASecond) {
  Progress progress(file_.get(), ProgressMode::kLine, Clock());
  progress.Begin("reading", 0, "row");
  for (int i = 1; i <= 1000; ++i) {
    now_ += Duration::Milliseconds(1);
    progress.Update(i);
  }
  const std::string text = file_.Text();
  EXPECT_LE(std::count(text.begin(), text.end(), '\r'), 6);
  EXPECT_GE(std::count(text.begin(), text.end(), '\r'), 4);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("left"))) << "no total, no end in sight";
}

TEST_F(ProgressTest, JsonIsOneObjectPerLine) {
  Progress progress(file_.get(), ProgressMode::kJson, Clock());
  progress.Begin("fit", 4, "stroke");
  now_ += Duration::Seconds(2);
  progress.Update(1);
  progress.End();
  const std::string text = file_.Text();
  const std::string first = text.substr(0, text.find('\n'));
  EXPECT_EQ(
      first,
      R"({"progress":"fit","done":1,"unit":"stroke","last":false,"total":4,"rate_per_s":0.5,"left_ns":"6000000000"})");
  EXPECT_THAT(text, HasSubstr("\"last\":true"));
}

TEST_F(ProgressTest, OffAndQuietSayNothing) {
  {
    Progress off(file_.get(), ProgressMode::kOff, Clock());
    off.Begin("fit", 4, "stroke");
    off.Update(1);
  }
  {
    Progress quiet(file_.get(), ProgressMode::kLine, Clock());
    quiet.set_quiet(true);
    quiet.Begin("fit", 4, "stroke");
    quiet.Update(1);
    quiet.Note("hello");
  }
  EXPECT_EQ(file_.Text(), "");
}

TEST_F(ProgressTest, ANoteStaysAboveTheLine) {
  Progress progress(file_.get(), ProgressMode::kLine, Clock());
  progress.Begin("importing", 2, "file");
  progress.Update(1);
  progress.Note("walk.c3d: 3 labels renamed");
  EXPECT_EQ(file_.Text(),
            "\r\x1b[Kimporting  1 of 2 files\r\x1b[Kwalk.c3d: 3 labels renamed\n\r\x1b[Kimporting  "
            "1 of 2 files");
}

TEST_F(ProgressTest, AStepBackwardsOrPastTheEndDoesNotBreakIt) {
  Progress progress(file_.get(), ProgressMode::kLine, Clock());
  progress.Begin("x", 2, "file");
  for (const int64_t done : {5, 0, -1}) {
    now_ += Duration::Seconds(1);
    progress.Update(done);
  }
  EXPECT_THAT(file_.Text(), HasSubstr("5 of 2 files  5/s  0:00 left"));
}

TEST(FormatClock, ShowsHoursOnlyWhenThereAreAny) {
  EXPECT_EQ(FormatClock(Duration::Seconds(5)), "0:05");
  EXPECT_EQ(FormatClock(Duration::Seconds(65)), "1:05");
  EXPECT_EQ(FormatClock(Duration::Seconds(7380)), "2:03:00");
  EXPECT_EQ(FormatClock(Duration::Seconds(-5)), "0:00");
}

}  // namespace
}  // namespace handhold::cli::progress_test
