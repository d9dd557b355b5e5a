#include "capture/simulator/fault_script.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/support/paths.h"

namespace handhold::capture::fault_script_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(FaultScript, ReadsEveryKind) {
  const auto faults = ParseFaultScript(R"(# the rehearsal of issue 6
at 5 s stall 300 ms
at 8.5 s hold 200 ms   # a burst
at 10 s lose 3
at 11 s duplicate 2
at 12 s restart 0.5 s
at 13 s disconnect 400 ms
at 14 s occlude 80 ms marker 3
at 14 s occlude 80 ms marker 4 2
at 15 s swap 1 s markers 2 5
at 16 s ghost 100 ms 2

at 17 s hide 500 ms subject 1
at 18 s saturate 50 ms)");
  ASSERT_TRUE(faults) << faults.error().message;
  ASSERT_EQ(faults->size(), 12u);
  EXPECT_EQ((*faults)[0], (Fault{.kind = FaultKind::kStall,
                                 .at = Duration::Seconds(5),
                                 .length = Duration::Milliseconds(300)}));
  EXPECT_EQ(
      (*faults)[2],
      (Fault{.kind = FaultKind::kLose, .at = Duration::Seconds(10), .length = {}, .count = 3}));
  EXPECT_EQ((*faults)[7].count, 2);
  EXPECT_EQ((*faults)[8].second, 5);
  for (const Fault& fault : *faults) EXPECT_NE(FaultKindName(fault.kind), "unknown");
}

// The page of the grammar: its example is read, holds every kind, and its table names each.
TEST(FaultScript, ThePagesExampleIsReadAndHoldsEveryKind) {
  std::ifstream in(support::SourceDir() + "/schemas/exchange/faults.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const size_t begin = page.find("```faults\n");
  ASSERT_NE(begin, std::string::npos);
  std::istringstream lines(page.substr(begin + 10, page.find("```", begin + 10) - begin - 10));
  std::set<FaultKind> kinds;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const auto faults = ParseFaultScript(line.substr(line.find(' ')));
    ASSERT_TRUE(faults) << line << ": " << faults.error().message;
    for (const Fault& fault : *faults) kinds.insert(fault.kind);
  }
  EXPECT_EQ(kinds.size(), 11u);
  for (const FaultKind kind : kinds)
    EXPECT_NE(page.find("| `" + std::string(FaultKindName(kind)) + "` |"), std::string::npos)
        << FaultKindName(kind);
}

TEST(FaultScript, NamesTheLineAndTheWord) {
  const auto message = [](std::string_view text) { return ParseFaultScript(text).error().message; };
  EXPECT_THAT(message("at 1 s stall 3 ms\nat 2 s stahl 3 ms"),
              AllOf(HasSubstr("line 2"), HasSubstr("stahl")));
  EXPECT_THAT(message("at 1 h stall 3 ms"), HasSubstr("'h'"));
  EXPECT_THAT(message("at -1 s stall 3 ms"), HasSubstr("-1"));
  EXPECT_THAT(message("at nan s stall 3 ms"), HasSubstr("nan"));
  EXPECT_THAT(message("at 1 s lose 3.5"), HasSubstr("3.5"));
  EXPECT_THAT(message("at 1 s stall 3 ms now"), HasSubstr("now"));
  EXPECT_THAT(message("1 s stall 3 ms"), HasSubstr("expected 'at'"));
  EXPECT_THAT(message("at 1 s occlude 3 ms"), HasSubstr("marker"));
}

TEST(FaultTimeline, StallsAndLossesAreMissingAndHoldsAreNot) {
  const std::vector<Fault> faults = {
      {.kind = FaultKind::kStall,
       .at = Duration::Seconds(1),
       .length = Duration::Milliseconds(300)},
      {.kind = FaultKind::kHold, .at = Duration::Seconds(2), .length = Duration::Milliseconds(200)},
      {.kind = FaultKind::kLose, .at = Duration::Seconds(3), .length = {}, .count = 3},
      {.kind = FaultKind::kLose, .at = Duration::FromSeconds(3.006), .length = {}, .count = 1},
  };
  const FaultTimeline timeline(faults, 500.0);
  // 300 ms at 500 Hz are 150 frames exactly; the losses at 1500..1502 and 1503 are one range.
  EXPECT_THAT(timeline.MissingRanges(), ElementsAre(IndexRange{500, 650}, IndexRange{1500, 1504}));
  EXPECT_TRUE(timeline.Missing(500));
  EXPECT_FALSE(timeline.Missing(499));
  EXPECT_FALSE(timeline.Missing(650));
  EXPECT_EQ(timeline.SendIndex(999), 999);
  EXPECT_EQ(timeline.SendIndex(1000), 1100);
  EXPECT_EQ(timeline.SendIndex(1099), 1100);
  EXPECT_EQ(timeline.SendIndex(1100), 1100);
}

TEST(FaultTimeline, RestartsStartCountingAnewAndDisconnectsDoNot) {
  const std::vector<Fault> faults = {
      {.kind = FaultKind::kRestart,
       .at = Duration::Seconds(1),
       .length = Duration::Milliseconds(500)},
      {.kind = FaultKind::kDisconnect,
       .at = Duration::Seconds(3),
       .length = Duration::Milliseconds(100)},
  };
  const FaultTimeline timeline(faults, 1000.0);
  EXPECT_EQ(timeline.CounterBase(1499), 0);
  EXPECT_EQ(timeline.CounterBase(1500), 1500);
  EXPECT_EQ(timeline.CounterBase(9999), 1500);
  ASSERT_NE(timeline.Away(1000), nullptr);
  EXPECT_EQ(*timeline.Away(1200), (IndexRange{1000, 1500}));
  EXPECT_EQ(timeline.Away(1500), nullptr);
  EXPECT_NE(timeline.Away(3050), nullptr);
  EXPECT_TRUE(timeline.MissingRanges().empty());
}

TEST(FaultTimeline, MarkersAreOccludedSwappedAndHaunted) {
  const std::vector<Fault> faults = {
      {.kind = FaultKind::kOcclude,
       .at = {},
       .length = Duration::Milliseconds(80),
       .count = 2,
       .first = 3},
      {.kind = FaultKind::kSwap,
       .at = {},
       .length = Duration::Milliseconds(20),
       .first = 1,
       .second = 4},
      {.kind = FaultKind::kGhost, .at = {}, .length = Duration::Milliseconds(20), .count = 2},
      {.kind = FaultKind::kHideSubject, .at = {}, .length = Duration::Milliseconds(20), .first = 1},
  };
  const FaultTimeline timeline(faults, 500.0);
  EXPECT_FALSE(timeline.Occluded(0, 2));
  EXPECT_TRUE(timeline.Occluded(0, 3));
  EXPECT_TRUE(timeline.Occluded(39, 4));
  EXPECT_FALSE(timeline.Occluded(40, 4));
  EXPECT_FALSE(timeline.Occluded(0, 5));
  EXPECT_EQ(timeline.SwappedWith(0, 1), 4);
  EXPECT_EQ(timeline.SwappedWith(9, 4), 1);
  EXPECT_EQ(timeline.SwappedWith(10, 4), 4);
  EXPECT_EQ(timeline.SwappedWith(0, 2), 2);
  EXPECT_EQ(timeline.Ghosts(0), 2);
  EXPECT_EQ(timeline.Ghosts(10), 0);
  EXPECT_TRUE(timeline.Hidden(0, 1));
  EXPECT_FALSE(timeline.Hidden(0, 0));
}

}  // namespace
}  // namespace handhold::capture::fault_script_test
