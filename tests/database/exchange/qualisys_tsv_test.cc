#include "database/exchange/qualisys_tsv.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "tests/database/exchange/fixtures.h"
#include "tests/support/paths.h"

namespace handhold::exchange::qualisys_tsv_test {
namespace {

using testing::Bytes;
using ::testing::HasSubstr;

const std::string kHead =
    "NO_OF_FRAMES\t3\r\nNO_OF_MARKERS\t2\r\nFREQUENCY\t100\r\nTIME_STAMP\t2021-08-26, "
    "15:19:24.317\t1.5\r\nDATA_INCLUDED\t3D\r\nMARKER_NAMES\ttip\tback\r\n"
    "TRAJECTORY_TYPES\tMeasured\tMixed\r\n";
const std::string kRows =
    "Frame\tTime\ttip X\ttip Y\ttip Z\tback X\tback Y\tback Z\r\n"
    "11\t0.10\t1.5\t2\t3\t0.000\t0.000\t0.000\r\n12\t0.11\t2.5\t2\t3\tnan\tnan\tnan\r\n"
    "13\t0.12\t\t\t\t4\t5\t6\r\n";

std::string Message(const std::string& text) {
  auto source = OpenQualisysTsv(Bytes(text), "made.tsv");
  if (!source) return source.error().message;
  const auto clip = ReadWhole(**source);
  if (!clip) return clip.error().message;
  std::string all;
  for (const Issue& issue : (*source)->issues()) all += issue.where + ": " + issue.what + "\n";
  return all;
}

TEST(QualisysTsv, MarkersInMetresWithOcclusions) {
  const std::string text = kHead + kRows;
  EXPECT_TRUE(IsQualisysTsv(text));
  auto source = OpenQualisysTsv(Bytes(text), "made.tsv").value();
  const recording::Clip clip = ReadWhole(*source).value();
  EXPECT_EQ(clip.info().properties.at("qtm.NO_OF_MARKERS"), "2");
  EXPECT_EQ(FormatUtc(clip.info().utc_start), "2021-08-26T15:19:24.317000000Z");
  EXPECT_EQ(clip.streams()[0].ItemNames(), (std::vector<std::string>{"tip", "back"}));
  const auto window = clip.ReadAll(1).value();
  ASSERT_EQ(window.count(), 3);
  EXPECT_EQ(window.counters[0], 10);
  EXPECT_EQ(window.times[0].ns(), 100'000'000);
  EXPECT_EQ(window.value(0, 1), 2.5 * 1e-3);
  EXPECT_EQ(window.value(5, 2), 6 * 1e-3);
  for (const auto& [c, i] : {std::pair(3, 0), {4, 1}, {0, 2}})
    EXPECT_TRUE(std::isnan(window.value(c, i)));
  EXPECT_THAT(Message(text), HasSubstr("1 trajectories hold filled samples"));
}

TEST(QualisysTsv, WithoutFrameColumn) {
  const std::string text = kHead + "1\t2\t3\t4\t5\t6\n1\t2\t3\t4\t5\t7\n1\t2\t3\t4\t5\t8\n";
  auto source = OpenQualisysTsv(Bytes(text), "made.tsv").value();
  const auto window = ReadWhole(*source).value().ReadAll(1).value();
  ASSERT_EQ(window.count(), 3);
  EXPECT_EQ(window.value(5, 2), 8 * 1e-3);
}

TEST(QualisysTsv, RefusalsAndTruncationAreTold) {
  EXPECT_THAT(Message(kHead + kRows.substr(0, kRows.find("13\t"))),
              HasSubstr("truncated: 3 frames are promised, 2 are there"));
  const std::string cut = kHead + kRows.substr(0, kRows.find("13\t"));
  const auto clip = ReadWhole(*OpenQualisysTsv(Bytes(cut), "made.tsv").value()).value();
  ASSERT_EQ(clip.gaps().size(), 1u);
  EXPECT_EQ(clip.gaps()[0].first_missing_counter, 12) << "frame 13";
  EXPECT_EQ(clip.gaps()[0].count, 1);
  EXPECT_EQ(clip.gaps()[0].clip_begin, clip.Extent(1).end);
  EXPECT_THAT(Message(kHead + kRows.substr(0, kRows.size() - 6)),
              HasSubstr("made.tsv:11: has 6 cells, 2 markers need 8"));
  EXPECT_THAT(
      Message(kHead + "Frame\tTime\n" + "11\t0\t1\t2\t3\t4\t5\t6\n13\t0\t1\t2\t3\t4\t5\t6\n"),
      HasSubstr("frame 13 is out of order"));
  EXPECT_THAT(Message("NO_OF_FRAMES\t3\nDATA_INCLUDED\t6D\n"), HasSubstr("holds '6D' data"));
  EXPECT_THAT(Message("NO_OF_FRAMES\t3\n"), HasSubstr("no MARKER_NAMES"));
  EXPECT_THAT(Message("MARKER_NAMES\ta\n1\t2\t3\n"), HasSubstr("no FREQUENCY"));
}

// 21 markers, 100 Hz, 60 s; 1839 cells of it are "nan": 613 occluded marker samples.
TEST(QualisysTsv, RealHandRecording) {
  const std::string path = support::SharedDataDir() + "/hand/dfki_recording.tsv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  auto source = OpenQualisysTsv(path).value();
  const recording::Clip clip = ReadWhole(*source).value();
  const auto window = clip.ReadAll(1).value();
  ASSERT_EQ(window.count(), 6000);
  ASSERT_EQ(window.channel_count, 63);
  int missing = 0;
  for (const double value : window.values) missing += std::isnan(value) ? 1 : 0;
  EXPECT_EQ(missing, 1839);
  // Frame 2988, first marker, as the file's text has it.
  EXPECT_EQ(window.counters[2987], 2987);
  EXPECT_EQ(window.value(0, 2987), 164.251 * 1e-3);
  EXPECT_FALSE(AnyLoss(source->issues()));
}

}  // namespace
}  // namespace handhold::exchange::qualisys_tsv_test
